//! Worktrees of agents.

use std::path::PathBuf;

use el_agents::git::{GitError, Repository, Revert, Worktree, branch_of};
use el_core::Store;
use el_core::model::{Atom, Status};
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;

mod list;
pub(super) mod prune;

/// How the names of agents' branches begin.
const OF_AGENTS: &str = "el/";

/// List the worktrees and branches of agents, or take away those that are merged and clean
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el worktrees
  el worktrees --robot
  el worktrees prune --dry-run
  el worktrees prune"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Prune(prune::Args),
}

impl Args {
    pub(super) fn prunes(&self) -> bool {
        matches!(self.command, Some(Command::Prune(_)))
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Prune(args)) => prune::run(args, app),
        None => list::run(app),
    }
}

/// An atom's branch, as it stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Place {
    pub(super) atom_id: String,
    /// `null`: the tracker does not know the atom.
    pub(super) status: Option<Status>,
    pub(super) title: Option<String>,
    pub(super) branch: String,
    pub(super) tip: String,
    /// `null`: the branch is checked out nowhere.
    pub(super) path: Option<PathBuf>,
    /// Its folder was removed by somebody.
    pub(super) missing: bool,
    /// What its worktree has checked out instead of the branch: another branch, or "no branch".
    /// `null`: nothing else.
    pub(super) strayed_to: Option<String>,
    /// Files with changes that no commit has.
    pub(super) uncommitted: Vec<String>,
    /// Commits of its own.
    pub(super) commits: usize,
    /// All of it is in the branch that work is brought to, and was not taken back there.
    pub(super) landed: bool,
    /// The commit that took it back there after it had landed. `null`: none.
    pub(super) taken_back: Option<String>,
    /// Those that took back any of it, the last first.
    #[serde(skip)]
    pub(super) reverts: Vec<Revert>,
    /// Its atom has a live run.
    pub(super) live: bool,
    /// The branch was made by el.
    pub(super) ours: bool,
}

impl Place {
    /// Whether its worktree is on something else, in words: what was committed there is not on the
    /// branch.
    pub(super) fn astray(&self) -> Option<String> {
        let on = self.strayed_to.as_ref()?;
        Some(format!("its worktree is on {on}, not on {}", self.branch))
    }

    /// Whether it landed and was taken back since, in words.
    pub(super) fn undone(&self) -> Option<String> {
        self.taken_back.as_ref().map(|commit| {
            format!("it had landed, and was taken back by {}", commit.get(..12).unwrap_or(commit))
        })
    }
}

/// Everything that is there, in the order of the branches' names. `onto`: the branch that work is
/// brought to, if not the usual one.
pub(super) fn places(
    app: &App,
    store: &Store,
    repository: &Repository,
    onto: Option<&str>,
) -> Result<Vec<Place>> {
    let ours = app.settings()?.put_into_worktrees()?;
    let trees = repository.worktrees().map_err(failed)?;
    let live = ops::live_runs(store)?;
    let target =
        target(app, repository, onto).ok().and_then(|name| repository.tip(&name).ok().flatten());
    let folder = app.settings()?.worktrees()?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let mut found = Vec::new();
    for atom in repository.atoms().map_err(failed)? {
        let branch = branch_of(&atom);
        let Some(tip) = repository.tip(&branch).map_err(failed)? else { continue };
        let own = trees.iter().find(|tree| tree.path == folder.join(&atom) && !tree.is_missing);
        let tree = own
            .or_else(|| trees.iter().find(|tree| tree.branch.as_deref() == Some(&branch)))
            // Made when `worktrees_directory` was another one.
            .or_else(|| {
                trees.iter().skip(1).find(|tree| tree.path.ends_with(&atom) && !tree.is_missing)
            });
        found.push(place(
            store,
            repository,
            &atom,
            tip,
            tree,
            target.as_deref(),
            &ours,
            live.iter().any(|run| run.atom_id == atom),
        )?);
    }
    Ok(found)
}

