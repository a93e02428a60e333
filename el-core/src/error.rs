use std::path::PathBuf;
use std::time::Duration;

use crate::model::{FieldProblem, Timestamp};

/// How long a call waits for other processes before it gives up.
pub(crate) const BUSY_DEADLINE: Duration = Duration::from_secs(30);

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong in the tracker. Each kind has a stable machine code ([`Error::code`]).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that the tracker does not take; nothing was written.
    #[error("{field}: {message}")]
    Invalid {
        /// The field or flag, in the words of the command line.
        field: &'static str,
        /// What is wrong and what would be right.
        message: String,
    },
    /// There is no such thing.
    #[error("no {what} matches '{id}'")]
    NotFound {
        /// The noun: `atom`, `run`, …
        what: &'static str,
        /// What was asked for.
        id: String,
    },
    /// A beginning of an id that fits several atoms.
    #[error("'{id}' matches {} atoms", candidates.len())]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// Id and title of those that match, at most [`crate::model::MAX_CANDIDATES`].
        candidates: Vec<(String, String)>,
    },
    /// The change contradicts the present state: it exists, is taken, would make a cycle, a guard
    /// does not hold.
    #[error("{message}")]
    Conflict {
        /// The machine code: `exists`, `cycle`, `claimed`, `guard`, `over`, …
        code: &'static str,
        /// What contradicts.
        message: String,
    },
    /// A write from a session whose run is over or was never the atom's current one.
    #[error("run {run} is over, so it can change nothing more ({why})")]
    StaleRun {
        /// The run that the session says it is.
        run: String,
        /// How it ended, or what is missing.
        why: String,
    },
    /// A completion report that does not fit the protocol.
    #[error("the report does not fit in {}", fields(problems))]
    Report {
        /// Every field that does not.
        problems: Vec<FieldProblem>,
    },
    /// The check of the work has not passed, and it has to before the work can be closed.
    #[error("{atom} cannot be closed before its check passes ({}: {})", verify.command.join(" "), verify.status)]
    Unverified {
        /// The atom.
        atom: String,
        /// The check, with what came of it last.
        verify: Box<crate::model::Verify>,
    },
    /// A rule of the project forbids it.
    #[error("{0}")]
    Refused(String),
    /// The claim is held back: usage limit, account, outage or budget.
    #[error("{}: {reason}", until.map_or_else(|| "paused".to_owned(), |at| format!("paused until {at}")))]
    Paused {
        /// When claiming goes on by itself.
        until: Option<Timestamp>,
        /// Why it was paused.
        reason: String,
    },
    /// No database at that path.
    #[error("there is no el database at {}", path.display())]
    NoDatabase {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file that is not ours, or is damaged.
    #[error("{} is not an el database: {why}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
    /// Written by a newer `el`.
    #[error("{} was written by a newer el (schema {found}, this el knows up to {known})", path.display())]
    NewerDatabase {
        /// The file.
        path: PathBuf,
        /// Its `user_version`.
        found: i64,
        /// The newest that this binary knows.
        known: i64,
    },
    /// Others kept the database for longer than the busy handler waits.
    #[error("the database stayed busy for {waited_s} s")]
    Busy {
        /// How long we waited, in seconds.
        waited_s: u64,
    },
    /// This user may not write where the database is. SQLite keeps files beside it, so that reading
    /// needs it too.
    #[error("this user may not write the database or its folder, which reading needs too")]
    ReadOnly {
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is damaged: SQLite finds in it what it did not write.
    #[error("the database file is damaged; found while it was to {doing}")]
    Damaged {
        /// The step.
        doing: &'static str,
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// There is no room for the change, or the disk does not take it.
    #[error(
        "the disk is full, or does not work, so nothing was changed; the database was to {doing}"
    )]
    Disk {
        /// The step.
        doing: &'static str,
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// A record that this version cannot read.
    #[error("a record of {table} cannot be read: {why}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// SQLite failed.
    #[error("the database failed while it was to {doing}")]
    Sqlite {
        /// The step.
        doing: &'static str,
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file system failed.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The step, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's own error.
        #[source]
        source: std::io::Error,
    },
}

fn fields(problems: &[FieldProblem]) -> String {
    problems.iter().map(|problem| problem.field.as_str()).collect::<Vec<_>>().join(", ")
}

impl Error {
    /// The stable machine code, as printed under `error.code` by `--robot`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Invalid { .. } => "invalid_value",
            Error::NotFound { .. } => "not_found",
            Error::Ambiguous { .. } => "ambiguous_id",
            Error::Conflict { code, .. } => code,
            Error::StaleRun { .. } => "stale_run",
            Error::Report { .. } => "invalid_report",
            Error::Unverified { .. } => "verify_failed",
            Error::Refused(_) => "refused",
            Error::Paused { .. } => "paused",
            Error::NoDatabase { .. } => "no_database",
            Error::NotADatabase { .. } => "not_a_database",
            Error::NewerDatabase { .. } => "newer_database",
            Error::Busy { .. } => "busy",
            Error::ReadOnly { .. } => "read_only",
            Error::Damaged { .. } => "damaged",
            Error::Disk { .. } => "disk",
            Error::Corrupt { .. } => "corrupt_record",
            Error::Sqlite { .. } => "database",
            Error::Io { .. } => "io",
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn retryable(&self) -> bool {
        matches!(self, Error::Busy { .. } | Error::Paused { .. })
    }

    pub(crate) fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Error::Invalid { field, message: message.into() }
    }

    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Error::Conflict { code, message: message.into() }
    }

    pub(crate) fn sqlite(doing: &'static str, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match source.sqlite_error_code() {
            // The last: others held the lock for too long in the middle of a step.
            Some(Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed) => {
                Error::Busy { waited_s: BUSY_DEADLINE.as_secs() }
            }
            Some(Code::ReadOnly) => Error::ReadOnly { source },
            Some(Code::DatabaseCorrupt) => Error::Damaged { doing, source },
            Some(Code::DiskFull | Code::SystemIoFailure) => Error::Disk { doing, source },
            _ => Error::Sqlite { doing, source },
        }
    }

    pub(crate) fn not_found(what: &'static str, id: impl Into<String>) -> Self {
        Error::NotFound { what, id: id.into() }
    }
}

/// Attaches the step to a SQLite failure, and tells those apart after which something else is to be
/// done.
pub(crate) trait Doing<T> {
    fn doing(self, step: &'static str) -> Result<T>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, step: &'static str) -> Result<T> {
        self.map_err(|source| Error::sqlite(step, source))
    }
}
