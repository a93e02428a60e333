use el_agents::worker;
use el_core::model::{Run, Timestamp, Worker};
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::work::offer_words;
use crate::output::{Cell, Column, List, Page, Table, sanitize, style, time};
use crate::watch::WatchArgs;
use crate::{App, CommandError, Exit, Result};

/// List the workers: host, agents, live runs, load, last sign of life
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  el workers
  el workers show forge
  el workers --robot | jq '.data.items[] | select(.state == \"working\") | .host'

A worker of another host counts as gone after five minutes without a sign of life."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    watch: WatchArgs,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the workers, on all hosts
    #[command(after_help = "\
Examples:
  el workers list
  el workers list --robot")]
    List(WatchArgs),
    Show(ShowArgs),
}

/// Show some workers, with what they work on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el workers show forge
  el workers show worker-7kq2m9xd forge")]
pub(crate) struct ShowArgs {
    /// Names or ids of workers
    #[arg(required = true, value_name = "WORKER")]
    workers: Vec<String>,
    #[command(flatten)]
    watch: WatchArgs,
}

/// A worker.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    worker_id: String,
    /// The name that `el work --name` gave it.
    name: Option<String>,
    host: String,
    pid: i64,
    /// The agents that it serves.
    agents: Vec<String>,
    /// The labels that it offers to atoms and agents.
    offers: Vec<String>,
    /// The most sessions at a time.
    concurrency: i64,
    state: State,
    started_at: Timestamp,
    /// The last sign of life.
    seen_at: Timestamp,
    /// The load of its host over a minute for each core; `null`: not known.
    load: Option<f64>,
    runs: Vec<LiveRun>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Working,
    /// Somebody said `el work --stop`.
    Stopping,
    /// Its process has ended, or it was silent for too long.
    Gone,
}

/// A live run of a worker.
#[derive(Debug, Serialize, JsonSchema)]
struct LiveRun {
    run_id: String,
    atom_id: String,
    agent: String,
    started_at: Timestamp,
    action: Option<String>,
}

impl Row {
    fn new(worker: Worker, live: &[Run]) -> Row {
        let state = match worker::is_there(&worker) {
            false => State::Gone,
            true if worker.stop_requested => State::Stopping,
            true => State::Working,
        };
        let own = live.iter().filter(|run| run.worker_id.as_deref() == Some(&worker.id));
        let runs = own.map(|run| LiveRun {
            run_id: run.id.clone(),
            atom_id: run.atom_id.clone(),
            agent: run.agent.clone(),
            started_at: run.started_at,
            action: run.progress.action.clone(),
        });
        Row {
            runs: runs.collect(),
            host: worker::host_of(&worker.process),
            pid: worker.process.pid,
            state,
            load: worker.load_milli.map(|load| load as f64 / 1000.0),
            worker_id: worker.id,
            name: worker.name,
            agents: worker.agents,
            offers: worker.offers,
            concurrency: worker.concurrency,
            started_at: worker.started_at,
            seen_at: worker.heartbeat_at,
        }
    }

    fn is_called(&self, word: &str) -> bool {
        self.worker_id == word || self.name.as_deref() == Some(word)
    }

    fn called(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.worker_id)
    }

    fn load_words(&self) -> String {
        self.load.map(|load| format!("{load:.2}")).unwrap_or_default()
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let (watch, only) = match &args.command {
        Some(Command::Show(args)) => (args.watch, args.workers.as_slice()),
        Some(Command::List(watch)) => (*watch, &[][..]),
        None => (args.watch, &[][..]),
    };
    watch.follow(app, || look(only, app))
}

fn look(only: &[String], app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let live = ops::live_runs(&store)?;
    let workers = ops::list_workers(&store)?;
    let now = app.now();
    for host in ops::find_namesakes(&workers, None, now) {
        let (message, hint) = ops::namesakes_sentence(&sanitize::one_line(&host));
        app.printer.warn(&format!("{message}: {hint}"));
    }
    let mut rows: Vec<Row> = workers.into_iter().map(|worker| Row::new(worker, &live)).collect();
    if let Some(word) = only.iter().find(|word| !rows.iter().any(|row| row.is_called(word))) {
        let none = CommandError::not_found(format!("no worker is called '{word}'"));
        return Err(none.with_hint("el workers lists them"));
    }
    rows.retain(|row| only.is_empty() || only.iter().any(|word| row.is_called(word)));
    let list = List::complete(&rows);
    app.printer.emit(&list, |page| {
        if page.is_quiet() {
            return rows.iter().for_each(|row| page.push_line(&row.worker_id));
        }
        if !only.is_empty() {
            return rows.iter().for_each(|row| print_worker(page, row, now));
        }
        print_table(page, &rows, now);
        match rows.is_empty() {
            true => page.push_line("No worker is there; el work --background starts one"),
            false => list.print_footer(page, "worker", "workers"),
        }
    })
}

fn print_table(page: &mut Page, rows: &[Row], now: Timestamp) {
    if rows.is_empty() {
        return;
    }
    let mut table = Table::new([
        Column::new("WORKER"),
        Column::new("HOST"),
        Column::new("AGENTS").flexible(),
        Column::new("OFFERS").flexible().hide_when_narrow(2),
        Column::new("RUNS").align_right(),
        Column::new("LOAD").align_right().hide_when_narrow(2),
        Column::new("SEEN").hide_when_narrow(1),
        Column::new("STATE"),
    ]);
    for row in rows {
        let (style, state) = state_words(row.state);
        table.push_row([
            Cell::styled(style::ID, row.called()),
            Cell::new(&row.host),
            Cell::styled(style::PERSON, row.agents.join(", ")),
            Cell::styled(style::LABEL, row.offers.join(", ")),
            Cell::new(format!("{}/{}", row.runs.len(), row.concurrency)),
            Cell::new(row.load_words()),
            Cell::styled(style::DIM, time::relative_time(now, row.seen_at)),
            Cell::styled(style, state),
        ]);
    }
    table.print_table(page);
}

fn state_words(state: State) -> (anstyle::Style, &'static str) {
    match state {
        State::Working => (style::GOOD, "working"),
        State::Stopping => (style::WARNING, "stopping"),
        State::Gone => (style::DIM, "gone"),
    }
}

fn print_worker(page: &mut Page, row: &Row, now: Timestamp) {
    let (style, state) = state_words(row.state);
    let (id, state) = (page.paint(style::ID, row.called()), page.paint(style, state));
    page.push_line(format!("{id}  {state}  pid {} on {}", row.pid, sanitize::one_line(&row.host)));
    let mut facts = vec![
        format!(
            "serves {}, {} at a time{}",
            row.agents.join(", "),
            row.concurrency,
            offer_words(&row.offers)
        ),
        format!("started {}", time::relative_time(now, row.started_at)),
        format!("last sign of life {}", time::relative_time(now, row.seen_at)),
    ];
    facts.extend(row.load.map(|load| format!("load {load:.2} a core")));
    page.push_line(format!("  {}", sanitize::one_line(&facts.join(" · "))));
    for run in &row.runs {
        let id = page.paint(style::ID, &run.atom_id);
        let took = time::format_span(now.since(run.started_at));
        let doing = run.action.as_deref().unwrap_or("starting");
        page.push_line(format!("  ◐ {id} {took} · {}", sanitize::one_line(doing)));
    }
}
