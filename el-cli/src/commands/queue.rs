use clap::builder::NonEmptyStringValueParser;
use el_agents::worker;
use el_core::ops::{self, AgentQueue};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{List, pauses, style, tasks};
use crate::watch::WatchArgs;
use crate::{App, Exit, Result};

/// Show each agent with its current work and its queue
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el queue
  el queue show gendry
  el queue --robot | jq '.data.items[] | select(.is_executing)'

The order is that of the work: urgent first, then by priority, then by age. An atom that is
assigned to nobody is listed with each agent whose worker takes it."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    watch: WatchArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show every agent's queue
    #[command(after_help = "\
Examples:
  el queue list
  el queue list --robot")]
    List(WatchArgs),
    Show(ShowArgs),
}

/// Show the queues of some agents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el queue show gendry
  el queue show gendry ada")]
pub(crate) struct ShowArgs {
    /// The agents
    #[arg(required = true, value_name = "AGENT", value_parser = NonEmptyStringValueParser::new())]
    agents: Vec<String>,
    #[command(flatten)]
    watch: WatchArgs,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    #[serde(flatten)]
    queue: AgentQueue,
    /// The agent's limit of parallel runs; `null`: the worker's limit applies.
    max_parallel: Option<u32>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let (watch, only) = match &args.command {
        Some(Command::Show(args)) => (args.watch, args.agents.as_slice()),
        Some(Command::List(watch)) => (*watch, &[][..]),
        None => (args.watch, &[][..]),
    };
    watch.follow(app, || look(only, app))
}

fn look(only: &[String], app: &App) -> Result<Exit> {
    let settings = app.settings()?;
    let mut agents: Vec<String> =
        settings.work_settings().map(|work| work.agents).unwrap_or_default();
    agents.extend(settings.agents().into_iter().map(str::to_owned));
    if !only.is_empty() {
        agents = only.to_vec();
    }
    let store = app.open_for_reading()?;
    let now = app.now();
    let mut rows: Vec<Row> = Vec::new();
    for queue in ops::queue(&store, &agents, now, &worker::is_there)? {
        if only.is_empty() || only.contains(&queue.agent_name) {
            // A mistake in an agent's settings must not hide the other agents.
            let max_parallel = settings
                .agent_settings(&queue.agent_name)
                .ok()
                .and_then(|agent| agent.max_parallel);
            rows.push(Row { queue, max_parallel });
        }
    }
    let pause = ops::current_pause(&store, now)?;
    app.printer.emit(&List::complete(&rows), |page| {
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                page.push_blank();
            }
            tasks::print_queue(page, &row.queue, now);
        }
        if let Some(pause) = &pause {
            page.push_blank();
            page.push_painted(style::WARNING, &pauses::pause_sentence(pause));
        }
    })
}
