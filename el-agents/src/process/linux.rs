//! The process table out of `/proc`.

use std::fs;
use std::io::{self, ErrorKind};

use rustix::io::Errno;
use rustix::process::{set_child_subreaper, test_kill_process};

use super::identity::{Look, to_pid};
use super::table::{Marker, Process};

/// Boot id and pid namespace, as kept in [`super::ProcessId::boot`].
pub(super) fn boot_identity() -> io::Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let space = fs::read_link("/proc/self/ns/pid")?;
    let inode: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Ok(format!("{}:{inode}", id.trim()))
}

pub(super) fn look_up(pid: u32) -> Look {
    let Some(kernel_pid) = to_pid(pid) else { return Look::Gone };
    match fs::read(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse_stat(pid, &stat).map_or(Look::Unreadable, Look::Found),
        // The process is gone, or `/proc` is not mounted, or hides processes of others (hidepid).
        // Signal 0 asks the kernel itself, from which nothing is hidden.
        Err(_) => match test_kill_process(kernel_pid) {
            Err(Errno::SRCH) => Look::Gone,
            _ => Look::Unreadable,
        },
    }
}

pub(super) fn process_table() -> io::Result<Vec<Process>> {
    let mut table = Vec::new();
    for pid in list_pids()? {
        // A process that ends or is hidden meanwhile is not part of the table.
        if let Some(stat) = read_if_there(format!("/proc/{pid}/stat"))? {
            table.extend(parse_stat(pid, &stat));
        }
    }
    if table.is_empty() {
        return Err(io::Error::other("/proc shows no processes, not even this one"));
    }
    Ok(table)
}

pub(super) fn find_marked(marker: &Marker) -> io::Result<Vec<Process>> {
    let mut found = Vec::new();
    let own = std::process::id();
    for pid in list_pids()?.filter(|pid| *pid != own) {
        let Some(environ) = read_if_there(format!("/proc/{pid}/environ"))? else { continue };
        if !marker.is_in(&environ) {
            continue;
        }
        if let Look::Found(process) = look_up(pid)
            && !process.zombie
        {
            found.push(process);
        }
    }
    Ok(found)
}

pub(super) fn become_subreaper() -> io::Result<()> {
    // Any pid means "yes" to the kernel.
    Ok(set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Reads a file of `/proc`; `None` for a process that has gone or is not readable for us. A lack of
/// files or memory on our side is an error: a table with holes would make a living tree look ended.
fn read_if_there(path: String) -> io::Result<Option<Vec<u8>>> {
    const OURS: [Errno; 3] = [Errno::MFILE, Errno::NFILE, Errno::NOMEM];
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if OURS.iter().any(|ours| error.raw_os_error() == Some(ours.raw_os_error())) => {
            Err(error)
        }
        Err(_) => Ok(None),
    }
}

fn list_pids() -> io::Result<impl Iterator<Item = u32>> {
    let entries = fs::read_dir("/proc").map_err(|error| {
        if error.kind() == ErrorKind::NotFound {
            io::Error::other("/proc is not mounted")
        } else {
            error
        }
    })?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

/// Parses `pid (comm) state ppid pgrp session …`: see proc_pid_stat(5). `comm` may contain
/// parentheses and newlines, so the fields are counted from the last `)`.
fn parse_stat(pid: u32, stat: &[u8]) -> Option<Process> {
    let after = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let fields: Vec<&str> =
        std::str::from_utf8(stat.get(after..)?).ok()?.split_ascii_whitespace().collect();
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let state = *fields.first()?;
    // A leader that ended before its other threads shows as Z, although the process runs on.
    let zombie = matches!(state, "Z" | "X" | "x") && number(20)? <= 1;
    Some(Process {
        pid,
        parent: u32::try_from(number(4)?).ok()?,
        session: u32::try_from(number(6)?).unwrap_or(0),
        start: number(22)?,
        zombie,
        is_stopped: state == "T",
        cpu_ticks: (14..=17).filter_map(number).fold(0, u64::wrapping_add),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_from_its_last_parenthesis() {
        let line =
            b"77 (a) b (\n) S 5 77 33 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 987654 1000 50 x";
        let process = parse_stat(77, line).unwrap();
        let expected = Process {
            pid: 77,
            parent: 5,
            session: 33,
            start: 987_654,
            zombie: false,
            is_stopped: false,
            cpu_ticks: 100,
        };
        assert_eq!(process, expected);
    }

    #[test]
    fn a_dead_leader_with_living_threads_is_no_zombie() {
        let stat =
            |threads: u32| format!("7 (x) Z 5 7 3 0 -1 4 1 2 3 4 1 2 3 4 20 0 {threads} 0 99 0 0");
        assert!(parse_stat(7, stat(1).as_bytes()).unwrap().zombie);
        assert!(!parse_stat(7, stat(3).as_bytes()).unwrap().zombie);
    }

    #[test]
    fn broken_lines_are_no_process() {
        for line in [&b""[..], b"7", b"7 (x)", b"7 (x) S", b"7 (x) S 1 2", b"7 (x) \xff\xfe 1 2 3"]
        {
            assert_eq!(parse_stat(7, line), None);
        }
    }
}
