//! The check of an agent's work: a command, run in the working folder with bounded time. No shell
//! is between.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use el_core::model::{Verify, VerifyStatus, fresh_token};

use crate::claude::sanitize;
use crate::git::is_local_variable;
use crate::process::{Marker, detach_command, end_marked};
use crate::sandbox::{Call, Confinement, LAYOUTS, has_lost_a_path};
use crate::{clock, session};

/// The part of the output's end that is kept, in bytes.
const OUTPUT_MAX: usize = 8 << 10;
/// The time limit for ending the check's remains.
const END_LIMIT: Duration = Duration::from_secs(10);
/// The interval between two polls of a running check.
pub const LOOK: Duration = Duration::from_millis(50);
/// A variable in the environment of all processes of a check, with a unique value. A session's `el`
/// that has the variable changes nothing: a check does not act as the run.
pub const MARK: &str = "EL_CHECK";

/// A running check. The caller polls the check ([`RunningCheck::poll`]), or ends an obsolete check
/// ([`RunningCheck::end_early`]).
#[derive(Debug)]
pub struct RunningCheck<'a> {
    verify: Verify,
    start: Start<'a>,
    child: Child,
    mark: String,
    began: Instant,
    tail: Receiver<Vec<u8>>,
    /// How often its sandbox was laid out.
    layouts: u32,
}

/// The surroundings that a check is started in.
#[derive(Debug, Clone, Copy)]
struct Start<'a> {
    folder: &'a Path,
    environment: &'a [(OsString, OsString)],
    confinement: Option<Confinement<'a>>,
}

/// Starts a check. A failure to start yields the record of a check that was not run.
///
/// # Errors
/// The record of a check that was not run.
pub fn start_check<'a>(
    verify: &Verify,
    folder: &'a Path,
    environment: &'a [(OsString, OsString)],
    confinement: Option<Confinement<'a>>,
) -> Result<RunningCheck<'a>, Box<Verify>> {
    let fresh = Verify::pending(verify.command.clone(), verify.required, verify.timeout_ms);
    let mark = fresh_token();
    let not_run = |error: io::Error| {
        // The system's words do not name the program.
        let why = match error.raw_os_error() {
            Some(_) => format!("{}: {error}", verify.command[0]),
            None => error.to_string(),
        };
        Box::new(Verify {
            status: VerifyStatus::NotRun,
            output: Some(why),
            at: Some(clock::now()),
            ..fresh.clone()
        })
    };
    let began = Instant::now();
    let start = Start { folder, environment, confinement };
    let (child, tail) = start.spawn(verify, &mark).map_err(not_run)?;
    Ok(RunningCheck { verify: fresh, start, child, mark, began, tail, layouts: 1 })
}

/// Finds the program of a check as [`start_check`] does: on the caller's PATH. The system would
/// search this process's PATH instead.
///
/// # Errors
/// If the program is missing, or the command is empty.
pub fn find_program(
    command: &[String],
    folder: &Path,
    environment: &[(OsString, OsString)],
) -> io::Result<PathBuf> {
    let program = command.first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path);
    which::which_in(program, path, folder).map_err(|_| {
        io::Error::new(io::ErrorKind::NotFound, format!("there is no program {program}"))
    })
}

impl Start<'_> {
    fn spawn(&self, verify: &Verify, mark: &str) -> io::Result<(Child, Receiver<Vec<u8>>)> {
        let Start { folder, environment, confinement } = *self;
        let program = find_program(&verify.command, folder, environment)?;
        let is_kept =
            |name: &OsStr| name != "EL_DB" && name != "EL_DATABASE_URL" && !is_local_variable(name);
        let mut environment: Vec<_> =
            environment.iter().filter(|(name, _)| is_kept(name)).cloned().collect();
        let mut words = vec![program.into_os_string()];
        words.extend(verify.command[1..].iter().map(OsString::from));
        if let Some(Confinement { sandbox, places }) = confinement {
            let confined = sandbox.confine(&Call {
                argv: &words,
                environment: &environment,
                workdir: folder,
                places,
                run: None,
            })?;
            (words, environment) = (confined.argv, confined.environment);
        }
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(&words[0]);
        // The check of a run has the run's session, from its environment. Others have no tracker.
        command.args(&words[1..]).env_clear().env(session::VARIABLE, session::NO_TRACKER);
        command.envs(environment);
        command
            .env(MARK, mark)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        detach_command(&mut command);
        let child = command.spawn()?;
        // Otherwise the pipe would have no end.
        drop(command);
        let (sender, tail) = channel();
        std::thread::spawn(move || {
            // The receiver may have given up.
            let _ = sender.send(read_tail(reader));
        });
        Ok((child, tail))
    }
}

