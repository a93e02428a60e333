//! The view of a running worker: a line for each event, and below the events a live line for each
//! session.

use std::fmt::Write as _;

use el_agents::clock;
use el_agents::worker::{self, Live, Report};
use el_core::Store;
use el_core::model::{Cost, Status, Timestamp};
use el_core::ops::{self, AtomFilter, OUTLOOK_MAX};
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::words;
use crate::output::terminal::stdout_size;
use crate::output::{Page, Printer, runs, sanitize, style, time};

/// Live lines of sessions at most; the rest is counted.
const LINES: usize = 12;
/// Rows of the terminal that live lines leave free, so that the live lines can always be erased.
const ROWS_LEFT: usize = 3;
/// Columns of a title at most.
const TITLE: usize = 40;
/// A narrower terminal is spared the figures.
const ROOMY: usize = 75;

pub(in crate::commands) struct Listener<'a> {
    printer: &'a Printer,
    /// The columns of each live line that stands at the bottom of the screen now.
    shown: Vec<usize>,
    /// The reason why ready atoms do not start, while there is such a reason.
    held: Option<String>,
    /// The queue that is counted; `None` if the queue is not shown.
    queue: Option<Queue>,
    /// The number of atoms that ended here, and the cost of their runs.
    ended: usize,
    cost: Cost,
}

/// The part of the queue that a worker takes from.
pub(in crate::commands) struct Queue {
    pub(in crate::commands) store: Store,
    pub(in crate::commands) agents: Vec<String>,
    pub(in crate::commands) filter: AtomFilter,
}

/// An event of `--robot` with its time.
#[derive(Serialize)]
pub(in crate::commands) struct Line<'a, T> {
    pub(in crate::commands) at: Timestamp,
    #[serde(flatten)]
    pub(in crate::commands) event: &'a T,
}

impl<'a> Listener<'a> {
    pub(in crate::commands) fn new(printer: &'a Printer) -> Listener<'a> {
        Listener {
            printer,
            shown: Vec::new(),
            held: None,
            queue: None,
            ended: 0,
            cost: Cost::default(),
        }
    }

    /// Also shows the queue and the progress, below the sessions.
    pub(in crate::commands) fn with_queue(self, queue: Queue) -> Listener<'a> {
        Listener { queue: Some(queue), ..self }
    }

    /// Takes the live lines away.
    pub(in crate::commands) fn clear_live_lines(&mut self) {
        let text = self.erase_sequence();
        self.write_to_terminal(&text);
    }

    /// Prints permanent lines above the live lines.
    pub(in crate::commands) fn print_above(&mut self, write: impl FnOnce(&mut Page)) {
        let mut text = self.erase_sequence();
        let mut page = self.printer.new_page();
        write(&mut page);
        text.push_str(&page.into_text());
        self.write_to_terminal(&text);
    }

    /// Shows a single live line instead of the session lines.
    pub(in crate::commands) fn show_live_line(&mut self, line: &str) {
        let width = self.printer.live_page().width().unwrap_or(100).saturating_sub(1);
        self.redraw_live_lines(&[sanitize::truncate_to(line, width).into_owned()]);
    }

    /// The control sequence that erases the live lines and leaves the cursor at the first line. A
    /// terminal that became narrower has wrapped the lines. The rows are erased singly: tmux puts a
    /// screen that is cleared whole into the history, at each redraw.
    fn erase_sequence(&mut self) -> String {
        let columns = stdout_size().map_or(usize::MAX, |(columns, _)| columns);
        let up: usize = self.shown.drain(..).map(|width| width.div_ceil(columns).max(1)).sum();
        match up {
            0 => String::new(),
            up => format!("\x1b[{up}A\r{}\x1b[{up}A", "\x1b[2K\x1b[1B".repeat(up)),
        }
    }

    /// Replaces the live lines. No line may be wider than the terminal.
    fn redraw_live_lines(&mut self, lines: &[String]) {
        let mut text = self.erase_sequence();
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
        self.shown = lines.iter().map(|line| sanitize::display_width(line)).collect();
        self.write_to_terminal(&text);
    }

