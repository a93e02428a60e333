//! Calls of the Bash tool: a shell line in a session of its own. The output comes back after the
//! end.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::signals;

/// The interval at which a wait checks its child and SIGINT.
pub(crate) const TICK: Duration = Duration::from_millis(10);

pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) text: String,
}

/// Runs the line. `None` after SIGINT, which kills the line's process group.
pub(crate) fn bash(line: &str, session_id: &str) -> std::io::Result<Option<Output>> {
    let mut file = scratch()?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--in-session", "sh", "-c", line])
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_CHILD_SESSION", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
        .env("CLAUDE_CODE_SESSION_ID", session_id)
        .env("AI_AGENT", format!("claude-code_{}_agent", crate::VERSION.replace('.', "-")))
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file.try_clone()?)
        .spawn()?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if signals::interrupted() {
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // The process may have ended by itself, which is fine.
                let _ = kill_process_group(pid, Signal::KILL);
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(TICK);
    };
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let code = status.code().or_else(|| status.signal().map(|n| 128 + n)).unwrap_or(1);
    Ok(Some(Output { code, text: String::from_utf8_lossy(&bytes).trim_end().to_owned() }))
}

/// An unnamed file for the output: a leftover process may keep the file open without blocking the
/// test.
fn scratch() -> std::io::Result<File> {
    let path = std::env::temp_dir().join(format!(
        "fake-agent-{}-{}",
        std::process::id(),
        crate::session::uuid()
    ));
    let file = File::options().read(true).append(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// `--in-session CMD ARGS…`: leaves the session of the caller, then becomes CMD.
pub(crate) fn in_session(words: &[String]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else { return ExitCode::from(2) };
    // Fails only for a group leader, which a fresh child is not.
    let _ = rustix::process::setsid();
    let error = Command::new(program).args(arguments).exec();
    let _ = writeln!(std::io::stderr(), "fake-agent: cannot run {program}: {error}");
    ExitCode::from(127)
}
