use std::path::PathBuf;

use el_core::model::{Artifact, Summary};
use el_core::ops::{self, HandedBack};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::runs::bring_run_files;
use crate::output::{List, Page, artifacts, runs, sanitize, style};
use crate::{App, Exit, Result, complete};

/// Show a run's summary and key files
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el artifacts show q5e6         The atom's last run that handed anything back
  el artifacts show run-7kq2m9xd --robot")]
pub(crate) struct Args {
    /// A run, or an atom
    #[arg(value_name = "RUN|ATOM", add = complete::complete_runs())]
    target: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Answer<'a> {
    run_id: &'a str,
    atom_id: &'a str,
    attempt: i64,
    outcome: Option<el_core::model::Outcome>,
    summary: Option<&'a Summary>,
    /// The run's folder; `file` is relative to the folder.
    folder: PathBuf,
    #[serde(flatten)]
    list: List<'a, Artifact>,
    not_sent: &'a [Artifact],
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let found = ops::artifacts(&store, &args.target)?;
    let run = &found.run;
    let answer = Answer {
        run_id: &run.id,
        atom_id: &run.atom_id,
        attempt: run.attempt,
        outcome: run.outcome,
        summary: run.summary.as_ref(),
        folder: bring_run_files(app, &store, run)?,
        list: List::complete(&found.artifacts),
        not_sent: &found.not_sent,
    };
    app.printer.emit(&answer, |page| print_artifacts(page, &found, app))
}

fn print_artifacts(page: &mut Page, found: &HandedBack, app: &App) {
    if page.is_quiet() {
        return found
            .artifacts
            .iter()
            .for_each(|artifact| page.push_line(sanitize::one_line(&artifact.path)));
    }
    let run = &found.run;
    let state = runs::state_word(run, app.now());
    let id = page.paint(style::TITLE, &run.id);
    let atom = page.paint(style::ID, &run.atom_id);
    let painted = page.paint(style::outcome_style(state), state);
    page.push_line(format!(
        "{id}  attempt {} at {atom} by {} · {painted}",
        run.attempt,
        sanitize::one_line(&run.agent)
    ));
    let Some(summary) = &run.summary else {
        let why = if run.is_live() {
            "it is still on; what it makes is collected when it ends"
        } else {
            "it handed nothing back"
        };
        page.push_painted(style::DIM, why);
        return;
    };
    artifacts::print_summary(page, summary);
    page.push_section(&format!("Files ({})", found.artifacts.len()));
    artifacts::print_table(page, &found.artifacts);
    if !found.not_sent.is_empty() {
        page.push_section(&format!("Not handed over ({})", found.not_sent.len()));
        artifacts::not_sent(page, &found.not_sent);
    }
    if !summary.warnings.is_empty() && app.verbosity() > 0 {
        page.push_section("Read with");
        for warning in &summary.warnings {
            page.push_paragraph(&format!("- {warning}"), 2);
        }
    }
}
