//! `el orchestrate`: a goal becomes a plan of atoms, workers run the atoms, and a last run combines
//! the results.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;

use super::work::Overrides;
use crate::settings::Settings;
use crate::{App, Exit, Result, complete};

mod begin;
mod branches;
mod check;
mod drive;
mod ending;
mod goal;
mod graph;
mod layers;
mod lock;
mod place;
mod state;
pub(crate) mod status;
mod tell;
mod words;

pub(super) use ending::Ending;
pub(super) use lock::is_taken as is_driven;
pub(super) use words::{command_of, phase_name};

/// Have a goal analysed, cut into tasks, done by many agents at once, and brought together
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el orchestrate \"Document the REST API\"
  el orchestrate \"Document the REST API\" --plan-only
  el orchestrate --goal-file goal.md --budget-per-epic 20 --plan-timeout 2h
  el orchestrate q5e6 --concurrency 5 --check 'cargo test'
  el orchestrate resume q5e6     Go on, after Ctrl-C, a crash, or your changes
  el orchestrate list
  el orchestrate show q5e6

An agent looks at the goal, another cuts it into tasks, and el files them as atoms under an
epic. Agents do them, as many at a time as depend on nothing unfinished (3, unless --concurrency
or the configuration says otherwise; each in its own git worktree). A last one brings the
results together. --check is then run on the whole, and what fails becomes tasks.

Ctrl-C stops it as it does el work, and a crash does too: resume goes on at the same step. Until
then, no worker takes the plan's tasks; nor those that --plan-only filed. Settings are kept with
the epic; resume changes only those that are named.

Exit codes: 0 done, or planned as asked; 4 it stopped, waits for a person, or something is
missing; 7 its time is over; 8 its budget is used up. el help orchestration tells more."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The goal in several words, or the id of an atom that holds the goal. Without a goal, all
    /// plans are listed
    #[arg(value_name = "GOAL|ATOM", add = complete::complete_atoms())]
    goal: Vec<String>,
    /// The goal after `--`, if its first word looks like a command
    #[arg(last = true, value_name = "GOAL", conflicts_with = "goal")]
    verbatim: Vec<String>,
    /// A file with the goal; the first line is the epic's title. `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["goal", "verbatim"],
        value_hint = clap::ValueHint::FilePath)]
    goal_file: Option<PathBuf>,
    #[command(flatten)]
    drive: DriveArgs,
}

/// The options for driving the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct DriveArgs {
    #[command(flatten, next_help_heading = "The plan")]
    plan: PlanArgs,
    #[command(flatten, next_help_heading = "How agents run")]
    overrides: Overrides,
}

/// Settings of the plan, as flags.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct PlanArgs {
    /// Stop once the tasks are filed, so that a person can change the tasks first
    #[arg(long)]
    plan_only: bool,
    /// The most that the whole plan may cost, in US dollars
    #[arg(long, value_name = "USD")]
    budget_per_epic: Option<String>,
    /// The longest that the whole plan may take (90m, 2h)
    #[arg(long, value_name = "TIME")]
    plan_timeout: Option<String>,
    /// The most tasks of the plan
    #[arg(long, value_name = "N")]
    max_tasks: Option<String>,
    /// A command that checks the whole at the end, run without a shell. '' is none
    #[arg(long, value_name = "CMD")]
    check: Option<String>,
    /// How often the check may fail and lead to more work
    #[arg(long, value_name = "N")]
    check_rounds: Option<String>,
    /// How often an agent is asked again for a usable answer
    #[arg(long, value_name = "N")]
    asks_again: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all plans
    #[command(after_help = "\
Examples:
  el orchestrate list
  el orchestrate list --robot | jq '.data.items[] | select(.state == \"stopped\")'")]
    List,
    Show(status::Args),
    Resume(Box<ResumeArgs>),
}

/// The subcommands, as people type them.
const VERBS: &[&str] = &["list", "show", "status", "resume", "help"];

/// Resume a plan at its current step
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el orchestrate resume q5e6
  el orchestrate resume q5e6 --budget-per-epic 30 --concurrency 5

It goes on after Ctrl-C, a crash, --plan-only, or a person's changes. Settings that no flag
names stay as they were kept with the epic.")]
pub(crate) struct ResumeArgs {
    /// The epic
    #[arg(
        value_name = "EPIC",
        value_parser = NonEmptyStringValueParser::new(),
        add = complete::complete_epics()
    )]
    epic: String,
    #[command(flatten)]
    drive: DriveArgs,
}

impl PlanArgs {
    fn apply_flags(&self, settings: Settings) -> Settings {
        settings
            .with_flag("--budget-per-epic", "budget_per_epic", self.budget_per_epic.as_deref())
            .with_flag("--plan-timeout", "orchestrate_timeout", self.plan_timeout.as_deref())
            .with_flag("--max-tasks", "orchestrate_max_tasks", self.max_tasks.as_deref())
            .with_flag("--check", "orchestrate_check", self.check.as_deref())
            .with_flag("--check-rounds", "orchestrate_check_rounds", self.check_rounds.as_deref())
            .with_flag("--asks-again", "orchestrate_asks_again", self.asks_again.as_deref())
    }
}

impl Args {
    pub(super) fn only_looks(&self) -> bool {
        match &self.command {
            Some(Command::List | Command::Show(_)) => true,
            Some(Command::Resume(_)) => false,
            None => self.is_bare(),
        }
    }

    /// Returns true if the command has no arguments.
    fn is_bare(&self) -> bool {
        self.goal.is_empty()
            && self.verbatim.is_empty()
            && self.goal_file.is_none()
            && self.drive == DriveArgs::default()
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let (goal, drive) = match &args.command {
        Some(Command::List) => return status::list_plans(app),
        Some(Command::Show(args)) => return status::show_or_list(args, app),
        None if args.is_bare() => return status::list_plans(app),
        Some(Command::Resume(resume)) => (goal::to_resume(resume, app)?, &resume.drive),
        None => (goal::to_begin(args, app)?, &args.drive),
    };
    let began = begin::begin_plan(&goal, drive, app)?;
    drive::drive_plan(app, began)
}
