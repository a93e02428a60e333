//! What the session's pane shows. Whoever watches must never be able to hold the supervisor up: a terminal that takes nothing (a pane
//! in flow control, a dead tmux) costs lines on the screen, not heartbeats.

use std::fs::File;
use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};

/// Lines that wait for the terminal before further ones are dropped from it.
const WAITING: usize = 2_000;
/// Bytes of `pane.log` after which no more is kept.
const LOG_MAX: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Pane {
    terminal: SyncSender<String>,
    log: Option<File>,
    logged: u64,
    dropped: u64,
}

impl Pane {
    /// Shows on this process's standard output, and keeps in `log`.
    pub(crate) fn new(log: Option<File>) -> Pane {
        let (terminal, lines) = sync_channel::<String>(WAITING);
        // Ends with the sender; a write that hangs keeps only this thread.
        std::thread::spawn(move || {
            let mut out = std::io::stdout();
            for line in lines {
                if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                    // The terminal is gone; go on taking lines, so that the sender never fails.
                    continue;
                }
            }
        });
        Pane { terminal, log, logged: 0, dropped: 0 }
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
        // A raw terminal would need it, and a cooked one takes it.
        let text = text.replace('\n', "\r\n");
        if self.dropped > 0 && self.terminal.try_send(format!("[{} lines were not shown]\r\n", self.dropped)).is_ok() {
            self.dropped = 0;
        }
        if self.terminal.try_send(text).is_err() {
            self.dropped += 1;
        }
    }
}
