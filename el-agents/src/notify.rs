//! Runs the configured notification command at the end of a run, with an event as JSON on standard
//! input. No shell is used.
//!
//! A separate process (`el hook notify`) starts the command and bounds its time. The settling
//! process goes on at once, and may end at any time.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use el_core::ServerAddress;
use el_core::ops::Settled;
use serde_json::{Value, json};

use crate::process::detach_command;
use crate::rundir::{RunDir, RunDirError, write_private};
use crate::session;
use crate::settings::{AgentSettings, Places};

/// The reason why no notification was started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotifyError {
    /// The event could not be written down.
    #[error("the event could not be written")]
    Files(#[from] RunDirError),
    /// The process could not be started.
    #[error("the notification could not be started")]
    Start(#[from] io::Error),
}

/// Starts the notification for a newly settled run, if a command is set and there is news. Does not
/// wait: the returned process ends within the configured time, and a long-lived caller has to reap
/// that process.
pub(crate) fn start_notification(
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
    let log = folder.open_to_append(&folder.path().join("notify.log"))?;
    let mut command = Command::new(&places.el);
    command
        .args(["hook", "notify", "--timeout-ms"])
        .arg(agent.notify_timeout.as_millis().to_string());
    command.arg("--").args(&agent.notify);
    // A command with the variables of a session would act as the session.
    let is_kept = |name: &OsStr| !session::VARIABLES.iter().any(|other| name == *other);
    command.env_clear().envs(
        environment.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| (name, value)),
    );
    command
        .env("EL_DB", &places.database)
        .envs(places.server.iter().flat_map(ServerAddress::variables))
        .envs(places.server.iter().map(|server| ("EL_DATABASE_URL", server.url())))
        .current_dir(project_folder(places))
        .stdin(File::open(event)?)
        .stdout(log.try_clone()?)
        .stderr(log);
    detach_command(&mut command);
    Ok(Some(command.spawn()?))
}

/// The project's own folder, where the command runs.
fn project_folder(places: &Places) -> &Path {
    let state = places.database.parent().unwrap_or(Path::new("/"));
    match (state.file_name(), state.parent()) {
        (Some(name), Some(root)) if name == ".eluent" => root,
        _ => state,
    }
}

/// Builds the event. Its shape is an interface: keys may be added, but none may change its meaning.
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
    /// The command ended by itself.
    Exited(ExitStatus),
    /// The time was up, and the command was killed with its process group.
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

/// The part of the command's output that is kept, in bytes.
const OUTPUT_MAX: u64 = 64 << 10;
/// The time limit for the last output after the end: a leftover process may hold the pipe.
const LAST_OUTPUT: Duration = Duration::from_secs(1);

/// Runs a command to the end, for at most `limit`, with the caller's standard input. The beginning
/// of the output goes to standard error, and the rest is dropped, because a log could fill the
/// disk. Blocks; for a process without other duties.
///
/// # Errors
/// If the command cannot be started or reaped.
pub fn run_bounded(argv: &[OsString], limit: Duration) -> io::Result<Ended> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    // A process group, so that the command's children can be killed too.
    let (output, pipe) = io::pipe()?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::inherit())
        .stdout(pipe.try_clone()?)
        .stderr(pipe)
        .process_group(0);
    let mut child = command.spawn()?;
    // Closes this process's ends of the pipe, which would keep the pipe open.
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
                // The leader is not reaped yet, so the group id is still its own; the leader may
                // have ended just now.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            Ok(Ended::TimedOut)
        }
    };
    // No message is ever sent: the wait ends with the reader, or at the limit.
    let _ = is_read.recv_timeout(LAST_OUTPUT);
    ended
}

/// Copies the beginning, and drains the rest, so that the writer never blocks.
fn keep_beginning(mut from: impl Read, mut to: impl Write) {
    // There is nowhere to report a failure to read or write.
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
pub fn log_result(argv: &[OsString], result: &io::Result<Ended>) {
    let program = argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let told = match result {
        Ok(ended) => ended.to_string(),
        Err(error) => format!("it could not be run: {error}"),
    };
    // Without a log there is nowhere to report.
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
