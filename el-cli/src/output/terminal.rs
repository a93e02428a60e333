//! Colour support and width of the terminal.

use std::env;
use std::io::IsTerminal as _;

use clap::ValueEnum;
use rustix::fd::AsFd;

/// `--color`: when to colour. The values have no help of their own, which would double the length
/// of every help text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorWhen {
    // On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    // Also into a pipe.
    Always,
    Never,
}

/// The wishes of the environment about colour.
#[derive(Debug, Clone, Copy, Default)]
struct ColorHints {
    no_color: bool,
    force: bool,
    dumb: bool,
}

impl ColorHints {
    fn from_env() -> ColorHints {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        ColorHints {
            no_color: set("NO_COLOR").is_some(),
            force: set("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            dumb: set("TERM").is_some_and(|value| value == "dumb"),
        }
    }

    /// The flag outranks the environment; NO_COLOR outranks CLICOLOR_FORCE.
    fn use_color(self, when: ColorWhen, terminal: bool) -> bool {
        match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto if self.no_color => false,
            ColorWhen::Auto if self.force => true,
            ColorWhen::Auto => terminal && !self.dumb,
        }
    }
}

/// The abilities of stdout or stderr.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    /// True if colour codes may be written.
    pub(crate) color: bool,
    /// The width in columns; `None` if not a terminal, where nothing is cut.
    pub(crate) width: Option<usize>,
}

impl Terminal {
    pub(crate) fn stdout(when: ColorWhen) -> Terminal {
        let stdout = std::io::stdout();
        Terminal::for_stream(&stdout, stdout.is_terminal(), when)
    }

    pub(crate) fn stderr(when: ColorWhen) -> Terminal {
        let stderr = std::io::stderr();
        Terminal::for_stream(&stderr, stderr.is_terminal(), when)
    }

    fn for_stream(stream: impl AsFd, is_terminal: bool, when: ColorWhen) -> Terminal {
        Terminal {
            color: ColorHints::from_env().use_color(when, is_terminal),
            width: is_terminal.then(|| terminal_width(stream)),
        }
    }
}

/// Columns and rows of the terminal behind stdout, now: people resize windows.
pub(crate) fn stdout_size() -> Option<(usize, usize)> {
    let stdout = std::io::stdout();
    let rows = |stream: &std::io::Stdout| {
        rustix::termios::tcgetwinsize(stream).ok().map(|size| usize::from(size.ws_row))
    };
    stdout
        .is_terminal()
        .then(|| (terminal_width(&stdout), rows(&stdout).filter(|rows| *rows > 0).unwrap_or(24)))
}

/// The terminal's own width, else COLUMNS, else 80. Less than 20 would make every view unreadable.
fn terminal_width(stream: impl AsFd) -> usize {
    rustix::termios::tcgetwinsize(stream)
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|&columns| columns > 0)
        .or_else(|| env::var("COLUMNS").ok()?.parse().ok())
        .unwrap_or(80)
        .max(20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_for_terminals_unless_something_says_otherwise() {
        let plain = ColorHints::default();
        assert!(plain.use_color(ColorWhen::Auto, true));
        assert!(!plain.use_color(ColorWhen::Auto, false));
        assert!(plain.use_color(ColorWhen::Always, false));
        assert!(!plain.use_color(ColorWhen::Never, true));
    }

    #[test]
    fn no_color_outranks_force_and_the_flag_outranks_both() {
        let both = ColorHints { no_color: true, force: true, dumb: false };
        assert!(!both.use_color(ColorWhen::Auto, true));
        assert!(both.use_color(ColorWhen::Always, false));
        let force = ColorHints { force: true, ..ColorHints::default() };
        assert!(force.use_color(ColorWhen::Auto, false));
        let dumb = ColorHints { dumb: true, ..ColorHints::default() };
        assert!(!dumb.use_color(ColorWhen::Auto, true));
    }
}
