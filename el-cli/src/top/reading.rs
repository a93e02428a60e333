//! Commands that are run one after the other, and the lines of the output. Threads wait for the
//! commands, so a slow disk or a slow git holds up no key.

use std::io::{self, BufRead, BufReader, PipeReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Message;
use crate::output::sanitize;

/// The most lines that are sent at once.
const BATCH: usize = 200;
/// The most bytes of a line that are read; the rest is skipped.
const LINE: usize = 64 << 10;

/// Lines of a reading, by its number.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: u64,
    pub(super) lines: Vec<String>,
}

/// A reading that goes on. Dropping it ends the command.
#[derive(Debug)]
pub(super) struct Reading {
    running: Arc<Mutex<Running>>,
}

#[derive(Debug, Default)]
struct Running {
    is_over: bool,
    child: Option<Child>,
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of what is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Lines(Vec<String>),
    /// The output of `el` for these words.
    Command(Vec<String>),
}

impl Reading {
    /// Sends the parts, one after the other.
    pub(super) fn start(
        program: impl Fn() -> Command + Send + 'static,
        parts: Vec<Part>,
        number: u64,
        messages: SyncSender<Message>,
    ) -> Reading {
        let running = Arc::<Mutex<Running>>::default();
        let ours = Arc::clone(&running);
        std::thread::spawn(move || {
            let send = |lines| messages.send(Message::Lines(Batch { number, lines })).is_ok();
            for part in parts {
                let goes_on = match part {
                    Part::Lines(lines) => send(lines),
                    Part::Command(words) => match begin(program(), &words, &ours) {
                        Ok(Some(from)) => send_lines(from, &send),
                        Ok(None) => false,
                        Err(error) => send(vec![error.to_string()]),
                    },
                };
                // A process that was killed, or has no reader any more, ends by itself.
                let child = lock(&ours).child.take();
                let _ = child.map(|mut child| child.wait());
                if !goes_on {
                    return;
                }
            }
            // An empty output is reported, too.
            send(Vec::new());
        });
        Reading { running }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut running = lock(&self.running);
        running.is_over = true;
        if let Some(child) = &mut running.child {
            // A process that has ended already needs no signal; its thread waits for it.
            let _ = child.kill();
        }
    }
}

/// Starts a command. `None`: the reading was dropped.
fn begin(
    mut command: Command,
    words: &[String],
    running: &Mutex<Running>,
) -> io::Result<Option<BufReader<PipeReader>>> {
    let (from, into) = io::pipe()?;
    command.args(words).stdin(Stdio::null()).stdout(into.try_clone()?).stderr(into);
    let mut child = command.spawn()?;
    let mut running = lock(running);
    if running.is_over {
        let _ = child.kill();
        drop(running);
        child.wait()?;
        return Ok(None);
    }
    running.child = Some(child);
    Ok(Some(BufReader::new(from)))
}

/// Returns false if nobody listens.
fn send_lines(mut from: BufReader<PipeReader>, send: &impl Fn(Vec<String>) -> bool) -> bool {
    let mut batch = Vec::new();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        // A pipe that cannot be read any more has ended.
        let is_end = !read_line(&mut from, &mut bytes).unwrap_or(false);
        if !is_end {
            batch.push(clean_line(&bytes));
        }
        let is_due = batch.len() >= BATCH || is_end || from.buffer().is_empty();
        if is_due && !batch.is_empty() && !send(std::mem::take(&mut batch)) {
            return false;
        }
        if is_end {
            return true;
        }
    }
}

/// Reads the first part of a line, however long it is. False: there is none.
fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let mut has_any = false;
    loop {
        let there = from.fill_buf()?;
        if there.is_empty() {
            return Ok(has_any);
        }
        has_any = true;
        let end = there.iter().position(|byte| *byte == b'\n');
        let part = &there[..end.unwrap_or(there.len())];
        line.extend(&part[..part.len().min(LINE.saturating_sub(line.len()))]);
        let used = end.map_or(there.len(), |end| end + 1);
        from.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

fn clean_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace('\t', "    ");
    sanitize::one_line(text.trim_end()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_takes_no_room() {
        let text = format!("{}\nnext\n\nlast", "x".repeat(LINE * 3));
        let mut from = BufReader::new(text.as_bytes());
        let mut lengths = Vec::new();
        let mut line = Vec::new();
        while read_line(&mut from, &mut line).unwrap() {
            lengths.push(line.len());
            line.clear();
        }
        assert_eq!(lengths, [LINE, 4, 0, 4]);
    }
}
