//! What a supervisor knows of an agent that has the pane's terminal to itself.

use crate::interactive::{ScreenDriver, SummaryWatch};

/// What belongs to an agent on a screen.
#[derive(Debug)]
pub(super) struct OnScreen {
    pub(super) front: ScreenDriver,
    /// What ends the work beside the atom itself.
    pub(super) summary: Option<SummaryWatch>,
    pub(super) agent: String,
    pub(super) review: bool,
    pub(super) atom: String,
    pub(super) nudge: String,
    /// The client has ended; what it was is still to be told.
    pub(super) is_over: bool,
}
