//! Markdown as lines, each classified by CommonMark as text, code, quotation, or comment.
//!
//! Summaries, task lists and plans are read by line, because people and models deviate from the
//! format in ways that no parser of Markdown knows (`**Status:** done`). The parser only finds
//! lines that are not the writer's own text.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// Times that reading begins again behind a fence that never ends.
const RESTARTS_MAX: usize = 4;

/// A line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counts from 1.
    pub number: usize,
    /// The line without the line end; surrounding blanks stay.
    pub text: &'a str,
    pub kind: LineKind,
}

/// The kind of a line, by context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Text,
    /// A line of a fenced block, or a mark of the fence.
    Code,
    /// The opening or closing mark of a fenced block.
    Fence,
    Quote,
}

impl<'a> Line<'a> {
    /// Columns of white space before the text.
    pub fn indent_columns(&self) -> usize {
        let mut columns = 0;
        for c in self.text.chars() {
            match c {
                ' ' => columns += 1,
                '\t' => columns += 4 - columns % 4,
                _ => break,
            }
        }
        columns
    }
}

/// A text that was read as Markdown.
#[derive(Debug)]
pub struct Markdown<'a> {
    /// With comments blanked and each line ended by `\n`.
    text: Cow<'a, str>,
    marks: Vec<Mark>,
    /// The lines of each comment.
    comments: Vec<Range<usize>>,
    /// The lines where an endless fence begins. Such a fence counts as none.
    open_fences: Vec<usize>,
}

#[derive(Debug)]
struct Mark {
    bytes: Range<usize>,
    kind: LineKind,
}

impl<'a> Markdown<'a> {
    /// Reads a text. Comments become blanks. A fence or comment without an end counts as none, so
    /// that no text is hidden.
    pub fn read(text: &'a str) -> Markdown<'a> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = if text.contains('\r') {
            Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(text)
        };
        let mut found = Found::default();
        found.read_events(&text);
        let mut counter = LineCounter { text: &text, at: 0, line: 1 };
        let mut lines_of =
            |at: &Range<usize>| counter.line_at(at.start)..counter.line_at(at.end) + 1;
        let comments = found.comments.iter().map(&mut lines_of).collect();
        let mut counter = LineCounter { text: &text, at: 0, line: 1 };
        let open_fences = found.open_fences.iter().map(|at| counter.line_at(*at)).collect();
        let mut markdown = Markdown { marks: found.marks, comments, open_fences, text };
        if !found.comments.is_empty() {
            markdown.text = Cow::Owned(blank_out(&markdown.text, &found.comments));
        }
        markdown
    }

    /// Every line, in order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut marks = self.marks.iter().peekable();
        let mut start = 0;
        self.text.split('\n').enumerate().map(move |(at, text)| {
            while marks.next_if(|mark| mark.bytes.end <= start).is_some() {}
            let end = start + text.len();
            let kind = match marks.peek() {
                // A line without a mark goes on a quotation only for CommonMark.
                Some(mark) if mark.kind == LineKind::Quote && !text.contains('>') => LineKind::Text,
                Some(mark) if mark.bytes.start <= end => mark.kind,
                _ => LineKind::Text,
            };
            start = end + 1;
            Line { number: at + 1, text, kind }
        })
    }

    /// There is no text at all.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The numbers of the lines that each comment takes.
    pub fn comment_lines(&self) -> &[Range<usize>] {
        &self.comments
    }

    /// The line of each fence that never ends.
    pub fn open_fences(&self) -> &[usize] {
        &self.open_fences
    }
}

#[derive(Debug, Default)]
struct Found {
    marks: Vec<Mark>,
    comments: Vec<Range<usize>>,
    open_fences: Vec<usize>,
}

impl Found {
    fn read_events(&mut self, text: &str) {
        let mut from = 0;
        for _ in 0..RESTARTS_MAX {
            match self.read_from(text, from) {
                Some(again) => from = again,
                None => return,
            }
        }
    }

