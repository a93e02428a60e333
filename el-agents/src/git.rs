//! Git, driven by its own program: worktrees for agents, and bringing finished branches in.
//!
//! Words go by argv, never through a shell; variables that point at another repository are removed,
//! and the language is C, since some answers are read. What is to be done is decided from a look at the repository
//! ([`Repository`]) and then done; every step can be broken off and done again.

mod advance;
mod bounded;
mod call;
mod environment;
mod error;
mod files;
mod foundation;
mod given_up;
mod integrate;
mod locks;
mod lost;
mod own;
mod ready;
mod repository;
mod request;
mod reverted;
mod untracked;
mod worktree;

pub use self::advance::{
    AdvanceResult, LandedBranch, advance_branch, find_obstacle, note_landed, recover_move,
    unpublished_submodules,
};
pub use self::call::{Git, check_version};
pub(crate) use self::environment::is_local_variable;
pub use self::error::{GitError, HalfMoved};
pub(crate) use self::given_up::add_all;
pub use self::given_up::{expire_given_up, give_up};
pub use self::integrate::{JoinResult, Mode, ScratchCheckout};
pub use self::own::{OwnWorktree, WorkBranch};
pub use self::repository::{Repository, Worktree, branch_of};
pub use self::request::{Isolation, WorktreeRequest};
pub use self::reverted::Revert;
pub use self::untracked::copy_untracked;
pub use self::worktree::{Prepared, folder_of_worktrees, prepare, remove};
