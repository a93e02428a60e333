//! A progress bar for long steps. The forty lines replace a crate that would write to the terminal
//! by a path of its own.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::printer::Printer;

/// A step that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);
const BETWEEN: Duration = Duration::from_millis(80);
const WIDTH: usize = 30;

pub(crate) struct Progress<'a> {
    printer: &'a Printer,
    verb: &'static str,
    next: Cell<Instant>,
    is_drawn: Cell<bool>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(printer: &'a Printer, verb: &'static str) -> Progress<'a> {
        Progress {
            printer,
            verb,
            next: Cell::new(Instant::now() + PATIENCE),
            is_drawn: Cell::new(false),
        }
    }

    /// Shows that `done` of `total` is done; a total of 0 means unknown.
    pub(crate) fn show_counts(&self, done: usize, total: usize) {
        self.draw(|| progress_bar(self.verb, done, total));
    }

    /// Shows what is being done.
    pub(crate) fn show_text(&self, what: &str) {
        self.draw(|| format!("{} … {what}", self.verb));
    }

    fn draw(&self, text: impl Fn() -> String) {
        let now = Instant::now();
        if now < self.next.get() || !self.printer.shows_progress() {
            return;
        }
        self.next.set(now + BETWEEN);
        self.is_drawn.set(true);
        self.printer.show_progress(&text());
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.is_drawn.get() {
            self.printer.show_progress("");
        }
    }
}

fn progress_bar(verb: &str, done: usize, total: usize) -> String {
    if total == 0 {
        return format!("{verb} …");
    }
    let done = done.min(total);
    let filled = done * WIDTH / total;
    format!("{verb} {}{} {} %", "█".repeat(filled), "░".repeat(WIDTH - filled), done * 100 / total)
}

#[cfg(test)]
mod tests {
    use super::progress_bar;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        assert!(progress_bar("importing", 0, 10).starts_with("importing ░"));
        assert!(progress_bar("importing", 10, 10).contains(&"█".repeat(30)));
        assert!(
            progress_bar("importing", 1, 3).ends_with("░ 33 %")
                && progress_bar("importing", 11, 10).ends_with("█ 100 %")
        );
        assert_eq!(progress_bar("reading", 7, 0), "reading …");
    }
}
