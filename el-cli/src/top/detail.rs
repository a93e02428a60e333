//! The detail of the chosen row: the lines of an `el` of its own, read as they come.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Sender;

use super::Message;
use crate::output::sanitize;

/// Lines that are kept: of a log the last, of everything else the first.
const KEPT: usize = 5_000;
/// Characters of a line that are kept.
const LINE: usize = 1_000;
/// Lines that are sent at once.
const BATCH: usize = 200;

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

    fn words(self, atom: &str) -> Vec<&str> {
        match self {
            View::Text => vec!["show", atom],
            View::Why => vec!["why", atom],
            View::Attempts => vec!["runs", "--atom", atom],
            View::Log => vec!["logs", atom, "--follow"],
            View::Diff => vec!["diff", atom],
            View::Graph => vec!["dep", "tree", atom, "--up"],
        }
    }
}

/// What is shown, and the process that tells it.
#[derive(Debug, Default)]
pub(super) struct Detail {
    pub(super) atom: String,
    pub(super) view: Option<View>,
    pub(super) lines: VecDeque<String>,
    /// Lines above the window; `None` follows the end.
    pub(super) scroll: Option<usize>,
    is_cut: bool,
    number: u64,
    child: Option<Child>,
}

impl Detail {
    /// Shows a view of an atom, and forgets the one before. `keeps_place`: it is the same view,
    /// read again.
    pub(super) fn open(
        &mut self,
        program: impl Fn() -> Command,
        atom: &str,
        view: View,
        messages: &Sender<Message>,
    ) {
        let keeps_place = self.atom == atom && self.view == Some(view);
        self.end_child();
        self.number += 1;
        if !keeps_place {
            self.scroll = (view != View::Log).then_some(0);
        }
        self.view = Some(view);
        atom.clone_into(&mut self.atom);
        self.lines.clear();
        self.is_cut = false;
        let mut command = program();
        command.args(view.words(atom)).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        match command.spawn() {
            Err(error) => self.lines.push_back(error.to_string()),
            Ok(mut child) => {
                if let Some(out) = child.stdout.take() {
                    self.read_lines(out, messages);
                }
                if let Some(err) = child.stderr.take() {
                    self.read_lines(err, messages);
                }
                self.child = Some(child);
            }
        }
    }

    fn read_lines(&self, from: impl std::io::Read + Send + 'static, messages: &Sender<Message>) {
        let (number, messages) = (self.number, messages.clone());
        std::thread::spawn(move || {
            let mut reader = BufReader::new(from);
            let mut batch = Vec::new();
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                let is_end = !matches!(reader.read_until(b'\n', &mut bytes), Ok(1..));
                if !is_end {
                    batch.push(clean_line(&bytes));
                }
                if is_end || batch.len() >= BATCH || reader.buffer().is_empty() {
                    let lines = std::mem::take(&mut batch);
                    if messages.send(Message::Lines(number, lines)).is_err() || is_end {
                        return;
                    }
                }
            }
        });
    }

    /// Takes lines of the view that is shown now. Returns false if they are of another.
    pub(super) fn push_lines(&mut self, number: u64, lines: Vec<String>) -> bool {
        if number != self.number {
            return false;
        }
        for line in lines {
            if self.view == Some(View::Log) {
                self.lines.push_back(line);
                if self.lines.len() > KEPT {
                    self.lines.pop_front();
                    // The window stays where it is.
                    self.scroll = self.scroll.map(|at| at.saturating_sub(1));
                }
            } else if self.lines.len() < KEPT {
                self.lines.push_back(line);
            } else if !std::mem::replace(&mut self.is_cut, true) {
                self.lines.push_back(format!("… more than {KEPT} lines; el tells them all"));
                self.end_child();
            }
        }
        true
    }

    pub(super) fn scroll_by(&mut self, by: isize, height: usize) {
        let last = self.lines.len().saturating_sub(height);
        let at = self.scroll.unwrap_or(last).saturating_add_signed(by).min(last);
        let follows = self.view == Some(View::Log) && at == last;
        self.scroll = (!follows).then_some(at);
    }

    /// The lines of the window.
    pub(super) fn window(&self, height: usize) -> impl Iterator<Item = &String> {
        let last = self.lines.len().saturating_sub(height);
        self.lines.iter().skip(self.scroll.unwrap_or(last).min(last)).take(height)
    }

    fn end_child(&mut self) {
        if let Some(mut child) = self.child.take() {
            // A process that has ended already needs no signal.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for Detail {
    fn drop(&mut self) {
        self.end_child();
    }
}

fn clean_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('\t', "    ");
    sanitize::one_line(text.trim_end()).chars().take(LINE).collect()
}
