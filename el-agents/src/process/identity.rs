//! The identity of processes across pid reuse and reboots.

use std::io;

use el_core::model::Stamp;
use el_core::rules::plan::Liveness;
use rustix::process::Pid;

use super::platform;

const HOST_END: char = Stamp::HOST_END;

/// The identity of a process, distinct from every other process that ever has the same pid.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The pid, as seen from the namespace that `boot` names.
    pub pid: u32,
    /// The start time: clock ticks since boot on Linux, seconds since 1970 elsewhere. Only ever
    /// compared.
    pub start: u64,
    /// `<boot id>:<pid namespace>`: the boot of the machine, and the namespace in which the pid is
    /// valid.
    pub boot: String,
}

/// The result of looking up a pid.
pub(super) enum Look {
    Found(super::Process),
    Gone,
    Unreadable,
}

impl ProcessId {
    /// Returns the identity of this process.
    ///
    /// # Errors
    /// If `/proc` cannot be read (or `ps` not run).
    pub fn current() -> io::Result<Self> {
        Self::of_pid(std::process::id())?
            .ok_or_else(|| io::Error::other("this process is not in the process table"))
    }

    /// Returns the identity of the process with this pid, zombies included; `None` if there is
    /// none.
    ///
    /// # Errors
    /// If the answer is unknown: `/proc` is not readable, or hides the process.
    pub fn of_pid(pid: u32) -> io::Result<Option<Self>> {
        match platform::look_up(pid) {
            Look::Found(process) => {
                Ok(Some(Self { pid, start: process.start, boot: platform::boot_identity()? }))
            }
            Look::Gone => Ok(None),
            Look::Unreadable => Err(io::Error::other(format!("cannot look at process {pid}"))),
        }
    }

    /// `boot` for readers on other machines: with this machine's name in front.
    #[must_use]
    pub fn boot_with_host(&self) -> String {
        format!("{}{HOST_END}{}", host_name(), self.boot)
    }

    /// The identity behind a `boot` that may have a host's name before it. In the very boot of that
    /// host the name is left out. Two machines may have one name, so another boot proves nothing.
    #[must_use]
    pub fn from_shared(pid: u32, start: u64, boot: &str) -> Self {
        let here = platform::boot_identity().unwrap_or_default();
        let own = boot.split_once(HOST_END).filter(|(host, then)| {
            *host == host_name() && compare_boots(then, &here) != Liveness::Absent
        });
        Self { pid, start, boot: own.map_or(boot, |(_, boot)| boot).to_owned() }
    }

    /// Returns the liveness of that very process. A zombie is absent, and so is every process of an
    /// earlier boot. A process of another host, and a pid of another pid namespace (a
    /// container's), is unknown here.
    #[must_use]
    pub fn liveness(&self) -> Liveness {
        let Ok(here) = platform::boot_identity() else { return Liveness::Unknown };
        match compare_boots(&self.boot, &here) {
            Liveness::Alive => {}
            other => return other,
        }
        match platform::look_up(self.pid) {
            Look::Found(process) if process.start == self.start && !process.zombie => {
                Liveness::Alive
            }
            Look::Found(_) | Look::Gone => Liveness::Absent,
            Look::Unreadable => Liveness::Unknown,
        }
    }

    /// Returns the pid if a signal has stopped that very process, and then the parent's if it is
    /// stopped, too: tmux would wake its pane.
    pub(crate) fn stopped_pids(&self) -> Vec<u32> {
        let stopped = |pid: u32| match platform::look_up(pid) {
            Look::Found(process) => Some(process).filter(|process| process.is_stopped),
            _ => None,
        };
        let is_it = self.liveness() == Liveness::Alive;
        let own = Some(self.pid).filter(|_| is_it).and_then(stopped);
        let parent = own.and_then(|process| stopped(process.parent));
        own.into_iter().chain(parent).map(|process| process.pid).collect()
    }
}

