//! The only place that writes to stdout and stderr.
//!
//! A command gathers its whole answer and writes it once, under one lock. A reader that went away
//! (`el list | head`) is no failure: see [`CommandError::is_broken_pipe`].

use std::io::{self, Write as _};

use serde::Serialize;

use super::page::{Page, paint};
use super::terminal::{ColorWhen, Terminal};
use super::{robot, sanitize, style, terminal};
use crate::error::{CommandError, Result};
use crate::exit::Exit;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Human,
    Robot,
}

#[derive(Debug)]
pub(crate) struct Printer {
    format: Format,
    stdout: Terminal,
    stderr: Terminal,
    quiet: bool,
}

impl Printer {
    pub(crate) fn new(format: Format, color: ColorWhen, quiet: bool) -> Printer {
        Printer { format, stdout: Terminal::stdout(color), stderr: Terminal::stderr(color), quiet }
    }

    pub(crate) fn is_robot(&self) -> bool {
        self.format == Format::Robot
    }

    /// Whether a person looks at stdout right now.
    pub(crate) fn is_terminal(&self) -> bool {
        self.stdout.width.is_some()
    }

    /// Whether colour may be written to stdout.
    pub(crate) fn color(&self) -> bool {
        self.stdout.color
    }

    /// A page for text on stdout, as wide as the terminal is now.
    pub(crate) fn live_page(&self) -> Page {
        let width = terminal::stdout_size().map(|(columns, _)| columns).or(self.stdout.width);
        Page::new(self.stdout.color, width, self.quiet)
    }

    /// A page for text on stdout.
    pub(crate) fn page(&self) -> Page {
        Page::new(self.stdout.color, self.stdout.width, self.quiet)
    }

    /// The answer of a command: `data` in the envelope for robots, or what `human` writes.
    pub(crate) fn emit<T: Serialize + ?Sized>(
        &self,
        data: &T,
        human: impl FnOnce(&mut Page),
    ) -> Result<()> {
        match self.format {
            Format::Robot => {
                let document = robot::success(data).map_err(|source| {
                    CommandError::internal("cannot write the answer as JSON").with_source(source)
                })?;
                self.write(&document)
            }
            Format::Human => {
                let mut page = self.page();
                human(&mut page);
                self.write(page.into_text().as_bytes())
            }
        }
    }

    /// A list for robots whose items come one by one, so that memory does not grow with them. `head`:
    /// keys before the list's own, as JSON, each with its comma.
    pub(crate) fn list(&self, head: &str) -> ListWriter<'_> {
        ListWriter { printer: self, out: head.as_bytes().to_vec(), has_items: false }
    }

    /// The answer of a command whose exit code says how the thing itself went: a reader that has
    /// read enough does not change that.
    pub(crate) fn conclude<T: Serialize + ?Sized>(
        &self,
        data: &T,
        exit: Exit,
        human: impl FnOnce(&mut Page),
    ) -> Result<Exit> {
        match self.emit(data, human) {
            Err(error) if !error.is_broken_pipe() => Err(error),
            _ => Ok(exit),
        }
    }

    /// Raw text or bytes on stdout, at once, in either format: completion scripts, logs, streams.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(CommandError::from_stdout)
    }

    /// One JSON value on a line of its own, for commands that stream (`el work --robot`).
    pub(crate) fn json_line<T: Serialize + ?Sized>(&self, value: &T) -> Result<()> {
        let line = robot::json_line(value).map_err(|source| {
            CommandError::internal("cannot write an event as JSON").with_source(source)
        })?;
        self.write(&line)
    }

    /// Something that the person should know and that stops nothing. Always on stderr.
    pub(crate) fn warn(&self, message: &str) {
        let label = paint(self.stderr.color, style::WARNING, "warning:");
        self.complain(&format!("{label} {}\n", sanitize::block(message)));
    }

    /// A remark on stderr that `-q` silences.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            self.complain(&format!("{}\n", sanitize::block(message)));
        }
    }

    /// Whether a person watches stderr, and wants to see how far a long step is.
    pub(crate) fn shows_progress(&self) -> bool {
        self.format == Format::Human && !self.quiet && self.stderr.width.is_some()
    }

    /// A line on stderr that the next one takes the place of; an empty text clears it. Only where
    /// [`Printer::shows_progress`].
    pub(crate) fn progress(&self, text: &str) {
        self.complain(&format!("\r\x1b[K{text}"));
    }

    /// The end of a command that failed: the envelope on stdout, or a short text on stderr.
    pub(crate) fn fail(&self, error: &CommandError) {
        match self.format {
            // Nothing is left to tell a reader that went away.
            Format::Robot => drop(self.write(&robot::failure(error))),
            Format::Human => self.complain(&self.failure_text(error)),
        }
    }

    /// Text with the parser's own styles, on stdout: help and version.
    pub(crate) fn styled(&self, text: &clap::builder::StyledStr) -> Result<()> {
        let text = if self.stdout.color { text.ansi().to_string() } else { text.to_string() };
        self.write(text.as_bytes())
    }

    fn failure_text(&self, error: &CommandError) -> String {
        let color = self.stderr.color;
        let mut text = format!(
            "{} {}\n",
            paint(color, style::ERROR, "error:"),
            sanitize::block(error.message())
        );
        for cause in error.causes() {
            text.push_str(&format!(
                "  {} {}\n",
                paint(color, style::DIM, "because:"),
                sanitize::line(&cause)
            ));
        }
        for line in error.listing() {
            text.push_str(&format!("  {}\n", sanitize::line(line)));
        }
        for hint in error.hints() {
            text.push_str(&format!(
                "{} {}\n",
                paint(color, style::HINT, "hint:"),
                sanitize::block(hint)
            ));
        }
        text
    }

    fn complain(&self, text: &str) {
        // Where stderr itself is gone there is nobody to tell.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

/// A list on its way out. A short one is written at once, so that a failure still has stdout for
/// itself.
#[derive(Debug)]
pub(crate) struct ListWriter<'a> {
    printer: &'a Printer,
    out: Vec<u8>,
    has_items: bool,
}

/// How much of a list is held before the first of it is written.
const HELD: usize = 8 << 20;

impl ListWriter<'_> {
    /// How many there are, and how many of them will come.
    pub(crate) fn begin(&mut self, total: i64, count: i64) {
        let head = String::from_utf8_lossy(&self.out).into_owned();
        let is_cut = count < total;
        self.out = format!(
            "{{\"status\":\"ok\",\"data\":{{{head}\"count\":{count},\"total\":{total},\
             \"truncated\":{is_cut},\"items\":["
        )
        .into_bytes();
    }

    pub(crate) fn item<T: Serialize>(&mut self, item: &T) -> Result<()> {
        if std::mem::replace(&mut self.has_items, true) {
            self.out.push(b',');
        }
        robot::append(&mut self.out, item).map_err(|source| {
            CommandError::internal("cannot write the answer as JSON").with_source(source)
        })?;
        if self.out.len() > HELD {
            self.printer.write(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    pub(crate) fn end(mut self) -> Result<()> {
        self.out.extend_from_slice(b"]}}\n");
        self.printer.write(&self.out)
    }
}
