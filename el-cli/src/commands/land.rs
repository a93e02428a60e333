use el_agents::git::{self, Repository};
use el_agents::land::{self, LandContext, LandItem, LandOutcome, LandSettings, atom_branches};
use el_core::{Store, ops};
use schemars::JsonSchema;
use serde::Serialize;

use self::push::PushTarget;
use super::pr::{self, Opening};
use super::work::this_program;
use super::worktrees::{find_repository, follow_shared, target_branch};
use crate::output::branch_lines::{BranchLines, print_branches};
use crate::output::{Page, Progress, runs, time};
use crate::project::environment_for_programs;
use crate::{App, CommandError, Exit, Result, complete, input};

mod push;

/// Land the finished work of agents: merge their branches in turn, and check before any is kept
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "\
Examples:
  el land q5e6
  el land --all
  el land --all --dry-run
  el land --all --onto release --robot
  el land q5e6 --commit
  el land q5e6 --commit -m \"fix: count from one\"
  el land q5e6 --allow-config
  el land --all --push

Works in a checkout of its own. The branch moves only once the check (land_check) has passed;
what makes it fail is found by halves and left out, and a conflict becomes an atom. Where the
branch is checked out with changes that are not committed, nothing is moved. It can be broken
off at any moment (Ctrl-C), and done again; --dry-run predicts conflicts, and runs no check.
Work that git revert took back comes in again once its atom is closed again. --commit first
commits what an agent left uncommitted in its worktree, with its run's summary as the message.
A branch that changes .eluent/config.toml, .claude, .mcp.json or a folder of git hooks is left
out without --allow-config: such files start programs.
--push then pushes the target branch to the branch that it follows, never by force; nothing else
of el does, and not with land_via = \"pr\".
A branch on the work of an open pull request waits, unless that atom is named as well.
With --pr, or land_via = \"pr\", it opens pull requests as el pr does, and moves no branch.
Exit code 4 if something could not be brought in.")]
pub(crate) struct Args {
    /// The atoms
    #[arg(value_name = "ATOM", required_unless_present_any = ["all", "pr"], conflicts_with = "all",
        add = complete::all_atoms())]
    atoms: Vec<String>,
    /// Every closed atom with a branch that has not landed, unless a pull request brings it in
    #[arg(long)]
    all: bool,
    /// The target branch [default: the setting land_onto, or the current branch]
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
    /// Show the plan without any change
    #[arg(long)]
    dry_run: bool,
    /// Commit the uncommitted files of the worktrees, with the summary as the message
    #[arg(long, conflicts_with = "dry_run")]
    commit: bool,
    /// The message of those commits, instead of the summary
    #[arg(short, long, value_name = "TEXT", requires = "commit")]
    message: Option<String>,
    /// Open pull requests instead, as el pr does; without an atom, those of el pr --all
    #[arg(long, conflicts_with_all = ["onto", "commit", "allow_config"])]
    pr: bool,
    /// Push the target branch afterwards, to the branch of a remote that it follows
    #[arg(long, conflicts_with = "pr")]
    push: bool,
    /// Also land changes of .eluent/config.toml, .claude, .mcp.json and git hooks
    #[arg(long)]
    allow_config: bool,
}

impl Args {
    /// True if it moves a branch here, whatever land_via says.
    fn is_local(&self) -> bool {
        self.onto.is_some() || self.commit || self.allow_config || self.push
    }

    /// The settings that decide whether and where work lands, unless a flag has said so.
    fn guarding_settings(&self) -> &'static [&'static str] {
        match (&self.onto, self.is_local()) {
            (Some(_), _) => &["land_check"],
            (None, true) => &["land_check", "land_onto"],
            (None, false) => &["land_check", "land_onto", "land_via"],
        }
    }
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Landing<'a> {
    /// The branch.
    onto: &'a str,
    dry_run: bool,
    count: usize,
    /// The number of landed atoms.
    landed: usize,
    /// With `--push`: the branch of the remote that was, or would be, pushed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed_to: Option<&'a PushTarget>,
    items: &'a [LandItem],
}

/// The answer of either way.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "the schema of both answers; each is printed by itself")]
pub(super) enum Answer<'a> {
    Landing(Landing<'a>),
    Opening(Opening<'a>),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if args.pr || !args.is_local() && app.settings()?.lands_by_pull_request()? {
        let all = args.all || args.atoms.is_empty();
        return pr::open_for_landing(app, args.atoms.clone(), all, args.dry_run);
    }
    let done = land_branches(args, app)?;
    let pushed = match &done.push {
        Some(target) if !args.dry_run => target.push_branch(&done.repository, &done.onto),
        _ => Ok(()),
    };
    report_landing(app, args.dry_run, &done, pushed)
}

