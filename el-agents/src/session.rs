//! The session socket: the only way from an agent's session into the tracker.
//!
//! The supervisor listens in the run's folder. For each connection, it starts an `el` that answers:
//! with the connection, and with the run's identity, which no process of the session holds.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use el_core::ServerAddress;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

/// The variable of an agent's session. Its value is the path of the session socket.
pub const VARIABLE: &str = "EL_SESSION";
/// The value for programs that work for no run, such as the check of a landing: they have no
/// tracker.
pub const NO_TRACKER: &str = "none";
/// All variables of a session. Programs that do not belong to the session must not have them.
pub const VARIABLES: [&str; 3] = [VARIABLE, "EL_ATOM", "EL_ACTOR"];
/// The first argument of an `el` that answers one call.
pub const ANSWER: &str = "--answer-session";
/// The byte that such an `el` sends its supervisor before it ends the call, if the disk was full.
pub const FULL_DISK: u8 = b'F';

/// The name in the process table of a supervisor whose session is open. A process cannot give this
/// name to another process, nor take the name from a supervisor.
const PROCESS_NAME: &std::ffi::CStr = c"el-supervise";
/// A socket's path may have 108 bytes on Linux, and 104 on macOS.
const PATH_MAX: usize = 100;
/// The most ancestors of a process that does not hide behind many.
const ANCESTORS_MAX: usize = 4096;

/// The identity of the run whose session calls. It goes from the supervisor to the `el` that
/// answers, and to no other process.
#[derive(Clone, Serialize, Deserialize)]
pub struct Identity {
    pub run: String,
    pub token: String,
    pub database: PathBuf,
    /// The server that has the tables, if one has.
    pub server: Option<ServerAddress>,
    /// The name of the run's agent, the author of all changes of the session.
    pub agent: String,
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Identity").field("run", &self.run).finish_non_exhaustive()
    }
}

/// Connects to a session socket, however long its path is.
///
/// # Errors
/// If nobody listens there.
pub fn connect(socket: &Path) -> io::Result<UnixStream> {
    by_short_path(socket, |path| UnixStream::connect(path))
}

/// Listens on a session socket, however long its path is. Replaces a socket that is there already.
pub(crate) fn bind(socket: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    by_short_path(socket, |path| UnixListener::bind(path))
}

/// Runs `act` with a path of the socket that the system takes.
fn by_short_path<T>(socket: &Path, act: impl Fn(&Path) -> io::Result<T>) -> io::Result<T> {
    if socket.as_os_str().as_bytes().len() <= PATH_MAX {
        return act(socket);
    }
    let (Some(parent), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(parent, flags | OFlags::RDONLY, Mode::empty())?;
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        act(&Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
    }
    // Both sides call this before they have other threads.
    #[cfg(not(target_os = "linux"))]
    {
        let here = rustix::fs::open(".", flags | OFlags::RDONLY, Mode::empty())?;
        rustix::process::fchdir(&folder)?;
        let done = act(Path::new(name));
        rustix::process::fchdir(&here)?;
        done
    }
}

/// Makes this supervisor known as such to [`supervisor_above`], or no longer.
pub(crate) fn set_open(is_open: bool) {
    // Without the name, only `EL_SESSION` tells a session.
    let _ = rustix::thread::set_name(if is_open { PROCESS_NAME } else { c"el" });
}

/// The pid of the nearest supervisor with an open session among the ancestors of a process. Always
/// `None` where there is no `/proc`.
#[must_use]
pub fn supervisor_above(pid: u32) -> Option<u32> {
    let mut pid = parent_and_name(pid)?.0;
    for _ in 0..ANCESTORS_MAX {
        if pid <= 1 {
            return None;
        }
        let (parent, is_supervisor) = parent_and_name(pid)?;
        if is_supervisor {
            return Some(pid);
        }
        pid = parent;
    }
    // Nobody has so many ancestors by chance: it is taken for a session without a supervisor.
    Some(0)
}

/// The pid of the parent, and whether the process has a supervisor's name.
fn parent_and_name(pid: u32) -> Option<(u32, bool)> {
    // Every start of el asks this of all its ancestors. The fields are at the beginning, so one
    // read has them.
    let mut stat = [0; 256];
    let read = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
    let stat = stat.get(..read)?;
    let begin = stat.iter().position(|byte| *byte == b'(')? + 1;
    // The name itself may have parentheses.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let parent = rest.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some((parent, stat.get(begin..end)? == PROCESS_NAME.to_bytes()))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_socket_can_be_reached_by_a_path_of_any_length() {
        let dir = tempfile::tempdir().unwrap();
        for depth in [0, 1, 20] {
            let mut folder = dir.path().to_owned();
            (0..depth).for_each(|_| folder.push("a-folder-with-a-long-name"));
            fs::create_dir_all(&folder).unwrap();
            let socket = folder.join("socket");
            let listener = bind(&socket).unwrap();
            let mut caller = connect(&socket).unwrap();
            caller.write_all(b"x").unwrap();
            let mut heard = [0];
            listener.accept().unwrap().0.read_exact(&mut heard).unwrap();
            assert_eq!(&heard, b"x");
            drop(listener);
            // A child that another test starts has the listener, too, until its exec.
            let is_gone = (0..1000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                connect(&socket).is_err()
            });
            assert!(is_gone);
            bind(&socket).expect("a socket that is left over is replaced");
        }
    }

    #[test]
    fn the_parent_is_read_from_the_process_table() {
        if cfg!(target_os = "linux") {
            let own = rustix::process::getppid().unwrap().as_raw_nonzero().get();
            let (parent, is_supervisor) = parent_and_name(std::process::id()).unwrap();
            assert_eq!((i64::from(parent), is_supervisor), (i64::from(own), false));
            assert_eq!(supervisor_above(1), None);
        }
    }
}
