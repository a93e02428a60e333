//! A text as the lines of a summary.

use crate::text::markdown::{LineKind, Markdown};

/// A line, without surrounding blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// Columns before the text.
    pub(super) indent: usize,
    /// In a fenced block: never a heading or a list.
    pub(super) fenced: bool,
    /// In a quotation: another writer's heading, status or file.
    pub(super) quoted: bool,
}

impl<'a> Line<'a> {
    pub(super) fn plain(text: &'a str) -> Line<'a> {
        Line { text: text.trim(), indent: 0, fenced: false, quoted: false }
    }

    /// Returns true if the line is not the writer's own text.
    pub(super) fn is_foreign(&self) -> bool {
        self.fenced || self.quoted
    }
}

/// The lines of a text, without the marks of fences and quotations.
pub(super) fn prose_lines<'a>(markdown: &'a Markdown<'_>) -> Vec<Line<'a>> {
    let lines = markdown.lines().filter(|line| line.kind != LineKind::Fence);
    lines
        .map(|line| Line {
            text: strip_quote(line.text, line.kind).trim(),
            indent: line.indent_columns(),
            fenced: line.kind == LineKind::Code,
            quoted: line.kind == LineKind::Quote,
        })
        .collect()
}

fn strip_quote(line: &str, kind: LineKind) -> &str {
    match kind {
        LineKind::Quote => line.trim_start_matches(['>', ' ', '\t']),
        _ => line,
    }
}

/// Returns the contents of a fence or quotation around the whole summary, with or without a
/// sentence before and after; `None` without such a wrapper.
pub(super) fn unwrap_fence(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let said = || lines.iter().filter(|line| !line.trim().is_empty());
    let is_quoted = |line: &&&str| line.trim_start().starts_with('>');
    if said().count() > 0 && said().filter(is_quoted).count() * 10 >= said().count() * 9 {
        let unquote = |line: &&str| {
            let rest = line.trim_start().strip_prefix('>')?;
            Some(rest.strip_prefix(' ').unwrap_or(rest).to_owned())
        };
        return Some(lines.iter().filter_map(unquote).collect::<Vec<_>>().join("\n"));
    }
    let opens = |line: &&str| {
        let line = line.trim();
        let info = line.trim_start_matches(['`', '~']);
        let marks = line.len() - info.len();
        let info = info.trim().to_ascii_lowercase();
        marks >= 3 && matches!(info.as_str(), "" | "md" | "markdown" | "text")
    };
    let first = lines.iter().position(opens)?;
    let closes = |line: &&str| {
        let line = line.trim();
        line.len() >= 3 && (line.bytes().all(|b| b == b'`') || line.bytes().all(|b| b == b'~'))
    };
    // A fence without an end counts too.
    let last = lines.iter().rposition(closes).filter(|last| *last > first);
    Some(lines[first + 1..last.unwrap_or(lines.len())].join("\n"))
}
/// A line that only divides: `---`, `***`, `===`, `___`, `- - -`.
pub(super) fn is_rule(text: &str) -> bool {
    let mut marks = text.chars().filter(|c| !c.is_whitespace());
    let Some(first) = marks.next().filter(|c| matches!(c, '-' | '=' | '*' | '_')) else {
        return false;
    };
    let mut count = 1;
    marks.all(|c| {
        count += 1;
        c == first
    }) && count >= 3
}

/// At most `max` characters, without control characters; cut with `…`.
pub(super) fn cut_text(text: &str, max: usize) -> String {
    crate::text::cut_width(crate::text::sanitize(text).trim(), max)
}
