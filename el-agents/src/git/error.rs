use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Messages of git, ssh and forges that refuse access.
const NO_ACCESS: [&str; 6] = [
    "The requested URL returned error: 403",
    "could not read Username",
    "could not read Password",
    "Authentication failed for",
    "Permission denied (publickey",
    "Repository not found",
];
/// Messages of git and ssh about an unreachable host.
const NO_NETWORK: [&str; 5] = [
    "unable to access 'http",
    "Could not resolve host",
    "Connection timed out",
    "Connection refused",
    "Network is unreachable",
];

/// Messages about a file that a partial clone left out, if its remote did not answer.
const LEFT_OUT: [&str; 2] = ["from promisor remote", "Could not read from remote repository"];
/// Messages of git about branches without a common commit.
const NO_COMMON: [&str; 2] = [": no merge base", "refusing to merge unrelated histories"];

pub type Result<T, E = GitError> = std::result::Result<T, E>;

/// An error of git, or of a step around git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Git is not installed.
    #[error("git cannot be run")]
    Program(#[source] std::io::Error),
    /// The folder is in no repository.
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    /// A `.git` that git does not accept as a repository.
    #[error("git finds no repository in {}, though something is there", .0.display())]
    Broken(PathBuf),
    /// The repository belongs to another user.
    #[error("git does not trust the repository at {}: it belongs to another user", .0.display())]
    NotTrusted(PathBuf),
    /// A repository without a checkout.
    #[error("{} is a bare repository: it has no checkout to work in", .0.display())]
    Bare(PathBuf),
    /// References in a file that the sandbox cannot open to one branch alone.
    #[error(
        "the repository keeps its references as a reftable, where the sandbox lets no commit in"
    )]
    Reftable,
    /// The repository has no commit.
    #[error("the repository {} has no commit yet", .0.display())]
    NoCommit(PathBuf),
    /// HEAD names a commit and no branch.
    #[error("the repository {} has a detached HEAD: it is on no branch", .0.display())]
    Detached(PathBuf),
    /// A branch or commit that is not there.
    #[error("there is no branch or commit '{0}' in the repository")]
    NoRevision(String),
    /// The branch is in use.
    #[error("the branch {branch} is checked out in {}", at.display())]
    BranchElsewhere {
        /// The short name of the branch.
        branch: String,
        /// Where.
        at: PathBuf,
    },
    /// Another file or folder stands in the worktree's place.
    #[error("{} is in the way: it is not a worktree of this repository", .0.display())]
    InTheWay(PathBuf),
    /// A worktree that a person has locked, as for a disk that is not always there.
    #[error(
        "the worktree {at} is locked, and its folder is not there: bring the folder back, or give \
         it up with git worktree unlock {at}",
        at = .0.display()
    )]
    LockedAway(PathBuf),
    /// Another git, living or dead, holds a lock.
    #[error("the repository is locked by another git, or by one that died: {0}")]
    Locked(String),
    /// Locks that an `el land` killed in the middle of a move has left.
    #[error(
        "an el land was killed while it moved files, and the locks of its git are still there: {}",
        listed(.0)
    )]
    Left(Vec<PathBuf>),
    /// Git took too long and was ended.
    #[error("git {what} took longer than {} s, and was ended", limit.as_secs())]
    TimedOut {
        /// The git command.
        what: String,
        /// The time limit.
        limit: std::time::Duration,
    },
    /// A branch whose reference, commits or files are damaged.
    #[error("the branch {branch} cannot be read: {said}")]
    Damaged {
        branch: String,
        /// Git's message.
        said: String,
    },
    /// The finished dependencies of an atom do not merge.
    #[error(
        "the work that this builds on does not fit together: {branch} is in conflict with {with} \
         in {}",
        files.join(", ")
    )]
    MergeConflict {
        /// The branch that could not be joined.
        branch: String,
        /// The branches merged before.
        with: String,
        /// In conflict.
        files: Vec<String>,
    },
    /// The finished work of a dependency is not on its atom's branch.
    #[error(
        "commits of {atom}, which this builds on, are not on its branch {branch}; \
         they are kept as refs/el/astray/{atom}"
    )]
    Astray {
        /// The atom of the dependency.
        atom: String,
        branch: String,
    },
    /// Both sides of a shared branch have commits that the other lacks.
    #[error(
        "{branch} has commits here and others at the remote: merge refs/el/shared/{branch} in its \
         worktree"
    )]
    Diverged { branch: String },
    /// Work that is needed lies on another machine.
    #[error(
        "the work of {atom} was done on {host}, and its branch is neither here nor at a remote \
         that hosts share"
    )]
    OnOtherHost { atom: String, host: String },
    /// The remote that hosts share did not give its branches.
    #[error("the branches of {remote} could not be fetched")]
    NotFetched {
        remote: String,
        #[source]
        error: Box<GitError>,
    },
    /// A file of the configuration's `worktree_copy` or `worktree_link`.
    #[error("{path} could not be put into the worktree: {why}")]
    Untracked {
        /// As configured.
        path: String,
        /// In words.
        why: String,
    },
    /// The configuration's `worktree_setup` failed.
    #[error("the setup of the worktree failed ({status}): {said}")]
    Setup {
        /// The status of the command.
        status: String,
        /// The end of the command's output.
        said: String,
    },
    /// A folder or file could not be used.
    #[error("cannot {doing} {}", path.display())]
    File {
        /// The step.
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The files of a checkout are ahead of the branch and could not be put back.
    #[error(transparent)]
    HalfMoved(#[from] Box<HalfMoved>),
    /// A git without a command that is needed.
    #[error("this is git {0}, and worktrees and el land need 2.38 or later")]
    TooOld(String),
    /// The remote asks for a sign-in that git does not have, or the user has no access.
    #[error("git {what} was not let in: {said}")]
    NotLetIn {
        /// The git command.
        what: String,
        /// Git's message.
        said: String,
    },
    /// The remote could not be reached.
    #[error("git {what} reached nobody: {said}")]
    NotReached {
        /// The git command.
        what: String,
        /// Git's message.
        said: String,
    },
    /// A branch that has no commit in common with the other, as far as they are here.
    #[error(
        "git {what} finds no common history, so the branch is unrelated, or a shallow fetch has \
         cut the history: git fetch --unshallow brings that back"
    )]
    Unrelated {
        /// The git command.
        what: String,
    },
    /// Any other refusal of git.
    #[error("git {what} failed: {said}")]
    Failed {
        /// The git command.
        what: String,
        /// Git's message.
        said: String,
    },
}

