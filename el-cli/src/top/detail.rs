//! The detail of the chosen row: the output of some `el` commands, read as the output comes.

use std::ops::Range;
use std::process::Command;
use std::sync::mpsc::SyncSender;

use super::Message;
use super::lines::{Keep, Lines, TextRow};
use super::reading::{Batch, Part, Reading};
use super::state::Row;

/// The most lines that are kept: the last of a log, the first of other texts.
const KEPT: usize = 100_000;
const KEPT_OF_A_LOG: &str = "5000";
/// The most bytes that are kept.
const BYTES: usize = 8 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    Text,
    Why,
    Attempts,
    Log,
    Diff,
    Graph,
}

impl View {
    pub(super) const ALL: [(View, &'static str, char); 6] = [
        (View::Text, "text", 'i'),
        (View::Why, "why", 'w'),
        (View::Attempts, "attempts", 't'),
        (View::Log, "log", 'l'),
        (View::Diff, "diff", 'd'),
        (View::Graph, "graph", 'g'),
    ];

    /// The commands whose output is shown.
    fn parts(self, atom: &str) -> Vec<Part> {
        let command =
            |words: &[&str]| Part::Command(words.iter().map(|word| (*word).to_owned()).collect());
        let heading = |text: &str| Part::Lines(vec![text.to_owned()]);
        match self {
            View::Text => vec![command(&["show", atom])],
            View::Why => vec![command(&["why", atom])],
            View::Attempts => vec![command(&["runs", "--atom", atom])],
            View::Log => vec![command(&["logs", atom, "--follow", "--limit", KEPT_OF_A_LOG])],
            View::Diff => vec![command(&["diff", atom])],
            View::Graph => vec![
                heading("It waits for:"),
                command(&["dep", "tree", atom, "--up"]),
                heading(""),
                heading("Atoms that wait for it:"),
                command(&["dep", "tree", atom]),
            ],
        }
    }
}

/// The subject of the detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    /// The row; another attempt has another log.
    key: String,
    view: View,
    parts: Vec<Part>,
}

impl Subject {
    pub(super) fn of(row: &Row, view: View) -> Subject {
        let key = match (&row.atom, view) {
            (Some(atom), View::Log) => format!("{atom} {}", row.run.as_deref().unwrap_or_default()),
            (Some(atom), _) => atom.clone(),
            (None, _) => row.key.clone(),
        };
        let mut parts = row.atom.as_deref().map(|atom| view.parts(atom)).unwrap_or_default();
        if view == View::Why || row.atom.is_none() {
            // The cause comes first, and the commands behind the keys last.
            let cause = row.cause.iter().flat_map(|cause| [cause.clone(), String::new()]);
            parts.insert(0, Part::Lines(cause.collect()));
            parts.push(Part::Lines(row.ways_lines()));
        }
        Subject { key, view, parts }
    }

    /// Returns true if both show the same text, perhaps at another time.
    fn is_like(&self, other: &Subject) -> bool {
        self.key == other.key && self.view == other.view
    }
}

/// The shown text, and the processes that write it.
#[derive(Debug)]
pub(super) struct Detail {
    pub(super) subject: Option<Subject>,
    lines: Lines,
    /// Rows above the window; `None` follows the end.
    scroll: Option<usize>,
    number: u64,
    /// The lines are of an earlier reading, and stay until the first of this one.
    is_old: bool,
    is_cut: bool,
    reading: Option<Reading>,
}

impl Detail {
    pub(super) fn new() -> Detail {
        Detail {
            subject: None,
            lines: Lines::new(80, KEPT, BYTES),
            scroll: Some(0),
            number: 0,
            is_old: false,
            is_cut: false,
            reading: None,
        }
    }

    /// Shows a subject, and forgets the last. The same subject keeps the place.
    pub(super) fn open(
        &mut self,
        program: impl Fn() -> Command + Send + 'static,
        subject: Subject,
        messages: &SyncSender<Message>,
    ) {
        self.reading = None;
        self.number += 1;
        self.is_old = self.subject.as_ref().is_some_and(|before| before.is_like(&subject));
        if !self.is_old {
            self.scroll = (subject.view != View::Log).then_some(0);
            self.lines.clear();
        }
        self.is_cut = false;
        let parts = subject.parts.clone();
        self.subject = Some(subject);
        self.reading = Some(Reading::start(program, parts, self.number, messages.clone()));
    }

    /// Shows nothing.
    pub(super) fn close(&mut self) {
        self.reading = None;
        self.subject = None;
        self.lines.clear();
    }

