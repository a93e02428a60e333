//! The fallback for a missing summary, and the text form of a summary.

use super::lines;
use crate::model::{Deliverable, Summary, SummaryStatus, TestResults};
use crate::protocol::fence;

/// Facts about a run that need no help of the agent.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    pub atom_id: String,
    pub title: String,
    /// The agent's closing reason, if any.
    pub close_reason: Option<String>,
    /// The end and the cost of the run, a sentence each.
    pub record: Vec<String>,
    /// Files changed since the start of the run, most valuable first; relative to the working
    /// folder.
    pub changed: Vec<String>,
    /// How many more there are.
    pub changed_more: usize,
    /// Files removed since the start of the run.
    pub removed: Vec<String>,
    /// The source of the changes: `by git`, `by their times`; `None`: unknown.
    pub changed_by: Option<&'static str>,
    /// The last lines of the agent's output, without control codes.
    pub output: String,
    /// Why the agent's own summary was refused, if there is a summary; what else went wrong.
    pub warnings: Vec<String>,
}

/// The most deliverables in a fallback, as in the seed.
const DELIVERABLES: usize = 4;
/// The most changed files listed.
const TOLD: usize = 20;

/// Makes a summary from the facts, marked as partial, with the text.
pub fn fallback_summary(facts: &Facts) -> (Summary, String) {
    let mut accomplishments: Vec<String> = Vec::new();
    accomplishments.extend(facts.close_reason.as_deref().map(|reason| {
        format!("The agent's own words at its end: {}", fence::fence_line(reason, 500))
    }));
    accomplishments.push(match (facts.changed_by, facts.changed.len() + facts.changed_more) {
        (None, _) => "Which files changed is not known.".to_owned(),
        (Some(by), 0) if !facts.removed.is_empty() => {
            format!("Files were only removed since the run began ({by}).")
        }
        (Some(_), 0) => "No file changed since the run began.".to_owned(),
        (Some(by), 1) => format!("One file changed since the run began ({by})."),
        (Some(by), count) => format!("{count} files changed since the run began ({by})."),
    });
    let mut notes = facts.record.clone();
    let changed = facts.changed.get(DELIVERABLES..).unwrap_or_default();
    notes.extend(list_paths("Also changed", changed, facts.changed_more));
    notes.extend(list_paths("Removed", &facts.removed, 0));
    let file = |path: &String| Deliverable {
        path: path.clone(),
        description: Some("changed while the run was on".to_owned()),
    };
    let mut warnings =
        vec!["the agent wrote no summary; this one was made from the run's record".to_owned()];
    warnings.extend(facts.warnings.iter().cloned());
    let summary = Summary {
        objective: Some(format!("{} ({})", fence::fence_line(&facts.title, 500), facts.atom_id)),
        accomplishments,
        deliverables: facts.changed.iter().take(DELIVERABLES).map(file).collect(),
        tests: Some(TestResults {
            outcome: None,
            text: "⏭️ Status unknown (the agent wrote no summary)".to_owned(),
        }),
        notes,
        status: Some(SummaryStatus::Partial),
        status_text: None,
        is_fallback: true,
        warnings,
        uncommitted: Vec::new(),
    };
    let mut text = render_summary(&summary);
    if !facts.output.trim().is_empty() {
        let output = fence::fence_block(&facts.output, 16 << 10);
        let at = text.rfind("\n## Status\n").unwrap_or(text.len());
        text.insert_str(at, &format!("\n## Last Output\n{output}\n"));
    }
    (summary, text)
}

/// Names the first paths, and how many more there are beside `unlisted`; `None` without a path.
fn list_paths(what: &str, paths: &[String], unlisted: usize) -> Option<String> {
    let told: Vec<String> = paths.iter().take(TOLD).map(|path| format!("`{path}`")).collect();
    let rest = paths.len() + unlisted - told.len();
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!told.is_empty()).then(|| format!("{what}: {}{rest}", told.join(", ")))
}

/// Renders a summary in the requested format.
pub fn render_summary(summary: &Summary) -> String {
    let list = |items: &[String]| -> String {
        if items.is_empty() {
            "- None\n".to_owned()
        } else {
            items.iter().map(|item| format!("- {}\n", item.replace('\n', "\n  "))).collect()
        }
    };
    let files: Vec<String> = summary
        .deliverables
        .iter()
        .map(|file| match &file.description {
            Some(description) => format!("`{}` - {description}", file.path),
            None => format!("`{}`", file.path),
        })
        .collect();
    let status = match summary.status {
        Some(SummaryStatus::Completed) => "✅ COMPLETED",
        Some(SummaryStatus::Partial) if summary.is_fallback => {
            "⚠️ PARTIAL - Summary not created by the agent"
        }
        Some(SummaryStatus::Partial) => "⚠️ PARTIAL",
        Some(SummaryStatus::Failed) => "❌ FAILED",
        None => "Not given",
    };
    format!(
        "# Task Completion Summary\n\n## Objective\n{}\n\n## Accomplishments\n{}\n\
         ## Key Deliverables\n{}\n## Test Results\n{}\n\n## Important Notes\n{}\n## Status\n\
         {status}\n",
        summary.objective.as_deref().unwrap_or("Not given"),
        list(&summary.accomplishments),
        list(&files),
        summary.tests.as_ref().map_or("Not given", |tests| tests.text.as_str()),
        list(&summary.notes),
    )
}

/// Renders a summary in a few lines, for messages and lists: status, accomplishments, files.
pub fn in_words(summary: &Summary, lines_max: usize) -> String {
    let mut said: Vec<String> = Vec::new();
    said.push(match summary.status {
        Some(status) => format!(
            "Status: {}{}",
            status.as_str().to_uppercase(),
            if summary.is_fallback { " (the agent wrote no summary)" } else { "" }
        ),
        None => match &summary.status_text {
            Some(words) => format!("Status: unclear, so not completed: {words:?}"),
            None => "Status: not given".to_owned(),
        },
    });
    said.extend(
        summary
            .objective
            .iter()
            .filter(|_| !summary.is_fallback)
            .map(|text| format!("Objective: {}", lines::cut_text(&text.replace('\n', " "), 300))),
    );
    said.extend(
        summary
            .accomplishments
            .iter()
            .map(|text| format!("- {}", lines::cut_text(&text.replace('\n', " "), 300))),
    );
    said.extend(summary.deliverables.iter().map(|file| match &file.description {
        Some(text) => format!("File: {} - {}", file.path, lines::cut_text(text, 200)),
        None => format!("File: {}", file.path),
    }));
    let tests = summary
        .tests
        .as_ref()
        .and_then(|tests| tests.text.lines().next())
        .filter(|_| !summary.is_fallback);
    said.extend(tests.map(|text| format!("Tests: {}", lines::cut_text(text, 200))));
    said.extend(
        summary
            .notes
            .iter()
            .map(|text| format!("Note: {}", lines::cut_text(&text.replace('\n', " "), 300))),
    );
    if said.len() > lines_max {
        let left_out = said.len() - lines_max + 1;
        said.truncate(lines_max.saturating_sub(1));
        said.push(format!("(… {left_out} more lines)"));
    }
    said.join("\n")
}
