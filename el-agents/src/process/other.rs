//! Systems without `/proc` (macOS, the BSDs): best effort by `ps`. The parsing is tested on Linux,
//! the whole was never used in earnest. Weaker here: without a subreaper, an orphan that cleared
//! its environment is lost; start times are whole seconds; the environments of other users and of
//! protected programs cannot be read.

use std::io;
use std::process::{Command, Stdio};

use super::identity::{Look, to_pid};
use super::table::{Marker, Process};

pub(super) fn boot_identity() -> io::Result<String> {
    let output =
        Command::new("sysctl").args(["-n", "kern.boottime"]).stdin(Stdio::null()).output()?;
    parse_boot(&String::from_utf8_lossy(&output.stdout))
        .ok_or_else(|| io::Error::other("kern.boottime is not readable"))
}

pub(super) fn look_up(pid: u32) -> Look {
    let Some(kernel_pid) = to_pid(pid) else { return Look::Gone };
    match run_ps(&["-o", COLUMNS, "-p", &pid.to_string()]) {
        Ok(text) => match text.lines().find_map(parse_line) {
            Some(process) => Look::Found(process),
            None => match rustix::process::test_kill_process(kernel_pid) {
                Err(rustix::io::Errno::SRCH) => Look::Gone,
                _ => Look::Unreadable,
            },
        },
        Err(_) => Look::Unreadable,
    }
}

pub(super) fn process_table() -> io::Result<Vec<Process>> {
    let table: Vec<Process> = run_ps(&["-axo", COLUMNS])?.lines().filter_map(parse_line).collect();
    if table.is_empty() {
        Err(io::Error::other("ps shows no processes, not even this one"))
    } else {
        Ok(table)
    }
}

pub(super) fn find_marked(marker: &Marker) -> io::Result<Vec<Process>> {
    let own = std::process::id();
    let marked: Vec<u32> = run_ps(&["-axEww", "-o", "pid=,command="])?
        .lines()
        .filter_map(|line| line.trim_start().split_once(' '))
        .filter(|(_, command)| holds_marker(marker, command))
        .filter_map(|(pid, _)| pid.parse().ok())
        .filter(|pid| *pid != own)
        .collect();
    let mut table = process_table()?;
    table.retain(|process| marked.contains(&process.pid) && !process.zombie);
    Ok(table)
}

pub(super) fn become_subreaper() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this system has no child subreapers"))
}

const COLUMNS: &str = "pid=,ppid=,sess=,stat=,time=,lstart=";

fn run_ps(arguments: &[&str]) -> io::Result<String> {
    let mut command = Command::new("ps");
    // `lstart` uses the caller's time zone and language.
    command
        .args(arguments)
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    Ok(String::from_utf8_lossy(&command.output()?.stdout).into_owned())
}

/// `{ sec = 1795824000, usec = 0 } Sat Nov 28 …` gives the seconds; there are no pid namespaces, so
/// that part is 0.
fn parse_boot(text: &str) -> Option<String> {
    let seconds: String =
        text.split_once("sec =")?.1.trim_start().chars().take_while(char::is_ascii_digit).collect();
    (!seconds.is_empty()).then(|| format!("{seconds}:0"))
}

/// Returns true if a command line of `ps` holds the marker. The environment follows the arguments
/// in the same line, so a value with a space would look like two words; marker values have no
/// spaces.
fn holds_marker(marker: &Marker, command: &str) -> bool {
    let pair = format!("{}={}", marker.key, marker.value);
    !marker.key.is_empty()
        && !marker.value.is_empty()
        && command.split(' ').any(|word| word == pair)
}

/// `501 1 0 Ss 0:01.25 Sat Nov 28 01:02:03 2026`
fn parse_line(line: &str) -> Option<Process> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [pid, parent, session, stat, time, _weekday, month, day, clock, year] = fields[..] else {
        return None;
    };
    Some(Process {
        pid: pid.parse().ok()?,
        parent: parent.parse().ok()?,
        // macOS prints an address or 0 here, so every process is in "session 0".
        session: session.parse().unwrap_or(0),
        start: parse_start_seconds(year, month, day, clock)?,
        zombie: stat.starts_with('Z'),
        is_stopped: stat.starts_with('T'),
        cpu_ticks: parse_cpu_ticks(time)?,
    })
}

