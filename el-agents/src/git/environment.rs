//! Variables through which git commands tell each other the repository.

use std::ffi::{OsStr, OsString};
use std::process::Command;
use std::sync::OnceLock;

/// Variables that bind git to a repository, as `git rev-parse --local-env-vars` prints them, and
/// variables of a single commit or push. Git sets these variables for hooks. A process that
/// inherits them works in a repository other than that of its folder.
const LOCAL: [&str; 19] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_DATE",
];

/// The environment of git where it is not that of this process. A supervisor's process has the few
/// variables of its tmux server, and git needs the run's: the socket of a key agent, proxies.
static ENVIRONMENT: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Gives an environment to all later calls of git in this process.
pub(crate) fn set_git_environment(environment: Vec<(OsString, OsString)>) {
    // The first one stays: there is one run to a process.
    let _ = ENVIRONMENT.set(environment);
}

/// Returns true if a variable binds git to another repository or commit. Such a variable reaches
/// neither el's git nor an agent, a setup or a check. All other variables of git do.
pub(crate) fn is_local_variable(name: &OsStr) -> bool {
    LOCAL.iter().any(|local| name == *local)
}

/// Returns a command for git, without the local variables.
pub(super) fn git_command() -> Command {
    let mut command = Command::new("git");
    if let Some(environment) = ENVIRONMENT.get() {
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    }
    for name in LOCAL {
        command.env_remove(name);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_all_that_git_itself_names() {
        let said = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains("GIT_DIR\n"), "{said}");
        let missing: Vec<&str> =
            said.lines().filter(|name| !is_local_variable(OsStr::new(name))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
