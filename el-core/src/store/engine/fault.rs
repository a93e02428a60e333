//! From an error of a server to one of the tracker.

use postgres::error::SqlState;

use crate::Error;
use crate::error::ServerFault;

/// Says what is wrong with a server, or on the way to it.
pub(super) fn server_fault(step: &'static str, error: &postgres::Error) -> Error {
    let Some(told) = error.as_db_error() else {
        let (mut why, mut behind) = (error.to_string(), None);
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            why = format!("{why}: {cause}");
            behind = fault_behind(cause).or(behind);
            source = cause.source();
        }
        // The driver has no kinds of its own for these.
        let fault = behind.unwrap_or(if why.contains("TLS") {
            ServerFault::Insecure
        } else if why.contains("password missing") {
            ServerFault::Refused
        } else {
            ServerFault::Unreachable
        });
        return Error::Server { doing: step, fault, why };
    };
    let code = told.code();
    let is_of = |codes: &[&SqlState]| codes.contains(&code);
    if code.code() == "EL001" {
        return Error::Moved { sentence: told.message().to_owned() };
    }
    let fault = match code.code().get(..2) {
        _ if is_of(&[
            &SqlState::LOCK_NOT_AVAILABLE,
            &SqlState::QUERY_CANCELED,
            &SqlState::T_R_DEADLOCK_DETECTED,
        ]) =>
        {
            return Error::busy_error(None);
        }
        // The second is what a standby says to a transaction that is to write.
        _ if is_of(&[&SqlState::READ_ONLY_SQL_TRANSACTION, &SqlState::FEATURE_NOT_SUPPORTED]) => {
            ServerFault::ReadOnly
        }
        _ if is_of(&[&SqlState::INSUFFICIENT_PRIVILEGE]) => ServerFault::NoGrant,
        _ if is_of(&[&SqlState::DISK_FULL]) => ServerFault::Full,
        _ if is_of(&[&SqlState::UNDEFINED_TABLE, &SqlState::UNDEFINED_FUNCTION]) => {
            ServerFault::NotMigrated
        }
        Some("28" | "3D") => ServerFault::Refused,
        Some("53") => ServerFault::Overloaded,
        _ if is_of(&[&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT]) => ServerFault::Unreachable,
        Some("08" | "57") => ServerFault::Unreachable,
        _ => ServerFault::Failed,
    };
    Error::Server { doing: step, fault, why: told.message().to_owned() }
}

/// Finds the fault of a failed connection in its cause.
fn fault_behind(cause: &(dyn std::error::Error + 'static)) -> Option<ServerFault> {
    let io = cause.downcast_ref::<std::io::Error>()?;
    match io.kind() {
        std::io::ErrorKind::TimedOut => Some(ServerFault::TimedOut),
        _ if io.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            Some(ServerFault::Insecure)
        }
        // A server that ends in the middle of a handshake breaks the connection, too.
        _ => Some(ServerFault::Unreachable),
    }
}

/// Nothing came back.
pub(super) fn no_answer(step: &'static str) -> Error {
    let why = "the connection is given up".to_owned();
    Error::Server { doing: step, fault: ServerFault::TimedOut, why }
}
