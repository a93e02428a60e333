//! The files of a summary. The format has ``- `path` - description``; models also omit back-ticks,
//! use tables, links, bold, colons and arrows, write the description first, and name several files
//! in a line.

use super::FILES_MAX;
use super::headings::Section;
use super::items::{self, Item};
use super::lines::{self, Line};
use super::sections::Sections;
use crate::model::Deliverable;

/// Characters of a path and of a description that are kept.
const PATH_MAX: usize = 4_096;
const DESCRIPTION_MAX: usize = 500;
/// The prefix of the template's paths.
const TEMPLATE: &str = "path/to/";

/// Reads the deliverables: each file once, in the order of the text.
pub(super) fn read_deliverables(
    sections: &Sections<'_>,
    warnings: &mut Vec<String>,
) -> Vec<Deliverable> {
    let Some(section) = sections.deliverables_section() else { return Vec::new() };
    let mut list = Files::default();
    let own = sections.section_lines(section).filter(|line| !line.is_foreign());
    let (rows, rest): (Vec<Line<'_>>, Vec<Line<'_>>) =
        own.partition(|line| line.text.starts_with('|') && line.text.len() > 1);
    for item in items::read_items(separate_paths(rest).into_iter()) {
        list.add_item(&item);
    }
    for row in rows {
        list.add_row(row.text);
    }
    if list.found.len() > FILES_MAX {
        warnings.push(format!(
            "{}: only the first {FILES_MAX} of {} files are kept",
            section.title(),
            list.found.len()
        ));
        list.found.truncate(FILES_MAX);
    }
    if section == Section::Deliverables {
        warnings.extend(
            list.unread.iter().map(|text| format!("Key Deliverables: no file is named in: {text}")),
        );
    }
    list.found
}

/// Returns lines without a list mark as separate items if a line names a file, whatever the line
/// above.
fn separate_paths(lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    let mut out = Vec::with_capacity(lines.len());
    for line in lines {
        let is_own = items::after_bullet(line.text).is_none()
            && line.indent == 0
            && !parse_entry(line.text).paths.is_empty();
        if is_own {
            out.push(Line::plain(""));
        }
        out.push(line);
    }
    out
}

#[derive(Debug, Default)]
struct Files {
    found: Vec<Deliverable>,
    /// The indentation of the last item with files, and the number of files.
    last: Option<(usize, usize)>,
    unread: Vec<String>,
}

impl Files {
    fn add_item(&mut self, item: &Item) {
        if items::is_nothing(&item.text) || items::is_placeholder(&item.text) {
            return;
        }
        let entry = parse_entry(&item.text);
        if !entry.paths.is_empty() {
            self.last = Some((item.indent, entry.paths.len()));
            for path in entry.paths {
                if path.starts_with(TEMPLATE) {
                    self.unread.push(lines::cut_text(&path, 80));
                } else {
                    self.add_file(path, &entry.description);
                }
            }
            return;
        }
        // Text below a file, without a path, continues the description.
        if let Some((indent, count)) = self.last
            && item.is_listed
            && item.indent > indent
        {
            let from = self.found.len().saturating_sub(count);
            for file in &mut self.found[from..] {
                let told =
                    file.description.take().map_or_else(String::new, |text| format!("{text}; "));
                file.description =
                    Some(lines::cut_text(&format!("{told}{}", item.text), DESCRIPTION_MAX));
            }
            return;
        }
        // The name of a group is no mistake.
        if item.is_listed && !item.text.trim_end_matches(['*', '_']).ends_with(':') {
            self.unread.push(lines::cut_text(&item.text, 80));
        }
    }

    /// Reads a row of a table: the first cell with a path, and the other cells as description.
    fn add_row(&mut self, text: &str) {
        let cells: Vec<&str> = text.trim_matches('|').split('|').map(str::trim).collect();
        let Some((at, path)) = cells
            .iter()
            .enumerate()
            .find_map(|(at, cell)| Some((at, parse_entry(cell).paths.into_iter().next()?)))
        else {
            return;
        };
        let rest: Vec<&str> = cells
            .iter()
            .enumerate()
            .filter(|(n, cell)| *n != at && !cell.is_empty())
            .map(|(_, cell)| *cell)
            .collect();
        self.add_file(path, &rest.join("; "));
    }