/// Reads to the end and keeps the last bytes.
fn read_tail(mut from: PipeReader) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        kept.extend_from_slice(&buffer[..len]);
        if kept.len() > 8 * OUTPUT_MAX {
            kept.drain(..kept.len() - 2 * OUTPUT_MAX);
        }
    }
    kept
}

impl RunningCheck<'_> {
    /// Returns the result after the end. A check over its time limit is ended.
    pub fn poll(&mut self) -> Option<Verify> {
        match self.child.try_wait() {
            Ok(Some(status)) => {
                let ended = self.collect_result(Some(status));
                (!self.starts_again(&ended)).then_some(ended)
            }
            Ok(None) if self.began.elapsed() < Duration::from_millis(self.verify.timeout_ms) => {
                None
            }
            Ok(None) => {
                let verify = self.end_early("");
                Some(Verify { status: VerifyStatus::TimedOut, ..verify })
            }
            // The child cannot be reaped, so another part has reaped the child. The status is
            // unknown.
            Err(_) => Some(self.collect_result(None)),
        }
    }

    /// Starts a check again whose sandbox could not be made.
    fn starts_again(&mut self, ended: &Verify) -> bool {
        let said = ended.output.as_deref().unwrap_or_default();
        if self.start.confinement.is_none()
            || self.layouts >= LAYOUTS
            || !has_lost_a_path(ended.exit_code, said)
        {
            return false;
        }
        self.layouts += 1;
        let Ok((child, tail)) = self.start.spawn(&self.verify, &self.mark) else { return false };
        (self.child, self.tail) = (child, tail);
        true
    }

    /// Ends the check early, with all its processes.
    pub fn end_early(&mut self, why: &str) -> Verify {
        // Both fail for a child that has just ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let mut verify = self.collect_result(None);
        if !why.is_empty() {
            verify.output = Some(why.to_owned());
        }
        verify
    }

    fn collect_result(&mut self, status: Option<ExitStatus>) -> Verify {
        // After the last process the pipe has ended too.
        let left = end_marked(&Marker::new(MARK, &self.mark), END_LIMIT);
        drop(left);
        let bytes = self.tail.recv_timeout(Duration::from_secs(2)).unwrap_or_default();
        let mut output = last_lines(&bytes);
        if let Some(signal) = status.and_then(|status| status.signal()) {
            output.push_str(&format!("\n(it was ended by signal {signal})"));
        }
        let passed = match status.map(|status| status.success()) {
            Some(true) => VerifyStatus::Passed,
            Some(false) => VerifyStatus::Failed,
            None => VerifyStatus::NotRun,
        };
        Verify {
            status: passed,
            exit_code: status.and_then(|status| status.code()),
            output: Some(output.trim().to_owned()),
            took_ms: Some(u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)),
            at: Some(clock::now()),
            ..self.verify.clone()
        }
    }
}

/// Ends a check that no caller waits for.
impl Drop for RunningCheck<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
            drop(end_marked(&Marker::new(MARK, &self.mark), END_LIMIT));
        }
    }
}

/// Runs a check to the end. Blocks.
#[must_use]
pub fn run_check(
    verify: &Verify,
    folder: &Path,
    environment: &[(OsString, OsString)],
    confinement: Option<Confinement<'_>>,
) -> Verify {
    let mut running = match start_check(verify, folder, environment, confinement) {
        Ok(running) => running,
        Err(not_run) => return *not_run,
    };
    loop {
        if let Some(ended) = running.poll() {
            return ended;
        }
        std::thread::sleep(LOOK);
    }
}

