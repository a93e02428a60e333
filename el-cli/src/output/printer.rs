//! The only module that writes to stdout and stderr.
//!
//! A command gathers its whole answer and writes the answer once, under a single lock. A reader
//! that went away (`el list | head`) is no failure: see [`CommandError::is_broken_pipe`].

use std::io::{self, BufRead, Write as _};
use std::sync::{Mutex, PoisonError};

use el_core::text::append_json;
use rustix::event::{PollFd, PollFlags, Timespec};
use serde::Serialize;

use super::page::{Page, paint_if};
use super::terminal::{ColorWhen, Terminal};
use super::{robot, sanitize, style, terminal};
use crate::{CommandError, Exit, Result};

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
    /// Holds what would be printed, while an answer is watched.
    held: Mutex<Option<Vec<u8>>>,
}

impl Printer {
    pub(crate) fn new(format: Format, color: ColorWhen, quiet: bool) -> Printer {
        Printer {
            format,
            stdout: Terminal::stdout(color),
            stderr: Terminal::stderr(color),
            quiet,
            held: Mutex::new(None),
        }
    }

    pub(crate) fn is_robot(&self) -> bool {
        self.format == Format::Robot
    }

    /// Returns true if stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.stdout.width.is_some()
    }

    /// Returns true if stdout may be coloured.
    pub(crate) fn has_color(&self) -> bool {
        self.stdout.color
    }

    /// A page for text on stdout, as wide as the terminal is now.
    pub(crate) fn live_page(&self) -> Page {
        let width = terminal::stdout_size().map(|(columns, _)| columns).or(self.stdout.width);
        Page::new(self.stdout.color, width, self.quiet)
    }

    /// Returns what `work` prints on stdout instead of printing it.
    pub(crate) fn hold_output(&self, work: impl FnOnce() -> Result<Exit>) -> Result<Vec<u8>> {
        *self.held() = Some(Vec::new());
        let done = work();
        let held = self.held().take().unwrap_or_default();
        done.map(|_| held)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<Vec<u8>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page for text on stdout.
    pub(crate) fn new_page(&self) -> Page {
        if self.held().is_some() {
            return self.live_page();
        }
        Page::new(self.stdout.color, self.stdout.width, self.quiet)
    }

    /// Prints the answer of a command: `data` in the envelope for robots, or the page that `human`
    /// writes. That is how a command ends, so the exit code comes back.
    pub(crate) fn emit<T: Serialize + ?Sized>(
        &self,
        data: &T,
        human: impl FnOnce(&mut Page),
    ) -> Result<Exit> {
        match self.format {
            Format::Robot => self.write_bytes(&robot::success_document(data).map_err(no_json)?)?,
            Format::Human => self.write_page(human)?,
        }
        Ok(Exit::Done)
    }

    /// Prints a page for people, at once.
    pub(crate) fn write_page(&self, write: impl FnOnce(&mut Page)) -> Result<()> {
        let mut page = self.new_page();
        write(&mut page);
        self.write_bytes(page.into_text().as_bytes())
    }

    /// The same for an answer that is nothing but sentences to people: none with `-q`.
    pub(crate) fn emit_sentence<T: Serialize + ?Sized>(
        &self,
        data: &T,
        human: impl FnOnce(&mut Page),
    ) -> Result<Exit> {
        self.emit(data, |page| {
            if !page.is_quiet() {
                human(page)
            }
        })
    }

    /// Begins a list for robots whose items come singly, so that memory stays bounded. `head` holds
    /// keys before the list's own, as JSON, each with its comma.
    pub(crate) fn list_writer(&self, head: &str) -> ListWriter<'_> {
        ListWriter { printer: self, out: head.as_bytes().to_vec(), has_items: false }
    }

    /// Prints an answer for robots whose last field is a text that `text` holds, line by line, so
    /// that memory stays bounded. In `data` the field is empty.
    pub(crate) fn emit_with_text<T: Serialize>(
        &self,
        data: &T,
        text: &mut dyn BufRead,
    ) -> Result<Exit> {
        let mut out = robot::success_document(data).map_err(no_json)?;
        let end = out.split_off(out.len() - TEXT_END.len());
        debug_assert_eq!(end, TEXT_END, "the last field is an empty text");
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = text.read_until(b'\n', &mut line).map_err(|source| {
                CommandError::internal_error("cannot read the answer again").with_source(source)
            })?;
            if read == 0 {
                break;
            }
            let mut quoted = Vec::with_capacity(line.len() + 2);
            append_json(&mut quoted, &*String::from_utf8_lossy(&line)).map_err(no_json)?;
            out.extend_from_slice(&quoted[1..quoted.len() - 1]);
            if out.len() > HELD {
                self.write_bytes(&out)?;
                out.clear();
            }
        }
        out.extend_from_slice(&end);
        self.write_bytes(&out)?;
        Ok(Exit::Done)
    }

    /// Prints the answer of a command whose exit code tells how the work went. A closed pipe does
    /// not change the exit code.
    pub(crate) fn emit_and_exit<T: Serialize + ?Sized>(
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
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Result<()> {
        if let Some(held) = self.held().as_mut() {
            held.extend_from_slice(bytes);
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(CommandError::from_stdout)
    }

    /// Fails as a write would if nobody reads stdout any more.
    pub(crate) fn ensure_reader(&self) -> Result<()> {
        let stdout = io::stdout();
        let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
        // Errors are told without being asked for. A failure to look is no failure of the reader.
        let _ = rustix::event::poll(&mut polled, Some(&Timespec::default()));
        match polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            true => Err(CommandError::from_stdout(io::ErrorKind::BrokenPipe.into())),
            false => Ok(()),
        }
    }

    /// Prints a JSON value on a line of its own, for commands that stream (`el work --robot`).
    pub(crate) fn json_line<T: Serialize + ?Sized>(&self, value: &T) -> Result<()> {
        let line = robot::json_line(value).map_err(|source| {
            CommandError::internal_error("cannot write an event as JSON").with_source(source)
        })?;
        self.write_bytes(&line)
    }

    /// One answer of several that a command streams: a line of JSON, or the page that `human`
    /// writes.
    pub(crate) fn emit_line<T: Serialize + ?Sized>(
        &self,
        value: &T,
        human: impl FnOnce(&mut Page),
    ) -> Result<()> {
        match self.format {
            Format::Robot => self.json_line(value),
            Format::Human => self.write_page(human),
        }
    }

    /// Prints a warning to stderr, also with `-q`. The command goes on.
    pub(crate) fn warn(&self, message: &str) {
        let label = paint_if(self.stderr.color, style::WARNING, "warning:");
        self.write_to_stderr(&format!("{label} {}\n", sanitize::multi_line(message)));
    }

    /// A remark on stderr that `-q` silences.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            self.write_to_stderr(&format!("{}\n", sanitize::multi_line(message)));
        }
    }

    /// Returns true if stderr is a terminal and progress is wanted.
    pub(crate) fn shows_progress(&self) -> bool {
        self.format == Format::Human && !self.quiet && self.stderr.width.is_some()
    }

    /// Replaces the progress line on stderr; an empty text clears the line. Only if
    /// [`Printer::shows_progress`].
    pub(crate) fn show_progress(&self, text: &str) {
        self.write_to_stderr(&format!("\r\x1b[K{text}"));
    }

    /// The end of a command that failed: the envelope on stdout, or a short text on stderr.
    pub(crate) fn emit_failure(&self, error: &CommandError) {
        match self.format {
            // A reader that went away needs no report.
            Format::Robot => drop(self.write_bytes(&robot::failure_document(error))),
            Format::Human => self.write_to_stderr(&self.failure_text(error)),
        }
    }

    /// Text with the parser's own styles, on stdout: help and version.
    pub(crate) fn print_styled(&self, text: &clap::builder::StyledStr) -> Result<()> {
        let text = if self.stdout.color { text.ansi().to_string() } else { text.to_string() };
        self.write_bytes(text.as_bytes())
    }

    fn failure_text(&self, error: &CommandError) -> String {
        let color = self.stderr.color;
        let mut text = format!(
            "{} {}\n",
            paint_if(color, style::ERROR, "error:"),
            sanitize::multi_line(error.message())
        );
        for cause in error.causes() {
            text.push_str(&format!(
                "  {} {}\n",
                paint_if(color, style::DIM, "because:"),
                sanitize::one_line(&cause)
            ));
        }
        for line in error.listed_items() {
            text.push_str(&format!("  {}\n", sanitize::one_line(line)));
        }
        for hint in error.hints() {
            text.push_str(&format!(
                "{} {}\n",
                paint_if(color, style::HINT, "hint:"),
                sanitize::multi_line(hint)
            ));
        }
        text
    }

    fn write_to_stderr(&self, text: &str) {
        // If stderr fails too, the report is lost.
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

fn no_json(source: serde_json::Error) -> CommandError {
    CommandError::internal_error("cannot write the answer as JSON").with_source(source)
}

/// A list that is being printed. A short list is written at once, so that a failure still finds
/// stdout empty.
#[derive(Debug)]
pub(crate) struct ListWriter<'a> {
    printer: &'a Printer,
    out: Vec<u8>,
    has_items: bool,
}

