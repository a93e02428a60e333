//! Prepares child processes: session, lifetime, and inherited files.

use std::io;
use std::os::unix::process::CommandExt;

use rustix::fd::{BorrowedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use tokio::signal::unix::{SignalKind, signal};

/// The terminal session of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// A new session (`setsid`) without a terminal, for a headless agent. Keys in the pane do not
    /// signal such an agent.
    New,
    /// The session and terminal of this process, for an agent with a screen.
    Inherit,
}

/// Prepares the command of an agent. The agent dies with this process (SIGKILL when the spawning
/// *thread* ends, Linux only), runs in the requested session, and inherits no file of this
/// process's parents, so that the agent cannot hold a foreign lock or pipe.
///
/// Three things that the caller owes:
/// - Spawn from a thread that lives at least as long as the agent, such as the main thread of a
///   current-thread runtime. An agent spawned by `spawn_blocking` would be killed as soon as the
///   pool drops that thread.
/// - Do not combine with `process_group`: a group leader cannot open a session, and the spawn
///   fails.
/// - Call [`reset_ignored_signals`] once before; otherwise the child inherits ignored signals.
pub fn configure_agent(command: &mut tokio::process::Command, session: Session) {
    before_exec(command.as_std_mut(), session == Session::New, true);
}

/// Closes inherited files in this command. Files opened by this process are close-on-exec already
/// (Rust sees to that).
pub(crate) fn close_inherited(command: &mut std::process::Command) {
    before_exec(command, false, false);
}

/// Detaches a command: a session of its own, no terminal, and no inherited files.
pub(crate) fn detach_command(command: &mut std::process::Command) {
    before_exec(command, true, false);
}

/// Returns true if SIGHUP was ignored at the start of this process, as under `nohup`. Must be
/// called before [`reset_ignored_signals`]. Unknown counts as not ignored.
pub(crate) fn is_hangup_ignored() -> bool {
    const HANGUP: u64 = 1 << 0;
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    });
    ignored.is_some_and(|mask| mask & HANGUP != 0)
}

/// Installs handlers for SIGHUP, SIGINT, SIGQUIT and SIGTERM, so that children start with the
/// default actions: `exec` resets handled signals but keeps ignored ones (`nohup el work`, or `el
/// work &` in a script). From then on these signals do not end this process, so the caller has to
/// listen for them.
///
/// # Errors
/// If the handlers cannot be installed.
///
/// # Panics
/// Outside of a tokio runtime with enabled drivers.
pub fn reset_ignored_signals() -> io::Result<()> {
    for kind in
        [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()]
    {
        // The handler stays after the stream is dropped.
        drop(signal(kind)?);
    }
    Ok(())
}

