//! The summary that an agent writes about its work: `summaries/<atom-id>.md`.
//!
//! Reading is tolerant, since people and models are sloppy: whatever can be understood is, what is
//! missing stays empty, and what was guessed or could not be read is told in [`Summary::warnings`].
//! Nothing fails. It is as linear in time and memory as the text is long. Where the files that a
//! summary names may lie is judged strictly, by [`super::workspace`] and by whoever opens them.

mod fallback;
mod files;
mod headings;
mod items;
mod lines;
mod request;
mod sections;
mod words;

pub use fallback::{Facts, fallback, in_words, render};
use headings::Section;
pub use request::request;
use sections::Sections;

use crate::model::{Summary, TestResults};

/// Bytes of a summary that are read; the rest is left out, with a warning.
pub const READ_MAX: usize = 256 << 10;
/// Items of one list that are kept.
const ITEMS_MAX: usize = 200;
/// Files that are kept.
const FILES_MAX: usize = 50;
/// Characters of the text about tests, and of the objective, that are kept.
const TEXT_MAX: usize = 4_000;
/// Warnings that are kept: a text that is wrong in each of its lines needs no thousand sentences.
const WARNINGS_MAX: usize = 20;

/// Reads a summary.
pub fn parse(text: &str) -> Summary {
    let mut warnings = Vec::new();
    let text = lines::head(text, READ_MAX, || {
        warnings.push("it is very long; its end was not read".to_owned())
    });
    let lines = lines::split(text);
    if lines.iter().all(|line| line.text.is_empty()) {
        warnings.push("it is empty".to_owned());
        return Summary { warnings, ..Summary::default() };
    }
    let sections = Sections::find(&lines);
    sections.warn(&mut warnings);
    let mut summary = Summary {
        objective: prose(&sections, Section::Objective),
        accomplishments: list(&sections, sections.accomplishments(), &mut warnings),
        deliverables: files::read(&sections, &mut warnings),
        notes: list(&sections, Some(Section::Notes), &mut warnings),
        tests: tests(&sections),
        ..Summary::default()
    };
    if sections.is_empty() {
        summary.accomplishments = items::texts(&items::read(sections.loose()), &mut warnings);
        cap(&mut summary.accomplishments, "paragraphs", &mut warnings);
    }
    summary.status = words::status(&sections, &mut warnings);
    warnings.truncate(WARNINGS_MAX);
    summary.warnings = warnings;
    summary
}

fn list(
    sections: &Sections<'_>,
    section: Option<Section>,
    warnings: &mut Vec<String>,
) -> Vec<String> {
    let Some(section) = section else { return Vec::new() };
    let mut texts = items::texts(&items::read(sections.of(section)), warnings);
    cap(&mut texts, section.title(), warnings);
    texts
}

fn cap(texts: &mut Vec<String>, what: &str, warnings: &mut Vec<String>) {
    if texts.len() > ITEMS_MAX {
        warnings.push(format!("{what}: only the first {ITEMS_MAX} of {} are kept", texts.len()));
        texts.truncate(ITEMS_MAX);
    }
}

/// A section as running text: its lines, with blank lines where it had some.
fn prose(sections: &Sections<'_>, section: Section) -> Option<String> {
    let mut text = String::new();
    let mut blank = false;
    for line in sections.of(section) {
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
    Some(lines::cut(&text, TEXT_MAX)).filter(|text| !text.is_empty())
}

fn tests(sections: &Sections<'_>) -> Option<TestResults> {
    let text = prose(sections, Section::Tests)?;
    Some(TestResults { outcome: words::tests(&text), text })
}

#[cfg(test)]
mod tests;