/// The state after a move that could be neither finished nor undone.
#[derive(Debug, thiserror::Error)]
#[error(
    "the files in {at} are, some or all, those of {new}, while {target} is still at {old}: {why}, \
     and they could not be put back: {which}",
    at = at.display()
)]
pub struct HalfMoved {
    /// The checkout.
    pub(super) at: PathBuf,
    /// The branch.
    pub(super) target: String,
    /// The commit of the branch.
    pub(super) old: String,
    /// The commit to which the branch was to move.
    pub(super) new: String,
    /// The reason why the move failed.
    pub(super) why: String,
    /// The reason why the files could not be put back.
    pub(super) which: String,
}

/// Quotes paths for a shell.
fn listed(paths: &[PathBuf]) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@,:".contains(c);
    let word = |path: &PathBuf| match path.display().to_string() {
        text if text.chars().all(is_plain) => text,
        text => format!("'{}'", text.replace('\'', "'\\''")),
    };
    paths.iter().map(word).collect::<Vec<_>>().join(" ")
}

impl GitError {
    /// A refusal, by what git said.
    pub(super) fn of_refusal(what: String, said: String) -> GitError {
        let has = |all: &[&str]| all.iter().any(|words| said.contains(words));
        if has(&NO_ACCESS) {
            GitError::NotLetIn { what, said }
        } else if has(&NO_NETWORK) || LEFT_OUT.iter().all(|words| said.contains(words)) {
            GitError::NotReached { what, said }
        } else if has(&NO_COMMON) {
            GitError::Unrelated { what }
        } else {
            GitError::Failed { what, said }
        }
    }