/// The end of the output, from the beginning of a line, harmless on a terminal.
fn last_lines(bytes: &[u8]) -> String {
    let clean = sanitize(&String::from_utf8_lossy(bytes));
    if clean.len() <= OUTPUT_MAX {
        return clean;
    }
    let rest = el_core::text::tail_bytes(&clean, OUTPUT_MAX);
    let begin = rest.find('\n').map_or(0, |at| at + 1);
    rest[begin..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, timeout_ms: u64) -> Verify {
        let dir = tempfile::tempdir().unwrap();
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        let environment = vec![
            (OsString::from("PATH"), std::env::var_os("PATH").unwrap()),
            (OsString::from("EL_SESSION"), OsString::from("/run-1/socket")),
            (OsString::from("EL_DB"), OsString::from("/db")),
        ];
        run_check(&Verify::pending(words, true, timeout_ms), dir.path(), &environment, None)
    }

    #[test]
    fn its_exit_code_and_the_end_of_its_output_are_told() {
        let passed = check("echo fine; exit 0", 20_000);
        assert_eq!(
            (passed.status, passed.exit_code, passed.output.as_deref()),
            (VerifyStatus::Passed, Some(0), Some("fine"))
        );
        let failed = check("echo out; echo '\x1b[31merr' >&2; exit 3", 20_000);
        assert_eq!((failed.status, failed.exit_code), (VerifyStatus::Failed, Some(3)));
        assert_eq!(failed.output.as_deref(), Some("out\nerr"));
        assert!(failed.required && failed.at.is_some() && failed.took_ms.is_some());
        let killed = check("kill -9 $$", 20_000);
        assert_eq!((killed.status, killed.exit_code), (VerifyStatus::Failed, None));
        assert!(killed.output.unwrap().contains("signal 9"));
    }

    #[test]
    fn it_is_marked_and_has_the_session_of_its_run_or_no_tracker() {
        let seen = check("echo \"$EL_SESSION,$EL_DB,${EL_CHECK:+marked}\"", 20_000);
        assert_eq!(seen.output.as_deref(), Some("/run-1/socket,,marked"));
        let words = ["sh", "-c", "echo $EL_SESSION"].map(str::to_owned).to_vec();
        let path = (OsString::from("PATH"), std::env::var_os("PATH").unwrap());
        let alone = run_check(&Verify::pending(words, true, 20_000), Path::new("/"), &[path], None);
        assert_eq!(alone.output.as_deref(), Some("none"));
    }

    #[test]
    fn its_time_is_bounded_and_nothing_of_it_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pid");
        let script =
            format!("setsid sleep 600 & echo $! > {}; echo begun; sleep 600", file.display());
        let late = check(&script, 1_000);
        assert_eq!((late.status, late.output.as_deref()), (VerifyStatus::TimedOut, Some("begun")));
        let pid: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
        assert!(
            !std::fs::read_to_string(format!("/proc/{pid}/environ"))
                .is_ok_and(|text| text.contains(MARK)),
            "{pid} still runs"
        );
    }

    #[test]
    fn what_it_leaves_running_does_not_hold_it_up() {
        let ended = check("sleep 600 & echo done", 20_000);
        assert_eq!((ended.status, ended.output.as_deref()), (VerifyStatus::Passed, Some("done")));
    }

    #[test]
    fn a_program_that_is_not_there_is_a_check_that_was_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let verify = Verify::pending(vec!["no-such-program".to_owned()], false, 1_000);
        let ended = run_check(&verify, dir.path(), &[], None);
        assert_eq!(ended.status, VerifyStatus::NotRun);
        assert_eq!(ended.output.unwrap(), "there is no program no-such-program");
    }

    #[test]
    fn of_a_huge_output_the_end_is_kept() {
        let ended = check("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done", 60_000);
        let output = ended.output.unwrap();
        assert!(
            output.len() <= OUTPUT_MAX
                && output.ends_with("line 19999")
                && output.starts_with("line ")
        );
    }
}
