//! The hands and eyes in the pane: one thread that asks tmux, one call at a time, so that a tmux
//! that hangs holds up nothing else.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use super::screen::{Screen, State};
use crate::poll::poll_until;
use crate::process::{Handle, ProcessId};
use crate::tmux::{OwnPane, PaneLook, SessionError};

/// What is to be done before the next look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Job {
    Look,
    /// Paste this file.
    Paste(PathBuf),
    /// Press Enter.
    Enter,
}

/// The thread, from outside.
#[derive(Debug)]
pub(crate) struct Terminal {
    jobs: Sender<Job>,
    looks: Receiver<Result<PaneLook, SessionError>>,
    is_busy: bool,
}

impl Terminal {
    pub(crate) fn new(pane: OwnPane) -> Terminal {
        let (jobs, todo) = channel::<Job>();
        let (seen, looks) = channel();
        // Ends with the sender; a call that hangs is bounded by tmux's own time limit.
        std::thread::spawn(move || {
            for job in todo {
                let done = match job {
                    Job::Look => Ok(()),
                    // What went wrong shows on the screen: the text is not there.
                    Job::Paste(file) => {
                        std::fs::File::open(file).map_or(Ok(()), |file| pane.paste(file))
                    }
                    Job::Enter => pane.press("Enter"),
                };
                if seen.send(done.and_then(|()| pane.look())).is_err() {
                    return;
                }
            }
        });
        Terminal { jobs, looks, is_busy: false }
    }

    /// Whether the last job is still under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    pub(crate) fn begin(&mut self, job: Job) {
        self.is_busy = self.jobs.send(job).is_ok();
    }

    /// What the last job ended with, once.
    pub(crate) fn take(&mut self) -> Option<Result<PaneLook, SessionError>> {
        match self.looks.try_recv() {
            Ok(look) => {
                self.is_busy = false;
                Some(look)
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }
}

/// How long the client may take to leave after it was told to.
const LEAVE: Duration = Duration::from_secs(5);
/// How long a typed word may take to be seen.
const SEEN: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// Has a client that waits at its input line end as a person would: `/exit`, seen, and Enter.
/// Blocks for some seconds; whether it ended by that or not, the caller ends its tree.
pub(crate) fn leave(pane: &OwnPane, agent: &ProcessId) {
    if pane.type_word("/exit").is_err() {
        return;
    }
    let is_typed = || {
        let screen = pane.look().map(|look| Screen::read(&look.text));
        let seen = matches!(screen, Ok(Screen { state: State::Prompt { input, .. }, .. }) if input == "/exit");
        seen.then_some(())
    };
    if poll_until(SEEN, LOOK, is_typed).is_none() {
        // Something else stands there, or asks: no Enter of ours goes into that.
        return;
    }
    let entered = pane.press("Enter");
    if let (Ok(()), Ok(Some(handle))) = (entered, Handle::open(agent)) {
        // It is waited for by whoever ends the tree, too.
        let _ = handle.wait(LEAVE);
    }
}