/// The name of this machine.
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Converts a pid for a system call; `None` for a number that is no pid.
pub(super) fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Returns true if the process with this pid has ended and only waits to be reaped.
pub(crate) fn is_zombie(pid: u32) -> bool {
    matches!(platform::look_up(pid), Look::Found(process) if process.zombie)
}

/// `Alive`: pids noted `then` mean the same `now`; `Absent`: the machine was started anew;
/// `Unknown`: not comparable.
fn compare_boots(then: &str, now: &str) -> Liveness {
    let (Some((boot_then, space_then)), Some((boot_now, space_now))) =
        (then.rsplit_once(':'), now.rsplit_once(':'))
    else {
        return Liveness::Unknown;
    };
    if boot_then.is_empty() || boot_now.is_empty() || boot_then.contains(HOST_END) {
        Liveness::Unknown
    } else if boot_then != boot_now {
        Liveness::Absent
    } else if space_then != space_now {
        Liveness::Unknown
    } else {
        Liveness::Alive
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn this_process_is_alive_and_says_so_twice() {
        let me = ProcessId::current().unwrap();
        assert_eq!(me.pid, std::process::id());
        assert_eq!(me, ProcessId::of_pid(me.pid).unwrap().unwrap());
        assert_eq!(me.liveness(), Liveness::Alive);
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let me = ProcessId::current().unwrap();
        assert_eq!(ProcessId { start: me.start + 1, ..me }.liveness(), Liveness::Absent);
    }

    #[test]
    fn a_reboot_ends_everything_and_another_namespace_is_unknown() {
        let me = ProcessId::current().unwrap();
        let (boot, space) = me.boot.rsplit_once(':').unwrap();
        assert!(boot.len() >= 8 && !space.is_empty(), "{}", me.boot);
        assert_eq!(
            ProcessId { boot: format!("x{boot}:{space}"), ..me.clone() }.liveness(),
            Liveness::Absent
        );
        assert_eq!(
            ProcessId { boot: format!("{boot}:1"), ..me.clone() }.liveness(),
            Liveness::Unknown
        );
        let shared = ProcessId::from_shared(me.pid, me.start, &me.boot_with_host());
        assert_eq!(shared, me, "on this very host");
        let of_that_name = format!("{}{HOST_END}x{boot}:{space}", host_name());
        for elsewhere in [format!("not-{}", me.boot_with_host()), of_that_name] {
            let elsewhere = ProcessId::from_shared(me.pid, me.start, &elsewhere);
            assert_eq!(elsewhere.liveness(), Liveness::Unknown, "{elsewhere:?}");
        }
        assert_eq!(ProcessId { boot: String::new(), ..me.clone() }.liveness(), Liveness::Unknown);
        assert_eq!(ProcessId { boot: format!(":{space}"), ..me }.liveness(), Liveness::Unknown);
    }

    #[test]
    fn a_zombie_and_a_reaped_child_are_absent() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let id = ProcessId::of_pid(child.id()).unwrap().unwrap();
        assert_eq!(id.liveness(), Liveness::Alive);
        child.kill().unwrap();
        // Not reaped yet, so the process can only be a zombie.
        let handle = super::super::Handle::open(&id).unwrap();
        if let Some(handle) = handle {
            assert!(handle.wait_for_end(std::time::Duration::from_secs(20)).unwrap());
        }
        assert_eq!(id.liveness(), Liveness::Absent);
        assert!(is_zombie(id.pid) && !is_zombie(std::process::id()));
        child.wait().unwrap();
        assert_eq!(id.liveness(), Liveness::Absent);
        assert_ne!(ProcessId::of_pid(id.pid).unwrap(), Some(id));
    }

    #[test]
    fn pids_that_cannot_be_are_absent() {
        for pid in [0, u32::MAX, i32::MAX as u32] {
            assert_eq!(ProcessId::of_pid(pid).unwrap(), None, "{pid}");
        }
    }
}
