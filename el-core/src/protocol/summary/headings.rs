//! The headings of sections. The format has `## Key Deliverables`; models also write `### 3. Key
//! Deliverables (4)`, `**Key Deliverables:**`, `Key Deliverables:` or `- **Status:** done`.

use super::lines::Line;
use super::status_line::has_status;

/// A part of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Objective,
    Accomplishments,
    Deliverables,
    Tests,
    Notes,
    Status,
    /// A list of all changes: replaces missing deliverables.
    Changed,
    /// A text about the whole: replaces missing accomplishments.
    Overview,
}

impl Section {
    pub(super) const ALL: [Section; 8] = [
        Section::Objective,
        Section::Accomplishments,
        Section::Deliverables,
        Section::Tests,
        Section::Notes,
        Section::Status,
        Section::Changed,
        Section::Overview,
    ];

    pub(super) const fn title(self) -> &'static str {
        match self {
            Section::Objective => "Objective",
            Section::Accomplishments => "Accomplishments",
            Section::Deliverables => "Key Deliverables",
            Section::Tests => "Test Results",
            Section::Notes => "Important Notes",
            Section::Status => "Status",
            Section::Changed => "the files that changed",
            Section::Overview => "Summary",
        }
    }
}

/// The names of each section; a name stands before its own prefixes.
const NAMES: &[(&str, Section)] = &[
    ("task objective", Section::Objective),
    ("objectives", Section::Objective),
    ("objective", Section::Objective),
    ("goals", Section::Objective),
    ("goal", Section::Objective),
    ("purpose", Section::Objective),
    ("task description", Section::Objective),
    ("task", Section::Objective),
    ("key accomplishments", Section::Accomplishments),
    ("accomplishments", Section::Accomplishments),
    ("accomplishment", Section::Accomplishments),
    ("accomplished", Section::Accomplishments),
    ("what was accomplished", Section::Accomplishments),
    ("what was done", Section::Accomplishments),
    ("what i did", Section::Accomplishments),
    ("work completed", Section::Accomplishments),
    ("work done", Section::Accomplishments),
    ("completed work", Section::Accomplishments),
    ("achievements", Section::Accomplishments),
    ("changes made", Section::Accomplishments),
    ("summary of changes", Section::Accomplishments),
    ("implementation details", Section::Accomplishments),
    ("implementation", Section::Accomplishments),
    ("changes", Section::Accomplishments),
    ("key deliverables", Section::Deliverables),
    ("key deliverable", Section::Deliverables),
    ("deliverables", Section::Deliverables),
    ("deliverable", Section::Deliverables),
    ("key files", Section::Deliverables),
    ("key artifacts", Section::Deliverables),
    ("artifacts", Section::Deliverables),
    ("artefacts", Section::Deliverables),
    ("output files", Section::Deliverables),
    ("test results", Section::Tests),
    ("test result", Section::Tests),
    ("test summary", Section::Tests),
    ("test status", Section::Tests),
    ("testing results", Section::Tests),
    ("testing", Section::Tests),
    ("tests", Section::Tests),
    ("verification", Section::Tests),
    ("important notes", Section::Notes),
    ("important note", Section::Notes),
    ("additional notes", Section::Notes),
    ("notes", Section::Notes),
    ("note", Section::Notes),
    ("caveats", Section::Notes),
    ("recommendations", Section::Notes),
    ("known issues", Section::Notes),
    ("known limitations", Section::Notes),
    ("limitations", Section::Notes),
    ("next steps", Section::Notes),
    ("overall status", Section::Status),
    ("final status", Section::Status),
    ("completion status", Section::Status),
    ("task status", Section::Status),
    ("current status", Section::Status),
    ("status", Section::Status),
    ("files changed", Section::Changed),
    ("changed files", Section::Changed),
    ("files modified", Section::Changed),
    ("modified files", Section::Changed),
    ("files created/modified", Section::Changed),
    ("files created", Section::Changed),
    ("created files", Section::Changed),
    ("files", Section::Changed),
    ("executive summary", Section::Overview),
    ("summary", Section::Overview),
    ("overview", Section::Overview),
];

/// Longest beginning of a line that is looked at: a heading is short.
const NAME_MAX: usize = 80;

/// A line that may begin a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heading<'a> {
    /// `None`: a heading of another kind.
    pub(super) section: Option<Section>,
    /// The smaller, the surer: 1 to 6 for headings by `#`, then labels.
    pub(super) rank: u8,
    /// The rest of the line after the name.
    pub(super) rest: &'a str,
}

