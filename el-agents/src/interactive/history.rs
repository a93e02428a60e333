//! Turns the screens into a log: lines that stand still or scroll away are written once.
//!
//! The client repaints the whole screen, often on the alternate screen, where a terminal keeps no
//! scrollback. With a capture per second the log is readable but not complete; the conversation's
//! record is.

/// The lines of a screen over time.
#[derive(Debug, Default)]
pub(crate) struct History {
    last: Vec<String>,
    /// The number of lines, from the first of `last`, that have been written.
    written: usize,
}

impl History {
    /// Takes the lines of the next look and returns the lines to write now.
    pub(crate) fn record_screen(&mut self, lines: &[String]) -> Vec<String> {
        let mut new = Vec::new();
        let shift = scrolled_lines(&self.last, lines);
        // Lines that scrolled away are final.
        new.extend(self.last[..shift].iter().skip(self.written).cloned());
        self.written = self.written.saturating_sub(shift).min(lines.len());
        // Lines unchanged since the last look are final, up to the first changed line.
        let old = &self.last[shift..];
        let still = old.iter().zip(lines).take_while(|(old, new)| old == new).count();
        if still > self.written {
            new.extend(lines[self.written..still].iter().cloned());
            self.written = still;
        }
        self.last = lines.to_vec();
        new
    }

    /// Ends the screen and returns the rest.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        let rest = std::mem::take(&mut self.last).split_off(self.written);
        self.written = 0;
        rest
    }
}

/// Returns the number of lines that the screen has scrolled: the shift with the most equal lines,
/// if at least half are equal. Returns all lines if no shift fits: another screen may share some
/// lines (a ruler, a margin).
fn scrolled_lines(old: &[String], new: &[String]) -> usize {
    let fits = |shift: usize| old[shift..].iter().zip(new).filter(|(old, new)| old == new).count();
    let best = (0..old.len())
        .map(|shift| (fits(shift), shift))
        .max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    match best {
        Some((count, shift)) if count * 2 >= (old.len() - shift).min(new.len()) && count > 0 => {
            shift
        }
        _ => old.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(screens: &[&[&str]]) -> Vec<String> {
        let mut history = History::default();
        let mut log = Vec::new();
        for screen in screens {
            log.extend(
                history.record_screen(
                    &screen.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(),
                ),
            );
        }
        log.extend(history.finish());
        log
    }

    #[test]
    fn lines_are_written_once_as_the_screen_grows_and_scrolls() {
        let screens: [&[&str]; 5] =
            [&["a"], &["a", "b"], &["a", "b", "c"], &["b", "c", "d"], &["d", "e", "f"]];
        assert_eq!(log(&screens), ["a", "b", "c", "d", "e", "f"]);
    }

    #[test]
    fn a_line_that_changes_is_written_as_it_was_in_the_end() {
        let screens: [&[&str]; 3] =
            [&["a", "● Running x"], &["a", "  Ran 1 command"], &["a", "  Ran 1 command", "done"]];
        assert_eq!(log(&screens), ["a", "  Ran 1 command", "done"]);
    }

    #[test]
    fn another_screen_comes_after_the_rest_of_the_first() {
        assert_eq!(log(&[&["a", "b"], &["x", "y"]]), ["a", "b", "x", "y"]);
        assert_eq!(log(&[&[], &["x"], &[]]), ["x"]);
        assert_eq!(
            log(&[&["a", "b", "c", "="], &["x", "y", "z", "="]]),
            ["a", "b", "c", "=", "x", "y", "z", "="]
        );
    }
}
