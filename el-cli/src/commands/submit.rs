use std::path::PathBuf;

use el_core::ops::{self, Submitted};
use el_core::protocol::report::{CompletionReport, ReportTemplate};
use schemars::JsonSchema;
use serde::Serialize;

use super::close;
use crate::output::{atoms, style};
use crate::{App, CommandError, Exit, Result, complete, input};

/// Hand an atom over for review, with a completion report
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el submit q5e6 --template > report.json
  el submit q5e6 --report report.json
  el submit q5e6 --report - < report.json

The report is JSON: type (completion_report), taskId, platform (web, android, ios, custom),
status (awaiting_review), summary, filesCreated, filesModified, buildResult (status: success,
failed, not_applicable or not_verified; command; errors; output) and timestamp. A report that
does not fit changes nothing, and each wrong field is named. In a session of el work this ends
the run.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::complete_atoms())]
    id: String,
    /// A file with the report; `-` reads stdin
    #[arg(long, value_name = "FILE", required_unless_present = "template",
        value_hint = clap::ValueHint::FilePath)]
    report: Option<PathBuf>,
    /// Print an empty report to fill in, and do no more
    #[arg(long, conflicts_with = "report")]
    template: bool,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Submitted(&'a Submitted),
    /// With `--template`: a report to be filled in.
    Template(&'a ReportTemplate),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let Some(path) = &args.report else { return write_template(args, app) };
    let report = input::read_file(app, "report", path)?;
    let mut store = app.open_for_writing()?;
    close::ensure_committed(app, &mut store, std::slice::from_ref(&args.id))?;
    let submitted = ops::submit(&mut store, &app.ctx(), &args.id, &report)?;
    app.printer.emit(&Answer::Submitted(&submitted), |page| {
        atoms::print_done(page, "Submitted", &submitted.atom);
        if !page.is_quiet() {
            page.push_painted(style::DIM, "  it waits for el approve or el reject");
        }
    })
}

fn write_template(args: &Args, app: &App) -> Result<Exit> {
    let id = ops::resolve_id(&app.open_for_reading()?, &args.id)?;
    let template = CompletionReport::template(&id, app.now());
    let text = serde_json::to_string_pretty(&template).map_err(|source| {
        CommandError::internal_error("cannot write the report as JSON").with_source(source)
    })?;
    app.printer.emit(&Answer::Template(&template), |page| {
        text.lines().for_each(|line| page.push_line(line))
    })
}
