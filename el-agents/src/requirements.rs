//! Checks the requirements of a run before a claim, so that no atom pays for a missing program.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{Access, access};
use thiserror::Error;

use crate::git::{self, GitError, Repository};
use crate::settings::{AgentSettings, SandboxMode};

/// The oldest tmux with the needed commands.
const OLDEST_TMUX: (u32, u32) = (3, 0);

/// A fault of the configuration or the machine that makes runs impossible.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ConfigurationError {
    /// The setting at fault: `tmux`, `claude_code_path`, `working_directory`, …
    pub field: &'static str,
    /// The fault.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

impl ConfigurationError {
    pub(crate) fn new(
        field: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { field, message: message.into(), hint: hint.into() }
    }
}

/// Makes sure that agents can get worktrees, before any claim.
pub(crate) fn ensure_worktrees_possible(agent: &AgentSettings) -> Result<(), ConfigurationError> {
    let Some(isolation) = &agent.isolation else { return Ok(()) };
    let look = || {
        git::ensure_version()?;
        let repository = Repository::open_at(&agent.working_directory)?;
        repository.head_commit()?;
        if agent.sandbox.mode != SandboxMode::Off {
            repository.ensure_plain_references()?;
        }
        match &isolation.base {
            Some(base) if repository.resolve_commit(base)?.is_none() => {
                Err(GitError::NoRevision(base.clone()))
            }
            _ => Ok(()),
        }
    };
    look().map_err(|error| {
        ConfigurationError::new(
            "isolate",
            format!("agents cannot be given worktrees: {error}"),
            error.hint(),
        )
    })
}

/// Finds tmux on the PATH of the environment.
///
/// # Errors
/// With field `tmux` if tmux is not installed.
pub fn find_tmux(environment: &[(OsString, OsString)]) -> Result<PathBuf, ConfigurationError> {
    which::which_in("tmux", path_of(environment), "/").map_err(|_| {
        ConfigurationError::new(
            "tmux",
            "tmux is not installed, or not on PATH",
            "install tmux 3.0 or newer (apt install tmux, brew install tmux), or put its folder on \
             PATH",
        )
    })
}

/// Makes sure that tmux runs and is new enough. A version without a number (`master`) is accepted.
///
/// # Errors
/// With field `tmux`.
pub fn check_tmux_version(bin: &Path) -> Result<String, ConfigurationError> {
    let hint = "install tmux 3.0 or newer";
    let output = Command::new(bin).arg("-V").stdin(Stdio::null()).output().map_err(|error| {
        ConfigurationError::new("tmux", format!("{} cannot be run: {error}", bin.display()), hint)
    })?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if !output.status.success() || !text.starts_with("tmux ") {
        let said = if text.is_empty() { output.status.to_string() } else { text };
        let message = format!("{} -V answered {said:?} instead of a version", bin.display());
        return Err(ConfigurationError::new("tmux", message, hint));
    }
    match parse_version(&text) {
        Some(version) if version < OLDEST_TMUX => Err(ConfigurationError::new(
            "tmux",
            format!("{text} is too old: el needs tmux 3.0 or newer"),
            hint,
        )),
        _ => Ok(text),
    }
}

/// Finds the agent's program: a path if the name has a `/` (relative to `folder`), else a name on
/// PATH.
///
/// # Errors
/// With field `claude_code_path` if the program is missing or not executable.
pub fn find_program(
    program: &str,
    environment: &[(OsString, OsString)],
    folder: &Path,
) -> Result<PathBuf, ConfigurationError> {
    let hint = "set claude_code_path to the program, or install Claude Code (npm install -g \
                @anthropic-ai/claude-code)";
    let error = |message: String| ConfigurationError::new("claude_code_path", message, hint);
    if program.is_empty() {
        return Err(error("the path of Claude Code is empty".to_owned()));
    }
    if !program.contains('/') {
        return which::which_in(program, path_of(environment), folder).map_err(|_| {
            error(format!("Claude Code was not found: there is no program {program:?} on PATH"))
        });
    }
    let path = folder.join(program);
    if !path.is_file() {
        return Err(error(format!("Claude Code was not found: {} is not a file", path.display())));
    }
    if access(&path, Access::EXEC_OK).is_err() {
        return Err(error(format!("{} may not be executed", path.display())));
    }
    Ok(path)
}

/// Makes sure that the client accepts its permission mode. As root, the client refuses to skip all
/// permissions outside of a sandbox.
///
/// # Errors
/// With field `permission_mode`.
pub fn ensure_permission_mode(
    mode: Option<&str>,
    environment: &[(OsString, OsString)],
) -> Result<(), ConfigurationError> {
    let sandboxed = environment.iter().any(|(key, value)| key == "IS_SANDBOX" && value == "1");
    if mode == Some("bypassPermissions") && rustix::process::geteuid().is_root() && !sandboxed {
        return Err(ConfigurationError::new(
            "permission_mode",
            "Claude Code refuses bypassPermissions as root",
            "run el work as another user, use acceptEdits with rules for the tools, or set \
             IS_SANDBOX=1 in a sandbox",
        ));
    }
    Ok(())
}