#[expect(
    unsafe_code,
    reason = "what a child does between fork and exec can only be said in an unsafe pre_exec"
)]
fn before_exec(command: &mut std::process::Command, new_session: bool, die_with_parent: bool) {
    let inherited = inherited_files();
    let parent = rustix::process::getpid();
    let steps = move || {
        for file in &inherited {
            // SAFETY: the number is only handed to fcntl(F_SETFD) and kept nowhere. If it was
            // closed meanwhile, the kernel answers EBADF; if another file has it now, that one is
            // of ours and close-on-exec already.
            let file = unsafe { BorrowedFd::borrow_raw(*file) };
            let _ = fcntl_setfd(file, FdFlags::CLOEXEC);
        }
        if new_session {
            rustix::process::setsid()?;
        }
        if die_with_parent {
            die_with(parent)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe things are allowed. `steps` makes plain
    // system calls (rustix issues them itself: no locks, no allocation, no errno of a thread),
    // walks a vector that was filled before the fork, and its errors are plain numbers.
    unsafe { command.pre_exec(steps) };
}

#[cfg(target_os = "linux")]
fn die_with(parent: rustix::process::Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // If the parent died before the call, no signal would ever come.
    if rustix::process::getppid() == Some(parent) {
        Ok(())
    } else {
        Err(rustix::io::Errno::SRCH.into())
    }
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Linux")]
fn die_with(_parent: rustix::process::Pid) -> io::Result<()> {
    Ok(())
}

/// Lists the open files above stderr. Files of this process are close-on-exec already, so marking
/// all files marks the inherited ones.
fn inherited_files() -> Vec<RawFd> {
    let Ok(entries) = std::fs::read_dir("/dev/fd") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|file: &RawFd| *file > 2)
        .collect()
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs;
    use std::process::Stdio;
    use std::time::Duration;

    use tokio::process::Command;

    use super::super::{Handle, Process, ProcessId, descendants};
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    fn look(pid: u32) -> Process {
        descendants(std::process::id())
            .unwrap()
            .into_iter()
            .find(|process| process.pid == pid)
            .unwrap()
    }

    #[test]
    fn a_new_session_is_led_by_the_child_and_an_inherited_one_is_ours() {
        runtime().block_on(async {
            for (session, own) in [(Session::New, false), (Session::Inherit, true)] {
                let mut command = Command::new("sleep");
                command.arg("600").kill_on_drop(true);
                configure_agent(&mut command, session);
                let mut child = command.spawn().unwrap();
                let pid = child.id().unwrap();
                let ours = super::super::sweep::own_session();
                assert_eq!(look(pid).session, if own { ours } else { pid });
                child.kill().await.unwrap();
            }
        });
    }

    #[test]
    fn the_child_dies_with_the_thread_that_spawned_it() {
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            runtime().block_on(async {
                let mut command = Command::new("sleep");
                command.arg("600");
                configure_agent(&mut command, Session::New);
                let child = command.spawn().unwrap();
                let id = ProcessId::of_pid(child.id().unwrap()).unwrap().unwrap();
                send.send(Handle::open(&id).unwrap().unwrap()).unwrap();
            });
        });
        let handle = receive.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(
            handle.wait_for_end(Duration::from_secs(20)).unwrap(),
            "the child outlived its parent thread"
        );
    }

    #[test]
    fn files_that_we_inherited_do_not_reach_the_child() {
        runtime().block_on(async {
            let file = tempfile::tempfile().unwrap();
            // A copy that `exec` would pass on, as a parent might have left.
            let leaked = rustix::io::fcntl_dupfd_cloexec(&file, 30).unwrap();
            fcntl_setfd(&leaked, FdFlags::empty()).unwrap();
            assert!(!rustix::io::fcntl_getfd(&leaked).unwrap().contains(FdFlags::CLOEXEC));
            let number = rustix::fd::AsRawFd::as_raw_fd(&leaked);
            for (closed, expected) in [(false, "yes"), (true, "no")] {
                let mut command = Command::new("sh");
                command.args([
                    "-c",
                    &format!("if [ -e /dev/fd/{number} ]; then echo yes; else echo no; fi"),
                ]);
                if closed {
                    configure_agent(&mut command, Session::New);
                }
                let output = command.stdin(Stdio::null()).output().await.unwrap();
                assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
            }
        });
    }

    #[test]
    fn a_program_that_is_not_there_is_an_error_and_not_a_child() {
        runtime().block_on(async {
            let mut command = Command::new("/nonexistent/agent");
            configure_agent(&mut command, Session::New);
            assert_eq!(command.spawn().unwrap_err().kind(), io::ErrorKind::NotFound);
        });
    }

    #[test]
    fn signals_that_were_ignored_have_their_default_action_in_the_child() {
        // A shell that ignores SIGINT and SIGHUP runs the test, as for a background job of a
        // script.
        let exe = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("ignored");
        let status = std::process::Command::new("sh")
            .args([
                "-c",
                "trap '' INT HUP; exec \"$0\" --ignored --exact \
                 process::spawn::tests::ignored_helper",
            ])
            .arg(exe)
            .env("EL_TEST_OUT", &out)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        let text = fs::read_to_string(out).unwrap();
        let masks: Vec<u64> =
            text.split_whitespace().map(|mask| u64::from_str_radix(mask, 16).unwrap()).collect();
        assert_eq!(masks[0] & 0b11, 0b11, "the helper itself was to ignore SIGHUP and SIGINT");
        assert_eq!(masks[1] & 0b11, 0, "the child still ignores them");
    }

    #[test]
    #[ignore = "a helper process of the test above"]
    fn ignored_helper() {
        let Some(out) = std::env::var_os("EL_TEST_OUT") else { return };
        let ignored = |status: &str| {
            status
                .lines()
                .find_map(|line| line.strip_prefix("SigIgn:"))
                .map(|mask| mask.trim().to_owned())
                .unwrap()
        };
        let own = ignored(&fs::read_to_string("/proc/self/status").unwrap());
        runtime().block_on(async {
            reset_ignored_signals().unwrap();
            let mut command = Command::new("cat");
            command.arg("/proc/self/status");
            configure_agent(&mut command, Session::New);
            let output = command.output().await.unwrap();
            fs::write(out, format!("{own} {}", ignored(&String::from_utf8_lossy(&output.stdout))))
                .unwrap();
        });
    }
}
