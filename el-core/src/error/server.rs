//! The faults of a database server.

use std::fmt;

/// A kind of fault of a server, or of the way to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerFault {
    /// This `el` knows no servers.
    NotBuilt,
    /// The address is none.
    Address,
    /// No answer, or a broken connection. A change may have been made or not.
    Unreachable,
    /// The answer did not come in time. A change may have been made or not.
    TimedOut,
    /// The server, or the role, has all the connections that it may have, or lacks memory.
    Overloaded,
    /// The server is not the one that its certificate has to name, or speaks no TLS.
    Insecure,
    /// The server does not let this role in, or has no such database.
    Refused,
    /// The version of the server.
    TooOld,
    /// The text encoding of the database.
    Encoding,
    /// There are no tables, or those of another version.
    NotMigrated,
    /// The server is a standby, or was made read-only.
    ReadOnly,
    /// The role may not do this.
    NoGrant,
    /// The server's disk.
    Full,
    /// Any other.
    Failed,
}

impl ServerFault {
    /// The stable machine code.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            ServerFault::NotBuilt => "server_not_built",
            ServerFault::Address => "server_address",
            ServerFault::Unreachable => "server_unreachable",
            ServerFault::TimedOut => "server_timeout",
            ServerFault::Overloaded => "server_overloaded",
            ServerFault::Insecure => "server_insecure",
            ServerFault::Refused => "server_refused",
            ServerFault::TooOld => "server_too_old",
            ServerFault::Encoding => "server_encoding",
            ServerFault::NotMigrated => "server_not_migrated",
            ServerFault::ReadOnly => "server_read_only",
            ServerFault::NoGrant => "server_no_grant",
            ServerFault::Full => "server_full",
            ServerFault::Failed => "server",
        }
    }

    /// The next step for a person.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            ServerFault::NotBuilt => "build el with --features postgres",
            ServerFault::Address => "an address is postgres://user@host:port/database",
            ServerFault::Unreachable => "is the server running, and is this its address?",
            ServerFault::TimedOut => "try again; the server or the way to it is slow or stopped",
            ServerFault::Overloaded => {
                "raise max_connections, or put a PgBouncer before the server"
            }
            ServerFault::Insecure => "sslrootcert=FILE in the address names who signed it",
            ServerFault::Refused => "check the role, its password and the database's name",
            ServerFault::TooOld => "el needs PostgreSQL 15 or newer",
            ServerFault::Encoding => "make the database anew: CREATE DATABASE … ENCODING 'UTF8'",
            ServerFault::NotMigrated => {
                "el init makes tables; el db migrate brings older ones up; or take a newer el"
            }
            ServerFault::ReadOnly => "name the primary server instead of its standby",
            ServerFault::NoGrant => {
                "the tables' owner does it, or says: el db grant member NAME (or owner NAME)"
            }
            ServerFault::Full => "make room on the server's disk",
            ServerFault::Failed => "the server's log tells more",
        }
    }
}

impl fmt::Display for ServerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerFault::NotBuilt => "this el cannot use a database server",
            ServerFault::Address => "the address of the database server cannot be used",
            ServerFault::Unreachable => "the database server does not answer",
            ServerFault::TimedOut => "the database server did not answer in time",
            ServerFault::Overloaded => "the database server takes no more calls",
            ServerFault::Insecure => "the database server cannot be trusted",
            ServerFault::Refused => "the database server refuses the connection",
            ServerFault::TooOld => "the database server is too old",
            ServerFault::Encoding => "the database does not hold UTF-8",
            ServerFault::NotMigrated => "the database is not prepared for this el",
            ServerFault::ReadOnly => "the database server is read-only",
            ServerFault::NoGrant => "the role may not do this on the database server",
            ServerFault::Full => "the database server's disk is full",
            ServerFault::Failed => "the database server failed",
        })
    }
}