/// Makes sure that the agents' working folder exists and may be entered.
///
/// # Errors
/// With field `working_directory`.
pub fn ensure_working_directory(folder: &Path) -> Result<(), ConfigurationError> {
    let error = |what: &str| {
        let message = format!("the working directory {} {what}", folder.display());
        ConfigurationError::new(
            "working_directory",
            message,
            "set working_directory to a folder that exists",
        )
    };
    match std::fs::metadata(folder) {
        Ok(metadata) if !metadata.is_dir() => Err(error("is not a folder")),
        Ok(_) if access(folder, Access::EXEC_OK | Access::READ_OK).is_err() => {
            Err(error("may not be entered"))
        }
        Ok(_) => Ok(()),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Err(error("does not exist")),
        Err(cause) => Err(error(&format!("cannot be looked at: {cause}"))),
    }
}

/// Makes sure that the folder of a task is still the one that was named, and none that decides what
/// programs run: who works there can write all of it, and an agent may have named it.
///
/// # Errors
/// With field `workdir`.
pub fn ensure_task_folder(folder: &Path, database: &Path) -> Result<(), ConfigurationError> {
    let error = |what: &str| {
        let message = format!("the folder of the task, {}, {what}", folder.display());
        ConfigurationError::new("workdir", message, "file the task again, with another folder")
    };
    if folder.canonicalize().is_ok_and(|found| found != folder) {
        return Err(error("leads elsewhere by now"));
    }
    let tracker = database.parent().and_then(|folder| folder.canonicalize().ok());
    let is_own = tracker.filter(|tracker| tracker.ends_with(".eluent")).is_some_and(|tracker| {
        folder.starts_with(&tracker) && !folder.starts_with(tracker.join("worktrees"))
    });
    if is_own || folder.components().any(|part| part.as_os_str() == ".git") {
        return Err(error("belongs to the tracker or to git"));
    }
    Ok(())
}

/// Makes sure that context files can be written to this folder; makes a missing folder.
///
/// # Errors
/// With field `context_directory`.
pub fn ensure_context_directory(folder: &Path) -> Result<(), ConfigurationError> {
    ensure_writable("context_directory", "context files", folder)
}

/// Makes sure that agents can write summaries to this folder; makes a missing folder.
///
/// # Errors
/// With field `summaries_directory`.
pub fn ensure_summaries_directory(folder: &Path) -> Result<(), ConfigurationError> {
    ensure_writable("summaries_directory", "summaries", folder)
}

fn ensure_writable(
    field: &'static str,
    what: &str,
    folder: &Path,
) -> Result<(), ConfigurationError> {
    let error = |cause: &dyn std::fmt::Display| {
        let message = format!("{what} cannot be written to {}: {cause}", folder.display());
        ConfigurationError::new(
            field,
            message,
            format!("make the folder writable, or set {field} to another one"),
        )
    };
    // For the owner alone: the content of atoms is private.
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|cause| error(&cause))?;
    access(folder, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|cause| error(&std::io::Error::from(cause)))
}

fn path_of(environment: &[(OsString, OsString)]) -> Option<&OsStr> {
    environment.iter().find(|(key, _)| key == "PATH").map(|(_, value)| value.as_os_str())
}

