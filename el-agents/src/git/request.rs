//! The request for a worktree.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The settings for keeping an agent apart from others, in a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// The folder of the worktrees; absolute.
    pub folder: PathBuf,
    /// The commit or branch at which branches begin; `None`: the checked-out commit.
    pub base: Option<String>,
    /// Without a base, branches begin at the branch of the remote that the checked-out one follows.
    #[serde(default)]
    pub at_upstream: bool,
    /// The branch of a remote that `base` names is fetched before a branch begins there.
    #[serde(default)]
    pub fetch: bool,
    /// The base is the atom's own, and outranks the branch of its parent.
    #[serde(default)]
    pub is_own_base: bool,
    /// The remote at which the machines of a team share the atoms' branches.
    #[serde(default)]
    pub remote: Option<String>,
    /// The prefix of new branches.
    pub branch_prefix: String,
    /// Untracked files and folders of the main checkout that each worktree gets a copy of.
    pub copy: Vec<String>,
    /// Untracked files and folders of the main checkout that each worktree gets a link to.
    pub link: Vec<String>,
    /// A command that makes a new worktree ready, in words; empty: none.
    pub setup: Vec<String>,
    /// The time limit of the setup, in milliseconds.
    pub setup_timeout_ms: u64,
}

/// The atom that gets the worktree, and its dependencies.
#[derive(Debug, Clone, Copy)]
pub struct WorktreeRequest<'a> {
    /// The atom.
    pub atom: &'a str,
    /// The atom's parent. If the parent has a branch, the atom's branch begins there.
    pub parent: Option<&'a str>,
    /// The finished dependencies, nearest first.
    pub builds_on: &'a [String],
    /// Atoms with needed work on other hosts, each with the name of the host.
    pub elsewhere: &'a [(String, String)],
    /// The last runs on this host that were lost, and followed by runs on others.
    pub lost: &'a [LostWork],
    /// Merging the dependencies is the atom's own work: conflicts are left to the agent.
    pub joins: bool,
}

/// A run on this host that was lost, and whose atom another host went on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostWork {
    pub atom: String,
    pub run: String,
    /// Since when and until when the run may have committed, in seconds since 1970.
    pub time: (i64, i64),
}