/// The end of an answer with an empty text as its last field.
const TEXT_END: &[u8] = b"\"}}\n";

/// The bytes of a list that are held before the first write.
const HELD: usize = 4 << 20;

impl ListWriter<'_> {
    /// Announces the total, and the number of items to come.
    pub(crate) fn begin(&mut self, total: i64, count: i64) {
        let head = String::from_utf8_lossy(&self.out).into_owned();
        let is_cut = count < total;
        self.out = format!(
            "{{\"status\":\"ok\",\"data\":{{{head}\"count\":{count},\"total\":{total},\
             \"truncated\":{is_cut},\"items\":["
        )
        .into_bytes();
        if count > 1_000 {
            // At once: growing would copy, and touch the old and the new memory.
            self.out.reserve(HELD + HELD / 4);
        }
    }

    pub(crate) fn push_item<T: Serialize>(&mut self, item: &T) -> Result<()> {
        self.push_with(|out| append_json(out, item).map_err(no_json))
    }

    /// Adds an item that is JSON already, as [`append_json`] writes it.
    pub(crate) fn push_json(&mut self, item: &[u8]) -> Result<()> {
        self.push_with(|out| {
            out.extend_from_slice(item);
            Ok(())
        })
    }

    fn push_with(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        if std::mem::replace(&mut self.has_items, true) {
            self.out.push(b',');
        }
        write(&mut self.out)?;
        if self.out.len() > HELD {
            self.printer.write_bytes(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.out.extend_from_slice(b"]}}\n");
        self.printer.write_bytes(&self.out)
    }
}
