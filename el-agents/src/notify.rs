//! The notification command of the configuration: told of the end of a run, by an event as JSON on
//! its standard input. No shell is between.
//!
//! It is started by a process of its own (`el hook notify`), which bounds its time: whoever settled
//! the run goes on at once, and may end, whatever the command does.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use el_core::ops::Settled;
use serde_json::{Value, json};

use crate::process::detach;
use crate::rundir::{RunDir, RunDirError, write_private};
use crate::settings::{AgentSettings, Places};

/// What of an agent session's environment would make the command pass for the session, which is
/// over.
const OF_THE_SESSION: [&str; 4] = ["EL_RUN", "EL_TOKEN", "EL_ATOM", "EL_ACTOR"];

/// Why nobody was told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotifyError {
    /// The event could not be written down.
    #[error("the event could not be written")]
    Files(#[from] RunDirError),
    /// The process could not be started.
    #[error("the notification could not be started")]
    Start(#[from] io::Error),
}

/// Starts the command for a run that was settled just now, if there is one and there is something
/// to tell. Does not wait for it: the process that is given back, to be waited for by callers that
/// live long, ends within the time that the settings allow.
pub(crate) fn start(
    settled: &Settled,
    agent: &AgentSettings,
    places: &Places,
    environment: &[(OsString, OsString)],
) -> Result<Option<Child>, NotifyError> {
    if agent.notify.is_empty() || settled.message.is_none() {
        return Ok(None);
    }
    let folder = RunDir::new(&places.runs, &settled.run.id);
    let event = folder.path().join("event.json");
    write_private(&event, format!("{}\n", event_of(settled, places, folder.path())).as_bytes())?;
    let log = folder.append(&folder.path().join("notify.log"))?;
    let mut command = Command::new(&places.el);
    command
        .args(["hook", "notify", "--timeout-ms"])
        .arg(agent.notify_timeout.as_millis().to_string());
    command.arg("--").args(&agent.notify);
    let is_kept = |name: &OsStr| !OF_THE_SESSION.iter().any(|other| name == *other);
    command.env_clear().envs(
        environment.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| (name, value)),
    );
    command
        .current_dir(project(places))
        .stdin(File::open(event)?)
        .stdout(log.try_clone()?)
        .stderr(log);
    detach(&mut command);
    Ok(Some(command.spawn()?))
}

/// The project's own folder, where the command runs.
fn project(places: &Places) -> &Path {
    let state = places.database.parent().unwrap_or(Path::new("/"));
    match (state.file_name(), state.parent()) {
        (Some(name), Some(root)) if name == ".eluent" => root,
        _ => state,
    }
}

/// What the command is told. Its shape is an interface: keys may be added, and none changes its
/// meaning.
fn event_of(settled: &Settled, places: &Places, folder: &Path) -> Value {
    json!({
        "event": "run_ended",
        "at": settled.run.ended_at,
        "outcome": settled.outcome,
        "database": places.database,
        "folder": folder,
        "message": settled.message,
        "run": settled.run,
        "atom": settled.atom,
    })
}

/// How the command ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// Its time was up, and it was killed with everything in its process group.
    TimedOut,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::TimedOut => f.write_str("its time was up, so it was killed"),
            Ended::Exited(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "it ended with code {code}"),
                (None, Some(signal)) => write!(f, "it was killed by signal {signal}"),
                (None, None) => f.write_str("it ended"),
            },
        }
    }
}

/// So much of what a command prints is kept, in bytes.
const OUTPUT_MAX: u64 = 64 << 10;
/// How long its last output may take to arrive after it has ended; something that it left behind
/// may hold on to its end of the pipe.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Runs a command to its end, at most as long as `limit`, with our standard input. The beginning of
/// what it prints goes to our standard error, the rest nowhere: a log that fills the disk would
/// hold up everyone. Blocks; to be called in a process that has nothing else to do.
///
/// # Errors
/// If it cannot be started, or not be waited for.
pub fn run_bounded(argv: &[OsString], limit: Duration) -> io::Result<Ended> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // A group of its own, so that what it starts can be killed with it.
    let (output, pipe) = io::pipe()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::inherit())
        .stdout(pipe.try_clone()?)
        .stderr(pipe)
        .process_group(0);
    let mut child = command.spawn()?;
    // Or our own ends of the pipe would keep it open.
    drop(command);
    let (all_read, is_read) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        keep_beginning(output, io::stderr());
        drop(all_read);
    });
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver may have given up.
        let _ = sender.send(child.wait());
    });
    let ended = match receiver.recv_timeout(limit) {
        Ok(status) => status.map(Ended::Exited),
        Err(_) => {
            if let Some(group) = group {
                // Its leader has not been waited for, so the number is still its own; it may have
                // ended just now.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            Ok(Ended::TimedOut)
        }
    };
    // Nothing is sent: it comes to an end, or not in time.
    let _ = is_read.recv_timeout(LAST_OUTPUT);
    ended
}

/// Copies the beginning, and reads the rest away, so that whoever writes it is not stopped.
fn keep_beginning(mut from: impl Read, mut to: impl Write) {
    // What cannot be read or written has nobody who could be told.
    let kept = io::copy(&mut from.by_ref().take(OUTPUT_MAX), &mut to).unwrap_or_default();
    let rest = io::copy(&mut from, &mut io::sink()).unwrap_or_default();
    if rest > 0 {
        let _ = writeln!(
            to,
            "\nel: notify: {rest} more bytes of its output after these {kept} are left out"
        );
    }
}

/// A line about the command for the run's `notify.log`.
pub fn note(argv: &[OsString], result: &io::Result<Ended>) {
    let program = argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let told = match result {
        Ok(ended) => ended.to_string(),
        Err(error) => format!("it could not be run: {error}"),
    };
    // Where the log is gone there is nobody to tell.
    let _ = writeln!(io::stderr(), "el: notify: {program}: {told}");
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_slow_command_is_killed_with_what_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("late");
        let line = format!("(sleep 600; touch '{}') & wait", file.display());
        let began = Instant::now();
        let ended = run_bounded(&words(&["sh", "-c", &line]), Duration::from_millis(300)).unwrap();
        assert!(matches!(ended, Ended::TimedOut) && began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn only_the_beginning_of_the_output_is_kept() {
        let kept = |bytes: usize| {
            let mut log = Vec::new();
            keep_beginning(io::Cursor::new(vec![b'x'; bytes]), &mut log);
            (log.iter().filter(|b| **b == b'x').count(), String::from_utf8(log).unwrap())
        };
        let max = usize::try_from(OUTPUT_MAX).unwrap();
        assert_eq!(kept(max).1.len(), max);
        let (count, text) = kept(max + 7);
        assert_eq!(count, max, "no x is in the note");
        assert!(text.contains("7 more bytes"), "{}", &text[max..]);
    }

    #[test]
    fn how_a_command_ended_is_told() {
        let told = |line: &str| {
            run_bounded(&words(&["sh", "-c", line]), Duration::from_secs(60)).unwrap().to_string()
        };
        assert_eq!(told("exit 3"), "it ended with code 3");
        assert_eq!(told("kill -9 $$"), "it was killed by signal 9");
        assert!(run_bounded(&words(&["/nonexistent/notify"]), Duration::from_secs(1)).is_err());
        assert!(run_bounded(&[], Duration::from_secs(1)).is_err());
    }
}
