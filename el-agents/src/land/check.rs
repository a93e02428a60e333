//! Runs the check of a plan or of a landing: a command, run to the end unless a signal comes. No
//! process is left behind.
//!
//! If this process is killed, a guard ends the check. The guard is a second process that waits on a
//! pipe, which the system closes. If the guard is killed too, the next check of the same owner ends
//! the remaining processes.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use el_core::model::{Verify, VerifyStatus, fresh_token};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::MissedTickBehavior;

use super::{LandContext, LandError, Result};
use crate::process::{self, Marker, end_marked};
use crate::sandbox::Confinement;
use crate::verify::{self, LOOK};

/// A variable of all processes of a check; its value names the check's owner.
const OWNER: &str = "EL_WHOLE_CHECK";
/// A second mark, unique to each check. The guard of a killed check looks for this mark, so that
/// the guard does not end the next check.
const ONCE: &str = "EL_WHOLE_CHECK_ONCE";
/// The time limit for ending the remains of an earlier check.
const SWEEP_LIMIT: Duration = Duration::from_secs(10);
/// The longest delay between a signal and its notice.
const NOTICE_LIMIT: Duration = Duration::from_millis(2);

/// A command and its time limit.
#[derive(Debug, Clone, Copy)]
pub struct CheckCommand<'a> {
    /// The setting that names the command.
    pub key: &'static str,
    /// For sentences: "check", "setup".
    pub name: &'static str,
    pub words: &'a [String],
    pub limit: Duration,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckEnd {
    /// The end of the output.
    Passed(String),
    /// The end of the output, and the kind of failure.
    Failed(String),
    /// SIGINT, SIGTERM or SIGHUP came, and the command was ended.
    Interrupted,
}

/// Ends the processes that a killed check of this owner left. The caller must be the only process
/// that runs checks of this owner.
pub fn end_leftovers(owner: &str) {
    // The next check ends processes that cannot be ended now; the plan must not wait for them.
    drop(end_marked(&Marker::new(OWNER, owner), SWEEP_LIMIT));
}

/// Runs the guard of a check: waits for the end of standard input, then ends the check. A byte on
/// standard input says that the check has ended well.
pub fn run_guard(once: &str) {
    let mut said = Vec::new();
    // A read error counts as the end.
    let _ = io::stdin().lock().take(1).read_to_end(&mut said);
    if said.is_empty() {
        // The next check ends any survivors.
        drop(end_marked(&Marker::new(ONCE, once), SWEEP_LIMIT));
    }
}

/// Called at intervals during a check, with the command, the commit and the time passed.
pub type CheckProgress<'a> = &'a dyn Fn(&str, &str, Duration);

/// The guard process of a check. A check runs even if the guard cannot be started.
struct Guard(Option<Child>);

impl Guard {
    fn start(el: &Path, once: &str) -> Guard {
        let mut command = Command::new(el);
        command
            .args(["hook", "guard-check", once])
            .env_remove(OWNER)
            .env_remove(ONCE)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process::detach_command(&mut command);
        Guard(command.spawn().ok())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        if let Some(mut pipe) = child.stdin.take() {
            // The guard may be gone already.
            let _ = pipe.write_all(b".");
        }
        let _ = child.wait();
    }
}

/// Listens for SIGINT, SIGTERM and SIGHUP. From then on the signals have no effect of their own.
#[derive(Debug)]
struct StopSignals {
    runtime: Runtime,
    signals: [Signal; 3],
    has_come: bool,
}

impl StopSignals {
    fn listen() -> io::Result<StopSignals> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let signals = runtime.block_on(async {
            process::reset_ignored_signals()?;
            Ok::<_, io::Error>([
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ])
        })?;
        Ok(StopSignals { runtime, signals, has_come: false })
    }

    fn has_come(&mut self) -> bool {
        let StopSignals { runtime, signals, has_come } = self;
        *has_come |= runtime
            .block_on(async { tokio::time::timeout(NOTICE_LIMIT, any_of(signals)).await.is_ok() });
        *has_come
    }
}

async fn any_of([interrupt, terminate, hangup]: &mut [Signal; 3]) {
    tokio::select! {
        _ = interrupt.recv() => {},
        _ = terminate.recv() => {},
        _ = hangup.recv() => {},
    }
}

/// Runs the checks of one owner and listens for signals during a check.
#[derive(Debug)]
pub struct CheckRunner<'a> {
    context: &'a LandContext<'a>,
    owner: String,
    signals: StopSignals,
}

