//! A process that the agent leaves behind: `--background SECONDS FLAGS…` (see `child` in
//! `script.rs`).

use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use crate::signals;

/// Starts the background process for the agent. Returns as soon as the process is on its own and
/// its process id is written.
pub(crate) fn start(words: &[String]) -> std::io::Result<()> {
    let mut command = itself(words)?;
    if has(words, "clean-env") {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path);
    }
    if !has(words, "hold-stdout") {
        command.stdout(Stdio::null());
    }
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if has(words, "double-fork") {
        child.wait()?;
    }
    // On a busy machine the agent would else end before its child has said who it is.
    let written = |path: &str| std::fs::read(path).is_ok_and(|text| text.ends_with(b"\n"));
    if let Some(path) = pid_file(words) {
        for _ in 0..3000 {
            if written(path) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    Ok(())
}

/// The file that the child writes its process id into.
fn pid_file(words: &[String]) -> Option<&str> {
    words.iter().find_map(|word| word.strip_prefix("pid="))
}

fn itself(words: &[String]) -> std::io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--background").args(words);
    Ok(command)
}

fn has(words: &[String], flag: &str) -> bool {
    words.iter().any(|w| w == flag)
}

/// The background process.
pub(crate) fn run(words: &[String]) -> ExitCode {
    if has(words, "ignore-signals") {
        signals::ignore_all();
    }
    if has(words, "setsid") {
        let _ = rustix::process::setsid();
    }
    if has(words, "double-fork") {
        // The second process goes on. The first ends, so that its child is adopted by init or a
        // subreaper.
        let rest: Vec<String> = words.iter().filter(|w| *w != "double-fork").cloned().collect();
        return match itself(&rest).and_then(|mut c| c.spawn()) {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    if let Some(path) = pid_file(words) {
        let _ = std::fs::write(path, format!("{}\n", std::process::id()));
    }
    let seconds = words.first().and_then(|w| w.parse().ok()).unwrap_or(60);
    std::thread::sleep(Duration::from_secs(seconds));
    if has(words, "close") {
        let atom = std::env::var("EL_ATOM").unwrap_or_default();
        let _ = Command::new("el").args(["close", &atom, "--reason", "late"]).status();
    }
    ExitCode::SUCCESS
}
