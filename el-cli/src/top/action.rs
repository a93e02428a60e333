//! An action of the board, and the question that comes before it.

/// The question before an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ask {
    /// Nothing.
    Nothing,
    /// A yes or no; no is the answer to every other key.
    Confirm(String),
    /// A line. The words of the command get it at the end.
    Line(String),
    /// A text in the editor, in a file of this name, below a line that names the subject. The first
    /// command reads the text from stdin.
    Text { file: String, about: String },
    /// The changes that `el undo` would take back, as a question.
    Undo,
}

/// Where a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Beside the board, which shows its last line.
    Aside,
    /// On the terminal, which the board lends.
    Terminal,
}

/// A command to run, and what comes before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) ask: Ask,
    pub(super) place: Place,
    /// The words of each command, in order; a failure ends the row.
    pub(super) commands: Vec<Vec<String>>,
}

/// A question at the foot of the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) question: String,
    pub(super) typed: String,
    pub(super) purpose: Purpose,
}

/// The purpose of a typed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    Filter,
    Confirm(Action),
    Line(Action),
}
