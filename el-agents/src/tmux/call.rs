//! A call of the tmux program, bounded in time and in the size of the answer.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags};
use rustix::fd::AsFd;

use super::error::{Failure, SessionError};
use crate::poll::wait_readable;

/// The part of an answer that is kept, in bytes; the rest is dropped.
const ANSWER_LIMIT: usize = 16 << 20;

/// The output of a finished call.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) ok: bool,
    pub(super) out: String,
    err: String,
}

impl Answer {
    pub(super) fn failure(&self) -> Failure {
        let says = |text: &str| self.err.contains(text);
        if says("duplicate session") {
            Failure::Exists
        } else if says("can't find") || says("no current target") {
            // The second text comes from a server without any session.
            Failure::Missing
        } else if says("no server running")
            || says("error connecting")
            || says("server exited")
            || says("lost server")
        {
            Failure::NoServer
        } else {
            Failure::Refused
        }
    }

    /// The socket exists, but no server listens.
    pub(super) fn is_refused(&self) -> bool {
        self.err.contains("no server running")
    }

    pub(super) fn message(&self) -> String {
        let said = self.err.trim();
        if said.is_empty() { self.describe_unexpected() } else { said.chars().take(500).collect() }
    }

    pub(super) fn describe_unexpected(&self) -> String {
        format!("tmux answered {:?}", self.out.trim().chars().take(200).collect::<String>())
    }

    pub(super) fn to_error(&self, session: &str, operation: &'static str) -> SessionError {
        SessionError::new(session, operation, self.failure(), self.message())
    }
}

/// A call that did not finish.
#[derive(Debug)]
pub(super) enum Unfinished {
    NotRun(io::Error),
    TimedOut(Duration),
}

impl Unfinished {
    pub(super) fn into_error(self, session: &str, operation: &'static str) -> SessionError {
        let (failure, message) = match self {
            Self::NotRun(error) => (Failure::NotRun, format!("tmux could not be run: {error}")),
            Self::TimedOut(limit) => {
                (Failure::TimedOut, format!("tmux did not answer within {limit:?}"))
            }
        };
        SessionError::new(session, operation, failure, message)
    }
}

/// Runs the command and collects the output, for at most `timeout`.
pub(super) fn run(command: Command, timeout: Duration) -> Result<Answer, Unfinished> {
    run_with_input(command, Stdio::null(), timeout)
}

/// Runs the command with standard input.
pub(super) fn run_with_input(
    mut command: Command,
    input: Stdio,
    timeout: Duration,
) -> Result<Answer, Unfinished> {
    let deadline = Instant::now() + timeout;
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(Unfinished::NotRun)?;
    let finished = collect_answer(&mut child, deadline);
    match finished {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => {
            kill_unfinished(child);
            Err(Unfinished::TimedOut(timeout))
        }
        Err(error) => {
            kill_unfinished(child);
            Err(Unfinished::NotRun(error))
        }
    }
}

fn collect_answer(child: &mut Child, deadline: Instant) -> io::Result<Option<Answer>> {
    let mut out = child.stdout.take();
    let mut err = child.stderr.take();
    let (mut out_text, mut err_text) = (Vec::new(), Vec::new());
    while out.is_some() || err.is_some() {
        let mut waiting: Vec<PollFd<'_>> = Vec::with_capacity(2);
        waiting
            .extend(out.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        waiting
            .extend(err.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        if !wait_readable(&mut waiting, deadline)? {
            return Ok(None);
        }
        let mut ready =
            waiting.iter().map(|entry| !entry.revents().is_empty()).collect::<Vec<_>>().into_iter();
        if out.is_some() && ready.next() == Some(true) {
            read_some(&mut out, &mut out_text)?;
        }
        if err.is_some() && ready.next() == Some(true) {
            read_some(&mut err, &mut err_text)?;
        }
    }
    let mut pause = Pause::new();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if Instant::now() >= deadline => return Ok(None),
            None => pause.sleep(),
        }
    };
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(Answer { ok: status.success(), out: text(out_text), err: text(err_text) }))
}

/// Reads available bytes without blocking. Drops the pipe at its end.
fn read_some<R: Read>(pipe: &mut Option<R>, text: &mut Vec<u8>) -> io::Result<()> {
    let mut buffer = [0; 16 << 10];
    let Some(reader) = pipe else { return Ok(()) };
    match reader.read(&mut buffer) {
        Ok(0) => *pipe = None,
        Ok(count) if text.len() < ANSWER_LIMIT => text.extend_from_slice(&buffer[..count]),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Kills an unfinished call and reaps the process on another thread.
fn kill_unfinished(mut child: Child) {
    // Fails only if the child has ended already.
    let _ = child.kill();
    std::thread::spawn(move || child.wait());
}

/// Escapes a trailing semicolon. tmux ends a command at a word that ends in `;`, and reads `\;` as
/// the character.
pub(super) fn escape_semicolon(word: &OsStr) -> OsString {
    match word.as_bytes().strip_suffix(b";") {
        Some(rest) => OsString::from_vec([rest, b"\\;"].concat()),
        None => word.to_owned(),
    }
}

/// Growing pauses from 2 to about 200 ms, with noise so that processes do not stay in step.
pub(super) struct Pause(u64);

impl Pause {
    pub(super) fn new() -> Self {
        Self(2)
    }

    pub(super) fn sleep(&mut self) {
        let noise = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |now| u64::from(now.subsec_nanos()));
        let noise =
            (noise ^ u64::from(std::process::id()).wrapping_mul(0x9E37_79B9)) % (self.0 + 1);
        std::thread::sleep(Duration::from_millis(self.0 + noise));
        self.0 = (self.0 * 2).min(100);
    }
}
