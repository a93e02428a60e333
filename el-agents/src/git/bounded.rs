//! Runs a program to the end in bounded time. A time-out ends the whole process group.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::poll::poll_until;

/// The time that an ended program has to remove its lock files.
const GRACE: Duration = Duration::from_secs(3);
/// The time limit for the last output after the end: a leftover process may hold the pipe.
const REST: Duration = Duration::from_secs(2);
/// Bytes of standard error that are kept.
const STDERR_MAX: usize = 1 << 20;
/// The longest wait between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// The exit status and the output of a program.
#[derive(Debug, Clone)]
pub(crate) struct ProgramOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// The program had more to print than was asked for, and was ended.
    pub(crate) is_cut: bool,
}

/// Runs a program with the given standard input and reads `max` bytes of output. Returns `None` if
/// the program took too long and was ended.
///
/// # Errors
/// If the program cannot be run.
pub(crate) fn run(
    command: &mut Command,
    input: Option<&[u8]>,
    limit: Duration,
    max: usize,
) -> io::Result<Option<ProgramOutput>> {
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn()?;
    if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
        let text = text.to_vec();
        // A program that does not read to the end reports its own error.
        std::thread::spawn(move || drop(pipe.write_all(&text)));
    }
    let stdout = PipeContent::spawn_reader(child.stdout.take(), max);
    let stderr = PipeContent::spawn_reader(child.stderr.take(), STDERR_MAX);
    let began = Instant::now();
    let mut look = Duration::from_micros(100);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > limit {
            end_process_group(&mut child)?;
            return Ok(None);
        }
        // Most programs end with their output.
        if !stdout.ends_within(LOOK) {
            continue;
        }
        std::thread::sleep(look);
        look = (look * 2).min(LOOK);
    };
    let (stdout, stderr) = (stdout.into_bytes(), stderr.into_bytes());
    let is_cut = stdout.len() >= max;
    Ok(Some(ProgramOutput { status, stdout, stderr, is_cut }))
}

/// Ends a child with its process group.
pub(super) fn end_process_group(child: &mut Child) -> io::Result<()> {
    let group = Pid::from_child(child);
    // The child is not reaped yet, so the group is still its own.
    let _ = kill_process_group(group, Signal::TERM);
    let _ = poll_until(GRACE, LOOK, || is_gone(group).then_some(()));
    let _ = kill_process_group(group, Signal::KILL);
    child.wait().map(drop)
}

/// Returns true if every process of the group has ended. The kernel counts unreaped processes too,
/// so only the states in `/proc` can tell.
fn is_gone(group: Pid) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else { return false };
    let number = group.as_raw_nonzero().get().to_string();
    !entries.flatten().any(|entry| {
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { return false };
        let Some((_, rest)) = text.rsplit_once(") ") else { return false };
        let mut words = rest.split(" ");
        let (state, of) = (words.next(), words.nth(1));
        of == Some(number.as_str()) && state != Some("Z")
    })
}

/// The content of a pipe, read on a separate thread.
struct PipeContent {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Receiver<()>,
}

impl PipeContent {
    /// Reads until `max` bytes, then closes the pipe, which ends a program that writes more.
    fn spawn_reader(pipe: Option<impl Read + Send + 'static>, max: usize) -> PipeContent {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = channel::<()>();
        if let Some(mut pipe) = pipe {
            let into = Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut buffer = vec![0; 64 << 10];
                let mut left = max;
                while left > 0
                    && let Ok(len @ 1..) = pipe.read(&mut buffer)
                {
                    let kept = len.min(left);
                    left -= kept;
                    into.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .extend_from_slice(&buffer[..kept]);
                }
                drop(pipe);
                drop(sender);
            });
        }
        PipeContent { bytes, ended }
    }

    /// Waits for the end of the pipe; false if it did not come in time.
    fn ends_within(&self, limit: Duration) -> bool {
        // No message is ever sent: the wait ends when the reader ends, or at the limit.
        self.ended.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
    }

    fn into_bytes(self) -> Vec<u8> {
        self.ends_within(REST);
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