    fn add_file(&mut self, path: String, description: &str) {
        let description =
            Some(lines::cut_text(description, DESCRIPTION_MAX)).filter(|text| !text.is_empty());
        if let Some(known) = self.found.iter_mut().find(|file| file.path == path) {
            known.description = known.description.take().or(description);
        } else if self.found.len() < FILES_MAX * 4 {
            // A few more than the limit, so that the caller notices the excess; a text full of
            // files must not cost quadratic time.
            self.found.push(Deliverable { path, description });
        }
    }
}

/// The files of an item.
#[derive(Debug, Default)]
struct Entry {
    paths: Vec<String>,
    description: String,
}

fn parse_entry(text: &str) -> Entry {
    let text = text.trim().trim_start_matches("[ ]").trim_start();
    // An emoji before the name is an ornament.
    let text = text.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric() || c == ' ');
    leading_spans(text)
        .or_else(|| leading_link(text))
        .or_else(|| parse_bare(text))
        .or_else(|| span_inside(text))
        .unwrap_or_default()
}

/// `` `a.rs`, `b.rs` and `c.rs` - text``: names in back-ticks at the beginning.
fn leading_spans(text: &str) -> Option<Entry> {
    let mut rest = text.trim_start_matches(['*', '_', '[']);
    let mut paths = Vec::new();
    while let Some((inside, after)) = code_span(rest) {
        paths.push(inside);
        rest = after;
        let next = after.trim_start_matches(['*', '_', ' ', ',', '&', '+']);
        let next = next.strip_prefix("and ").unwrap_or(next).trim_start_matches(['*', '_', ' ']);
        if !next.starts_with('`') {
            break;
        }
        rest = next;
    }
    if paths.is_empty() {
        return None;
    }
    // ``[`a.rs`](a.rs)``: the target says no more than the name.
    if let Some(target) = rest.strip_prefix("](") {
        rest = target.split_once(')').map_or("", |(_, after)| after);
    }
    let several = paths.len() > 1;
    let description = path_description(rest);
    let paths: Vec<String> = paths
        .into_iter()
        .map(tidy_path)
        .filter(|path| !path.is_empty() && (!several || is_like_a_path(path)))
        .collect();
    (!paths.is_empty()).then_some(Entry { paths, description })
}

/// `[name](path) - text`.
fn leading_link(text: &str) -> Option<Entry> {
    let rest = text.trim_start_matches(['*', '_']).strip_prefix('[')?;
    let (name, after) = rest.split_once("](")?;
    let (target, after) = after.split_once(')')?;
    let path = [target, name].into_iter().map(tidy_path).find(|path| is_like_a_path(path))?;
    Some(Entry { paths: vec![path], description: path_description(after) })
}

/// `path - text`, `path: text`, `**path** (text)`, or the path alone.
fn parse_bare(text: &str) -> Option<Entry> {
    let text = text.trim_start_matches(['*', '_']);
    let mut best: Option<(usize, usize)> = None;
    for mark in [" - ", " – ", " — ", " -- ", ": ", "** ", "**:", " (", " => ", " -> ", " → ", "\t"]
    {
        if let Some(at) = text.find(mark)
            && best.is_none_or(|(found, _)| at < found)
        {
            best = Some((at, mark.len()));
        }
    }
    let (path, rest) = best.map_or((text, ""), |(at, length)| {
        let rest =
            if text[at..].starts_with(" (") { &text[at + 1..] } else { &text[at + length..] };
        (&text[..at], rest)
    });
    let path = last_word_after_a_verb(path.trim().trim_end_matches(['*', '_', ':']));
    let path = tidy_path(path);
    is_like_a_path(&path).then(|| Entry { paths: vec![path], description: path_description(rest) })
}

