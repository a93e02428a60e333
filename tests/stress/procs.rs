//! The processes of a scratch project from `/proc`, and signals to them alone.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The environment entries that mark a project's processes.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    /// The mark of all processes that inherit the harness's environment.
    pub(crate) own: String,
    /// The mark of the tmux server and its supervisors, whose environment `el` has cleaned.
    pub(crate) tmux: String,
}

/// A living process of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Proc {
    pub(crate) pid: u32,
    pub(crate) start: u64,
    pub(crate) words: Vec<String>,
    pub(crate) run: Option<String>,
    pub(crate) atom: Option<String>,
    /// A late caller that the harness sent, or a stray that was meant to live on: not of a run's
    /// tree.
    pub(crate) late: bool,
}

impl Proc {
    /// Returns true if that very process still runs: neither gone nor a zombie.
    pub(crate) fn is_alive(&self) -> bool {
        stat(self.pid)
            .is_some_and(|(start, state)| start == self.start && !matches!(state, 'Z' | 'X' | 'x'))
    }

    /// Returns true if the process is stopped.
    pub(crate) fn is_stopped(&self) -> bool {
        stat(self.pid)
            .is_some_and(|(start, state)| start == self.start && matches!(state, 'T' | 't'))
    }

    /// Signals that very process. Returns true if the process existed.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        self.is_alive() && send(self.pid, signal)
    }

    pub(crate) fn is_supervisor_of(&self, run: &str) -> bool {
        self.words.windows(2).any(|pair| pair[0] == "supervise" && pair[1] == run)
    }

    pub(crate) fn is_tmux_server(&self) -> bool {
        fs::read_to_string(format!("/proc/{}/comm", self.pid))
            .is_ok_and(|comm| comm.starts_with("tmux: server"))
    }

    pub(crate) fn is_el(&self, verb: &str) -> bool {
        let mut words = self.words.iter();
        words.next().is_some_and(|program| program == "el" || program.ends_with("/el"))
            && words.any(|word| word == verb)
    }

    pub(crate) fn line(&self) -> String {
        format!(
            "{} {:?} run={:?}",
            self.pid,
            self.words.join(" ").chars().take(120).collect::<String>(),
            self.run
        )
    }
}

/// Lists all living processes with any of the marks.
pub(crate) fn scan(marks: &Marks) -> Vec<Proc> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| look(pid, marks)).collect()
}

fn look(pid: u32, marks: &Marks) -> Option<Proc> {
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut ours = false;
    let (mut run, mut atom, mut late) = (None, None, false);
    for pair in environ.split(|byte| *byte == 0) {
        ours |= pair == marks.own.as_bytes() || pair == marks.tmux.as_bytes();
        let text = |key: &str| {
            pair.strip_prefix(key.as_bytes())
                .map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let session = text("EL_SESSION=");
        run = run.or_else(|| {
            Some(session?.strip_suffix("/session/socket")?.rsplit('/').next()?.to_owned())
        });
        atom = atom.or_else(|| text("EL_ATOM="));
        late |= pair == b"STRESS_LATE=1";
    }
    if !ours {
        return None;
    }
    let (start, state) = stat(pid)?;
    let cmdline = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = cmdline
        .split(|b| *b == 0)
        .filter(|w| !w.is_empty())
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    (!matches!(state, 'Z' | 'X' | 'x')).then_some(Proc { pid, start, words, run, atom, late })
}

/// Start time and state of a process.
fn stat(pid: u32) -> Option<(u64, char)> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some((fields.get(19)?.parse().ok()?, fields.first()?.chars().next()?))
}

/// Returns the process with this pid, if the scripted agent left the process behind without a mark.
pub(crate) fn stray(pid: u32) -> Option<Proc> {
    let cmdline = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words: Vec<String> = cmdline
        .split(|b| *b == 0)
        .filter(|w| !w.is_empty())
        .map(|w| String::from_utf8_lossy(w).into_owned())
        .collect();
    let (start, state) = stat(pid)?;
    let is_stray =
        words.iter().any(|word| word == "--background") && !matches!(state, 'Z' | 'X' | 'x');
    is_stray.then_some(Proc { pid, start, words, run: None, atom: None, late: true })
}

pub(crate) fn send(pid: u32, signal: Signal) -> bool {
    i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .is_some_and(|pid| kill_process(pid, signal).is_ok())
}