    /// `7 of 20 · $0.42 · 3 ready · 2 back off, next in 17s`.
    fn outlook_line(&self, running: &[Live], now: Timestamp) -> Option<String> {
        let queue = self.queue.as_ref()?;
        let found = ops::queue_outlook(&queue.store, &queue.agents, &queue.filter, now).ok()?;
        let left = usize::try_from(found.ready + found.backing_off).unwrap_or(usize::MAX);
        let more = if found.ready >= OUTLOOK_MAX { "+" } else { "" };
        let total = self.ended.saturating_add(running.len()).saturating_add(left);
        let mut parts = vec![format!("{} of {total}{more}", self.ended)];
        let live: Cost = running.iter().map(|one| one.run.progress.cost).sum();
        let cost = runs::format_cost(self.cost + live);
        parts.extend(Some(cost).filter(|cost| !cost.is_empty()));
        if found.ready > 0 {
            parts.push(format!("{}{more} ready", found.ready));
        }
        if let Some(at) = found.next_retry_at {
            let wait = time::format_span(at.since(now));
            parts.push(format!("{} back off, next in {wait}", found.backing_off));
        }
        if let Some(pause) = &found.pause {
            parts.push(match pause.until {
                Some(until) => format!("paused until {}", time::local_time(until)),
                None => "paused until el work --resume".to_owned(),
            });
        }
        Some(parts.join(" · "))
    }

    fn write_to_terminal(&self, text: &str) {
        // A reader that went away must not end the worker; its agents go on.
        let _ = self.printer.write_bytes(text.as_bytes());
    }
}

impl worker::Listener for Listener<'_> {
    fn report(&mut self, report: &Report) {
        let now = clock::now();
        match report {
            Report::HeldBack { reason } => self.held = Some(reason.clone()),
            Report::Released {} => self.held = None,
            Report::Settled { cost, status, .. } => {
                self.cost += *cost;
                self.ended += usize::from(status.is_none_or(|status| status != Status::Open));
            }
            _ => {}
        }
        if self.printer.is_robot() {
            let _ = self.printer.json_line(&Line { at: now, event: report });
            return;
        }
        self.print_above(|page| words::print_report(page, report, now));
    }

    fn live(&mut self, now: Timestamp, live: &[Live]) {
        let page = self.printer.live_page();
        let width = page.width().unwrap_or(100).saturating_sub(1);
        let rows = stdout_size().map_or(24, |(_, rows)| rows);
        let room = rows.saturating_sub(ROWS_LEFT).clamp(1, LINES);
        let mut lines: Vec<String> =
            live.iter().take(room).map(|one| session_line(&page, one, width, now)).collect();
        if live.len() > room {
            lines.push(format!("  and {} more", live.len() - room));
        }
        if let Some(held) = &self.held {
            let held = format!("‖ held back: {}", sanitize::one_line(held));
            lines.push(sanitize::truncate_to(&held, width).into_owned());
        }
        if let Some(outlook) = self.outlook_line(live, now) {
            lines.push(page.paint(style::DIM, &sanitize::truncate_to(&outlook, width)));
        }
        self.redraw_live_lines(&lines);
    }

    fn wants_live(&self) -> bool {
        !self.printer.is_robot() && self.printer.is_terminal()
    }
}

/// A session: atom, time, figures, action.
fn session_line(page: &Page, one: &Live, width: usize, now: Timestamp) -> String {
    let run = &one.run;
    let elapsed = format_clock(runs::run_duration(run, now).as_secs());
    let idle = if run.supervisor.is_some() { "starting" } else { "launching" };
    let action = run.progress.action.as_deref().unwrap_or(idle);
    let title = one.atom.as_ref().map_or("", |atom| atom.title.as_str());
    let mut figures = String::new();
    if width >= ROOMY {
        figures = format!("{}  ", runs::count_turns(run.progress.turns));
        if run.progress.cost.cost_micros > 0 {
            figures.insert_str(figures.len() - 1, &runs::format_cost(run.progress.cost));
        }
    }
    let head = format!("{} {elapsed:>7}  {figures}", run.atom_id);
    let percent = run.progress.percent.map_or_else(String::new, |percent| format!("{percent}% "));
    let doing = format!("{percent}{}", sanitize::one_line(action));
    let room = width.saturating_sub(head.chars().count() + 2);
    // The action is news, the title is not.
    let for_title = TITLE.min(room.saturating_sub(doing.width() + 3).max(room / 2));
    let rest =
        format!("{} · {doing}", sanitize::truncate_to(&sanitize::one_line(title), for_title));
    format!(
        "{} {} {elapsed:>7}  {}{}",
        page.paint(style::status_style("in_progress"), "◐"),
        page.paint(style::ID, &run.atom_id),
        page.paint(style::DIM, &figures),
        sanitize::truncate_to(&rest, room)
    )
}

/// Seconds as `1:02:03` or `2:03`.
fn format_clock(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}
