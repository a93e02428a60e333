//! Runs the git program: makes worktrees for agents and lands finished branches.
//!
//! Arguments go to git as argv, never through a shell. Variables that point at another repository
//! are removed. The language is C, since some answers are parsed. Decisions rest on a snapshot of
//! the repository ([`Repository`]); every step can be interrupted and repeated.

mod advance;
mod answers;
mod atom_branch;
mod bounded;
mod branch_names;
mod call;
mod editor;
mod environment;
mod error;
mod files;
mod foundation;
mod given_up;
mod integrate;
mod landed;
mod landed_below;
mod linked;
mod locks;
mod lost;
mod merge;
mod merged_pull;
mod own;
mod ready;
mod rehearsal;
mod remote;
mod repository;
mod request;
mod reverted;
mod shared;
mod squash;
#[cfg(test)]
mod test_shop;
mod unshare;
mod untracked;
mod upstream;
mod worktree;
mod worktree_list;

pub use self::advance::{
    AdvanceResult, LandedBranch, advance_branch, find_files_in_the_way, find_obstacle, note_landed,
    recover_move, unpublished_submodules,
};
pub(crate) use self::atom_branch::has_branch;
pub(crate) use self::bounded::run as run_bounded;
pub(crate) use self::branch_names::{BranchPrefixes, KEEP_FILE, PREFIXES_FILE};
pub use self::branch_names::{DEFAULT_PREFIX, ensure_branch_prefix};
pub use self::call::{Git, ensure_version};
pub use self::editor::editor;
pub(crate) use self::environment::{is_local_variable, set_git_environment};
pub use self::error::{GitError, HalfMoved, Result};
pub(crate) use self::given_up::add_all;
pub use self::given_up::{expire_given_up, give_up};
pub use self::integrate::{JoinMode, ScratchCheckout};
pub use self::landed::Landing;
pub use self::linked::main_worktree;
pub use self::merge::Merged;
pub use self::merged_pull::MergedPull;
pub use self::own::{OwnWorktree, WorkBranch};
pub(crate) use self::rehearsal::Rehearsal;
pub use self::remote::{PushResult, Remote};
pub use self::repository::{Repository, base_reference};
pub use self::request::{Isolation, LostWork, WorktreeRequest};
pub use self::reverted::Revert;
pub(crate) use self::shared::{branch_file, push_branch};
pub use self::unshare::SharedBranch;
pub use self::untracked::copy_untracked;
pub use self::worktree::{
    PreparedWorktree, make_worktrees_folder, prepare_worktree, remove_worktree,
};
pub use self::worktree_list::Worktree;
