//! Workers, supervisors, sessions and process trees: the asynchronous part of el.
//!
//! **Invariants.** Only this crate and `el serve` use tokio. The crate never prints to people
//! (except for a supervisor's pane), never parses a command line, and knows no SQL, only
//! `el_core::ops`.

pub mod account;
pub mod artifacts;
pub mod claude;
pub mod clock;
pub mod diffstat;
pub mod end_signal;
mod error_chain;
pub mod file_lock;
pub mod forge;
pub mod git;
mod handover;
mod interactive;
pub mod land;
mod launch;
pub mod launch_spec;
mod machine;
pub mod mailbox;
mod merge_gate;
pub mod notify;
mod output;
mod pace;
mod poll;
mod preparation;
pub mod process;
pub mod project_files;
pub mod pull_requests;
mod recover;
pub mod requirements;
mod run_files;
pub mod rundir;
pub mod sandbox;
pub mod session;
pub mod settings;
mod summary_file;
mod supervisor;
pub mod tmux;
pub mod verify;
pub mod worker;

pub use run_files::{BringError, KEPT_MAX, bring_run_files};
pub use supervisor::{SuperviseError, prepare_workplace, supervise};
