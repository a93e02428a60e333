//! The agent session that this process runs in, if it runs in one.

use std::env;

use el_core::SessionCredentials;

/// `EL_RUN` and `EL_TOKEN`. A run without its token is kept, so that its writes are refused instead of passing for a
/// person's.
pub(crate) fn from_env() -> Option<SessionCredentials> {
    let run = variable("EL_RUN")?;
    Some(SessionCredentials { run, token: variable("EL_TOKEN") })
}

fn variable(name: &str) -> Option<String> {
    env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}
