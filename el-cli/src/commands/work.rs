use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use el_agents::worker::{self, Served, WorkOptions};
use el_core::ops::{self, AtomFilter};

use super::freed;
use super::list::FilterArgs;
use crate::output::sanitize;
use crate::pull_watch::watch_for_work;
use crate::settings::{Settings, WorkSettings};
use crate::{App, CommandError, Exit, Result, backups, complete, mistyped};

mod background;
mod dry_run;
mod failures;
pub(super) mod folders;
pub(super) mod frozen;
pub(super) mod live;
mod options;
mod outage;
pub(super) mod preflight;
mod remarks;
mod resume;
mod signed_on;
mod status;
mod stop;
mod to_land;

pub(super) use to_land::items_to_land;
mod words;

pub(super) use stop::{named_worker, silent_hint};

use failures::ensure_all_is_done;
pub(super) use failures::{pause_error, work_failure};
pub(super) use options::{draining_worker, project_places, this_program};
use remarks::{
    find_left_atoms, tell_of_others, tell_of_remote, tell_of_strangers, tell_what_waits,
};
pub(super) use remarks::{tell_of_folders, tell_of_inert};
pub(crate) use signed_on::{Started, start_worker};

/// Claim ready atoms and run an agent on each, in a tmux session
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el work                          Work, and wait for more, until Ctrl-C
  el work --once                   One atom
  el work --once --wait            The same; if claiming is paused, wait until it goes on
  el work --drain --concurrency 3  Until nothing is ready
  el work --type bug --label api --timeout 30m
  el work --concurrency 3 --isolate worktree
  el work --dry-run                Show the claims and the agent's calls; start none
  el work --agent gendry,ada       For several agents; each does one thing at a time
  el work q5e6 r7k2                Just these atoms
  el work --name forge             Under a name, by which el workers lists it
  el work --offers gpu,macos       Also what needs these (el create --needs gpu)
  el work --background             Work on without this terminal; what it prints goes to a log
  el work --status                 Which workers are there, since when, and on what
  el work --stop                   End every worker and every session cleanly
  el work --stop --host mac-7      Those of one host, from any host
  el work --resume                 Claim again: you have logged in, or a limit is over
  el work --resume --drain         The same, and work until nothing is ready

Ctrl-C stops the claiming and waits for what runs; a second Ctrl-C leaves the sessions running:
each has its own supervisor, and a later el work adopts it. With --robot, each happening is one
line of JSON.

Errors of the account, the service and the machine cost an atom no attempt. A usage limit and an
outage are waited for; after a refusal of the account (log-in, key, credit, model) nothing is
claimed for it until el work --resume.

Exit codes of --once, --max, --drain and of named atoms:
   0  all that was claimed has ended well, or nothing was ready that it can do; named atoms that
      it did not work on are closed
   6  the account is refused, and no other agent has work; or no agent can work on this host
   9  some work failed or is blocked, or a named atom was not worked on and is not closed
  10  claiming is paused: usage limit or outage (--once), or the day's budget is spent")]
pub(crate) struct Args {
    /// Only these atoms; leaves when all are done or wait
    #[arg(value_name = "ATOM", add = complete::complete_atoms(),
        conflicts_with_all = ["stop", "resume", "status"])]
    atoms: Vec<String>,
    /// Claim a single atom, wait for its end, and leave
    #[arg(long, conflicts_with_all = ["drain", "max", "stop"])]
    once: bool,
    /// With --once: wait for the end of a pause instead of leaving
    #[arg(long, requires = "once", conflicts_with_all = ["drain", "max", "stop"])]
    wait: bool,
    /// Leave when no atom is ready and no run is live
    #[arg(long, conflicts_with = "stop")]
    drain: bool,
    /// Leave after this many claims
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "stop")]
    max: Option<u32>,
    /// End every worker of this project and its sessions, on all hosts, and wait for the end
    #[arg(long)]
    stop: bool,
    /// With --stop: only what runs on this host
    #[arg(long, value_name = "HOST", requires = "stop",
        value_parser = NonEmptyStringValueParser::new())]
    host: Option<String>,
    /// The worker's name, by which el workers lists it; with --stop, the one to stop
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(),
        conflicts_with_all = ["resume", "status", "dry_run"])]
    name: Option<String>,
    /// Work in the background, without a terminal; el work --stop ends the worker
    #[arg(long, conflicts_with_all = ["stop", "resume", "dry_run"])]
    background: bool,
    /// Show the workers, their start, and their current work
    #[arg(long,
        conflicts_with_all = ["once", "drain", "max", "stop", "resume", "dry_run", "background"])]
    status: bool,
    /// Resume claiming: end the account's pause in all its projects, and lift the budget of this
    /// day (UTC). With --once, --drain or --max, also work
    #[arg(long, conflicts_with_all = ["stop", "dry_run"])]
    resume: bool,
    /// Show the atoms to claim and the agent's command, and claim none
    #[arg(long, conflicts_with = "stop")]
    dry_run: bool,
    #[command(flatten, next_help_heading = "Which atoms")]
    filter: FilterArgs,
    #[command(flatten, next_help_heading = "How agents run")]
    overrides: Overrides,
}

