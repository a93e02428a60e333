//! Claude Code with its own screen, for those who want to look on: started in the pane itself, told
//! its work by a paste, and otherwise supervised as a headless run is.
//!
//! The supervisor is the pane's process and the client its child, on the same terminal: subreaper,
//! marker and sweep hold as for every run, and the client dies with its supervisor. What the
//! supervisor wants to see or type goes through tmux, to its own pane. The screen tells how things
//! stand at this moment; it is never believed about the work, which is in the store.

mod conversation;
mod front;
mod history;
mod screen;
mod summary;
mod terminal;
mod typing;

pub(crate) use front::{Front, Seen, keep_terminal};
pub(crate) use summary::SummaryWatch;
