use std::path::{Path, PathBuf};

use el_core::model::{Run, Timestamp};
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{OneOrMany, Page, Table, artifacts, runs, sanitize, style, time};
use crate::{App, Exit, Result, complete};

/// Show all facts about runs
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el runs show run-7kq2m9xd
  el runs show q5e6          The atom's live run, or its last one")]
pub(crate) struct Args {
    /// Runs, or atoms
    #[arg(required = true, value_name = "RUN|ATOM", add = complete::complete_runs())]
    targets: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Shown {
    #[serde(flatten)]
    run: Run,
    /// The folder of the run's files; `null` if they are on another host and not here.
    folder: Option<PathBuf>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let folder = app.project()?.state.join("runs");
    let mut shown = Vec::new();
    for target in &args.targets {
        let run = ops::target_run(&store, target)?;
        let folder = Some(folder.join(&run.id));
        let is_elsewhere = runs::host_of_run(&run).is_some();
        shown.push(Shown { folder: folder.filter(|at| !is_elsewhere || at.exists()), run });
    }
    let now = app.now();
    app.printer.emit(&OneOrMany::for_request(args.targets.len(), &shown), |page| {
        for (at, one) in shown.iter().enumerate() {
            if at > 0 {
                page.push_blank();
            }
            print_run(page, &one.run, one.folder.as_deref(), now);
        }
    })
}

fn print_run(page: &mut Page, run: &Run, folder: Option<&Path>, now: Timestamp) {
    let state = runs::state_word(run, now);
    let id = page.paint(style::TITLE, &run.id);
    let atom = page.paint(style::ID, &run.atom_id);
    let painted = page.paint(style::outcome_style(state), state);
    page.push_line(format!(
        "{id}  attempt {} at {atom} by {}",
        run.attempt,
        sanitize::one_line(&runs::agent_and_host(run))
    ));
    page.push_line(format!(
        "{painted} · {} · started {}",
        time::format_span(runs::run_duration(run, now)),
        time::relative_time(now, run.started_at)
    ));
    if let Some(detail) = &run.detail {
        page.push_paragraph(detail, 2);
    }
    let exit = match (run.exit_code, run.exit_signal) {
        (_, Some(signal)) => Some(format!("signal {signal}")),
        (Some(code), None) => Some(format!("code {code}")),
        (None, None) => None,
    };
    let spent = &run.progress;
    let tokens = (spent.tokens_in + spent.tokens_out > 0)
        .then(|| format!("{} in, {} out", spent.tokens_in, spent.tokens_out));
    let live = run.is_live();
    let files = match (folder, runs::host_of_run(run)) {
        (Some(folder), _) => folder.display().to_string(),
        (None, host) => {
            format!("on {}; el logs and el artifacts bring them", host.unwrap_or_default())
        }
    };
    let rows = [
        ("Doing", spent.action.clone().filter(|_| live)),
        ("Started", Some(time::local_time(run.started_at))),
        ("Ended", run.ended_at.map(time::local_time)),
        ("Last sign of life", live.then(|| time::relative_time(now, run.heartbeat_at))),
        ("Lease until", live.then(|| time::relative_time(now, run.lease_until))),
        ("Exit", exit),
        ("Turns", (spent.turns > 0).then(|| spent.turns.to_string())),
        ("Tokens", tokens),
        ("Cost", Some(runs::format_cost(spent.cost)).filter(|text| !text.is_empty())),
        (
            "Sent back",
            (run.stop_blocks > 0).then(|| format!("{} times by the Stop hook", run.stop_blocks)),
        ),
        ("Resumed", (run.resumes > 0).then(|| format!("{} times", run.resumes))),
        (
            "Handed back",
            run.summary.as_ref().map(|summary| artifacts::verdict_words(summary, run.artifacts)),
        ),
        ("Executor", Some(run.executor.clone())),
        ("Worked in", Some(run.workdir.clone())),
        ("Session", run.session.clone()),
        ("Conversation", run.conversation.clone()),
        (
            "Supervisor",
            run.supervisor.as_ref().filter(|_| live).map(|stamp| format!("pid {}", stamp.pid)),
        ),
        ("Files", Some(files)),
    ];
    page.push_blank();
    Table::print_facts(page, rows);
    if let Some(summary) = &run.summary {
        page.push_section("Summary");
        artifacts::print_brief(page, summary, &run.id, run.artifacts);
    }
}