    /// Reads on from a place; returns where to begin again.
    fn read_from(&mut self, text: &str, from: usize) -> Option<usize> {
        let place = |range: Range<usize>| from + range.start..from + range.end;
        let mut quote_end = from;
        for (event, range) in Parser::new_ext(&text[from..], Options::empty()).into_offset_iter() {
            let bytes = place(range);
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                    if bytes.start < quote_end {
                        continue;
                    }
                    if !is_closed(&text[bytes.clone()]) && text[bytes.end..].trim().is_empty() {
                        self.open_fences.push(bytes.start);
                        let line = text[bytes.start..].find('\n');
                        let end = line.map_or(text.len(), |length| bytes.start + length);
                        self.marks.push(Mark { bytes: bytes.start..end, kind: LineKind::Fence });
                        return line.map(|_| end + 1);
                    }
                    self.add_fenced(text, bytes);
                }
                Event::Start(Tag::BlockQuote(_)) if bytes.start >= quote_end => {
                    quote_end = bytes.end;
                    self.marks.push(Mark { bytes, kind: LineKind::Quote });
                }
                Event::Start(Tag::HtmlBlock) | Event::InlineHtml(_) => {
                    let html = &text[bytes.clone()];
                    if html.trim_start().starts_with("<!--")
                        && let Some(length) = html.find("-->")
                    {
                        self.comments.push(bytes.start..bytes.start + length + 3);
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn add_fenced(&mut self, text: &str, bytes: Range<usize>) {
        let block = &text[bytes.clone()];
        let first = bytes.start + block.find('\n').unwrap_or(block.len());
        let body = block.trim_end();
        let last = match is_closed(block) {
            true => bytes.start + body.rfind('\n').map_or(0, |at| at + 1),
            false => bytes.end,
        };
        let mark = |bytes: Range<usize>, kind| Mark { bytes, kind };
        self.marks.push(mark(bytes.start..first, LineKind::Fence));
        if first + 1 < last {
            self.marks.push(mark(first + 1..last, LineKind::Code));
        }
        if last < bytes.end {
            self.marks.push(mark(last..bytes.start + body.len(), LineKind::Fence));
        }
    }
}

/// Returns true if a fenced block has the closing mark.
fn is_closed(block: &str) -> bool {
    let opening: &str = block.lines().next().unwrap_or_default();
    let Some(mark) = opening.chars().next() else { return false };
    let length = opening.chars().take_while(|c| *c == mark).count();
    let body = block.trim_end();
    body.rsplit_once('\n').is_some_and(|(_, last)| {
        let last = last.trim();
        last.chars().count() >= length && last.chars().all(|c| c == mark)
    })
}

/// Replaces the parts by blanks.
fn blank_out(text: &str, parts: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts {
        out.push_str(&text[at..part.start]);
        out.extend(text[part.clone()].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        at = part.end;
    }
    out.push_str(&text[at..]);
    out
}

/// Counts lines up to places that come in order.
struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line_at(&mut self, at: usize) -> usize {
        self.line += self.text[self.at..at].bytes().filter(|b| *b == b'\n').count();
        self.at = at;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kinds(text: &str) -> String {
        let markdown = Markdown::read(text);
        let kind = |line: Line<'_>| match line.kind {
            LineKind::Text if line.text.trim().is_empty() => ' ',
            LineKind::Text => 't',
            LineKind::Code => 'c',
            LineKind::Fence => 'f',
            LineKind::Quote => 'q',
        };
        markdown.lines().map(kind).collect()
    }

    #[test]
    fn fences_are_commonmarks() {
        assert_eq!(kinds("a\n```\n- b\n```\nc"), "tfcft");
        assert_eq!(kinds("````\n```\na\n```\n````\nb"), "fcccft");
        assert_eq!(kinds("```\n~~~\na\n```\nb"), "fccft");
        assert_eq!(kinds("- a\n  ```\n  b\n- c"), "tfct");
        assert_eq!(kinds("- a\n\n  ```sh\n  b\n  ```\n- c"), "t fcft");
        assert_eq!(kinds("```\n```\na"), "fft");
    }

    #[test]
    fn what_never_ends_hides_nothing() {
        assert_eq!(kinds("a\n```\nb\n~~~\nc\n~~~\nd"), "tftfcft");
        assert_eq!(Markdown::read("a\n```\nb").open_fences(), [2]);
        assert_eq!(kinds("a\n\n<!-- b\nc"), "t tt");
    }

    #[test]
    fn comments_and_quotations_are_told() {
        assert_eq!(kinds("a\n\n<!--\n- b\n-->\nc <!-- d -->"), "t    t");
        assert_eq!(
            Markdown::read("a\n\n<!--\n- b\n-->\n").comment_lines(),
            std::slice::from_ref(&(3..6))
        );
        assert_eq!(kinds("> a\n> ```\n> b\n> ```\n\nc"), "qqqq t");
        assert_eq!(kinds("- a\n  > b\n\nc"), "tq t");
    }

    proptest! {
        #[test]
        fn every_line_comes_once(text in "([-`~> \n#<!a]|<!--|-->|```\n){0,80}") {
            let markdown = Markdown::read(&text);
            prop_assert_eq!(markdown.lines().count(), text.split('\n').count());
            for (at, (line, raw)) in markdown.lines().zip(text.split('\n')).enumerate() {
                prop_assert_eq!(line.number, at + 1);
                prop_assert_eq!(line.text.len(), raw.len());
            }
        }
    }
}
