//! `el work --status`.

use std::path::PathBuf;

use el_agents::worker;
use el_core::model::{Run, Worker};
use el_core::ops;
use serde::Serialize;

use crate::output::{runs, sanitize, style, time};
use crate::{App, Exit, Result};

/// The answer of `--status`.
#[derive(Debug, Serialize)]
struct Status {
    /// The live workers.
    workers: Vec<Row>,
    /// Runs whose worker is gone. Their supervisors go on, and the next worker adopts the runs.
    unattended: Vec<Run>,
    /// The log of background workers; `null` if there is none yet.
    log: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    worker: Worker,
    runs: Vec<Run>,
}

pub(super) fn run(app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let mut live = ops::live_runs(&store)?;
    let mut workers = Vec::new();
    for worker in ops::list_workers(&store)?.into_iter().filter(worker::is_there) {
        let is_its = |run: &mut Run| run.worker_id.as_deref() == Some(&worker.id);
        let runs = live.extract_if(.., is_its).collect();
        workers.push(Row { worker, runs });
    }
    let log = Some(app.project()?.state.join("worker.log")).filter(|log| log.is_file());
    let status = Status { workers, unattended: live, log };
    let now = app.now();
    app.printer.emit(&status, |page| {
        let is_quiet = page.is_quiet();
        for row in &status.workers {
            let worker = &row.worker;
            if is_quiet {
                page.push_line(worker.process.pid.to_string());
                continue;
            }
            let offers = super::offer_words(&worker.offers);
            let stops = if worker.stop_requested { "; it was asked to stop" } else { "" };
            page.push_line(format!(
                "pid {} works for {}, {} at a time{offers}, started {}{stops}",
                runs::name_and_host(&worker.process.pid.to_string(), worker.process.host()),
                sanitize::one_line(&worker.agents.join(", ")),
                worker.concurrency,
                time::relative_time(now, worker.started_at)
            ));
            for run in &row.runs {
                let id = page.paint(style::ID, &run.atom_id);
                let took = time::format_span(runs::run_duration(run, now));
                let doing = run.progress.action.as_deref().unwrap_or("starting");
                page.push_line(format!("  ◐ {id} {took} · {}", sanitize::one_line(doing)));
            }
        }
        if is_quiet {
            return;
        }
        if status.workers.is_empty() {
            page.push_line("No worker is there; el work --background starts one");
        }
        for run in &status.unattended {
            let id = page.paint(style::ID, &run.atom_id);
            page.push_line(format!("{id} runs without a worker ({}); el work adopts it", run.id));
        }
        if let Some(log) = &status.log {
            page.push_painted(style::DIM, &format!("log: {}", sanitize::path_line(log)));
        }
    })
}
