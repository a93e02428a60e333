//! The agent session that this process runs in, if it runs in one.

use std::env;
use std::path::{Path, PathBuf};

use el_core::SessionCredentials;

/// `EL_RUN` and `EL_TOKEN`, where `EL_DB` (if set) is the database in use. A run without its token
/// is kept, so that its writes are refused instead of passing for a person's.
pub(crate) fn from_env(database: Option<&Path>) -> Option<SessionCredentials> {
    let run = variable("EL_RUN")?;
    if let (Some(own), Some(database)) = (variable("EL_DB"), database)
        && is_another(Path::new(&own), database)
    {
        return None;
    }
    Some(SessionCredentials { run, token: variable("EL_TOKEN") })
}

/// Whether this process runs in the session of any agent, whichever tracker it is about to use.
pub(crate) fn is_one() -> bool {
    variable("EL_RUN").is_some()
}

/// The run of the session, and the database that it is in.
pub(crate) fn run_and_database() -> Option<(String, Option<PathBuf>)> {
    Some((variable("EL_RUN")?, variable("EL_DB").map(PathBuf::from)))
}

/// Whether these are two files. What cannot be told is taken for the same: then the fence decides.
fn is_another(a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a != b)
}

/// The conversation of Claude Code that this process was started from, if from one: the client says
/// so to its tools and hooks.
pub(crate) fn conversation() -> Option<String> {
    variable("CLAUDE_CODE_SESSION_ID")
}

fn variable(name: &str) -> Option<String> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(|value| value.to_string_lossy().into_owned())
}
