//! What is asked for when a worktree is to be made.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How an agent is kept apart from others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// The folder of the worktrees; absolute.
    pub folder: PathBuf,
    /// Where branches begin; `None`: at what is checked out.
    pub base: Option<String>,
    /// Untracked files and folders of the main checkout that each worktree gets a copy of.
    pub copy: Vec<String>,
    /// The same, as links.
    pub link: Vec<String>,
    /// A command that makes a new worktree ready, in words; empty: none.
    pub setup: Vec<String>,
    /// How long that may take, in milliseconds.
    pub setup_timeout_ms: u64,
}

/// For whom a worktree is.
#[derive(Debug, Clone, Copy)]
pub struct WorktreeRequest<'a> {
    /// The atom.
    pub atom: &'a str,
    /// The one that it is part of: where that has a branch, its own begins there.
    pub parent: Option<&'a str>,
    /// Those whose finished work it needs, nearest first.
    pub builds_on: &'a [String],
    /// Bringing those together is its own work: what does not fit by itself is left to its agent.
    pub joins: bool,
}