/// Parses `tmux 3.3a`, `tmux next-3.6` or `tmux openbsd-7.1`; `None` for `tmux master`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let from = text.find(|char: char| char.is_ascii_digit())?;
    let mut numbers = text[from..].split('.').map(|part| {
        let end = part.find(|char: char| !char.is_ascii_digit()).unwrap_or(part.len());
        part[..end].parse().ok()
    });
    Some((numbers.next()??, numbers.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn environment(path: &Path) -> Vec<(OsString, OsString)> {
        vec![("PATH".into(), path.into())]
    }

    #[test]
    fn a_missing_tmux_names_its_field_and_what_to_do() {
        let empty = tempfile::tempdir().unwrap();
        let error = find_tmux(&environment(empty.path())).unwrap_err();
        assert_eq!(error.field, "tmux");
        assert!(error.hint.contains("install tmux"), "{error:?}");
        assert_eq!(find_tmux(&[]).unwrap_err().field, "tmux");
    }

    #[test]
    fn the_installed_tmux_is_found_and_new_enough() {
        let caller: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let bin = find_tmux(&caller).unwrap();
        assert!(check_tmux_version(&bin).unwrap().starts_with("tmux "));
    }

    #[test]
    fn an_old_broken_or_foreign_tmux_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let old = script(folder.path(), "old", "#!/bin/sh\necho tmux 2.9a\n");
        assert!(check_tmux_version(&old).unwrap_err().message.contains("2.9a is too old"));
        let other = script(folder.path(), "other", "#!/bin/sh\necho screen 4\n");
        assert!(check_tmux_version(&other).unwrap_err().message.contains("screen 4"));
        let fails = script(folder.path(), "fails", "#!/bin/sh\nexit 3\n");
        assert_eq!(check_tmux_version(&fails).unwrap_err().field, "tmux");
        assert!(
            check_tmux_version(&folder.path().join("none"))
                .unwrap_err()
                .message
                .contains("cannot be run")
        );
        let master = script(folder.path(), "master", "#!/bin/sh\necho tmux master\n");
        assert_eq!(check_tmux_version(&master).unwrap(), "tmux master");
    }

    #[test]
    fn versions_of_every_spelling_are_read() {
        assert_eq!(parse_version("tmux 3.3a"), Some((3, 3)));
        assert_eq!(parse_version("tmux next-3.6"), Some((3, 6)));
        assert_eq!(parse_version("tmux openbsd-7.1"), Some((7, 1)));
        assert_eq!(parse_version("tmux 3"), Some((3, 0)));
        assert_eq!(parse_version("tmux master"), None);
    }

    #[test]
    fn the_agents_program_is_a_path_or_a_name() {
        let folder = tempfile::tempdir().unwrap();
        let claude = script(folder.path(), "claude", "#!/bin/sh\n");
        let path = environment(folder.path());
        assert_eq!(find_program("claude", &path, Path::new("/")).unwrap(), claude);
        assert_eq!(find_program(claude.to_str().unwrap(), &[], Path::new("/")).unwrap(), claude);
        assert_eq!(
            find_program("./claude", &[], folder.path()).unwrap().canonicalize().unwrap(),
            claude.canonicalize().unwrap()
        );

        fs::write(folder.path().join("plain"), "x").unwrap();
        for wrong in ["", "claud", "./none", "./plain", "/", "plain", "claude -p"] {
            let error = find_program(wrong, &path, folder.path()).unwrap_err();
            assert_eq!(error.field, "claude_code_path", "{wrong}");
            assert!(!error.message.is_empty() && error.hint.contains("claude_code_path"));
        }
    }

    #[test]
    fn skipping_permissions_is_refused_to_root_alone_and_not_in_a_sandbox() {
        let root = rustix::process::geteuid().is_root();
        assert_eq!(ensure_permission_mode(Some("bypassPermissions"), &[]).is_err(), root);
        ensure_permission_mode(Some("bypassPermissions"), &[("IS_SANDBOX".into(), "1".into())])
            .unwrap();
        ensure_permission_mode(Some("acceptEdits"), &[]).unwrap();
        ensure_permission_mode(None, &[]).unwrap();
    }

    #[test]
    fn a_task_has_no_folder_that_decides_what_runs() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let database = top.join(".eluent/el.db");
        for made in ["sub", ".git/hooks", ".eluent/runs", ".eluent/worktrees/t-1"] {
            fs::create_dir_all(top.join(made)).unwrap();
        }
        std::os::unix::fs::symlink(top.join("sub"), top.join("link")).unwrap();
        for (name, is_fine) in [
            ("", true),
            ("sub", true),
            (".eluent/worktrees/t-1", true),
            (".git", false),
            (".git/hooks", false),
            (".eluent", false),
            (".eluent/runs", false),
            ("link", false),
        ] {
            let found =
                ensure_task_folder(&top.join(name).components().collect::<PathBuf>(), &database);
            assert_eq!(found.is_ok(), is_fine, "{name}: {found:?}");
        }
        // A database that lies among the files of a project.
        ensure_task_folder(&top.join("sub"), &top.join("el.db")).unwrap();
    }

    #[test]
    fn folders_are_checked_and_the_context_folder_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        ensure_working_directory(folder.path()).unwrap();
        assert!(ensure_working_directory(&file).unwrap_err().message.ends_with("is not a folder"));
        assert!(
            ensure_working_directory(&folder.path().join("no"))
                .unwrap_err()
                .message
                .ends_with("does not exist")
        );

        let contexts = folder.path().join("a/b");
        ensure_context_directory(&contexts).unwrap();
        assert!(contexts.is_dir());
        let error = ensure_context_directory(&file.join("x")).unwrap_err();
        assert_eq!(error.field, "context_directory");
        // Root may write everywhere except to a read-only file system.
        let error = ensure_context_directory(Path::new("/proc/1/x")).unwrap_err();
        assert_eq!(error.field, "context_directory");
    }
}
