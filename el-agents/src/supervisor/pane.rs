//! The output of the session's pane. A watcher must never hold up the supervisor: a blocked
//! terminal (flow control, a dead tmux) costs lines on the screen, not heartbeats.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};

/// The maximum number of lines that wait for the terminal; further lines are dropped.
const WAITING: usize = 2_000;
/// The maximum size of `pane.log`, in bytes.
const LOG_MAX: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Pane {
    terminal: SyncSender<String>,
    log: Option<File>,
    logged: u64,
    dropped: u64,
    /// The terminal is another program's for now.
    is_lent: bool,
}

impl Pane {
    /// Shows on standard output and keeps the text in `log`.
    pub(crate) fn new(log: Option<File>) -> Pane {
        let (terminal, lines) = sync_channel::<String>(WAITING);
        // The thread ends with the sender. A hanging write holds only this thread.
        std::thread::spawn(move || {
            let mut out = std::io::stdout();
            for line in lines {
                if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                    // The terminal is gone. Lines are still received, so that the sender never
                    // fails.
                    continue;
                }
            }
        });
        Pane { terminal, log, logged: 0, dropped: 0, is_lent: false }
    }

    /// Leaves the terminal to a program with a screen. Until the terminal is taken back, shown text
    /// only goes to the log.
    pub(crate) fn lend_terminal(&mut self) {
        self.is_lent = true;
    }

    /// Takes the terminal back and resets the modes: no alternate screen, bracketed paste, mouse,
    /// focus reports or extended keys; a visible cursor, and plain letters.
    pub(crate) fn take_back(&mut self) {
        const PLAIN: &str = "\x1b[?1049l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\
                             \x1b[?1004l\x1b[<u\x1b[>4;0m\x1b[?25h\x1b[0m\r\n";
        self.is_lent = false;
        // A blocked terminal needs no reset.
        let _ = self.terminal.try_send(PLAIN.to_owned());
    }

    /// Shows a text of whole lines, already sanitised.
    pub(crate) fn show(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut text = text.to_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if let Some(log) = self.log.as_mut().filter(|_| self.logged < LOG_MAX) {
            self.logged += u64::try_from(text.len()).unwrap_or(u64::MAX);
            if log.write_all(text.as_bytes()).is_err() {
                // A full disk must not end the run.
                self.log = None;
            }
        }
        if self.is_lent {
            return;
        }
        // A raw terminal needs the carriage return, and a cooked one accepts it.
        let text = text.replace('\n', "\r\n");
        if self.dropped > 0
            && self
                .terminal
                .try_send(format!("[{} lines were not shown]\r\n", self.dropped))
                .is_ok()
        {
            self.dropped = 0;
        }
        if self.terminal.try_send(text).is_err() {
            self.dropped += 1;
        }
    }
}
