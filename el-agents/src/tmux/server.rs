//! Revives an unreachable server. Cleaners of `/tmp` delete sockets, and tmux makes its socket
//! again on SIGUSR1, so the process table is searched before "no server" is believed.

use rustix::process::Signal;

use crate::process::{Handle, ProcessId};

/// The state of a server that did not answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Revived {
    /// There is none.
    NoServer,
    /// A server lives: ask again. `told`: the server was told to make its socket again; false while
    /// the server is starting.
    Lives { told: bool },
    /// The existence of a server is unknown.
    Unknown,
}

/// Revives the server of a socket name. `refused`: the socket exists, but no server listens.
pub(super) fn revive_server(socket: &str, refused: bool) -> Revived {
    if !cfg!(target_os = "linux") {
        return if refused { Revived::NoServer } else { Revived::Unknown };
    }
    let (mut starting, mut told, mut hidden) = (false, false, false);
    for server in find_servers(socket) {
        match Handle::open(&server) {
            // A starting server is about to make its socket; making it again would drop the clients
            // that wait at the first.
            Ok(Some(_)) if is_young(&server) => starting = true,
            Ok(Some(handle)) => match handle.send_signal(Signal::USR1) {
                Ok(is_there) => told |= is_there,
                Err(_) => hidden = true,
            },
            Ok(None) => {}
            Err(_) => hidden = true,
        }
    }
    match (told || starting, hidden) {
        (true, _) => Revived::Lives { told },
        (false, true) => Revived::Unknown,
        (false, false) => Revived::NoServer,
    }
}

/// Returns true if a process began less than two seconds ago.
fn is_young(process: &ProcessId) -> bool {
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    let now = crate::clock::time_with_suspend();
    now.saturating_sub(std::time::Duration::from_secs(process.start / ticks))
        < std::time::Duration::from_secs(2)
}

/// Tells a server that a child has ended; `false` if the server could not be told.
pub(super) fn look_at_children(server: u32) -> bool {
    let handle =
        ProcessId::of_pid(server).ok().flatten().and_then(|id| Handle::open(&id).ok().flatten());
    handle.is_some_and(|handle| matches!(handle.send_signal(Signal::CHILD), Ok(true)))
}

/// Finds running tmux servers of this socket name. SIGUSR1 would end any other program, so a
/// process must have both the name that only tmux servers have, and the matching arguments.
pub(super) fn find_servers(socket: &str) -> Vec<ProcessId> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let comm = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        if is_server(&comm, &words, socket) { ProcessId::of_pid(pid).ok().flatten() } else { None }
    })
    .collect()
}

fn is_server(comm: &[u8], cmdline: &[u8], socket: &str) -> bool {
    let words: Vec<&[u8]> = cmdline.split(|byte| *byte == 0).collect();
    comm.starts_with(b"tmux: server")
        && words.windows(2).any(|pair| pair[0] == b"-L" && pair[1] == socket.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_server_of_this_socket_is_one() {
        assert!(is_server(b"tmux: server\n", b"tmux\0-u\0-L\0el-1\0start-server\0", "el-1"));
        assert!(!is_server(b"tmux: client\n", b"tmux\0-u\0-L\0el-1\0attach\0", "el-1"));
        assert!(!is_server(b"tmux: server\n", b"tmux\0-u\0-L\0el-10\0start-server\0", "el-1"));
        assert!(!is_server(b"vim\n", b"vim\0-L\0el-1\0", "el-1"));
        assert!(!is_server(b"tmux: server\n", b"tmux\0-L", "el-1"));
    }
}
