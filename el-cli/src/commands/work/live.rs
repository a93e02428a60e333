//! What a person sees while a worker works: a line for each happening, and below them one live line
//! for each session.

use std::fmt::Write as _;

use el_agents::worker::{self, Live, Report};
use el_core::model::Timestamp;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::words;
use crate::output::page::Page;
use crate::output::printer::Printer;
use crate::output::{runs, sanitize, style};

/// Live lines at most; the rest is counted.
const LINES: usize = 12;
/// Columns of a title at most.
const TITLE: usize = 40;
/// A narrower terminal is spared the figures.
const ROOMY: usize = 75;

pub(in crate::commands) struct Listener<'a> {
    printer: &'a Printer,
    /// Live lines that stand at the bottom of the screen now.
    shown: usize,
    /// Why what is ready does not start, while that is so.
    held: Option<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    at: Timestamp,
    #[serde(flatten)]
    report: &'a Report,
}

impl<'a> Listener<'a> {
    pub(in crate::commands) fn new(printer: &'a Printer) -> Listener<'a> {
        Listener { printer, shown: 0, held: None }
    }

    /// Takes the live lines away.
    pub(in crate::commands) fn finish(&mut self) {
        let text = self.erase();
        self.write(&text);
    }

    /// Lines that stay, above the live ones.
    pub(in crate::commands) fn say(&mut self, write: impl FnOnce(&mut Page)) {
        let mut text = self.erase();
        let mut page = self.printer.page();
        write(&mut page);
        text.push_str(&page.into_text());
        self.write(&text);
    }

    /// One live line instead of those of sessions.
    pub(in crate::commands) fn show(&mut self, line: &str) {
        let mut text = self.erase();
        let width = self.printer.page().width().unwrap_or(100).saturating_sub(1);
        let _ = writeln!(text, "{}", sanitize::truncate(line, width));
        self.shown = 1;
        self.write(&text);
    }

    /// What takes the live lines away and leaves the cursor where the first of them stood.
    fn erase(&mut self) -> String {
        let up = std::mem::take(&mut self.shown);
        if up == 0 { String::new() } else { format!("\x1b[{up}A\r\x1b[J") }
    }

    fn write(&self, text: &str) {
        // A reader that went away must not end the worker; its agents go on.
        let _ = self.printer.write(text.as_bytes());
    }
}

impl worker::Listener for Listener<'_> {
    fn report(&mut self, report: &Report) {
        let now = Timestamp::from(std::time::SystemTime::now());
        match report {
            Report::HeldBack { reason } => self.held = Some(reason.clone()),
            Report::Released {} => self.held = None,
            _ => {}
        }
        if self.printer.is_robot() {
            let _ = self.printer.json_line(&Line { at: now, report });
            return;
        }
        self.say(|page| words::happening(page, report, now));
    }

    fn live(&mut self, now: Timestamp, live: &[Live]) {
        let mut text = self.erase();
        let page = self.printer.page();
        let width = page.width().unwrap_or(100).saturating_sub(1);
        for one in live.iter().take(LINES) {
            let run = &one.run;
            let elapsed = clock(runs::length(run, now).as_secs());
            let action = run.progress.action.as_deref().unwrap_or(if run.supervisor.is_some() {
                "starting"
            } else {
                "launching"
            });
            let title = one.atom.as_ref().map_or("", |atom| atom.title.as_str());
            let mut figures = String::new();
            if width >= ROOMY {
                figures = format!("{}  ", runs::turns(run.progress.turns));
                if run.progress.cost_micros > 0 {
                    figures.insert_str(figures.len() - 1, &runs::cost(run.progress.cost_micros));
                }
            }
            let head = format!("{} {elapsed:>7}  {figures}", run.atom_id);
            let percent =
                run.progress.percent.map_or_else(String::new, |percent| format!("{percent}% "));
            let doing = format!("{percent}{}", sanitize::line(action));
            let room = width.saturating_sub(head.chars().count() + 2);
            // What it does is news, its title is not.
            let for_title = TITLE.min(room.saturating_sub(doing.width() + 3).max(room / 2));
            let rest =
                format!("{} · {doing}", sanitize::truncate(&sanitize::line(title), for_title));
            let _ = writeln!(
                text,
                "{} {} {elapsed:>7}  {}{}",
                page.paint(style::status("in_progress"), "◐"),
                page.paint(style::ID, &run.atom_id),
                page.paint(style::DIM, &figures),
                sanitize::truncate(&rest, room)
            );
        }
        self.shown = live.len().min(LINES);
        if live.len() > LINES {
            let _ = writeln!(text, "  and {} more", live.len() - LINES);
            self.shown += 1;
        }
        if let Some(held) = &self.held {
            let _ = writeln!(
                text,
                "{}",
                sanitize::truncate(&format!("‖ held back: {}", sanitize::line(held)), width)
            );
            self.shown += 1;
        }
        self.write(&text);
    }

    fn wants_live(&self) -> bool {
        !self.printer.is_robot() && self.printer.is_terminal()
    }
}

/// Seconds as `1:02:03` or `2:03`.
fn clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}
