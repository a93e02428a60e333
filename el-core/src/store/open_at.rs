//! Opening a project wherever its tables are.

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Durability, SCHEMA_VERSION, ServerAddress, Store, backup};
use crate::Result;
use crate::model::Timestamp;

/// A tracker's tables, and where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DatabaseState {
    /// `sqlite` or `postgresql`.
    pub engine: &'static str,
    /// The file, or the server's address without a password.
    pub place: String,
    /// The version of the server; `null` for a file.
    pub server_version: Option<String>,
    /// The version of the tables; `null` if there are none.
    pub tables: Option<i64>,
    /// The version of the tables that this `el` knows.
    pub known: i64,
    /// Why the tracker is closed to changes, and where it was moved; `null` if it is open.
    pub closed: Option<String>,
}

impl Store {
    /// The time for leases: the server's time, so that no host's clock matters; for a file, `here`.
    pub fn lease_time(&self, here: Timestamp) -> Timestamp {
        self.database.lease_time(here)
    }

    /// Limits the wait for a server's answer and for a new connection; `None`: the default. A
    /// tracker in a file has no such wait.
    pub fn limit_waits(&self, limit: Option<Duration>) {
        self.database.limit_waits(limit);
    }

    /// Returns true if other machines may use the database too.
    pub fn is_on_server(&self) -> bool {
        self.database.sqlite().is_none()
    }

    /// Opens a project on a server, if there is an address, and otherwise in the file at `path`.
    ///
    /// # Errors
    ///
    /// As for [`Store::open`]; or if the server cannot be used.
    pub fn open_at(
        path: &Path,
        server: Option<&ServerAddress>,
        durability: Durability,
    ) -> Result<Store> {
        match server {
            None => Store::open(path, durability),
            #[cfg(feature = "postgres")]
            Some(server) => Store::open_server(server, path),
            #[cfg(not(feature = "postgres"))]
            Some(server) => Err(not_built(server)),
        }
    }

    /// Looks at a project's tables of any version.
    ///
    /// # Errors
    ///
    /// If the file is not a database of `el`, or the server cannot be used.
    pub fn database_state(path: &Path, server: Option<&ServerAddress>) -> Result<DatabaseState> {
        match server {
            None => {
                let (tables, closed) = backup::state_of_tables(path)?;
                Ok(DatabaseState {
                    engine: "sqlite",
                    place: path.display().to_string(),
                    server_version: None,
                    tables: Some(tables),
                    known: SCHEMA_VERSION,
                    closed,
                })
            }
            #[cfg(feature = "postgres")]
            Some(server) => Store::server_state(server),
            #[cfg(not(feature = "postgres"))]
            Some(server) => Err(not_built(server)),
        }
    }

    /// Migrates the tables of a project on a server to the version that this `el` knows. Several
    /// processes may do so at once. A file is migrated when it is opened.
    ///
    /// # Errors
    ///
    /// If the server cannot be used, there are no tables, or they are newer.
    pub fn migrate_server(server: &ServerAddress) -> Result<()> {
        #[cfg(feature = "postgres")]
        return Store::bring_up(server);
        #[cfg(not(feature = "postgres"))]
        return Err(not_built(server));
    }

    /// Creates a project on a server, if there is an address, and otherwise in the file at `path`.
    ///
    /// # Errors
    ///
    /// As for [`Store::create`]; or if the server cannot be used.
    pub fn create_at(
        path: &Path,
        server: Option<&ServerAddress>,
        prefix: &str,
        now: Timestamp,
    ) -> Result<Store> {
        match server {
            None => Store::create(path, prefix, now),
            #[cfg(feature = "postgres")]
            Some(server) => Store::create_on_server(server, path, prefix, now),
            #[cfg(not(feature = "postgres"))]
            Some(server) => Err(not_built(server)),
        }
    }
}

#[cfg(not(feature = "postgres"))]
fn not_built(server: &ServerAddress) -> crate::Error {
    let fault = crate::error::ServerFault::NotBuilt;
    crate::Error::Server { doing: "open the database", fault, why: server.without_password() }
}