/// The result of a landing.
struct Landed {
    repository: Repository,
    onto: String,
    items: Vec<LandItem>,
    /// With `--commit`.
    commits: bool,
    /// With `--push`.
    push: Option<PushTarget>,
}

/// Lands the branch of one atom; a branch that stays out is an error. `commits`: first commits the
/// changes that the agent left.
pub(crate) fn land_atom(app: &App, id: &str, commits: bool) -> Result<()> {
    let args = Args { atoms: vec![id.to_owned()], commit: commits, ..Args::default() };
    let Landed { onto, items, .. } = land_branches(&args, app)?;
    let Some(item) = items
        .iter()
        .find(|item| !matches!(item.outcome, LandOutcome::Landed | LandOutcome::Already))
    else {
        return Ok(());
    };
    let outcome = describe_outcome(item.outcome, &onto, commits);
    let error = CommandError::conflict("not_landed", format!("{} {outcome}", item.atom_id));
    Err(match &item.detail {
        Some(detail) => error.with_hint(detail.as_str()),
        None => error,
    })
}

/// Lands the named atoms.
fn land_branches(args: &Args, app: &App) -> Result<Landed> {
    git::ensure_version()?;
    let mut repository = find_repository(app)?;
    let wanted = if args.all { None } else { Some(app.resolve_ids(&args.atoms)?) };
    let onto = target_branch(app, &repository, args.onto.as_deref())?;
    let push = args.push.then(|| PushTarget::find(app, &repository, &onto)).transpose()?;
    let _lock = if args.dry_run { None } else { Some(land::lock_landing(&app.project()?.state)?) };
    let settings = match args.dry_run {
        true => app.settings()?,
        false => app.settings_for_agents()?,
    };
    settings.ensure_trusted(args.guarding_settings(), None)?;
    app.warn_of_inert(&settings);
    let settings = settings.land_settings()?;
    let store = app.open_for_reading()?;
    follow_shared(app, &store, &mut repository, &onto, wanted.as_deref())?;
    let plan = || -> Result<Vec<LandItem>> {
        let branches = atom_branches(&store, &repository, &settings, Some(&onto))?;
        let mut items = land::plan_landing(&branches, wanted.as_deref());
        tell_of_work_elsewhere(&store, &mut items)?;
        if !args.allow_config {
            land::hold_configuration(&repository, &onto, &mut items)?;
        }
        Ok(items)
    };
    let mut items = plan()?;
    if args.commit && commit_left(args, app, &store, &settings, &mut items)? {
        let before = std::mem::replace(&mut items, plan()?);
        // Why git refused a commit is known from before.
        for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::Uncommitted) {
            let same = before.iter().find(|one| one.atom_id == item.atom_id);
            item.detail = same.and_then(|one| one.detail.clone()).or(item.detail.take());
        }
    }
    if args.dry_run {
        land::predict_conflicts(&repository, &settings, &onto, &mut items)?;
    } else {
        let environment = environment_for_programs(app.project()?);
        let context = LandContext {
            settings: &settings,
            database: &app.project()?.db,
            el: this_program()?,
            environment: &environment,
            actor: app.actor(),
            session: app.session(),
        };
        let progress = Progress::new(&app.printer, "checking");
        let mut store = app.open_for_writing()?;
        land::carry_out(
            &mut store,
            &repository,
            &context,
            &onto,
            &mut items,
            &|what, at, took| {
                let at = at.get(..12).unwrap_or(at);
                progress.show_text(&format!("{what} of {at}, {}", time::format_span(took)));
            },
        )?;
    }
    note_remote_only(&repository, &onto, &mut items)?;
    Ok(Landed { repository, onto, items, commits: args.commit, push })
}

/// Commits what agents left; true if a commit was made.
fn commit_left(
    args: &Args,
    app: &App,
    store: &Store,
    settings: &LandSettings,
    items: &mut [LandItem],
) -> Result<bool> {
    let message = input::read_optional(app, "message", args.message.as_deref())?;
    Ok(land::commit_left(store, settings, items, message.as_deref())?)
}

/// Says of each branch whose work only the fetched upstream of the target has, that it is there.
fn note_remote_only(repository: &Repository, onto: &str, items: &mut [LandItem]) -> Result<()> {
    let Some(here) = repository.branch_tip(onto)? else { return Ok(()) };
    if repository.known_tip(onto)?.as_ref() == Some(&here) {
        return Ok(());
    }
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::Already) {
        let tip = item.tip.as_deref().unwrap_or_default();
        if !repository.has_landed(&here, &item.atom_id, tip)? {
            item.detail = Some(format!("at the remote: {onto} here gets it by git pull"));
        }
    }
    Ok(())
}