impl Args {
    pub(super) fn only_looks(&self) -> bool {
        self.dry_run || self.status
    }

    /// Returns true if the worker ends by itself. The exit code then tells how the work ended.
    fn is_bounded(&self) -> bool {
        self.once || self.drain || self.max.is_some() || !self.atoms.is_empty()
    }
}

/// Settings for this worker, as flags.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Overrides {
    /// The labels that this worker offers, as a list with commas (gpu,macos): it takes atoms, and
    /// runs agents, that need no others
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    offers: Vec<String>,
    /// Sessions at a time; also the agent's own limit, if the worker has a single agent
    #[arg(long, value_name = "N")]
    concurrency: Option<String>,
    /// The agent that does the work, or several with commas between
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// The longest that a run may take (90m, 2h)
    #[arg(long, value_name = "TIME")]
    timeout: Option<String>,
    /// Keep tmux sessions and context files after a run
    #[arg(long)]
    preserve_sessions: bool,
    /// The folder in which agents work
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    workdir: Option<String>,
    /// Give each run a git worktree, or let all runs share a folder
    #[arg(long, value_name = "HOW", value_parser = ["worktree", "none"])]
    isolate: Option<String>,
    /// The model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Claude Code's permission mode
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,
    /// A tool or rule that the agent may use without asking, such as 'Bash(cargo *)'; may be
    /// repeated
    #[arg(long = "allow", value_name = "RULE")]
    allowed_tools: Vec<String>,
    /// Turns after which the agent gives up
    #[arg(long, value_name = "N")]
    max_turns: Option<String>,
    /// The most that a run may cost, in US dollars
    #[arg(long, value_name = "USD")]
    budget_per_run: Option<String>,
    /// The most that all runs of a day (UTC) may cost, in US dollars
    #[arg(long, value_name = "USD")]
    budget_per_day: Option<String>,
    /// The one-minute load per core above which no session starts
    #[arg(long, value_name = "LOAD")]
    max_load: Option<String>,
    /// MiB of memory that must stay free beside a new session
    #[arg(long, value_name = "MIB")]
    min_memory: Option<String>,
}

impl Overrides {
    /// The settings and agents of a worker here, with the tools that the flags allow. Tells of the
    /// agents that work elsewhere.
    pub(super) fn find_agents(
        &self,
        app: &App,
        settings: &Settings,
        work: WorkSettings,
    ) -> Result<(WorkSettings, Vec<Served>)> {
        let (work, elsewhere) = settings.agents_here(work)?;
        elsewhere.iter().for_each(|why| app.printer.note(&format!("not here: {why}")));
        let mut agents = settings.served_agents(&work)?;
        for served in &mut agents {
            served.agent.allowed_tools.extend(self.allowed_tools.iter().cloned());
        }
        Ok((work, agents))
    }

    pub(super) fn apply_to(&self, settings: Settings) -> Settings {
        let offers = (!self.offers.is_empty()).then(|| self.offers.join(","));
        settings
            .with_flag("--offers", "worker_offers", offers.as_deref())
            .with_flag("--concurrency", "concurrency", self.concurrency.as_deref())
            .with_flag("--agent", "agent", self.agent.as_deref())
            .with_flag("--timeout", "execution_timeout", self.timeout.as_deref())
            .with_flag(
                "--preserve-sessions",
                "preserve_sessions",
                self.preserve_sessions.then_some("true"),
            )
            .with_flag("--workdir", "working_directory", self.workdir.as_deref())
            .with_flag("--isolate", "isolate", self.isolate.as_deref())
            .with_flag("--model", "model", self.model.as_deref())
            .with_flag("--permission-mode", "permission_mode", self.permission_mode.as_deref())
            .with_flag("--max-turns", "max_turns", self.max_turns.as_deref())
            .with_flag("--budget-per-run", "budget_per_run", self.budget_per_run.as_deref())
            .with_flag("--budget-per-day", "budget_per_day", self.budget_per_day.as_deref())
            .with_flag("--max-load", "max_load", self.max_load.as_deref())
            .with_flag("--min-memory", "min_memory", self.min_memory.as_deref())
    }
}

