//! The questions of a waiting worker to an engine.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Database, Result};

/// The state that a listening thread shares with whoever is told.
pub(crate) struct ListenState {
    is_connected: AtomicBool,
    is_over: AtomicBool,
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "a server alone tells"))]
    tell: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for ListenState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ListenState")
    }
}

impl ListenState {
    pub(crate) fn new(tell: impl Fn() + Send + Sync + 'static) -> ListenState {
        let no = || AtomicBool::new(false);
        ListenState { is_connected: no(), is_over: no(), tell: Box::new(tell) }
    }

    /// Returns true as long as messages come.
    pub(crate) fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Acquire)
    }

    /// Ends the listening, within a second or so.
    pub(crate) fn close(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    #[cfg(feature = "postgres")]
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    #[cfg(feature = "postgres")]
    pub(super) fn tell_of_news(&self) {
        (self.tell)();
    }

    /// Returns the value before.
    #[cfg(feature = "postgres")]
    pub(super) fn set_connected(&self, is_connected: bool) -> bool {
        self.is_connected.swap(is_connected, Ordering::AcqRel)
    }
}

impl Database {
    /// A number that changes whenever another connection commits.
    pub(crate) fn data_version(&self) -> Result<i64> {
        match self {
            Database::Sqlite(conn) => {
                let mut statement = conn.prepare_cached("PRAGMA data_version")?;
                Ok(statement.query_row([], |row| row.get(0))?)
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => server.data_version(),
        }
    }

    /// Has a server without changes asked less and less often.
    pub(crate) fn look_at_ease(&self) {
        match self {
            Database::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => server.looks.take_ease(),
        }
    }

    /// Sets how long an answer of a server is waited for.
    pub(crate) fn limit_waits(&self, limit: Option<Duration>) {
        match self {
            Database::Sqlite(_) => {
                let _ = limit;
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => server.limit_waits(limit),
        }
    }

    /// Has messages on the channel told. Returns false if the engine sends none.
    pub(crate) fn listen(&self, channel: &'static str, state: Arc<ListenState>) -> bool {
        match self {
            Database::Sqlite(_) => {
                let _ = (channel, state);
                false
            }
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => {
                server.listen(channel, state);
                true
            }
        }
    }

    /// Returns true if a pooler gives each transaction to whichever connection is free: two that
    /// are open at once then meet the same.
    pub(crate) fn is_pooled(&self) -> Result<bool> {
        match self {
            Database::Sqlite(_) => Ok(false),
            #[cfg(feature = "postgres")]
            Database::Postgres(server) => {
                let other = super::Server::connect(server.opening().clone())?;
                let other = Database::Postgres(other);
                let process = |database: &Database| {
                    database.query_alone("SELECT pg_backend_pid()", [], |row| row.get(0))
                };
                let (here, there): (i64, i64) = (process(self)?, process(&other)?);
                Ok(here == there)
            }
        }
    }
}
