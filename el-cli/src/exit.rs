//! The exit codes of `el`. They are an interface: scripts and agents branch on them, so a number
//! never changes its meaning.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | internal: a bug, a damaged record, a failing disk |
//! | 2 | bad usage or value |
//! | 3 | not found: no such atom, run or database |
//! | 4 | conflict: exists already, ambiguous id, cycle, claimed by another, guard not met |
//! | 5 | stale run: this session's run is over and can change nothing more |
//! | 6 | configuration: a bad setting, tmux or Claude Code missing, nobody logged in |
//! | 7 | timed out |
//! | 8 | refused by policy: allowlist, over budget |
//! | 9 | ended, but some work failed or was blocked, or a named atom had no run |
//! | 10 | claiming is paused: usage limit, outage, budget used up |

use std::process::ExitCode;

/// The exit status of an `el` process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Internal = 1,
    Usage = 2,
    NotFound = 3,
    Conflict = 4,
    StaleRun = 5,
    Configuration = 6,
    TimedOut = 7,
    Refused = 8,
    Unfinished = 9,
    Paused = 10,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}