    /// Returns true if git looked, and said no. All others say that nothing is known.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, GitError::Failed { .. } | GitError::Unrelated { .. })
    }

    /// Advice on how to go on.
    pub fn hint(&self) -> Cow<'static, str> {
        let said = match self {
            GitError::HalfMoved(half) => {
                let (at, new) = (half.at.display(), &half.new);
                return format!(
                    "mend that, and el land puts them back; or git -C {at} reset {new} keeps them, \
                     and the work has landed"
                )
                .into();
            }
            GitError::Left(locks) => {
                return format!(
                    "once no git is at work there any more: rm {}; el land then puts the files \
                     back first",
                    listed(locks)
                )
                .into();
            }
            GitError::NotTrusted(at) => {
                return format!(
                    "if you do: git config --global --add safe.directory {}",
                    at.display()
                )
                .into();
            }
            GitError::Astray { atom, branch } => {
                return format!(
                    "git branch -f {branch} refs/el/astray/{atom} takes them, \
                     git update-ref -d refs/el/astray/{atom} gives them up; then el retry"
                )
                .into();
            }
            GitError::Damaged { branch, .. } => {
                return format!(
                    "git fsck names what is damaged; mend it, as by a fetch from a whole clone, or \
                     take {branch} away; then el retry"
                )
                .into();
            }
            GitError::TooOld(_) => {
                "install a newer git; isolate = \"none\" works without worktrees"
            }
            GitError::Program(_) => "install git, or put its folder on PATH",
            GitError::NoRepository(_) => "git init makes one; isolate = \"none\" works without",
            GitError::Broken(_) => {
                "git status there says the same; mend it, or remove it if there is to be none"
            }
            GitError::Bare(_) => {
                "git config core.bare false, if it has files beside it; or work in a clone of it"
            }
            GitError::Reftable => {
                "git refs migrate --ref-format=files (git 2.46 or newer); or set sandbox = \"off\""
            }
            GitError::NoCommit(_) => "commit something first; isolate = \"none\" works without",
            GitError::Detached(_) => "name the branch with --onto, or set land_onto",
            GitError::NoRevision(_) => "git branch lists what there is",
            GitError::BranchElsewhere { .. } => {
                "check something else out there, or move that worktree's work on"
            }
            GitError::InTheWay(_) => "move it away, or set worktrees_directory to another folder",
            GitError::Locked(said) => {
                // Git quotes the path.
                let lock = said.split('\'').find(|part| part.ends_with(".lock"));
                let lock = lock.map(|path| format!(": rm {}", listed(&[path.into()])));
                return format!(
                    "wait for the other git; if none runs, a git that died left the lock file \
                     behind{}",
                    lock.unwrap_or_default()
                )
                .into();
            }
            GitError::TimedOut { .. } => {
                "a disk or a hook that hangs; the same git by hand shows where"
            }
            GitError::MergeConflict { .. } => {
                "el land --all brings them in and files the conflict as an atom; then el retry"
            }
            GitError::Diverged { .. } | GitError::LockedAway(_) => "then el retry",
            GitError::OnOtherHost { .. } => {
                "el config set remote origin on every host, or push the branch from there"
            }
            GitError::NotFetched { error, .. } => return error.hint(),
            GitError::Untracked { .. } => {
                "worktree_copy and worktree_link name files of the repository's folder"
            }
            GitError::Setup { .. } => {
                "run the worktree_setup command in the worktree to see it fail"
            }
            GitError::NotLetIn { .. } => {
                "gh auth setup-git, or glab auth login, has git use that sign-in; ssh-add -l lists \
                 the keys of ssh"
            }
            GitError::NotReached { .. } => {
                "try again: el finds what was done already, and does the rest"
            }
            GitError::Unrelated { .. } => "then do it again; nothing was lost",
            GitError::Failed { .. } => "the same git by hand says more; nothing was lost",
            GitError::File { .. } => "el worktrees shows the worktrees; nothing was lost",
        };
        said.into()
    }
}

/// The error of a step with a file or folder.
pub(super) fn file_error(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> GitError {
    let path = path.to_owned();
    move |source| GitError::File { doing, path, source }
}
