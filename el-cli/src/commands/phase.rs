//! The data of an orchestration's phases, in a person's hands.

use el_core::model::Phase;
use el_core::rules::orchestrate::Question;

use crate::{App, CommandError, Exit, Result, complete};

mod becomes;
mod read;
pub(super) mod set;
pub(super) mod show;

/// Show or supply an agent's answer in an orchestration: analysis, list of tasks, result
#[derive(Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  el phase show q5e6 --phase task_list > plan.json
  el phase set q5e6 --phase task_list --file plan.json
  el orchestrate resume q5e6")]
pub(crate) enum Command {
    Set(set::Args),
    Show(show::Args),
}

pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::Set(args) => set::run(args, app),
        Command::Show(args) => show::run(args, app),
    }
}

/// The plan and the phase.
#[derive(Debug, clap::Args)]
pub(super) struct PhaseSelector {
    /// The epic that is orchestrated
    #[arg(value_name = "EPIC", add = complete::complete_epics())]
    epic: String,
    /// The phase
    #[arg(long, value_name = "PHASE", value_parser = ["analysis", "task_list", "aggregation"])]
    phase: String,
    /// With task_list: the tasks after the failure of this check of the whole, counted from 0
    #[arg(long, value_name = "N")]
    round: Option<usize>,
}

impl PhaseSelector {
    fn parse_question(&self) -> Result<Question> {
        let question = match self.phase.parse::<Phase>() {
            Ok(Phase::Analysis) => Question::Analysis,
            Ok(Phase::Aggregation) => Question::Aggregation,
            _ => match self.round {
                Some(round) => return Ok(Question::Failures { round }),
                None => Question::TaskList,
            },
        };
        if self.round.is_some() {
            return Err(CommandError::usage_error(
                "--round goes with --phase task_list only: a failed check is answered by a list \
                 of tasks",
            ));
        }
        Ok(question)
    }
}
