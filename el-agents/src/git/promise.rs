//! A change of references in two halves: first git takes every lock and asks every hook, and
//! promises; then it keeps its word, or nothing was changed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::bounded;
use super::call::{LONG_LIMIT, refused, unlocked};
use super::{Git, GitError};

/// What is promised. Dropped, or if this process is killed, nothing is changed.
#[derive(Debug)]
pub(super) struct Promise {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    complaint: Receiver<String>,
}

impl Promise {
    /// Asks for it; `change`: lines for `git update-ref --stdin`.
    ///
    /// # Errors
    /// If a reference is not what it was, a hook refuses, or something else is in the way; a lock
    /// is waited for, for a while.
    pub(super) fn ask(git: &Git, why: &str, change: &str) -> Result<Promise, GitError> {
        unlocked(|| {
            let mut promise = Promise::start(git, why)?;
            promise.say(&format!("start\n{change}prepare\n"), "prepare: ok")?;
            Ok(promise)
        })
    }

    /// Has it done.
    ///
    /// # Errors
    /// If git cannot: what then is so has to be looked at.
    pub(super) fn keep(mut self) -> Result<(), GitError> {
        self.say("commit\n", "commit: ok")
    }

    fn start(git: &Git, why: &str) -> Result<Promise, GitError> {
        let mut command = git.command();
        command.args(["update-ref", "--create-reflog", "-m", why, "--stdin"]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(GitError::Program)?;
        let input = child.stdin.take();
        let ((answer, answers), (complain, complaint)) = (channel(), channel());
        if let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) {
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    let _ = answer.send(line);
                }
            });
            std::thread::spawn(move || {
                let mut said = Vec::new();
                let _ = stderr.read_to_end(&mut said);
                let _ = complain.send(String::from_utf8_lossy(&said).trim().to_owned());
            });
        }
        Ok(Promise { child, input, answers, complaint })
    }

    fn say(&mut self, words: &str, until: &str) -> Result<(), GitError> {
        let what = || "update-ref".to_owned();
        if let Some(pipe) = &mut self.input {
            // One that has ended says why.
            let _ = pipe.write_all(words.as_bytes());
        }
        loop {
            match self.answers.recv_timeout(LONG_LIMIT) {
                Ok(line) if line == until => return Ok(()),
                Ok(_) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    return Err(GitError::TimedOut { what: what(), limit: LONG_LIMIT });
                }
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(refused(
                        what(),
                        self.complaint.recv_timeout(LONG_LIMIT).unwrap_or_default(),
                    ));
                }
            }
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        // At the end of its input git gives back what it holds.
        self.input = None;
        for _ in 0..150 {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = bounded::end(&mut self.child);
    }
}
