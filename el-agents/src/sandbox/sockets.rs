//! Sockets of services among the files that an agent reads: an ssh-agent's in a password manager's
//! folder, or Docker's below the home. A program that sees such a file can connect to it, even if
//! the file is read-only.

use std::path::{Path, PathBuf};

/// The kernel's table of unix sockets in this network namespace.
const TABLE: &str = "/proc/net/unix";
/// The flag of a socket that takes connections, as the table has it.
const LISTENS: &str = "00010000";
/// Sockets that stay: the look-up of users and hosts, and the daemon of a package manager.
const SHOWN: [&str; 2] = ["/var/lib/sss/pipes", "/nix/var/nix/daemon-socket"];

/// Returns the sockets on which a process listens; empty if the system has no such table.
pub(super) fn listening() -> Vec<PathBuf> {
    let text = std::fs::read(TABLE).unwrap_or_default();
    in_table(&String::from_utf8_lossy(&text))
}

fn in_table(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        // Number, references, protocol, flags, type, state, inode, and after a space the path.
        let listens = line.split_ascii_whitespace().nth(3) == Some(LISTENS);
        let start = line.find(" /").filter(|_| listens)?;
        Some(PathBuf::from(&line[start + 1..]))
    };
    let mut found: Vec<PathBuf> = text.lines().filter_map(path).collect();
    found.retain(|path| !SHOWN.iter().any(|shown| path.starts_with(Path::new(shown))));
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_connections_at_a_path_is_found() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            00000000805eeeb9: 00000003 00000000 00000000 0001 03 4490580\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 21398 /home/ann/.agent/a b.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01    77 /run/docker.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 21399 @/tmp/.X11-unix/X0\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 21399 /var/lib/sss/pipes/nss\n\
            0000000000000000: 00000003 00000000 00000000 0001 03 21400 /home/ann/connected\n";
        assert_eq!(
            in_table(table),
            ["/home/ann/.agent/a b.sock", "/run/docker.sock"].map(PathBuf::from)
        );
    }
}
