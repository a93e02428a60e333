//! A handle on a process: signals reach that process or none, and the process's end can be awaited.

use std::io;
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::Instant;

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags};
#[cfg(target_os = "linux")]
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Signal, kill_process};

use super::identity::to_pid;
use super::{Liveness, ProcessId};
use crate::poll::poll_until;
#[cfg(target_os = "linux")]
use crate::poll::wait_readable;

/// Interval between looks where the kernel cannot report an exit.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A handle on a process. Another process that reuses the pid never takes its place.
#[derive(Debug)]
pub struct Handle {
    id: ProcessId,
    /// Absent on kernels and systems without pidfds: then identity is checked again before each
    /// signal.
    #[cfg(target_os = "linux")]
    pidfd: Option<OwnedFd>,
}

impl Handle {
    /// Opens a handle; `None` if the process no longer runs. A zombie counts as ended.
    ///
    /// # Errors
    /// If the liveness of the process is unknown.
    pub fn open(id: &ProcessId) -> io::Result<Option<Self>> {
        let Some(pid) = to_pid(id.pid) else { return Ok(None) };
        #[cfg(target_os = "linux")]
        let pidfd = match rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) {
            Ok(pidfd) => Some(pidfd),
            Err(Errno::SRCH) => return Ok(None),
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => None,
            Err(error) => return Err(error.into()),
        };
        #[cfg(not(target_os = "linux"))]
        let _ = pid;
        // Only with the pidfd open does a look at the pid identify the held process.
        match id.liveness() {
            Liveness::Alive => Ok(Some(Self {
                id: id.clone(),
                #[cfg(target_os = "linux")]
                pidfd,
            })),
            Liveness::Absent => Ok(None),
            Liveness::Unknown => {
                Err(io::Error::other(format!("cannot tell whether process {} runs", id.pid)))
            }
        }
    }

    /// Sends a signal; `false` if the process had already ended.
    ///
    /// # Errors
    /// If the kernel refuses for another reason (another user's process).
    pub fn send_signal(&self, signal: Signal) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        if let Some(pidfd) = &self.pidfd {
            return was_sent(rustix::process::pidfd_send_signal(pidfd, signal));
        }
        match (self.id.liveness(), to_pid(self.id.pid)) {
            (Liveness::Alive, Some(pid)) => was_sent(kill_process(pid, signal)),
            _ => Ok(false),
        }
    }

    /// Blocks until the process has ended (a zombie has) or the time is over. Returns true if the
    /// process has ended. Reaps no exit status. For threads that may block.
    ///
    /// # Errors
    /// If the kernel refuses to wait.
    pub fn wait_for_end(&self, timeout: Duration) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        if let Some(pidfd) = &self.pidfd {
            let mut entry = [PollFd::new(pidfd, PollFlags::IN)];
            return wait_readable(&mut entry, Instant::now() + timeout);
        }
        let is_gone = || (self.id.liveness() == Liveness::Absent).then_some(());
        Ok(poll_until(timeout, LOOK_AGAIN, is_gone).is_some())
    }
}

fn was_sent(result: Result<(), Errno>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(Errno::SRCH) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_handle_signals_and_waits_without_taking_the_exit_status() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let id = ProcessId::of_pid(child.id()).unwrap().unwrap();
        let handle = Handle::open(&id).unwrap().unwrap();
        assert!(!handle.wait_for_end(Duration::from_millis(20)).unwrap());
        assert!(handle.send_signal(Signal::TERM).unwrap());
        assert!(handle.wait_for_end(Duration::from_secs(20)).unwrap());
        assert!(Handle::open(&id).unwrap().is_none(), "a zombie cannot be held");
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
        assert!(!handle.send_signal(Signal::KILL).unwrap());
        assert!(handle.wait_for_end(Duration::ZERO).unwrap());
    }

    #[test]
    fn nobody_is_held_in_the_place_of_another() {
        let mut other = ProcessId::current().unwrap();
        other.start += 7;
        assert!(Handle::open(&other).unwrap().is_none());
    }
}
