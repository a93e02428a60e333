//! The state of a server, as far as a tracker relies on it.

use super::tables::TABLES;
use super::{Store, list_text};
use crate::Result;
use crate::error::Doing;

/// The state of a server, as `el doctor` reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerHealth {
    /// The server's time, in microseconds.
    pub(crate) now: i64,
    /// How many standbys follow it.
    pub(crate) standbys: i64,
    /// A commit waits for a standby.
    pub(crate) waits_for_standby: bool,
    /// A pooler gives each transaction to any free connection.
    pub(crate) is_pooled: bool,
    /// Tables that somebody removed, or that this role does not see.
    pub(crate) missing: Vec<String>,
}

impl Store {
    /// Looks at the server; `None`: the tracker is in a file.
    pub(crate) fn server_health(&self) -> Result<Option<ServerHealth>> {
        if self.database.sqlite().is_some() {
            return Ok(None);
        }
        const DOING: &str = "look at the server";
        let is_pooled = self.database.is_pooled().doing(DOING)?;
        self.read(|tx| {
            let missing = "SELECT value FROM json_each(?1) WHERE to_regclass(value) IS NULL";
            let missing: Vec<String> =
                tx.read_all(missing, [list_text(&TABLES)], |row| row.get(0)).doing(DOING)?;
            tx.query_row(
                "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
                   (SELECT count(*) FROM pg_stat_replication),
                   current_setting('synchronous_standby_names') <> ''
                     AND current_setting('synchronous_commit') NOT IN ('off', 'local')",
                [],
                |row| {
                    Ok(Some(ServerHealth {
                        now: row.get(0)?,
                        standbys: row.get(1)?,
                        waits_for_standby: row.get(2)?,
                        is_pooled,
                        missing,
                    }))
                },
            )
            .doing(DOING)
        })
    }
}