impl<'a> CheckRunner<'a> {
    /// Starts to listen, and ends the remains of a killed check of this owner. The caller must be
    /// the only process that runs checks of this owner.
    ///
    /// # Errors
    /// If signals cannot be listened to.
    pub fn new(context: &'a LandContext<'a>, owner: String) -> Result<CheckRunner<'a>> {
        end_leftovers(&owner);
        let signals = StopSignals::listen().map_err(LandError::Signals)?;
        Ok(CheckRunner { context, owner, signals })
    }

    pub fn is_interrupted(&mut self) -> bool {
        self.signals.has_come()
    }

    /// Runs a command to the end, unless a signal comes. Blocks. Calls `progress` at intervals with
    /// the time passed.
    ///
    /// # Errors
    /// If the command cannot be run.
    pub fn run_command(
        &mut self,
        command: &CheckCommand<'_>,
        folder: &Path,
        progress: &mut dyn FnMut(Duration),
    ) -> Result<CheckEnd> {
        let CheckCommand { key, name, words, limit } = *command;
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let verify = Verify::pending(words.to_vec(), true, limit);
        let Some(done) = self.watch_command(&verify, folder, progress) else {
            return Ok(CheckEnd::Interrupted);
        };
        let said = done.output.unwrap_or_default();
        match done.status {
            VerifyStatus::Passed => Ok(CheckEnd::Passed(said)),
            VerifyStatus::NotRun | VerifyStatus::Pending => {
                Err(LandError::CannotRun { key, name, said })
            }
            status => {
                let code =
                    done.exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
                let text = format!("{said}\nthe {name} ended as {status}{code}");
                Ok(CheckEnd::Failed(text.trim().to_owned()))
            }
        }
    }

    /// The record of a check that has ended; `None`: a signal came.
    fn watch_command(
        &mut self,
        verify: &Verify,
        folder: &Path,
        progress: &mut dyn FnMut(Duration),
    ) -> Option<Verify> {
        let once = fresh_token();
        let _guard = Guard::start(&self.context.el, &once);
        let mut environment = self.context.environment.to_vec();
        environment.push((OWNER.into(), self.owner.as_str().into()));
        environment.push((ONCE.into(), once.into()));
        let places = self.context.places();
        let sandbox = match self.context.find_sandbox() {
            Ok(sandbox) => sandbox,
            Err(error) => {
                let output = Some(format!("{}; {}", error.message, error.hint));
                return Some(Verify { status: VerifyStatus::NotRun, output, ..verify.clone() });
            }
        };
        let confinement = sandbox.as_ref().map(|sandbox| Confinement { sandbox, places: &places });
        let StopSignals { runtime, signals, has_come } = &mut self.signals;
        runtime.block_on(async {
            let mut running = match verify::start_check(verify, folder, &environment, confinement) {
                Ok(running) => running,
                Err(not_run) => return Some(*not_run),
            };
            let began = Instant::now();
            let mut tick = tokio::time::interval(LOOK);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = tick.tick() => {
                        if let Some(ended) = running.poll() {
                            return Some(ended);
                        }
                        progress(began.elapsed());
                    },
                    () = any_of(signals) => break,
                }
            }
            *has_come = true;
            running.end_early("it was broken off");
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::git::JoinMode;
    use crate::land::LandSettings;
    use crate::settings::{SandboxMode, SandboxSettings};

    fn settings() -> LandSettings {
        LandSettings {
            mode: JoinMode::Rebase,
            onto: None,
            check: Vec::new(),
            check_limit: Duration::from_secs(20),
            copy: Vec::new(),
            link: Vec::new(),
            setup: Vec::new(),
            setup_limit: Duration::from_secs(20),
            worktrees: PathBuf::new(),
            put_into_worktrees: Vec::new(),
            configuration: PathBuf::new(),
            sandbox: SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() },
        }
    }

    fn run(owner: &str, words: &[&str], progress: &mut dyn FnMut(Duration)) -> CheckEnd {
        let dir = tempfile::tempdir().unwrap();
        let settings = settings();
        let environment = [("PATH".into(), std::env::var_os("PATH").unwrap())];
        let context = LandContext {
            settings: &settings,
            database: dir.path(),
            el: "/bin/true".into(),
            environment: &environment,
            actor: "test",
            session: None,
        };
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let command = CheckCommand {
            key: "land_check",
            name: "check",
            words: &words,
            limit: settings.check_limit,
        };
        let mut runner = CheckRunner::new(&context, owner.to_owned()).unwrap();
        runner.run_command(&command, dir.path(), progress).unwrap()
    }

    #[test]
    fn it_ends_by_itself_and_is_looked_at_meanwhile() {
        let mut looks = 0;
        let words = ["sh", "-c", "echo seen; sleep 0.3; exit 3"];
        let ended = run("test:whole:1", &words, &mut |_| looks += 1);
        assert_eq!(ended, CheckEnd::Failed("seen\nthe check ended as failed, exit code 3".into()));
        assert!(looks > 0);
    }

    #[test]
    fn what_a_killed_one_left_is_ended_by_the_next() {
        let owner = format!("test:whole:{}", std::process::id());
        let mut left =
            std::process::Command::new("sleep").arg("600").env(OWNER, &owner).spawn().unwrap();
        assert_eq!(run(&owner, &["true"], &mut |_| {}), CheckEnd::Passed(String::new()));
        assert!(!left.wait().unwrap().success(), "it was ended from outside");
    }
}