/// Says where an atom without a branch here is being worked on.
fn tell_of_work_elsewhere(store: &Store, items: &mut [LandItem]) -> Result<()> {
    for item in items.iter_mut().filter(|item| item.outcome == LandOutcome::NoBranch) {
        let Ok(atom) = ops::get_atom(store, &item.atom_id) else { continue };
        let Some(run) = atom.run_id.map(|run| ops::get_run(store, &run)).transpose()? else {
            continue;
        };
        item.outcome = LandOutcome::AtWork;
        let host = runs::host_of_run(&run);
        item.detail = host.map(|host| format!("{} works on {host}", run.id));
    }
    Ok(())
}

fn report_landing(app: &App, dry_run: bool, done: &Landed, pushed: Result<()>) -> Result<Exit> {
    let (onto, items) = (done.onto.as_str(), &done.items[..]);
    let landed = items.iter().filter(|item| item.outcome == LandOutcome::Landed).count();
    let pushed_to = done.push.as_ref().filter(|_| pushed.is_ok());
    let data = Landing { onto, dry_run, count: items.len(), landed, pushed_to, items };
    let with_items = |error: CommandError| {
        let error = error.with_detail("onto", onto).with_detail("landed", landed);
        error.with_detail("items", serde_json::to_value(items).unwrap_or_default())
    };
    let failed = items.iter().filter(|item| item.outcome.is_failure()).count();
    if failed > 0 && app.printer.is_robot() {
        let noun = if failed == 1 { "branch" } else { "branches" };
        return Err(with_items(CommandError::conflict(
            "not_landed",
            format!("{failed} {noun} could not be brought to {onto}"),
        ))
        .with_hint("details.items says of each what became of it, and why"));
    }
    if app.printer.is_robot()
        && let Err(error) = pushed
    {
        return Err(with_items(error));
    }
    let exit = if failed == 0 { Exit::Done } else { Exit::Conflict };
    let exit = app.printer.emit_and_exit(&data, exit, |page| {
        print_items(page, onto, done.commits, items);
        if let Some(target) = pushed_to {
            let verb = if dry_run { "would be" } else { "is" };
            page.push_line(format!("{onto} {verb} pushed to {}", target.name()));
            if dry_run && !target.commits().is_empty() {
                page.push_line(format!("  with what {onto} has here already:"));
                target.commits().iter().for_each(|one| page.push_line(format!("  {one}")));
            }
        }
    })?;
    pushed.map(|()| exit)
}

fn print_items(page: &mut Page, onto: &str, commits: bool, items: &[LandItem]) {
    let brought_back = |revert: &String| {
        let short = revert.get(..12).unwrap_or(revert);
        format!("what {short} took back is brought in again")
    };
    let lines = items.iter().map(|item| BranchLines {
        atom_id: &item.atom_id,
        is_failure: item.outcome.is_failure(),
        outcome: describe_outcome(item.outcome, onto, commits),
        facts: item.brings_back.iter().map(brought_back).collect(),
        detail: item.detail.as_deref(),
        conflict_atom: item.conflict_atom.as_deref(),
    });
    print_branches(page, "nothing to bring in", lines);
}

fn describe_outcome(outcome: LandOutcome, onto: &str, commits: bool) -> String {
    match outcome {
        LandOutcome::ToLand => format!("would be brought to {onto}"),
        LandOutcome::Landed => format!("is on {onto} now"),
        LandOutcome::Already => format!("was on {onto} already"),
        LandOutcome::Nothing => "has no commits to bring in".to_owned(),
        LandOutcome::NoBranch => "has no branch".to_owned(),
        LandOutcome::NotFinished => "is not closed".to_owned(),
        LandOutcome::AtWork => "has a run at work".to_owned(),
        LandOutcome::Uncommitted if commits => "has changes that are not committed".to_owned(),
        LandOutcome::Uncommitted => {
            "has changes that are not committed; commit them in its worktree, or use --commit"
                .to_owned()
        }
        LandOutcome::Astray => "was left out".to_owned(),
        LandOutcome::Conflict => format!("is in conflict with {onto}"),
        LandOutcome::CheckFailed => "makes the check fail, and was left out".to_owned(),
        LandOutcome::ChangesConfiguration => {
            "changes what decides about agents or hooks; look at it (el diff), then land it with \
             --allow-config"
                .to_owned()
        }
        LandOutcome::Held => format!("waits: {onto} was not moved"),
        LandOutcome::Waits => "waits for the work of another atom, and was left out".to_owned(),
        LandOutcome::TakenBack => format!("was on {onto}, and was taken back there"),
        LandOutcome::BrokenOff => "was not brought in: this was broken off before".to_owned(),
    }
}