#[expect(clippy::too_many_arguments, reason = "what the caller has looked up once for all of them")]
fn place(
    store: &Store,
    repository: &Repository,
    atom: &str,
    tip: String,
    tree: Option<&Worktree>,
    target: Option<&str>,
    ours: &[String],
    live: bool,
) -> Result<Place> {
    let known: Option<Atom> = ops::brief(store, atom).ok().filter(|found| found.id == atom);
    let base = repository.base_of(atom).map_err(failed)?;
    let range = base.as_ref().map_or_else(|| tip.clone(), |base| format!("{base}..{tip}"));
    let commits = match target {
        _ if base.is_some() => repository.git().maybe(&["rev-list", "--count", &range]),
        Some(target) => {
            repository.git().maybe(&["rev-list", "--count", &format!("{target}..{tip}")])
        }
        None => Ok(None),
    };
    let branch = branch_of(atom);
    let strayed_to = tree.filter(|tree| tree.branch.as_deref() != Some(&branch)).map(|tree| {
        match &tree.branch {
            Some(other) => other.clone(),
            None => "no branch".to_owned(),
        }
    });
    // What has nothing of its own has nothing to bring in.
    let landed = match target {
        _ if strayed_to.is_some() => false,
        _ if base.as_deref() == Some(tip.as_str()) => true,
        Some(target) => repository.has_landed(target, atom, &tip).map_err(failed)?,
        None => false,
    };
    let commits = commits.map_err(failed)?.and_then(|text| text.parse().ok()).unwrap_or(0);
    let reverts = match target {
        Some(target) if commits > 0 && strayed_to.is_none() => {
            repository.reverts(target, atom, &tip).map_err(failed)?
        }
        _ => Vec::new(),
    };
    let taken_back = reverts.first().filter(|_| landed).map(|revert| revert.commit.clone());
    Ok(Place {
        atom_id: atom.to_owned(),
        status: known.as_ref().map(|atom| atom.status),
        title: known.map(|atom| atom.title),
        branch,
        path: tree.map(|tree| tree.path.clone()),
        missing: tree.is_some_and(|tree| tree.is_missing),
        strayed_to,
        uncommitted: match tree {
            Some(tree) => tree.changes(ours).map_err(failed)?,
            None => Vec::new(),
        },
        commits,
        landed: landed && taken_back.is_none(),
        taken_back,
        reverts,
        live,
        ours: base.is_some(),
        tip,
    })
}

/// The repository of this project.
pub(super) fn repository(app: &App) -> Result<Repository> {
    let settings = app.settings()?;
    let work = settings.work()?;
    let folder = settings.agent(&work.agents[0])?.working_directory;
    Repository::of(&folder).map_err(failed)
}

/// The branch that work is brought to.
pub(super) fn target(app: &App, repository: &Repository, flag: Option<&str>) -> Result<String> {
    let configured = app.settings()?.landing()?.onto;
    let name = match flag.map(str::to_owned).or(configured) {
        Some(name) => name,
        None => repository.current_branch().map_err(failed)?,
    };
    if name.starts_with(OF_AGENTS) {
        return Err(CommandError::usage(format!(
            "{name} is a branch of an agent: work is brought from it, not to it"
        ))
        .with_hint("name a branch of your own with --onto, or in land_onto"));
    }
    if repository.tip(&name).map_err(failed)?.is_none() {
        let head = repository.head().map_err(failed);
        head?;
        return Err(failed(GitError::NoRevision(name)));
    }
    Ok(name)
}

/// What git could not do, for people and programs.
pub(super) fn failed(error: GitError) -> CommandError {
    let exit = match &error {
        GitError::NoRepository(_) | GitError::NoRevision(_) => Exit::NotFound,
        GitError::Program(_)
        | GitError::NotTrusted(_)
        | GitError::TooOld(_)
        | GitError::Setup { .. }
        | GitError::Untracked { .. } => Exit::Configuration,
        GitError::TimedOut { .. } => Exit::TimedOut,
        GitError::Apart { .. }
        | GitError::Bare(_)
        | GitError::NoCommit(_)
        | GitError::Detached(_)
        | GitError::BranchElsewhere { .. }
        | GitError::InTheWay(_)
        | GitError::HalfMoved(_)
        | GitError::Left(_)
        | GitError::Locked(_) => Exit::Conflict,
        GitError::File { .. } | GitError::Failed { .. } => Exit::Internal,
    };
    let retryable = matches!(error, GitError::Locked(_) | GitError::Left(_));
    let (message, hint) = (error.to_string(), error.hint());
    let made = CommandError::new(exit, "git", message).with_hint(hint).with_retryable(retryable);
    match std::error::Error::source(&error) {
        Some(source) => made.with_detail("cause", source.to_string()),
        None => made,
    }
}
