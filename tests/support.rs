//! The tests' support: isolated environments, bounded waits, a view of processes, the real client.

mod client;
mod env;
mod forge_clients;
mod github;
mod process;
mod screen;
mod small_disk;
mod tracker;
mod wait;

pub(crate) use client::RealClaude;
pub(crate) use env::{TestEnv, bubblewrap_works};
pub(crate) use forge_clients::{ForgeClient, forge_clients, github_client};
pub(crate) use github::{Github, SHOP};
pub(crate) use process::{Process, Ran, Running, send};
pub(crate) use screen::Screen;
pub(crate) use small_disk::SmallDisk;
pub(crate) use wait::{look_until, wait_until};

use std::time::Duration;

/// The time limit for events that should come soon: generous, since a wait ends with the event.
pub(crate) const SOON: Duration = Duration::from_secs(90);
