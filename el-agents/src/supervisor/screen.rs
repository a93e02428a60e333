//! The supervisor's state for an agent with the pane's terminal.

use crate::interactive::{ScreenDriver, SummaryWatch};

/// The state of an agent on a screen.
#[derive(Debug)]
pub(super) struct OnScreen {
    pub(super) front: ScreenDriver,
    /// The summary file that may end the work.
    pub(super) summary: Option<SummaryWatch>,
    pub(super) agent: String,
    pub(super) review: bool,
    pub(super) atom: String,
    pub(super) nudge: String,
    /// The client has ended; its last state is not reported yet.
    pub(super) is_over: bool,
}
