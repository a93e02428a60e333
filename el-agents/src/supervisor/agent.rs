//! The agent's process, with exactly the recorded environment and input.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::process::{ProcessId, Session, configure_agent, descendants};

/// A started agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) child: Child,
    pub(crate) id: ProcessId,
    /// The child is the sandbox, and the agent runs in it.
    pub(crate) is_confined: bool,
}

impl Agent {
    /// The process of the agent's own program. Bubblewrap is the child, its child is the first
    /// process of the sandbox, and the oldest child of that is the program.
    pub(crate) fn program(&self) -> ProcessId {
        let inner = || {
            let tree = descendants(self.id.pid).ok()?;
            let oldest_of = |parent: u32| {
                let children = tree.iter().filter(|process| process.parent == parent);
                children.min_by_key(|process| (process.start, process.pid)).map(|found| found.pid)
            };
            ProcessId::of_pid(oldest_of(oldest_of(self.id.pid)?)?).ok()?
        };
        self.is_confined.then(inner).flatten().unwrap_or_else(|| self.id.clone())
    }
}

/// Starts the agent on this process's terminal, for the agent's sole use.
pub(crate) fn start_on_screen(
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    workdir: &Path,
) -> std::io::Result<Agent> {
    let mut command = base_command(argv, environment, workdir)?;
    // TERM must be this process's own: the recorded environment describes another terminal.
    match std::env::var_os("TERM") {
        Some(term) if term == "screen" => drop(command.env("TERM", "screen-256color")),
        Some(term) => drop(command.env("TERM", term)),
        None => {}
    }
    configure_agent(&mut command, Session::Inherit);
    spawn(&mut command)
}

/// Starts the agent without a terminal. Standard input is the prompt's file; standard output and
/// error are pipes to this process.
pub(crate) fn start_headless(
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    workdir: &Path,
    prompt: File,
) -> std::io::Result<Agent> {
    let mut command = base_command(argv, environment, workdir)?;
    command.stdin(Stdio::from(prompt)).stdout(Stdio::piped()).stderr(Stdio::piped());
    configure_agent(&mut command, Session::New);
    spawn(&mut command)
}

/// Starts a helper of el in the same way as an agent, with output in files. `log` opens the file of
/// a stream.
pub(crate) fn start_logged(
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    workdir: &Path,
    log: impl Fn() -> std::io::Result<Stdio>,
) -> std::io::Result<Agent> {
    let mut command = base_command(argv, environment, workdir)?;
    command.stdin(Stdio::null()).stdout(log()?).stderr(log()?);
    configure_agent(&mut command, Session::New);
    spawn(&mut command)
}

fn base_command(
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    workdir: &Path,
) -> std::io::Result<Command> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| std::io::Error::other("the command line is empty"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(workdir);
    Ok(command)
}

fn spawn(command: &mut Command) -> std::io::Result<Agent> {
    let child = command.spawn()?;
    let pid = child.id().ok_or_else(|| std::io::Error::other("the agent has no pid"))?;
    // The child cannot be gone, since it is not reaped yet.
    let id = ProcessId::of_pid(pid)?
        .ok_or_else(|| std::io::Error::other("the agent's process is not in the process table"))?;
    Ok(Agent { child, id, is_confined: false })
}