/// The settings and agents from which a worker is made.
struct Resolved {
    settings: Settings,
    work: WorkSettings,
    agents: Vec<Served>,
    filter: AtomFilter,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if args.stop {
        let (host, name) = (args.host.clone(), args.name.clone());
        return stop::run(app, &worker::Which { host, name });
    }
    if args.status {
        return status::run(app);
    }
    if let Some(word) = args.atoms.first() {
        ensure_no_command(word, app)?;
    }
    if !args.once && !args.background && !args.only_looks() {
        outage::wait_for_server(app, args.is_bounded())?;
    }
    let resolved = resolve_agents(args, app)?;
    if args.resume {
        let resumed = resume::clear_pauses(app, &resolved)?;
        if !args.is_bounded() {
            return resume::report_resumed(app, &resumed);
        }
    }
    let options = work_options(args, app, resolved)?;
    if args.dry_run {
        return dry_run::run(app, &options);
    }
    if args.background {
        return background::run(app, &options);
    }
    if options.filter.parent.is_some() {
        // An unknown id is an error now, instead of a queue that stays empty.
        ops::ready(
            &app.open_for_reading()?,
            &options.filter,
            ops::Sort::Priority,
            Some(1),
            0,
            app.now(),
        )?;
    }
    tell_of_others(app, &options)?;
    tell_what_waits(app, &options)?;
    tell_of_strangers(app, &options)?;
    tell_of_remote(app)?;
    // Opening the store for a change tells the database of settings that the ends of runs obey.
    drop(app.open_for_writing()?);
    // Faults are reported instead of the preview.
    worker::preflight(&options)?;
    preflight::print_preflight(app, &options);
    tell_of_inert(app)?;
    tell_of_folders(app, &options);
    let queue = live::Queue {
        store: app.open_for_reading()?,
        agents: options.agents.iter().map(|served| served.agent.name.clone()).collect(),
        filter: options.claim_filter(),
    };
    backups::watch(app.project()?);
    let mut listener = live::Listener::new(&app.printer).with_queue(queue);
    let worked = worker::work(&options, &mut listener);
    listener.clear_live_lines();
    to_land::suggest_landing(app, &options, &mut listener);
    offer_epics(app, &mut listener);
    let summary = worked.map_err(work_failure)?;
    if !args.is_bounded() || summary.stopped_by.is_some() {
        return Ok(Exit::Done);
    }
    ensure_all_is_done(&summary, &find_left_atoms(app, &options, &summary)?)?;
    Ok(Exit::Done)
}

/// Offers the epics in which all is over.
fn offer_epics(app: &App, listener: &mut live::Listener<'_>) {
    if app.printer.is_robot() || app.printer.new_page().is_quiet() {
        return;
    }
    // An error is no reason to fail: the work is done, and el list offers the epics again.
    let Ok(epics) = app.open_for_reading().and_then(|store| Ok(ops::finished_epics(&store)?))
    else {
        return;
    };
    listener.print_above(|page| epics.iter().for_each(|epic| page.push_line(freed::offer(epic))));
}

fn resolve_agents(args: &Args, app: &App) -> Result<Resolved> {
    let settings = args.overrides.apply_to(app.settings_for_agents()?);
    app.warn_of_inert(&settings);
    let (work, agents) = args.overrides.find_agents(app, &settings, settings.work_settings()?)?;
    let mut filter = args.filter.atom_filter(app)?;
    if !args.atoms.is_empty() {
        filter.ids = app.resolve_ids(&args.atoms)?;
    }
    Ok(Resolved { settings, work, agents, filter })
}

/// Refuses a word that is nearly a flag: `el work stop`.
fn ensure_no_command(word: &str, app: &App) -> Result<()> {
    let flags = ["stop", "status", "resume", "once", "drain", "background"];
    let Some(flag) = mistyped::nearest_verb(word, &flags) else { return Ok(()) };
    if mistyped::named_id(app, word).is_some() {
        return Ok(());
    }
    Err(CommandError::usage_error(format!("'{word}' is not an atom"))
        .with_hint(format!("el work --{flag}")))
}

fn work_options(args: &Args, app: &App, resolved: Resolved) -> Result<WorkOptions> {
    let max_claims = if args.once {
        Some(1)
    } else {
        args.max.map(|max| usize::try_from(max).unwrap_or(usize::MAX))
    };
    Ok(WorkOptions {
        name: args.name.clone(),
        filter: resolved.filter,
        max_claims,
        drain: args.drain || max_claims.is_some() || !args.atoms.is_empty(),
        waits: args.wait,
        pulls: watch_for_work(app, this_program()?)?,
        ..draining_worker(app, &resolved.settings, &resolved.work, resolved.agents)?
    })
}

/// `, offers gpu`, or nothing.
pub(super) fn offer_words(offers: &[String]) -> String {
    match offers {
        [] => String::new(),
        offers => format!(", offers {}", sanitize::one_line(&offers.join(", "))),
    }
}

/// The longest wait of `--stop`: an agent has five seconds to end by itself, and is then killed.
const STOP_LIMIT: Duration = Duration::from_secs(90);
