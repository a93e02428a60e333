//! Turns the bytes of a log into output.

use std::collections::VecDeque;

use el_agents::claude::{Line, LineSplitter, Renderer, parse_line};

use crate::output::sanitize;

/// The width limit of a rendered line if nothing else limits the width.
const WIDEST: usize = 10_000;

/// The rendering of the bytes.
pub(super) enum Show {
    /// Claude Code's events, rendered for people.
    Events(Box<Renderer>),
    /// Text without terminal control codes.
    Text,
    Raw,
}

impl Show {
    pub(super) fn events(width: Option<usize>, color: bool) -> Show {
        Show::Events(Box::new(Renderer::new(width.unwrap_or(WIDEST), color)))
    }
}

/// Accepts bytes in pieces and returns the output.
pub(super) struct Feed {
    show: Show,
    splitter: LineSplitter,
    /// The last lines, held back until the end of the existing file is reached.
    held: Option<(usize, VecDeque<Vec<u8>>)>,
}

impl Feed {
    /// With `tail`, only the last `tail` lines of the existing file are printed; later lines are
    /// printed as they arrive.
    pub(super) fn new(show: Show, tail: Option<usize>) -> Feed {
        Feed {
            show,
            splitter: LineSplitter::default(),
            held: tail.map(|tail| (tail, VecDeque::new())),
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if matches!(self.show, Show::Raw) && self.held.is_none() {
            return bytes.to_vec();
        }
        let mut out = Vec::new();
        for line in self.splitter.push(bytes) {
            out.extend(self.format_line(&line));
        }
        out
    }

    /// Marks the end of the existing file; more may come.
    pub(super) fn caught_up(&mut self) -> Vec<u8> {
        match self.held.take() {
            Some((_, lines)) => lines.into_iter().flatten().collect(),
            None => Vec::new(),
        }
    }

    /// Returns the rest of the output at the end of the input.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut out = match self.splitter.finish() {
            Some(line) => self.format_line(&line),
            None => Vec::new(),
        };
        let mut held = self.caught_up();
        held.append(&mut out);
        held
    }

    /// Returns a line that is ready to print, or nothing if the line is held back.
    fn format_line(&mut self, line: &Line) -> Vec<u8> {
        let shown = self.render_line(line);
        let Some((tail, lines)) = &mut self.held else { return shown };
        lines.extend(shown.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        while lines.len() > *tail {
            lines.pop_front();
        }
        Vec::new()
    }

    fn render_line(&mut self, line: &Line) -> Vec<u8> {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong(length) => return format!("[a line of {length} bytes]\n").into_bytes(),
        };
        match &mut self.show {
            Show::Raw => [bytes.as_slice(), b"\n"].concat(),
            Show::Text => {
                format!("{}\n", sanitize::multi_line(&String::from_utf8_lossy(bytes))).into_bytes()
            }
            Show::Events(renderer) => parse_line(bytes)
                .iter()
                .map(|event| renderer.render(event))
                .collect::<String>()
                .into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(feed: &mut Feed, parts: &[&str]) -> String {
        let mut out: Vec<u8> = parts.iter().flat_map(|part| feed.push(part.as_bytes())).collect();
        out.extend(feed.finish());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_has_no_control_codes() {
        let mut feed = Feed::new(Show::Text, None);
        assert_eq!(all(&mut feed, &["one\x1b[2J\ntw", "o\nlast"]), "one\ntwo\nlast\n");
    }

    #[test]
    fn raw_is_as_it_came() {
        let mut feed = Feed::new(Show::Raw, None);
        assert_eq!(all(&mut feed, &["a\x1b[1m\r", "\nb"]), "a\x1b[1m\r\nb");
    }

    #[test]
    fn a_tail_is_the_last_lines_then_whatever_comes() {
        let mut feed = Feed::new(Show::Text, Some(2));
        assert!(feed.push(b"1\n2\n3\n4\n").is_empty());
        assert_eq!(feed.caught_up(), b"3\n4\n");
        assert_eq!(feed.push(b"5\n"), b"5\n");
        let mut feed = Feed::new(Show::Text, Some(2));
        assert_eq!(all(&mut feed, &["1\n2\n3"]), "2\n3\n");
    }

    #[test]
    fn events_are_rendered() {
        let mut feed = Feed::new(Show::events(None, false), None);
        let event = concat!(
            r#"{"type":"assistant","message":{"id":"m","#,
            r#""content":[{"type":"text","text":"I fix the parser."}]}}"#
        );
        assert_eq!(all(&mut feed, &[event, "\n"]), "I fix the parser.\n");
    }
}
