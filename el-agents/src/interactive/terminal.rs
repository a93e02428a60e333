//! A thread that calls tmux, a single call at a time. A hanging tmux does not block the supervisor.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

use super::screen::{Screen, ScreenState};
use crate::poll::poll_until;
use crate::process::{Handle, ProcessId};
use crate::tmux::{OwnPane, PaneLook, SessionError};

/// A step to take before the next look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PaneJob {
    Look,
    /// Paste the file.
    Paste(PathBuf),
    /// Press Enter.
    Enter,
}

/// The thread, from outside.
#[derive(Debug)]
pub(crate) struct Terminal {
    jobs: Sender<PaneJob>,
    looks: Receiver<Result<PaneLook, SessionError>>,
    is_busy: bool,
}

impl Terminal {
    pub(crate) fn new(pane: OwnPane) -> Terminal {
        let (jobs, todo) = channel::<PaneJob>();
        let (seen, looks) = channel();
        // The thread ends with the sender; tmux's own time limit bounds a hanging call.
        std::thread::spawn(move || {
            for job in todo {
                let done = match job {
                    PaneJob::Look => Ok(()),
                    // A failed paste shows on the screen: the text is missing.
                    PaneJob::Paste(file) => {
                        std::fs::File::open(file).map_or(Ok(()), |file| pane.paste_file(file))
                    }
                    PaneJob::Enter => pane.press_key("Enter"),
                };
                if seen.send(done.and_then(|()| pane.read_pane())).is_err() {
                    return;
                }
            }
        });
        Terminal { jobs, looks, is_busy: false }
    }

    /// Returns true if the last job is not finished.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_busy
    }

    pub(crate) fn begin_job(&mut self, job: PaneJob) {
        self.is_busy = self.jobs.send(job).is_ok();
    }

    /// Returns the result of the last job, once.
    pub(crate) fn take_look(&mut self) -> Option<Result<PaneLook, SessionError>> {
        match self.looks.try_recv() {
            Ok(look) => {
                self.is_busy = false;
                Some(look)
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        }
    }
}

/// The time limit for the client to exit after `/exit`.
const LEAVE: Duration = Duration::from_secs(5);
/// How long a typed word may take to be seen.
const SEEN: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(200);

/// Asks a client that waits at its input line to exit, as a person would: types `/exit`, waits
/// until the word is visible, and presses Enter. Blocks for some seconds. The caller ends the tree
/// in any case.
pub(crate) fn exit_client(pane: &OwnPane, agent: &ProcessId) {
    if pane.type_word("/exit").is_err() {
        return;
    }
    let is_typed = || {
        let state = pane.read_pane().map(|look| Screen::from_capture(&look.text).state);
        matches!(state, Ok(ScreenState::Prompt { input, .. }) if input == "/exit").then_some(())
    };
    if poll_until(SEEN, LOOK, is_typed).is_none() {
        // The screen has other text or a question: el presses no Enter there.
        return;
    }
    let entered = pane.press_key("Enter");
    if let (Ok(()), Ok(Some(handle))) = (entered, Handle::open(agent)) {
        // The wait is also done by the code that ends the tree.
        let _ = handle.wait_for_end(LEAVE);
    }
}
