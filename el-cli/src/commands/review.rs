use std::path::{Path, PathBuf};

use el_agents::diffstat::{DiffStart, DiffStat, diff_stat};
use el_core::count_noun;
use el_core::model::Timestamp;
use el_core::ops::{self, WaitingReview};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::list::FilterArgs;
use crate::output::{List, Page, atoms, sanitize, style, time};
use crate::{App, Exit, Result};

/// List atoms in review with their reports, changes and build results
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el review
  el review --label api
  el review --robot

The atom that has waited longest comes first. el approve closes, el reject sends back.")]
pub(crate) struct Args {
    #[command(flatten)]
    filter: FilterArgs,
}

/// The number of files that are listed for a person; more are counted.
const FILES_SHOWN: usize = 12;
/// The number of atoms for which git computes changes; each may take seconds.
const DIFFS: usize = 50;

#[derive(Serialize, JsonSchema)]
pub(super) struct Row<'a> {
    #[serde(flatten)]
    waiting: &'a WaitingReview,
    /// `null` where git cannot tell; `diff_note` says why then.
    diff: Option<DiffStat>,
    diff_note: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let (filter, store) = (args.filter.atom_filter(app)?, app.open_for_reading()?);
    let now = app.now();
    let waiting = ops::reviews(&store, &filter, now)?;
    let root = &app.project()?.root;
    let rows: Vec<Row<'_>> =
        waiting.iter().enumerate().map(|(at, one)| review_row(one, root, at < DIFFS)).collect();
    let list = List::complete(&rows);
    app.printer.emit(&list, |page| {
        if page.is_quiet() {
            return rows.iter().for_each(|row| page.push_line(&row.waiting.atom.id));
        }
        if rows.is_empty() {
            page.push_painted(style::DIM, "nothing waits for review");
            return;
        }
        for (at, row) in rows.iter().enumerate() {
            if at > 0 {
                page.push_blank();
            }
            print_review(page, row, now);
        }
        list.print_footer(page, "atom waits", "atoms wait");
    })
}

/// Asks git about the files that the report names, or about all files if the report names none.
fn review_row<'a>(waiting: &'a WaitingReview, root: &Path, with_diff: bool) -> Row<'a> {
    if !with_diff {
        return Row {
            waiting,
            diff: None,
            diff_note: Some(format!("only the first {DIFFS} are looked at")),
        };
    }
    let folder =
        waiting.run.as_ref().map_or_else(|| root.to_owned(), |run| PathBuf::from(&run.workdir));
    let start = waiting
        .run
        .as_ref()
        .map_or(DiffStart::Uncommitted, |run| DiffStart::Branch(&waiting.atom.id, run.started_at));
    match diff_stat(&folder, start, &reported_files(waiting)) {
        Ok(diff) => Row { waiting, diff: Some(diff), diff_note: None },
        Err(why) => {
            Row { waiting, diff: None, diff_note: Some(format!("{why} in {}", folder.display())) }
        }
    }
}

fn reported_files(waiting: &WaitingReview) -> Vec<String> {
    let report = waiting.review.as_ref().map(|review| &review.report);
    let lists = ["filesCreated", "filesModified"]
        .map(|key| report.and_then(|r| r.get(key)).and_then(Value::as_array));
    lists
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| file.as_str().map(str::to_owned))
        .collect()
}

fn print_review(page: &mut Page, row: &Row<'_>, now: Timestamp) {
    let waiting = row.waiting;
    let atom = &waiting.atom;
    let head = atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
    page.push_line(head);
    let by = waiting.review.as_ref().map(|review| review.author.as_str());
    let by = by.map_or_else(
        || "without a report".to_owned(),
        |by| format!("by {}", sanitize::one_line(by)),
    );
    let run = waiting
        .run
        .as_ref()
        .map_or_else(String::new, |run| format!(" · {} (attempt {})", run.id, run.attempt));
    page.push_painted(
        style::DIM,
        &format!("  {by}{run} · waits since {}", time::relative_time(now, waiting.waiting_since)),
    );
    let report = waiting.review.as_ref().map(|review| &review.report);
    let text = |pointer: &str| {
        report
            .and_then(|r| r.pointer(pointer))
            .and_then(Value::as_str)
            .filter(|t| !t.trim().is_empty())
    };
    if let Some(summary) = text("/summary") {
        page.push_paragraph(summary, 2);
    }
    if let Some(status) = text("/buildResult/status") {
        print_build(page, status, text("/buildResult/command"), text("/buildResult/output"));
    }
    match (&row.diff, &row.diff_note) {
        (Some(diff), _) => print_diff_stat(page, diff),
        (None, Some(note)) => {
            page.push_painted(style::DIM, &format!("  Changes: {}", sanitize::one_line(note)));
        }
        (None, None) => {}
    }
}

fn print_build(page: &mut Page, status: &str, command: Option<&str>, output: Option<&str>) {
    let style = match status {
        "success" => style::GOOD,
        "failed" => style::ERROR,
        "not_verified" => style::WARNING,
        _ => style::DIM,
    };
    let word = page.paint(style, &sanitize::one_line(&status.replace('_', " ")));
    let command =
        command.map_or_else(String::new, |command| format!(" · {}", sanitize::one_line(command)));
    page.push_line(format!("  Build: {word}{command}"));
    if let Some(output) = output {
        page.push_paragraph(output, 4);
    }
}

fn print_diff_stat(page: &mut Page, diff: &DiffStat) {
    let count = |number: Option<u64>, sign: char| {
        number.map_or_else(|| "binary".to_owned(), |n| format!("{sign}{n}"))
    };
    let files = count_noun(diff.files.len(), "file");
    let (added, removed) = (
        page.paint(style::GOOD, &format!("+{}", diff.added)),
        page.paint(style::ERROR, &format!("-{}", diff.removed)),
    );
    let more = if diff.truncated { " and more" } else { "" };
    page.push_line(format!("  Changes: {files}{more}, {added} {removed}"));
    for file in diff.files.iter().take(FILES_SHOWN) {
        let path = sanitize::one_line(&file.path);
        page.push_line(format!(
            "    {path} {} {}",
            count(file.added, '+'),
            count(file.removed, '-')
        ));
    }
    if diff.files.len() > FILES_SHOWN {
        page.push_painted(
            style::DIM,
            &format!("    … and {} more", diff.files.len() - FILES_SHOWN),
        );
    }
}
