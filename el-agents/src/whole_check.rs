//! The check of a whole plan, or of what `el land` brings in: a command, run to its end unless a
//! person breaks it off. Nothing of it stays.
//!
//! Should this process be killed, its guard ends the check: a second process, which waits for a
//! sign on a pipe that the system closes. Should the guard be killed too, the next check of the
//! same owner ends what is left.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use el_core::model::{Verify, fresh_token};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::MissedTickBehavior;

use crate::process::{self, Marker, end_marked};
use crate::verify::{self, LOOK};

/// In the environment of all that such a check starts; its value says whose check it is.
const OWNER: &str = "EL_WHOLE_CHECK";
/// The same, with a value that no other check has: what its guard goes by. Else the guard of a
/// killed one could end the next.
const ONCE: &str = "EL_WHOLE_CHECK_ONCE";
/// How long ending what an earlier one left may take.
const SWEEP_LIMIT: Duration = Duration::from_secs(10);

/// How long a signal that has come takes to be heard, at most.
const HEARD: Duration = Duration::from_millis(2);

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub enum WholeCheck {
    Over(Verify),
    /// SIGINT, SIGTERM or SIGHUP came, and it was ended.
    BrokenOff,
}

/// Ends what is left of a check of this owner whose process was killed. The caller holds what makes
/// it the only one of this owner.
pub fn sweep(owner: &str) {
    // What cannot be ended now is met again by the next one; a check must not hold up the plan.
    drop(end_marked(&Marker::new(OWNER, owner), SWEEP_LIMIT));
}

/// What the guard of a check does: waits until the pipe that is its standard input ends, and ends
/// the check, unless it was told that all is well.
pub fn guard(once: &str) {
    let mut said = Vec::new();
    // An error is an end, too.
    let _ = io::stdin().lock().take(1).read_to_end(&mut said);
    if said.is_empty() {
        // What it cannot end, the next check ends.
        drop(end_marked(&Marker::new(ONCE, once), SWEEP_LIMIT));
    }
}

/// Watches over this process. Without it a check runs all the same.
struct Guard(Option<Child>);

impl Guard {
    /// `call`: a program and its arguments that, with one more, come to [`guard`].
    fn start(call: &[OsString], once: &str) -> Guard {
        let Some((program, arguments)) = call.split_first() else { return Guard(None) };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg(once)
            .env_remove(OWNER)
            .env_remove(ONCE)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        process::detach(&mut command);
        Guard(command.spawn().ok())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(mut child) = self.0.take() else { return };
        if let Some(mut pipe) = child.stdin.take() {
            // It may be gone; then there is nobody to tell.
            let _ = pipe.write_all(b".");
        }
        let _ = child.wait();
    }
}

/// Hears what is to break it all off: SIGINT, SIGTERM and SIGHUP do nothing by themselves from then
/// on.
#[derive(Debug)]
pub struct Breaker {
    runtime: Runtime,
    signals: [Signal; 3],
    is_broken: bool,
}

impl Breaker {
    /// Begins to listen.
    ///
    /// # Errors
    /// If that cannot be.
    pub fn listen() -> io::Result<Breaker> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let signals = runtime.block_on(async {
            process::notice_default_signals()?;
            Ok::<_, io::Error>([
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            ])
        })?;
        Ok(Breaker { runtime, signals, is_broken: false })
    }

    /// Whether one came.
    pub fn is_broken(&mut self) -> bool {
        let Breaker { runtime, signals, is_broken } = self;
        *is_broken |=
            runtime.block_on(async { tokio::time::timeout(HEARD, any(signals)).await.is_ok() });
        *is_broken
    }
}

/// Any of them.
async fn any([interrupt, terminate, hangup]: &mut [Signal; 3]) {
    tokio::select! {
        _ = interrupt.recv() => {},
        _ = terminate.recv() => {},
        _ = hangup.recv() => {},
    }
}

/// Runs it, unless a signal comes. Blocks. `guard`: what, with one more argument, starts a process
/// that calls [`guard()`] with that. `look` is called now and then with the time that has passed.
///
/// # Errors
/// If signals cannot be listened to.
pub fn run(
    breaker: &mut Breaker,
    verify: &Verify,
    folder: &Path,
    environment: &[(OsString, OsString)],
    owner: &str,
    guard: &[OsString],
    look: &mut dyn FnMut(Duration),
) -> io::Result<WholeCheck> {
    sweep(owner);
    let once = fresh_token();
    let _guard = Guard::start(guard, &once);
    let mut environment = environment.to_vec();
    environment.push((OWNER.into(), owner.into()));
    environment.push((ONCE.into(), once.into()));
    let Breaker { runtime, signals, is_broken } = breaker;
    runtime.block_on(async {
        let mut running = match verify::start(verify, folder, &environment) {
            Ok(running) => running,
            Err(not_run) => return Ok(WholeCheck::Over(*not_run)),
        };
        let began = Instant::now();
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => {
                    if let Some(ended) = running.poll() {
                        return Ok(WholeCheck::Over(ended));
                    }
                    look(began.elapsed());
                },
                () = any(signals) => break,
            }
        }
        *is_broken = true;
        running.end("it was broken off");
        Ok(WholeCheck::BrokenOff)
    })
}

#[cfg(test)]
mod tests {
    use el_core::model::VerifyStatus;

    use super::*;

    fn environment() -> Vec<(OsString, OsString)> {
        vec![(OsString::from("PATH"), std::env::var_os("PATH").unwrap())]
    }

    #[test]
    fn it_ends_by_itself_and_is_looked_at_meanwhile() {
        let dir = tempfile::tempdir().unwrap();
        let words = ["sh", "-c", "echo seen; sleep 0.3; exit 3"].map(str::to_owned).to_vec();
        let mut looks = 0;
        let ended = run(
            &mut Breaker::listen().unwrap(),
            &Verify::pending(words, true, 20_000),
            dir.path(),
            &environment(),
            "test:whole:1",
            &[],
            &mut |_| looks += 1,
        );
        let WholeCheck::Over(ended) = ended.unwrap() else { panic!("nobody broke it off") };
        assert_eq!(
            (ended.status, ended.exit_code, ended.output.as_deref()),
            (VerifyStatus::Failed, Some(3), Some("seen"))
        );
        assert!(looks > 0);
    }

    #[test]
    fn what_a_killed_one_left_is_ended_by_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let owner = format!("test:whole:{}", std::process::id());
        let mut left =
            std::process::Command::new("sleep").arg("600").env(OWNER, &owner).spawn().unwrap();
        let words = vec!["true".to_owned()];
        let ended = run(
            &mut Breaker::listen().unwrap(),
            &Verify::pending(words, true, 20_000),
            dir.path(),
            &environment(),
            &owner,
            &[],
            &mut |_| {},
        )
        .unwrap();
        assert!(matches!(ended, WholeCheck::Over(ended) if ended.status == VerifyStatus::Passed));
        let status = left.wait().unwrap();
        assert!(!status.success(), "it was ended from outside");
    }
}
