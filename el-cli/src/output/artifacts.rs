//! Human output of the artifacts and summaries that runs handed over.

use el_core::count_noun;
use el_core::model::{Artifact, ArtifactState, Summary, SummaryStatus, TestOutcome};

use super::page::Page;
use super::table::{Cell, Column, Table};
use super::{sanitize, style};

/// The most accomplishments and notes that are shown in a larger view.
const SHORT: usize = 6;

/// `✓ completed · tests passed`.
pub(crate) fn verdict_line(page: &Page, summary: &Summary) -> String {
    let mut parts = Vec::new();
    parts.push(match summary.status {
        Some(SummaryStatus::Completed) => page.paint(style::GOOD, "✓ completed"),
        Some(SummaryStatus::Partial) => page.paint(style::WARNING, "◐ partial"),
        Some(SummaryStatus::Failed) => page.paint(style::ERROR, "✗ failed"),
        None => match &summary.status_text {
            Some(words) => {
                let words = sanitize::one_line(words);
                page.paint(style::WARNING, &format!("? not completed: “{words}”"))
            }
            None => page.paint(style::DIM, "no status given"),
        },
    });
    match summary.tests.as_ref().and_then(|tests| tests.outcome) {
        Some(TestOutcome::Passed) => parts.push(page.paint(style::GOOD, "tests passed")),
        Some(TestOutcome::Failed) => parts.push(page.paint(style::ERROR, "tests failed")),
        Some(TestOutcome::Skipped) => parts.push(page.paint(style::DIM, "no tests")),
        None => {}
    }
    if summary.is_fallback {
        parts.push(page.paint(style::DIM, "the agent wrote no summary"));
    }
    parts.join(" · ")
}

/// The verdict in plain words, for a sentence.
pub(crate) fn verdict_words(summary: &Summary, artifacts: i64) -> String {
    let unclear = if summary.status_text.is_some() { "status unclear" } else { "no status given" };
    let status = summary.status.map_or(unclear, SummaryStatus::as_str);
    let by = if summary.is_fallback { " (made by el)" } else { "" };
    let files = artifacts.saturating_sub(1);
    let files = match files {
        ..=0 => "no files".to_owned(),
        1 => "1 file".to_owned(),
        many => format!("{many} files"),
    };
    let left = uncommitted_remark(summary.uncommitted.len());
    let left = left.map(|left| format!(", {left}")).unwrap_or_default();
    format!("summary {status}{by}, {files}{left}")
}

/// Warns of uncommitted files in a worktree, which do not land.
pub(crate) fn uncommitted_remark(files: usize) -> Option<String> {
    (files > 0).then(|| format!("{} not committed", count_noun(files, "file")))
}

/// The whole summary.
pub(crate) fn print_summary(page: &mut Page, summary: &Summary) {
    let verdict = verdict_line(page, summary);
    page.push_line(verdict);
    if let Some(objective) = &summary.objective {
        page.push_paragraph(objective, 2);
    }
    print_bullets(page, "Done", &summary.accomplishments);
    if let Some(tests) = summary.tests.as_ref().filter(|_| !summary.is_fallback) {
        page.push_section("Tests");
        page.push_paragraph(&tests.text, 2);
    }
    print_bullets(page, "Notes", &summary.notes);
}

/// A short summary for a larger view: the verdict, the accomplishments and the named files.
pub(crate) fn print_brief(page: &mut Page, summary: &Summary, run: &str, artifacts: i64) {
    let verdict = verdict_line(page, summary);
    page.push_line(format!("  {verdict}"));
    for text in summary.accomplishments.iter().take(SHORT) {
        page.push_paragraph(&format!("- {text}"), 2);
    }
    if summary.accomplishments.len() > SHORT {
        page.push_painted(
            style::DIM,
            &format!("  … {} more", summary.accomplishments.len() - SHORT),
        );
    }
    let mut table =
        Table::new([Column::new("PATH"), Column::new("DESCRIPTION").flexible()]).without_heading(2);
    for file in summary.deliverables.iter().take(SHORT) {
        table.push_row([
            Cell::styled(style::ID, &file.path),
            Cell::new(file.description.as_deref().unwrap_or_default()),
        ]);
    }
    if !table.is_empty() {
        table.print_table(page);
    }
    let named = summary.deliverables.len();
    let sent = usize::try_from(artifacts.saturating_sub(1)).unwrap_or(0);
    if sent < named {
        page.push_painted(
            style::DIM,
            &format!("  {sent} of {named} files handed over; el artifacts show {run} says why"),
        );
    }
}

fn print_bullets(page: &mut Page, heading: &str, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    page.push_section(heading);
    for text in texts {
        page.push_paragraph(&format!("- {text}"), 2);
    }
}

/// The files that were handed over.
pub(crate) fn print_table(page: &mut Page, artifacts: &[Artifact]) {
    let mut table = Table::new([
        Column::new("#").align_right(),
        Column::new("PATH"),
        Column::new("SIZE").align_right(),
        Column::new("STATE").hide_when_narrow(1),
        Column::new("DESCRIPTION").flexible(),
    ]);
    for artifact in artifacts {
        let state =
            if artifact.state == ArtifactState::Copied { style::GOOD } else { style::WARNING };
        let said = [artifact.description.as_deref(), artifact.note.as_deref()];
        let said: Vec<&str> = said.into_iter().flatten().collect();
        table.push_row([
            Cell::styled(style::DIM, artifact.n.to_string()),
            Cell::styled(style::ID, &artifact.path),
            Cell::new(artifact.size.map(format_size).unwrap_or_default()),
            Cell::styled(state, artifact.state.as_str()),
            Cell::new(said.join("; ")),
        ]);
    }
    table.print_table(page);
}

/// The files that were not handed over, each with the reason.
pub(crate) fn not_sent(page: &mut Page, artifacts: &[Artifact]) {
    for artifact in artifacts {
        let why =
            artifact.reason.map_or("was not handed over", el_core::model::NotSent::reason_text);
        let note = artifact
            .note
            .as_ref()
            .map_or_else(String::new, |note| format!(" ({})", sanitize::one_line(note)));
        page.push_paragraph(&format!("{} {why}{note}", sanitize::one_line(&artifact.path)), 2);
    }
}

/// `812 B`, `3.4 KiB`, `1.2 MiB`.
pub(crate) fn format_size(bytes: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit after the point is shown")]
    let number = bytes as f64;
    match bytes {
        ..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{:.1} KiB", number / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", number / 1_048_576.0),
        _ => format!("{:.1} GiB", number / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_words_are_short() {
        assert_eq!(
            [812, 3_500, 5 << 20, 3 << 30].map(format_size),
            ["812 B", "3.4 KiB", "5.0 MiB", "3.0 GiB"]
        );
        let summary = Summary { status: Some(SummaryStatus::Completed), ..Summary::default() };
        assert_eq!(verdict_words(&summary, 3), "summary completed, 2 files");
        assert_eq!(
            verdict_words(&Summary { is_fallback: true, ..Summary::default() }, 1),
            "summary no status given (made by el), no files"
        );
    }
}