pub(super) const BOLD: u8 = 7;
pub(super) const PLAIN: u8 = 8;
pub(super) const BULLET: u8 = 9;

/// Reads a line as a heading; `next` is the line below, a possible underline.
pub(super) fn read_heading<'a>(line: Line<'a>, next: Option<Line<'a>>) -> Option<Heading<'a>> {
    if line.is_foreign() || line.text.is_empty() {
        return None;
    }
    let hashes = line.text.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) {
        let title = line.text[hashes..].trim().trim_end_matches('#').trim_end();
        if hashes == 1 && is_tap_count(title) {
            return None;
        }
        let rank = u8::try_from(hashes).unwrap_or(6);
        let found = match_section(title, true);
        // `#123` and `#!/bin/sh` are no headings, `##Objective` is one that was written in haste.
        let is_heading = found.is_some() || line.text[hashes..].starts_with([' ', '\t']);
        let (section, rest) = found.map_or((None, ""), |(section, rest)| (Some(section), rest));
        return is_heading.then_some(Heading { section, rank, rest });
    }
    let underline =
        next.filter(|next| !next.is_foreign() && next.text.len() >= 3).and_then(|next| match next
            .text
            .as_bytes()
        {
            bytes if bytes.iter().all(|b| *b == b'=') => Some(1),
            bytes if bytes.iter().all(|b| *b == b'-') => Some(2),
            _ => None,
        });
    if let (Some(rank), Some((section, rest))) = (underline, match_section(line.text, true)) {
        return Some(Heading { section: Some(section), rank, rest });
    }
    if line.text.starts_with("**") || line.text.starts_with("__") {
        return parse_label(line.text, BOLD);
    }
    match super::items::after_bullet(line.text) {
        Some(text) => parse_label(text, BULLET),
        None => parse_label(line.text, PLAIN),
    }
}

/// Returns true for a count at the end of a TAP report, which Node's test runner prints:
/// `# pass 11`.
fn is_tap_count(title: &str) -> bool {
    title.split_once(' ').is_some_and(|(word, count)| {
        let counted =
            ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];
        counted.contains(&word) && count.parse::<f64>().is_ok()
    })
}

/// `**Name:** rest`, `**Name**: rest`, `Name: rest`, or the name alone.
fn parse_label(text: &str, rank: u8) -> Option<Heading<'_>> {
    let (section, rest) = match_section(text, false)?;
    Some(Heading { section: Some(section), rank, rest })
}

/// Returns the section of a title, and the text after the name. `loose`: a title may have more
/// words (`Notes & caveats`).
fn match_section(title: &str, loose: bool) -> Option<(Section, &str)> {
    let title = without_ornaments(title);
    let start: String = title.chars().take(NAME_MAX).map(|c| c.to_ascii_lowercase()).collect();
    NAMES.iter().find_map(|(name, section)| {
        let rest = start.strip_prefix(name)?;
        if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_' && !rest.starts_with("__")) {
            return None;
        }
        // Lower case changed only ASCII letters, so positions are the same.
        after_name(*section, &title[name.len()..], loose).map(|rest| (*section, rest))
    })
}

/// Returns the text after a name, if the text may follow a name.
fn after_name(section: Section, rest: &str, loose: bool) -> Option<&str> {
    let mut rest = rest.trim_start_matches(['*', '_', '`']).trim_start();
    if rest.starts_with('(')
        && let Some(end) = rest.find(')')
    {
        rest = rest[end + 1..].trim_start_matches(['*', '_', ' ']);
    }
    for mark in [":", "：", " - ", "- ", "– ", "— ", "-- "] {
        if let Some(text) = rest.strip_prefix(mark.trim_start()) {
            return Some(text.trim_start_matches(['*', '_', ':']).trim());
        }
    }
    if rest.is_empty() {
        return Some("");
    }
    if section == Section::Status
        && has_status(rest)
        && (loose || !rest.starts_with(char::is_alphanumeric))
    {
        return Some(rest);
    }
    let goes_on = rest.starts_with(['&', '/', '+', ','])
        || rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("and "));
    let is_ornament = !rest.contains(char::is_alphanumeric);
    (loose && goes_on || is_ornament).then_some("")
}

/// Strips leading emphasis, emoji and numbers from a title.
fn without_ornaments(title: &str) -> &str {
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    let digits = title.bytes().take_while(u8::is_ascii_digit).count();
    match title[digits..].strip_prefix(['.', ')']) {
        Some(rest) if digits > 0 => rest.trim_start_matches(|c: char| !c.is_alphanumeric()),
        _ => title,
    }
}
