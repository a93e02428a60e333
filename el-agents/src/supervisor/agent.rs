//! The agent's process: started with exactly the environment and input that were written down for it.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, Command};

use crate::process::{ProcessId, Session, configure};

/// A started agent.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) child: Child,
    pub(crate) id: ProcessId,
}

/// Starts it, headless: standard input is the prompt's file, standard output and error are ours to read.
pub(crate) fn start(
    argv: &[OsString],
    environment: &[(OsString, OsString)],
    workdir: &Path,
    prompt: File,
) -> std::io::Result<Agent> {
    let (program, arguments) = argv.split_first().ok_or_else(|| std::io::Error::other("the command line is empty"))?;
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(workdir).stdin(Stdio::from(prompt)).stdout(Stdio::piped()).stderr(Stdio::piped());
    configure(&mut command, Session::New);
    let child = command.spawn()?;
    let pid = child.id().ok_or_else(|| std::io::Error::other("the agent has no pid"))?;
    // It cannot be gone: nobody has waited for it yet.
    let id = ProcessId::of(pid)?.ok_or_else(|| std::io::Error::other("the agent's process is not in the process table"))?;
    Ok(Agent { child, id })
}