    pub(super) fn view(&self) -> Option<View> {
        self.subject.as_ref().map(|subject| subject.view)
    }

    /// Takes lines of the subject that is shown now; those of another are too late.
    pub(super) fn push_lines(&mut self, new: Batch) {
        if new.number != self.number {
            return;
        }
        if std::mem::take(&mut self.is_old) {
            self.lines.clear();
        }
        let keep = if self.view() == Some(View::Log) { Keep::Last } else { Keep::First };
        for line in new.lines {
            match self.lines.push(&line, keep) {
                // The window stays where it is.
                Some(gone) => self.scroll = self.scroll.map(|at| at.saturating_sub(gone)),
                None if std::mem::replace(&mut self.is_cut, true) => {}
                None => self.reading = None,
            }
        }
    }

    /// Returns true if lines were left out at the end.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn set_width(&mut self, width: usize) {
        let at = self.scroll.unwrap_or(0);
        let begins = self.lines.set_width(width, at);
        self.scroll = self.scroll.map(|_| begins);
    }

    pub(super) fn scroll_by(&mut self, by: isize, height: usize) {
        let last = self.lines.len().saturating_sub(height);
        let at = self.scroll.unwrap_or(last).min(last).saturating_add_signed(by).min(last);
        let follows = self.view() == Some(View::Log) && at == last;
        self.scroll = (!follows).then_some(at);
    }

    /// Goes to the end, also while more comes.
    pub(super) fn scroll_to_end(&mut self) {
        self.scroll = None;
    }

    /// Goes on with the end of a log.
    pub(super) fn is_following(&self) -> bool {
        self.view() == Some(View::Log) && self.scroll.is_none()
    }

    /// The rows of the window, and the total.
    pub(super) fn place(&self, height: usize) -> (Range<usize>, usize) {
        let all = self.lines.len();
        let last = all.saturating_sub(height);
        let first = self.scroll.unwrap_or(last).min(last);
        (first..(first + height).min(all), all)
    }

    pub(super) fn window(&self, height: usize) -> impl Iterator<Item = &TextRow> {
        self.lines.window(self.place(height).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::state::tests::row;

    fn opened(view: View) -> Detail {
        let (messages, _inbox) = std::sync::mpsc::sync_channel(9);
        let mut detail = Detail::new();
        let subject = Subject::of(&row(Some("t-1")), view);
        detail.open(|| Command::new("true"), subject, &messages);
        detail
    }

    fn push(detail: &mut Detail, lines: Range<usize>) {
        let number = detail.number;
        let lines = lines.map(|n| format!("line {n}")).collect();
        detail.push_lines(Batch { number, lines });
    }

    fn first(detail: &Detail) -> String {
        detail.window(10).next().unwrap().text.clone()
    }

    #[test]
    fn a_log_follows_until_it_is_scrolled_back_and_again_from_its_end() {
        let mut log = opened(View::Log);
        push(&mut log, 0..20);
        assert!(log.is_following() && first(&log) == "line 10");
        log.scroll_by(-5, 10);
        push(&mut log, 20..40);
        assert!(!log.is_following() && first(&log) == "line 5");
        log.scroll_by(100, 10);
        push(&mut log, 40..41);
        assert_eq!(first(&log), "line 31");
    }

    #[test]
    fn lines_that_go_at_the_head_move_nothing_under_the_eyes() {
        let mut log = opened(View::Log);
        push(&mut log, 0..KEPT);
        log.scroll_by(-100, 10);
        let before = first(&log);
        push(&mut log, KEPT..KEPT + 50);
        assert_eq!((first(&log), log.place(10).1), (before, KEPT));
    }

    #[test]
    fn what_is_read_again_stays_until_it_is_there_and_keeps_its_place() {
        let mut detail = opened(View::Why);
        push(&mut detail, 0..30);
        detail.scroll_by(7, 10);
        let (messages, _inbox) = std::sync::mpsc::sync_channel(9);
        let subject = detail.subject.clone().unwrap();
        detail.open(|| Command::new("true"), subject, &messages);
        assert_eq!(first(&detail), "line 7");
        detail.push_lines(Batch { number: detail.number - 1, lines: vec!["late".into()] });
        push(&mut detail, 0..30);
        assert_eq!((first(&detail), detail.place(10).1), ("line 7".to_owned(), 30));
    }

    #[test]
    fn a_text_without_end_is_cut_and_no_longer_read() {
        let mut diff = opened(View::Diff);
        push(&mut diff, 0..KEPT + 10);
        assert!(diff.is_cut() && diff.reading.is_none());
        assert_eq!(diff.place(10).1, KEPT);
    }
}
