//! Processes: identity, liveness, process trees, and their end.
//!
//! A pid alone is not enough, because the kernel reuses pids. All functions go by [`ProcessId`]
//! (pid, start time, boot), and every signal goes through a handle that was checked against the id.
//!
//! Linux has full support. Elsewhere `other.rs` does what `ps` allows, which is less.

mod handle;
mod identity;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "here only its parsing is tested"))]
mod other;
mod spawn;
mod sweep;
mod table;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(not(target_os = "linux"))]
use other as platform;

pub use el_core::rules::plan::Liveness;
pub use handle::Handle;
pub use identity::ProcessId;
pub(crate) use identity::{host_name, is_zombie};
pub use spawn::{Session, configure_agent, reset_ignored_signals};
pub(crate) use spawn::{close_inherited, detach_command, is_hangup_ignored};
pub use sweep::{EndTree, Ended, end_marked, end_tree, reap_adopted};
pub use table::{Marker, Process, become_subreaper, descendants, find_marked};
