//! `el orchestrate`: a goal becomes a plan of atoms, workers do them, and a last run brings the
//! results together.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;

use super::work::Overrides;
use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::settings::Settings;

mod begin;
mod branches;
mod check;
mod drive;
mod ending;
mod graph;
mod layers;
mod lock;
mod place;
pub(super) mod status;
mod tell;
mod words;

pub(super) use ending::{Ending, some};
pub(super) use lock::is_taken as is_driven;
pub(super) use words::{command_of, phase};

/// Have a goal analysed, cut into tasks, done by many agents at once, and brought together
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el orchestrate \"Document the REST API\"
  el orchestrate \"Document the REST API\" --plan-only
  el orchestrate --goal-file goal.md --budget 20 --time-limit 2h
  el orchestrate q5e6 --concurrency 5 --check 'cargo test'
  el orchestrate --resume q5e6
  el orchestrate status
  el orchestrate status q5e6

An agent looks at the goal, another cuts it into tasks, and el files them as atoms under an
epic. Agents do them, as many at a time as depend on nothing unfinished (3, unless --concurrency
or the configuration says otherwise; each in its own git worktree). A last one brings the
results together. --check is then run on the whole, and what fails becomes tasks.

Ctrl-C stops it as it does el work, and a crash does too: --resume goes on at the same step.
Settings are kept with the epic; on --resume only those that are named change.

Exit codes: 0 done, or planned as asked; 4 it stopped, waits for a person, or something is
missing; 7 its time is over; 8 its budget is used up. el help orchestration tells more."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// What is to be reached, in several words; or the id of an atom that says it
    #[arg(value_name = "GOAL|ATOM", add = complete::atoms())]
    goal: Vec<String>,
    /// A file that holds the goal; its first line is the epic's title. `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "goal", value_hint = clap::ValueHint::FilePath)]
    goal_file: Option<PathBuf>,
    /// Go on with an epic, from the step at which it stands
    #[arg(
        long,
        value_name = "EPIC",
        conflicts_with_all = ["goal", "goal_file"],
        value_parser = NonEmptyStringValueParser::new(),
        add = complete::epics()
    )]
    resume: Option<String>,
    #[command(flatten, next_help_heading = "The plan")]
    plan: PlanArgs,
    #[command(flatten, next_help_heading = "How agents run")]
    overrides: Overrides,
}

/// How the plan is driven on, as flags.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct PlanArgs {
    /// Stop when the tasks are filed, so that a person can change them first
    #[arg(long)]
    plan_only: bool,
    /// What everything together may cost, in US dollars
    #[arg(long, value_name = "USD")]
    budget: Option<String>,
    /// How long everything together may take (90m, 2h)
    #[arg(long, value_name = "TIME")]
    time_limit: Option<String>,
    /// The most tasks of the plan
    #[arg(long, value_name = "N")]
    max_tasks: Option<String>,
    /// A command that checks the whole at the end; no shell reads it. '' is none
    #[arg(long, value_name = "CMD")]
    check: Option<String>,
    /// How often the check may fail and be worked on
    #[arg(long, value_name = "N")]
    check_rounds: Option<String>,
    /// How often an agent is asked again for an answer that can be used
    #[arg(long, value_name = "N")]
    asks_again: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Status(status::Args),
}

impl PlanArgs {
    fn apply(&self, settings: Settings) -> Settings {
        settings
            .with_flag("--budget", "budget_per_epic", self.budget.as_deref())
            .with_flag("--time-limit", "orchestrate_time_limit", self.time_limit.as_deref())
            .with_flag("--max-tasks", "orchestrate_max_tasks", self.max_tasks.as_deref())
            .with_flag("--check", "orchestrate_check", self.check.as_deref())
            .with_flag("--check-rounds", "orchestrate_check_rounds", self.check_rounds.as_deref())
            .with_flag("--asks-again", "orchestrate_asks_again", self.asks_again.as_deref())
    }
}

impl Args {
    pub(super) fn only_looks(&self) -> bool {
        matches!(self.command, Some(Command::Status(_)))
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if let Some(Command::Status(args)) = &args.command {
        return status::run(args, app);
    }
    let began = begin::begin(args, app)?;
    drive::drive(app, began)
}
