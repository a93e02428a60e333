//! Asks a program for its version, for a bounded time.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use el_agents::requirements::find_program;

/// Long enough for a program that starts on a busy machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Why a program told nothing.
#[derive(Debug)]
pub(super) enum Refusal {
    NotFound,
    /// The program ended with a failure: the last line that it said.
    Failed(String),
    /// The program was killed at the time limit.
    Silent,
}

impl Refusal {
    /// The predicate of a sentence about the program.
    pub(super) fn in_words(&self) -> String {
        match self {
            Refusal::NotFound => "not found".to_owned(),
            Refusal::Failed(said) if said.is_empty() => "does not start".to_owned(),
            Refusal::Failed(said) => format!("does not start: {said}"),
            Refusal::Silent => format!("does not answer within {} s", ANSWER_LIMIT.as_secs()),
        }
    }
}

/// The first line of a program's output. The program, with its process group, is killed at the
/// time limit.
pub(super) fn ask_first_line(
    program: &str,
    arguments: &[&str],
    folder: &Path,
) -> Result<String, Refusal> {
    let mut command = Command::new(program);
    if folder.is_dir() {
        command.current_dir(folder);
    }
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.process_group(0).spawn().map_err(|error| {
        // A file that is there may lack the program that is to read it.
        let environment: Vec<_> = std::env::vars_os().collect();
        match find_program(program, &environment, folder) {
            Ok(path) => Refusal::Failed(format!("{}: {error}", path.display())),
            Err(_) => Refusal::NotFound,
        }
    })?;
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver may have given up.
        let _ = sender.send(child.wait_with_output());
    });
    match receiver.recv_timeout(ANSWER_LIMIT) {
        Ok(output) => read_answer(&output.map_err(|_| Refusal::NotFound)?),
        Err(_) => {
            if let Some(group) = group {
                // The program may have ended just now.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            Err(Refusal::Silent)
        }
    }
}

fn read_answer(output: &Output) -> Result<String, Refusal> {
    let line = |bytes: &[u8], is_last: bool| {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let found = if is_last { lines.next_back() } else { lines.next() };
        found.map(str::to_owned)
    };
    if output.status.success()
        && let Some(first) = line(&output.stdout, false)
    {
        return Ok(first);
    }
    let said = line(&output.stderr, true).or_else(|| line(&output.stdout, true));
    Err(Refusal::Failed(said.unwrap_or_default()))
}
