use el_agents::forge::ForgeWaits;
use el_agents::git::{self, Repository};
use el_agents::land::{self, LandContext};
use el_agents::pull_requests::{PullItem, PullOptions, PullPlace, PullRun, open_all};

use super::answer::{Opening, report_opening};
use super::place::find_or_ask;
use super::wanted_atoms;
use crate::commands::work::this_program;
use crate::commands::worktrees::{find_repository, follow_shared, target_branch};
use crate::own_state::own_folder;
use crate::project::environment_for_programs;
use crate::{App, Exit, Result, complete};

#[derive(Debug, clap::Args)]
pub(super) struct Open {
    /// The atoms
    #[arg(value_name = "ATOM", conflicts_with = "all", add = complete::all_atoms())]
    atoms: Vec<String>,
    /// Every closed atom with a branch that is not merged
    #[arg(long)]
    all: bool,
    /// As drafts [default: the setting pr_draft]
    #[arg(long, conflicts_with = "ready")]
    draft: bool,
    /// Ready for review; those that are drafts become so, too
    #[arg(long)]
    ready: bool,
    /// The branch that receives the work [default: the repository's default branch]
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Show where to and what, and push nothing
    #[arg(long)]
    dry_run: bool,
}

impl Open {
    /// Makes the request of `el land --pr`.
    pub(super) fn new(atoms: Vec<String>, all: bool, dry_run: bool) -> Open {
        Open { atoms, all, draft: false, ready: false, base: None, dry_run }
    }
}

pub(super) fn run(args: &Open, app: &App) -> Result<Exit> {
    git::ensure_version()?;
    let mut repository = find_repository(app)?;
    let wanted = wanted_atoms(app, &args.atoms, args.all)?;
    let settings = match args.dry_run {
        true => app.settings()?,
        false => app.settings_for_agents()?,
    };
    settings.ensure_trusted(&["land_check"], None)?;
    app.warn_of_inert(&settings);
    let (land, mut pull) = (settings.land_settings()?, settings.pull_settings()?);
    pull.place.base.clone_from(&args.base);
    let place = find_or_ask(app, &repository, &pull.forges, &pull.place)?;
    let _lock = if args.dry_run { None } else { Some(land::lock_landing(&app.project()?.state)?) };
    let base_commit = place.fetch_base(&repository)?;
    warn_of_rename(app, &repository, &place, &base_commit)?;
    let mut store = app.open_for_writing()?;
    follow_shared(app, &store, &mut repository, &base_commit, wanted.as_deref())?;
    let environment = environment_for_programs(app.project()?);
    let context = LandContext {
        settings: &land,
        database: &app.project()?.db,
        el: this_program()?,
        environment: &environment,
        actor: app.actor(),
        session: app.session(),
    };
    let run = PullRun {
        repository: &repository,
        land: &context,
        forges: &pull.forges,
        place: &place,
        base_commit: &base_commit,
        texts: &pull.texts,
        waits: &ForgeWaits::new(own_folder("forges")),
        options: PullOptions {
            is_draft: !args.ready && (args.draft || pull.options.is_draft),
            changes_draft: args.draft || args.ready,
            changes_base: args.base.is_some(),
            dry_run: args.dry_run,
            ..pull.options
        },
    };
    let items: Vec<PullItem> = open_all(&run, &mut store, wanted.as_deref())?;
    let has_worktrees = settings.has_worktrees()?;
    report_opening(app, &Opening::new(&place, args.dry_run, &items, has_worktrees))
}

/// Warns if the branch that work lands on tracks a branch that was renamed at the remote.
fn warn_of_rename(
    app: &App,
    repository: &Repository,
    place: &PullPlace,
    base_commit: &str,
) -> Result<()> {
    // Where no branch is checked out, none follows another.
    let Ok(branch) = target_branch(app, repository, None) else { return Ok(()) };
    if let Some(told) = place.describe_rename(repository, &branch, base_commit)? {
        app.printer.warn(&told);
    }
    Ok(())
}
