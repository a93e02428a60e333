//! The server that has a project's tables, if one has: `EL_DATABASE_URL` names it, or the project's
//! own configuration.

use std::env;

use el_core::ServerAddress;

use crate::{CommandError, Exit, Result};

/// The variable that names a server.
pub(crate) const VARIABLE: &str = "EL_DATABASE_URL";

/// A server that has a project's tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Server {
    At(ServerAddress),
    /// The configuration names one that cannot be used.
    Unusable {
        code: &'static str,
        message: String,
        hint: String,
    },
}

impl Server {
    /// The server that the environment names.
    pub(crate) fn of_environment() -> Option<Server> {
        let url = env::var(VARIABLE).ok().filter(|url| !url.is_empty())?;
        Some(Server::At(ServerAddress::new(&url, env::vars_os())))
    }

    pub(crate) fn address(&self) -> Result<&ServerAddress> {
        match self {
            Server::At(address) => Ok(address),
            Server::Unusable { code, message, hint } => {
                let error = CommandError::new(Exit::Configuration, code, message.clone());
                Err(if hint.is_empty() { error } else { error.with_hint(hint.clone()) })
            }
        }
    }
}
