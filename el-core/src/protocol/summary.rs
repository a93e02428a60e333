//! An agent's summary of the work: `summaries/<atom-id>.md`.
//!
//! Reading is tolerant, since people and models are sloppy: missing parts stay empty, and guesses
//! and unreadable parts are reported in [`Summary::warnings`]. Reading never fails, and is linear
//! in time and memory. The paths of files are judged strictly, by [`super::workspace`] and by the
//! code that opens the files.

mod fallback;
mod files;
mod headings;
mod items;
mod lines;
mod outcome;
mod request;
mod sections;
mod shortfall;
mod status;
mod status_line;
mod words;

pub use fallback::{Facts, fallback_summary, in_words, render_summary};
use headings::Section;
pub use request::request_summary;
use sections::Sections;

use crate::model::{Summary, SummaryStatus, TestResults};
use crate::text::{self, markdown::Markdown};

/// The most bytes of a summary that are read. The middle of a longer summary is left out, with a
/// warning.
pub const READ_MAX: usize = 1 << 20;
/// Fences and quotations around the whole that are taken off.
const WRAPPINGS_MAX: usize = 2;
/// The most items kept of a list.
const ITEMS_MAX: usize = 200;
/// Files that are kept.
const FILES_MAX: usize = 50;
/// Characters of the text about tests, and of the objective, that are kept.
const TEXT_MAX: usize = 4_000;
/// The most warnings: a text with a fault in each line needs no thousand sentences.
const WARNINGS_MAX: usize = 20;

/// Reads a summary.
pub fn parse_summary(text: &str) -> Summary {
    parse_within(text, WRAPPINGS_MAX)
}

/// `wrappings`: the most fences or quotations around the summary.
fn parse_within(text: &str, wrappings: usize) -> Summary {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Summary { warnings: vec!["it is empty".to_owned()], ..Summary::default() };
    }
    let (head, tail) = text::head_and_tail(text, READ_MAX);
    let (head, tail) = (Markdown::read(head), Markdown::read(tail));
    let mut lines = lines::prose_lines(&head);
    if !tail.is_empty() {
        lines.extend(lines::prose_lines(&tail));
    }
    let sections = Sections::find_sections(&lines);
    if wrappings > 0
        && sections.are_of_no_summary()
        && let Some(inner) = lines::unwrap_fence(text)
    {
        let inner = parse_within(&inner, wrappings - 1);
        let has_status = inner.status.is_some() || inner.status_text.is_some();
        if inner.objective.is_some() && (has_status || !inner.accomplishments.is_empty()) {
            return inner;
        }
    }
    let mut summary = read_sections(&sections);
    if !tail.is_empty() {
        let cut = "it is very long; its middle was not read";
        summary.warnings.insert(0, cut.to_owned());
        // An open fence in the head makes the fences of the tail ambiguous.
        let is_clear = head.open_fences().is_empty() && tail.open_fences().is_empty();
        if !is_clear && summary.status == Some(SummaryStatus::Completed) {
            summary.status = None;
            summary.status_text = Some("in a text that was too long to be read".to_owned());
        }
    }
    summary
}

fn read_sections(sections: &Sections<'_>) -> Summary {
    let mut warnings = Vec::new();
    sections.warn_missing(&mut warnings);
    let mut summary = Summary {
        objective: read_prose(sections, Section::Objective),
        accomplishments: read_list(sections, sections.accomplishments_section(), &mut warnings),
        deliverables: files::read_deliverables(sections, &mut warnings),
        notes: read_list(sections, Some(Section::Notes), &mut warnings),
        tests: read_tests(sections),
        ..Summary::default()
    };
    if sections.is_empty() {
        summary.accomplishments =
            items::item_texts(&items::read_items(sections.loose_lines()), &mut warnings);
        cap_list(&mut summary.accomplishments, "paragraphs", &mut warnings);
    }
    let status = status::read_status(sections, &mut warnings);
    (summary.status, summary.status_text) = (status.status, status.unread);
    warnings.truncate(WARNINGS_MAX);
    summary.warnings = warnings;
    summary
}

fn read_list(
    sections: &Sections<'_>,
    section: Option<Section>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let Some(section) = section else { return Vec::new() };
    let mut texts =
        items::item_texts(&items::read_items(sections.section_lines(section)), warnings);
    cap_list(&mut texts, section.title(), warnings);
    texts
}

fn cap_list(texts: &mut Vec<String>, what: &str, warnings: &mut Vec<String>) {
    if texts.len() > ITEMS_MAX {
        warnings.push(format!("{what}: only the first {ITEMS_MAX} of {} are kept", texts.len()));
        texts.truncate(ITEMS_MAX);
    }
}

/// Returns a section as running text, blank lines included.
fn read_prose(sections: &Sections<'_>, section: Section) -> Option<String> {
    let mut text = String::new();
    let mut blank = false;
    for line in sections.section_lines(section) {
        if line.text.is_empty() || lines::is_rule(line.text) {
            blank = true;
            continue;
        }
        if items::is_placeholder(line.text) {
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank { "\n\n" } else { "\n" });
        }
        blank = false;
        text.push_str(line.text);
        if text.len() > TEXT_MAX * 4 {
            break;
        }
    }
    Some(lines::cut_text(&text, TEXT_MAX)).filter(|text| !text.is_empty())
}

fn read_tests(sections: &Sections<'_>) -> Option<TestResults> {
    let text = read_prose(sections, Section::Tests)?;
    Some(TestResults { outcome: outcome::read_outcome(&text), text })
}

#[cfg(test)]
mod tests;