/// Converts a UTC date as printed by `ps` to seconds since 1970.
fn parse_start_seconds(year: &str, month: &str, day: &str, clock: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let (year, day) = (year.parse::<u64>().ok()?, day.parse::<u64>().ok()?);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) {
        return None;
    }
    // Counts days since 1970-01-01 in years that begin in March, so that the leap day comes last.
    let shifted = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + day_of_year - 719_468;
    let mut clock = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

/// `[[days-]hours:]minutes:seconds[.hundredths]` in hundredths of a second.
fn parse_cpu_ticks(time: &str) -> Option<u64> {
    let (days, clock) = time.split_once('-').unwrap_or(("0", time));
    let (whole, hundredths) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut total = days.parse::<u64>().ok()?.checked_mul(24)?;
    let parts: Vec<&str> = whole.split(':').collect();
    if parts.len() < 3 {
        total = total.checked_mul(60)?;
    }
    for (index, part) in parts.iter().enumerate() {
        let value = part.parse::<u64>().ok()?;
        total = if index == 0 {
            total.checked_add(value)?
        } else {
            total.checked_mul(60)?.checked_add(value)?
        };
    }
    total.checked_mul(100)?.checked_add(hundredths.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_read() {
        let process =
            parse_line("  501     1      0 Ss     1:02.25 Sat Nov 28 01:02:03 2026    ").unwrap();
        let expected = Process {
            pid: 501,
            parent: 1,
            session: 0,
            start: 1_795_827_723,
            zombie: false,
            is_stopped: false,
            cpu_ticks: 6_225,
        };
        assert_eq!(process, expected);
        assert!(parse_line("7 1 7 Z+ 0:00.00 Thu Jan  1 00:00:00 1970").unwrap().zombie);
        assert_eq!(parse_line("7 1 7 Z+ 0:00.00 Thu Jan  1 00:00:00 1970").unwrap().start, 0);
        for line in [
            "",
            "7",
            "7 1 7 S 0:00 Thu Foo 1 00:00:00 1970",
            "x 1 7 S 0:00 Thu Jan 1 00:00:00 1970",
        ] {
            assert_eq!(parse_line(line), None, "{line}");
        }
    }

    #[test]
    fn cpu_times_of_any_length_are_hundredths() {
        assert_eq!(parse_cpu_ticks("0:00.07"), Some(7));
        assert_eq!(parse_cpu_ticks("01:00:00"), Some(360_000));
        assert_eq!(parse_cpu_ticks("2-00:00:01"), Some((2 * 86_400 + 1) * 100));
        assert_eq!(parse_cpu_ticks("x"), None);
    }

    #[test]
    fn the_boot_time_is_the_boot() {
        assert_eq!(
            parse_boot("{ sec = 1795824000, usec = 12 } Sat Nov 28\n").as_deref(),
            Some("1795824000:0")
        );
        assert_eq!(parse_boot("nonsense"), None);
    }

    #[test]
    fn the_marker_is_a_word_of_the_line() {
        let marker = Marker::new("EL_SESSION", "/run-ab");
        assert!(holds_marker(&marker, "sleep 600 HOME=/h EL_SESSION=/run-ab PATH=/bin"));
        assert!(!holds_marker(&marker, "sleep 600 EL_SESSION=/run-abc"));
        assert!(!holds_marker(&Marker::new("EL_SESSION", ""), "sleep EL_SESSION="));
    }

    #[test]
    fn the_real_ps_shows_this_process_as_it_is() {
        if cfg!(target_os = "linux") && Command::new("ps").output().is_err() {
            // A bare Debian has no `ps`, and el needs none on Linux.
            return;
        }
        let own = std::process::id();
        let process =
            process_table().unwrap().into_iter().find(|process| process.pid == own).unwrap();
        assert_eq!(
            i64::from(process.parent),
            i64::from(rustix::process::getppid().unwrap().as_raw_pid())
        );
        assert!(matches!(look_up(own), Look::Found(found) if found.start == process.start));
    }
}
