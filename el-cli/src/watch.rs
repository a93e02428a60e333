//! `--watch`: the same answer again, whenever the tracker has changed.

use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar as _;

use crate::output::terminal;
use crate::{App, Exit, Result};

/// `--watch`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct WatchArgs {
    /// Go on, until Ctrl-C: draw the answer again when something has changed
    #[arg(long)]
    watch: bool,
}

/// The interval between two looks at the database.
const LOOK: Duration = Duration::from_millis(200);
/// A screen is drawn again after this time at the latest, for the ages in it.
const AGES: Duration = Duration::from_secs(10);

impl WatchArgs {
    /// Answers once with `look`, or with `--watch` until the reader leaves. A terminal shows one
    /// screen. In a pipe, each answer that differs from the last is written; for robots, each
    /// answer is a line.
    pub(crate) fn follow(self, app: &App, look: impl Fn() -> Result<Exit>) -> Result<Exit> {
        if !self.watch {
            return look();
        }
        let mut screen = Screen::default();
        loop {
            let store = app.open_for_reading()?;
            store.look_at_ease();
            let version = store.data_version()?;
            let answer = app.printer.hold_output(&look)?;
            let size = terminal::stdout_size();
            screen.show_answer(app, answer, size)?;
            let drawn = Instant::now();
            let is_old = || size.is_some() && drawn.elapsed() >= AGES;
            while store.data_version()? == version && terminal::stdout_size() == size && !is_old() {
                std::thread::sleep(LOOK);
                // A file that was moved away never changes again.
                store.ensure_in_place()?;
                app.printer.ensure_reader()?;
            }
        }
    }
}

/// The answer that was shown last.
#[derive(Debug, Default)]
struct Screen {
    shown: Vec<u8>,
    size: Option<(usize, usize)>,
    is_drawn: bool,
}

impl Screen {
    fn show_answer(
        &mut self,
        app: &App,
        answer: Vec<u8>,
        size: Option<(usize, usize)>,
    ) -> Result<()> {
        if self.is_drawn && answer == self.shown && size == self.size {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&answer);
        match size.filter(|_| !app.printer.is_robot()) {
            Some(size) => app.printer.write_bytes(draw_screen(&text, size).as_bytes())?,
            None if self.is_drawn && !app.printer.is_robot() => {
                app.printer.write_bytes(format!("\n{text}").as_bytes())?;
            }
            None => app.printer.write_bytes(&answer)?,
        }
        *self = Screen { shown: answer, size, is_drawn: true };
        Ok(())
    }
}

/// The answer as a screen: each row is cut, and what has no room is counted.
fn draw_screen(text: &str, (columns, rows): (usize, usize)) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let room = rows.saturating_sub(1).max(1);
    let (shown, more) = match lines.len().checked_sub(room) {
        Some(1..) => (room - 1, lines.len() - (room - 1)),
        _ => (lines.len(), 0),
    };
    let mut screen = "\x1b[H".to_owned();
    for line in &lines[..shown] {
        screen.push_str(&cut_painted(line, columns));
        screen.push_str("\x1b[K\n");
    }
    if more > 0 {
        screen.push_str(&cut_painted(&format!("… {more} more lines"), columns));
        screen.push_str("\x1b[K\n");
    }
    screen.push_str("\x1b[J");
    screen
}

/// Cuts a line with colour codes to a width. The codes take no room, and those behind the cut stay.
fn cut_painted(line: &str, columns: usize) -> String {
    let mut cut = String::with_capacity(line.len());
    let mut used = 0;
    let mut is_code = false;
    for character in line.chars() {
        if character == '\x1b' {
            is_code = true;
        }
        let width = if is_code { 0 } else { character.width().unwrap_or(0) };
        used += width;
        if is_code || used <= columns {
            cut.push(character);
        }
        if is_code && character.is_ascii_alphabetic() {
            is_code = false;
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_cut_by_its_width_and_keeps_its_colours() {
        assert_eq!(cut_painted("\x1b[31mred wine\x1b[0m", 3), "\x1b[31mred\x1b[0m");
        assert_eq!(cut_painted("漢字", 3), "漢");
        assert_eq!(cut_painted("plain", 9), "plain");
    }

    #[test]
    fn a_screen_never_scrolls() {
        let text = "a\nb\nc\nd\n";
        assert_eq!(draw_screen(text, (9, 5)).matches('\n').count(), 4);
        let small = draw_screen(text, (9, 4));
        assert_eq!(small.matches('\n').count(), 3);
        assert!(small.contains("… 2 more"), "{small:?}");
    }
}
