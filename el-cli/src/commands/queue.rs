use clap::builder::NonEmptyStringValueParser;
use el_agents::worker;
use el_core::ops::{self, AgentQueue};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::{pauses, style, tasks};

/// Show each agent: what it works on, and what waits for it in which order
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el queue
  el queue --agent gendry
  el queue --robot | jq '.data.items[] | select(.is_executing)'

The order is that of the work: urgent first, then by priority, then by age. What is assigned to
nobody is listed with each agent whose worker takes that.")]
pub(crate) struct Args {
    /// Only this agent
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    #[serde(flatten)]
    queue: AgentQueue,
    /// How many things it may do at a time; `null`: as many as its worker was told to.
    max_parallel: Option<u32>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let settings = app.settings()?;
    let mut agents: Vec<String> = settings.work().map(|work| work.agents).unwrap_or_default();
    agents.extend(settings.agents().into_iter().map(str::to_owned));
    if let Some(agent) = &args.agent {
        agents = vec![agent.clone()];
    }
    let store = app.reader()?;
    let now = app.now();
    let mut rows: Vec<Row> = Vec::new();
    for queue in ops::queue(&store, &agents, now, &worker::is_there)? {
        if args.agent.as_ref().is_none_or(|agent| *agent == queue.agent_name) {
            // A mistake in one agent's settings does not hide what the others do.
            let max_parallel =
                settings.agent(&queue.agent_name).ok().and_then(|agent| agent.max_parallel);
            rows.push(Row { queue, max_parallel });
        }
    }
    let pause = ops::paused(&store, now)?;
    app.printer.emit(&List::all(&rows), |page| {
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                page.blank();
            }
            tasks::queue(page, &row.queue, now);
        }
        if let Some(pause) = &pause {
            page.blank();
            page.line(page.paint(style::WARNING, &pauses::sentence(pause)));
        }
    })?;
    Ok(Exit::Done)
}
