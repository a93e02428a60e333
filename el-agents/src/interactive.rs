//! Claude Code with its own screen, for people who want to watch. The client is started in the
//! pane, gets its work by a paste, and is otherwise supervised like a headless run.
//!
//! The supervisor is the pane's process, and the client its child on the same terminal. Subreaper,
//! marker and sweep work as for every run, and the client dies with its supervisor. The supervisor
//! looks and types through tmux in its own pane. The screen shows the present state; about the work
//! only the store is believed.

mod conversation;
mod front;
mod history;
mod screen;
mod summary;
mod terminal;
mod typing;

pub(crate) use front::{ScreenDriver, ScreenUpdate, save_terminal};
pub(crate) use summary::SummaryWatch;
