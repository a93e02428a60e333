mod server;
mod stopped;

use std::path::PathBuf;
use std::time::Duration;

use crate::model::{FieldProblem, Timestamp};

pub use server::ServerFault;
pub(crate) use stopped::find_stopped_holder;

/// How long a call waits for other processes before the call fails.
pub(crate) const BUSY_DEADLINE: Duration = Duration::from_secs(30);

/// The result of every fallible function in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The errors of the tracker. Each kind has a stable machine code ([`Error::code`]).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that is not legal; nothing was written.
    #[error("{field}: {message}")]
    Invalid {
        /// The field or flag, in the words of the command line.
        field: &'static str,
        /// The fault, and a legal form.
        message: String,
    },
    /// There is no such thing.
    #[error("no {what} matches '{id}'")]
    NotFound {
        /// The noun: `atom`, `run`, …
        what: &'static str,
        /// The id as given.
        id: String,
    },
    /// A beginning of an id that fits several atoms.
    #[error("'{id}' matches {} atoms", candidates.len())]
    Ambiguous {
        /// The id as given.
        id: String,
        /// Id and title of the matches, at most [`crate::model::MAX_CANDIDATES`].
        candidates: Vec<(String, String)>,
    },
    /// The change contradicts the present state: an id exists, an atom is claimed, a cycle would
    /// result, or a guard fails.
    #[error("{message}")]
    Conflict {
        /// The machine code: `exists`, `cycle`, `claimed`, `guard`, `over`, …
        code: &'static str,
        /// The contradiction.
        message: String,
    },
    /// A write from a session whose run is over, or that was never the atom's current run.
    #[error("run {run} is over, so it can change nothing more ({why})")]
    StaleRun {
        /// The run of the session.
        run: String,
        /// How the run ended, or the missing credential.
        why: String,
    },
    /// A completion report that does not fit the protocol.
    #[error("the report does not fit in {}", fields(problems))]
    Report {
        /// Every field that does not.
        problems: Vec<FieldProblem>,
    },
    /// A required check has not passed, so the work cannot be closed.
    #[error(
        "{atom} cannot be closed before its check passes ({}: {})",
        verify.command.join(" "),
        verify.status
    )]
    Unverified {
        /// The atom.
        atom: String,
        /// The check with the last result.
        verify: Box<crate::model::Verify>,
    },
    /// A rule of the project forbids the change.
    #[error("{0}")]
    Refused(String),
    /// The claim is held back: usage limit, account, outage or budget.
    #[error(
        "{}: {reason}",
        until.map_or_else(|| "paused".to_owned(), |at| format!("paused until {at}"))
    )]
    Paused {
        /// When claiming goes on without a person.
        until: Option<Timestamp>,
        /// The reason of the pause.
        reason: String,
    },
    /// The tracker is closed to changes: it was moved elsewhere, or a move to here is not finished.
    #[error("{sentence}")]
    Moved {
        /// Which of the two, and where the other side is.
        sentence: String,
    },
    /// No database at that path.
    #[error("there is no el database at {}", path.display())]
    NoDatabase {
        /// The expected path.
        path: PathBuf,
    },
    /// A file of another program, or a damaged file.
    #[error("{} is not an el database: {why}", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// The sign of another program, or of damage.
        why: String,
    },
    /// Written by a newer `el`.
    #[error(
        "{} was written by a newer el (schema {found}, this el knows up to {known})",
        path.display()
    )]
    NewerDatabase {
        /// The file.
        path: PathBuf,
        /// The `user_version` of the database.
        found: i64,
        /// The newest schema of this binary.
        known: i64,
    },
    /// Others kept the database for longer than the busy handler waits.
    #[error("the database stayed busy for {waited_s} s")]
    Busy {
        /// The time waited, in seconds.
        waited_s: u64,
        /// A stopped process that has the database open.
        stopped: Option<u32>,
    },
    /// The user may not write to the folder of the database. SQLite keeps files beside the
    /// database, so even reading needs write access.
    #[error("this user may not write the database or its folder, which reading needs too")]
    ReadOnly {
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is damaged: SQLite found contents that SQLite did not write.
    #[error("cannot {doing}: the database file is damaged")]
    Damaged {
        /// The step, as a verb with its object.
        doing: &'static str,
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// The disk is full or does not work.
    #[error("cannot {doing}: the disk is full or failing, and nothing was changed")]
    Disk {
        /// The step, as a verb with its object.
        doing: &'static str,
        /// SQLite's own error.
        #[source]
        source: rusqlite::Error,
    },
    /// A database server cannot be used, or failed.
    #[error("cannot {doing}: {fault}: {why}")]
    Server {
        /// The step, as a verb with its object.
        doing: &'static str,
        /// The kind of the fault.
        fault: ServerFault,
        /// The words of the server, or of the network.
        why: String,
    },
    /// A record that this version cannot read.
    #[error("a record of {table} cannot be read: {why}")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The fault of the record.
        why: String,
    },
    /// SQLite failed.
    #[error("cannot {doing}: the database failed")]
    Sqlite {
        /// The step, as a verb with its object.
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
            Error::Moved { .. } => "moved",
            Error::NoDatabase { .. } => "no_database",
            Error::NotADatabase { .. } => "not_a_database",
            Error::NewerDatabase { .. } => "newer_database",
            Error::Busy { .. } => "busy",
            Error::ReadOnly { .. } => "read_only",
            Error::Damaged { .. } => "damaged",
            Error::Disk { .. } => "disk",
            Error::Server { fault, .. } => fault.code(),
            Error::Corrupt { .. } => "corrupt_record",
            Error::Sqlite { .. } => "database",
            Error::Io { .. } => "io",
        }
    }

    /// Returns true if a server did not answer, or the connection broke. A change whose answer did
    /// not come may have been made.
    pub fn is_server_away(&self) -> bool {
        use ServerFault::{Overloaded, TimedOut, Unreachable};
        matches!(self, Error::Server { fault: Unreachable | TimedOut | Overloaded, .. })
    }

    /// Returns true if the failure lies outside of the tracker and of this program, and may be over
    /// later: a full disk, a lock that others hold, a server that somebody works on.
    pub fn may_pass(&self) -> bool {
        use ServerFault::{Failed, Full, Insecure, NoGrant, ReadOnly, Refused};
        self.is_server_away()
            || matches!(
                self,
                Error::Busy { .. }
                    | Error::Disk { .. }
                    | Error::Server {
                        fault: Refused | ReadOnly | NoGrant | Full | Insecure | Failed,
                        ..
                    }
            )
    }

    /// Returns true if the same call may succeed later without any other change.
    pub fn is_retryable(&self) -> bool {
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
        if let rusqlite::Error::SqliteFailure(error, Some(sentence)) = &source
            && error.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_TRIGGER
        {
            return Error::Moved { sentence: sentence.clone() };
        }
        match source.sqlite_error_code() {
            // The last: others held the lock for too long in the middle of a step.
            Some(Code::DatabaseBusy | Code::DatabaseLocked | Code::FileLockingProtocolFailed) => {
                Error::busy_error(find_stopped_holder())
            }
            Some(Code::ReadOnly) => Error::ReadOnly { source },
            Some(Code::DatabaseCorrupt) => Error::Damaged { doing, source },
            Some(Code::DiskFull | Code::SystemIoFailure) => Error::Disk { doing, source },
            _ => Error::Sqlite { doing, source },
        }
    }

    pub(crate) fn busy_error(stopped: Option<u32>) -> Self {
        Error::Busy { waited_s: BUSY_DEADLINE.as_secs(), stopped }
    }

    pub(crate) fn not_found(what: &'static str, id: impl Into<String>) -> Self {
        Error::NotFound { what, id: id.into() }
    }
}

/// Adds the failed step to an error of SQLite, and picks the errors with a remedy of their own.
pub(crate) trait Doing<T> {
    fn doing(self, step: &'static str) -> Result<T>;
}

impl<T> Doing<T> for rusqlite::Result<T> {
    fn doing(self, step: &'static str) -> Result<T> {
        self.map_err(|source| Error::sqlite(step, source))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn locks_that_cannot_be_had_in_time_are_a_busy_database() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL] {
            let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = Error::sqlite("begin", source);
            assert_eq!((error.code(), error.is_retryable()), ("busy", true), "{code}");
        }
    }
}
