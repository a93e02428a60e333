//! Worktrees of agents.

use el_agents::git::{GitError, Repository};
use el_agents::land::{AtomBranch, atom_branches, resolve_target};
use el_core::Store;
use el_core::ops::{self, RunFilter};

use crate::{App, Exit, Result};

mod at_remote;
mod list;
pub(super) mod prune;
mod removal;
pub(super) mod remove;
mod show;

/// List the worktrees and branches of agents, or remove merged and clean ones
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el worktrees
  el worktrees show q5e6
  el worktrees prune --dry-run
  el worktrees prune
  el worktrees remove q5e6 --force"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Prune(prune::Args),
    Remove(remove::Args),
}

impl Args {
    pub(super) fn is_removal(&self) -> bool {
        matches!(self.command, Some(Command::Prune(_) | Command::Remove(_)))
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.command {
        Some(Command::Prune(args)) => prune::run(args, app),
        Some(Command::Remove(args)) => remove::run(args, app),
        Some(Command::Show(args)) => show::run(args, app),
        Some(Command::List(_)) | None => list::run(app),
    }
}

/// The branches of all atoms, compared with the target branch.
fn find_branches(app: &App, store: &Store, repository: &Repository) -> Result<Vec<AtomBranch>> {
    // Without a target branch there is still something to list.
    let onto = target_branch(app, repository, None).ok();
    Ok(atom_branches(store, repository, &app.settings()?.land_settings()?, onto.as_deref())?)
}

/// The repository of this project.
pub(super) fn find_repository(app: &App) -> Result<Repository> {
    let settings = app.settings()?;
    let work = settings.work_settings()?;
    let folder = settings.agent_settings(&work.agents[0])?.working_directory;
    Ok(Repository::open_at(&folder)?)
}

/// Takes what other hosts shared of these atoms' branches; `None`: of all. A branch on which a run
/// works stays, and so does one that has commits of its own.
pub(super) fn follow_shared(
    app: &App,
    store: &Store,
    repository: &mut Repository,
    onto: &str,
    wanted: Option<&[String]>,
) -> Result<()> {
    let settings = app.settings()?;
    let Some(remote) = settings.shared_remote()? else { return Ok(()) };
    repository.fetch_shared(&remote, &settings.branch_prefix()?)?;
    let atoms = wanted.map_or_else(|| repository.shared_atoms(), |ids| Ok(ids.to_vec()))?;
    let live = ops::runs(store, &RunFilter { live_only: true, ..RunFilter::default() })?;
    for atom in atoms.iter().filter(|id| live.items.iter().all(|run| run.atom_id != **id)) {
        match repository.follow_shared(atom, onto) {
            // The plan of a landing leaves it out, and says why.
            Err(GitError::Diverged { .. }) => {}
            done => done?,
        }
    }
    Ok(())
}

/// The branch that work is brought to.
pub(super) fn target_branch(
    app: &App,
    repository: &Repository,
    flag: Option<&str>,
) -> Result<String> {
    let configured = app.settings()?.land_settings()?.onto;
    Ok(resolve_target(repository, flag.or(configured.as_deref()))?)
}
