use el_core::model::Timestamp;
use el_core::ops::{self, Overview};
use el_core::rules::budget::format_usd;
use el_core::rules::orchestrate::Standing;
use schemars::JsonSchema;
use serde::Serialize;

use super::ending::{self, Ending, ending_of_step};
use super::layers::Drawing;
use super::lock;
use crate::output::{Cell, Column, List, Page, Table, style, time};
use crate::watch::WatchArgs;
use crate::{App, Exit, Result, complete};

/// Draw where an orchestration stands and why
#[derive(Debug, clap::Args)]
#[command(
    visible_alias = "status",
    after_help = "\
Examples:
  el orchestrate show q5e6
  el orchestrate show q5e6 --all
  el orchestrate show q5e6 --robot | jq .data.tasks
  el orchestrate show          All of them, as el orchestrate list

Of a plan of more than 20 tasks, those are shown that need somebody, move or are next; the
rest is counted. Changes nothing, and needs nobody who drives the plan."
)]
pub(crate) struct Args {
    /// The epic [default: list all orchestrated epics]
    #[arg(value_name = "EPIC", add = complete::complete_epics())]
    epic: Option<String>,
    /// Show every task of a large plan, also uneventful tasks
    #[arg(long, requires = "epic")]
    all: bool,
    #[command(flatten)]
    watch: WatchArgs,
}

/// The answer: a single plan, or all plans.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(
    dead_code,
    reason = "names the two answers for the schema; each is printed where it is made"
)]
pub(in crate::commands) enum Answer<'a> {
    One(Box<Plan>),
    All(List<'a, Item>),
}

/// A plan in the list.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Item {
    epic_id: String,
    title: String,
    #[serde(flatten)]
    ending: Ending,
    driven: bool,
    tasks: usize,
    done: usize,
    running: usize,
    spent_micros: u64,
    budget_micros: Option<i64>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
}

pub(super) fn show_or_list(args: &Args, app: &App) -> Result<Exit> {
    args.watch.follow(app, || match &args.epic {
        Some(epic) => show_plan(args, app, epic),
        None => list_plans(app),
    })
}

/// The answer about a single plan.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Plan {
    #[serde(flatten)]
    ending: Ending,
    /// True if a process drives the plan now.
    driven: bool,
    #[serde(flatten)]
    overview: Overview,
}

impl Plan {
    pub(crate) fn read(app: &App, epic: &str) -> Result<Plan> {
        let overview = ops::plan_overview(&app.open_for_reading()?, epic)?;
        let driven = lock::is_taken(app, &overview.epic.id);
        let ending = current_ending(&overview, driven);
        Ok(Plan { ending, driven, overview })
    }
}

fn show_plan(args: &Args, app: &App, epic: &str) -> Result<Exit> {
    let plan = Plan::read(app, epic)?;
    let policy = app
        .settings()
        .and_then(|settings| settings.work_settings())
        .map(|work| work.rules.retry_policy())
        .ok();
    let drawing = Drawing { overview: &plan.overview, now: app.now(), policy, all: args.all };
    app.printer.emit(&plan, |page| drawing.print_plan(page, &plan.ending, plan.driven))
}

/// The state of the plan. While a process drives the plan, a person has no next step.
pub(in crate::commands) fn current_ending(overview: &Overview, driven: bool) -> Ending {
    let mut ending = if driven {
        Ending::while_driven(overview)
    } else {
        Ending::without_driver(overview, ending_of_step(overview, &overview.next))
    };
    // The reader has just run this very command.
    ending.commands.retain(|command| *command != ending::status_command(&overview.epic.id));
    ending
}

/// All plans, each in a line.
pub(crate) fn read_plans(app: &App) -> Result<Vec<Item>> {
    let store = app.open_for_reading()?;
    let mut items = Vec::new();
    for epic in ops::list_orchestrated(&store)? {
        let overview = ops::plan_overview(&store, &epic.id)?;
        let driven = lock::is_taken(app, &epic.id);
        let count =
            |standing| overview.tasks.iter().filter(|task| task.standing == standing).count();
        items.push(Item {
            epic_id: epic.id,
            title: epic.title,
            ending: current_ending(&overview, driven),
            driven,
            tasks: overview.tasks.len(),
            done: count(Standing::Done),
            running: count(Standing::Running),
            spent_micros: overview.spent_micros,
            budget_micros: overview.budget_micros,
            started_at: overview.started_at,
            ended_at: overview.ended_at,
        });
    }
    Ok(items)
}

pub(super) fn list_plans(app: &App) -> Result<Exit> {
    let items = read_plans(app)?;
    app.printer.emit(&List::complete(&items), |page| print_table(page, &items, app.now()))
}

fn print_table(page: &mut Page, items: &[Item], now: Timestamp) {
    if page.is_quiet() {
        return items.iter().for_each(|item| page.push_line(&item.epic_id));
    }
    if items.is_empty() {
        let text = "nothing is orchestrated; el orchestrate \"GOAL\" begins it";
        return page.push_painted(style::DIM, text);
    }
    let mut table = Table::new([
        Column::new("EPIC"),
        Column::new("STATE"),
        Column::new("DONE").align_right(),
        Column::new("TITLE").flexible(),
        Column::new("SPENT").align_right().hide_when_narrow(2),
        Column::new("BEGUN").hide_when_narrow(1),
    ]);
    for item in items {
        let spent = if item.spent_micros == 0 {
            String::new()
        } else {
            format_usd(i64::try_from(item.spent_micros).unwrap_or(i64::MAX))
        };
        table.push_row([
            Cell::styled(style::ID, &item.epic_id),
            Cell::styled(item.ending.style(), item.ending.state.plain_words()),
            Cell::new(format!("{}/{}", item.done, item.tasks)),
            Cell::new(&item.title),
            Cell::styled(style::DIM, spent),
            Cell::styled(style::DIM, time::relative_time(now, item.started_at)),
        ]);
    }
    table.print_table(page);
}

/// The figures of the heading: cost and time so far, and their limits.
pub(super) fn cost_and_time(overview: &Overview) -> String {
    let mut parts = Vec::new();
    let spent = i64::try_from(overview.spent_micros).unwrap_or(i64::MAX);
    match overview.budget_micros {
        Some(budget) => {
            parts.push(format!("{} of {} spent", format_usd(spent), format_usd(budget)))
        }
        None if spent > 0 => parts.push(format!("{} spent", format_usd(spent))),
        None => {}
    }
    let worked = time::format_span(std::time::Duration::from_secs(overview.worked_s));
    match overview.settings.time_s {
        Some(limit) => {
            parts.push(format!(
                "{worked} of {} driven",
                time::format_span(std::time::Duration::from_secs(limit))
            ));
        }
        None => parts.push(format!("{worked} driven")),
    }
    parts.join(" · ")
}
