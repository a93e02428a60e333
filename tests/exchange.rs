//! Work comes in from other trackers, goes out to files, and is merged in git.

mod export;
pub(crate) mod import;
mod large;
mod memory;
mod merge_driver;
mod real;
