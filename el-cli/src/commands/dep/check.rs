use el_core::count_noun;
use el_core::ops::{self, GraphIssue};
use el_core::rules::graph::cycle_text;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::output::style;
use crate::{App, CommandError, Exit, Result};

/// Check the whole graph for atoms that would wait for ever
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el dep check
  el dep check --robot

Exit code 4 if something is found; the error's details list it.")]
pub(crate) struct Args {}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Checked<'a> {
    issues_count: usize,
    /// Always empty: a graph with issues is an error, and the error's details list the issues.
    issues: &'a [GraphIssue],
}

pub(super) fn run(_args: &Args, app: &App) -> Result<Exit> {
    let issues = ops::dep_check(&app.open_for_reading()?)?;
    if issues.is_empty() {
        let checked = Checked { issues_count: 0, issues: &issues };
        return app.printer.emit_sentence(&checked, |page| {
            page.push_painted(style::GOOD, "The graph is sound");
        });
    }
    let lines = issues.iter().map(|issue| match issue {
        GraphIssue::Cycle { path } => format!("cycle: {}", cycle_text(path)),
        GraphIssue::NeverNeeded { source, target } => {
            format!("{target} is needed only if {source} fails, and it did not")
        }
    });
    let found = count_noun(issues.len(), "issue");
    Err(CommandError::conflict("graph_issues", format!("the graph has {found}"))
        .with_listing(lines.collect::<Vec<_>>())
        .with_detail("issues_count", issues.len())
        .with_detail("issues", json!(issues)))
}
