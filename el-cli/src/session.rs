//! The agent session of this process, if any.

use std::env;
use std::path::{Path, PathBuf};

use el_core::SessionCredentials;

/// `EL_RUN` and `EL_TOKEN`, if `EL_DB` is unset or is the database in use. A run without a token is
/// kept, so that its writes are refused instead of counting as a person's.
pub(crate) fn from_env(database: Option<&Path>) -> Option<SessionCredentials> {
    let run = nonempty_variable("EL_RUN")?;
    if let (Some(own), Some(database)) = (nonempty_variable("EL_DB"), database)
        && is_another(Path::new(&own), database)
    {
        return None;
    }
    Some(SessionCredentials { run, token: nonempty_variable("EL_TOKEN") })
}

/// Returns true if this process runs in any agent's session, for whatever tracker.
pub(crate) fn is_one() -> bool {
    nonempty_variable("EL_RUN").is_some()
}

/// The run of the session, and the run's database.
pub(crate) fn run_and_database() -> Option<(String, Option<PathBuf>)> {
    Some((nonempty_variable("EL_RUN")?, nonempty_variable("EL_DB").map(PathBuf::from)))
}

/// Returns true if the paths are two different files. Unknown counts as the same file: the fence
/// then decides.
fn is_another(a: &Path, b: &Path) -> bool {
    matches!((std::fs::canonicalize(a), std::fs::canonicalize(b)), (Ok(a), Ok(b)) if a != b)
}

/// The Claude Code conversation that started this process, if any. The client tells its tools and
/// hooks by a variable.
pub(crate) fn claude_conversation() -> Option<String> {
    nonempty_variable("CLAUDE_CODE_SESSION_ID")
}

fn nonempty_variable(name: &str) -> Option<String> {
    env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(|value| value.to_string_lossy().into_owned())
}