/// ``Main component: `src/Button.tsx` ``: the first name in back-ticks that is like a path.
fn span_inside(text: &str) -> Option<Entry> {
    let mut rest = text;
    // Each step begins behind the last one: linear.
    while let Some(at) = rest.find('`') {
        let Some((inside, after)) = code_span(&rest[at..]) else { break };
        let path = tidy_path(inside);
        if is_like_a_path(&path) {
            let before = text[..text.len() - rest.len() + at]
                .trim_end_matches(['*', '_', ' ', ':', '-', '–', '—', '(']);
            let after = path_description(after);
            let joined = if before.is_empty() || after.is_empty() {
                format!("{before}{after}")
            } else {
                format!("{before} … {after}")
            };
            return Some(Entry { paths: vec![path], description: joined });
        }
        rest = after;
    }
    None
}

/// Splits a text into a leading code span and the rest.
fn code_span(text: &str) -> Option<(&str, &str)> {
    let ticks = text.bytes().take_while(|b| *b == b'`').count();
    if !(1..=2).contains(&ticks) {
        return None;
    }
    let rest = &text[ticks..];
    let end = rest.find(&text[..ticks])?;
    Some((&rest[..end], rest[end + ticks..].trim_start_matches('`')))
}

/// Returns the description after a path, without the separator.
fn path_description(rest: &str) -> String {
    let rest = rest.trim_start_matches(['*', '_']).trim_start();
    let rest = rest.trim_start_matches(['-', '–', '—', ':', '=', '>', '→', '|', ' ']).trim();
    match rest.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) if !inner.contains(['(', ')']) => inner.trim().to_owned(),
        _ => rest.to_owned(),
    }
}

/// Cleans a path: removes quotes, `./`, line numbers, an anchor, and a full stop at the end.
fn tidy_path(text: &str) -> String {
    let mut path = text.trim().trim_matches(['"', '\'', '<', '>', '*', '`']).trim();
    if let Some((before, lines)) = path.rsplit_once('#')
        && lines.starts_with('L')
        && lines[1..].bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'L'))
    {
        path = before;
    }
    for _ in 0..2 {
        if let Some((before, numbers)) = path.rsplit_once(':')
            && !numbers.is_empty()
            && numbers.bytes().all(|b| b.is_ascii_digit() || b == b'-')
        {
            path = before;
        }
    }
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    let path = if path.ends_with("..") || path == "." {
        path
    } else {
        path.trim_end_matches([',', ';', '.'])
    };
    lines::cut_text(&path.replace(['\t', '\n'], " "), PATH_MAX)
}

/// Returns the last word after a verb: `Updated README.md` names README.md, but `user guide.md` is
/// a name as a whole.
fn last_word_after_a_verb(text: &str) -> &str {
    const VERBS: [&str; 14] = [
        "created",
        "added",
        "updated",
        "modified",
        "new",
        "edited",
        "implemented",
        "fixed",
        "refactored",
        "rewrote",
        "wrote",
        "file",
        "see",
        "the",
    ];
    let mut rest = text;
    while let Some((word, after)) = rest.split_once(' ') {
        if !VERBS.iter().any(|verb| word.trim_end_matches(':').eq_ignore_ascii_case(verb)) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

/// Returns true if a text without back-ticks can be a path: a text with a `/`, or with an ending,
/// or a well-known name.
fn is_like_a_path(text: &str) -> bool {
    if text.is_empty()
        || text.len() > PATH_MAX
        || text.contains('`')
        || text.ends_with([':', '!', '?'])
    {
        return false;
    }
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let words = text.split_whitespace().count();
    let has_ending = last.rsplit_once('.').is_some_and(|(before, ending)| {
        let is_short =
            (1..=10).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric());
        // `e.g`, `v1.2` and the end of a sentence are no files.
        is_short
            && (!before.is_empty() || words == 1)
            && !ending.bytes().all(|b| b.is_ascii_digit())
            && !before.ends_with(' ')
    });
    let is_known = [
        "makefile",
        "dockerfile",
        "license",
        "licence",
        "readme",
        "changelog",
        "justfile",
        "procfile",
        "notice",
        "authors",
    ]
    .iter()
    .any(|known| last.eq_ignore_ascii_case(known));
    match words {
        1 => has_ending || is_known || text.contains('/'),
        // A path with blanks differs from a sentence only by the ending.
        2..=8 => has_ending,
        _ => false,
    }
}
