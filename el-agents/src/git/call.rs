//! Calls of git.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::answers::KnownAnswers;
use super::bounded::{self, ProgramOutput};
use super::{GitError, Result, environment};

/// Tries while another git holds a lock.
const TRIES: u32 = 12;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(150);
/// Commands that may read or write every file of a checkout, or run the hooks of a person.
const LONG: [&str; 19] = [
    "fetch",
    "push",
    "worktree",
    "checkout",
    "switch",
    "reset",
    "merge",
    "rebase",
    "revert",
    "clean",
    "status",
    "diff",
    "diff-index",
    "merge-tree",
    "read-tree",
    "update-index",
    "checkout-index",
    "hash-object",
    "hook",
];
/// The time limit of a long command.
pub(super) const LONG_LIMIT: Duration = Duration::from_secs(600);
/// The time limit of a short command.
const SHORT_LIMIT: Duration = Duration::from_secs(60);

/// Git in a folder.
#[derive(Debug, Clone, Default)]
pub struct Git {
    folder: PathBuf,
    /// Hooks are enabled. Commits that el composes skip the repository's hooks, which are for
    /// people's commits.
    hooks: bool,
    /// The folder must be the top of a checkout. A broken checkout must never lead git to the
    /// repository above.
    own: bool,
    /// The repository is nested in another one, and an agent may have written its configuration.
    nested: bool,
    /// Commits name el: git knows no committer here, or nobody sees them.
    nameless: bool,
    /// The action that the reflogs name.
    action: Option<&'static str>,
    /// The deadline of all calls together.
    until: Option<Instant>,
    /// Git's folder, which git does not look for.
    git_folder: Option<PathBuf>,
    /// Ssh asks nobody for a password.
    quiet_ssh: bool,
    /// Where new objects go, and the folder of the others.
    scratch: Option<(PathBuf, PathBuf)>,
    answers: KnownAnswers,
}

impl Git {
    /// Git in this folder, as a person would call git.
    pub fn at(folder: &Path) -> Git {
        Git { folder: folder.to_owned(), hooks: true, ..Git::default() }
    }

    /// Git on this git folder, without a checkout. Git ignores the files around the folder.
    pub(crate) fn at_git_folder(folder: &Path) -> Git {
        Git { git_folder: Some(folder.to_owned()), ..Git::at(folder) }
    }

    /// Returns this git without the repository's hooks.
    #[must_use]
    pub fn without_hooks(&self) -> Git {
        Git { hooks: false, ..self.clone() }
    }

    /// Returns this git for a folder that is a checkout: git does not look at the folders above.
    #[must_use]
    pub fn in_own_checkout(&self) -> Git {
        Git { own: true, ..self.clone() }
    }

    /// Returns this git for making commits: if git knows no author, the author is el.
    #[must_use]
    pub fn as_committer(&self) -> Git {
        Git { nameless: !self.knows_author(), ..self.clone() }
    }

    /// Returns true if commits can be made: git knows a name and an address for them.
    pub fn knows_author(&self) -> bool {
        ["GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"]
            .iter()
            .all(|one| self.ask(&["var", one]).is_ok())
    }

    /// Returns this git for commits of el's own, which nobody sees.
    #[must_use]
    pub(super) fn as_el(&self) -> Git {
        Git { nameless: true, ..self.clone() }
    }

    /// Git in a repository that lies in the folder of an agent's work. No object that is missing is
    /// fetched: the repository would name the program that does it.
    pub(super) fn in_nested(folder: &Path) -> Git {
        Git { own: true, nested: true, ..Git::at(folder) }
    }

    /// Returns this git with an action to name in the reflogs.
    #[must_use]
    pub(super) fn logged_as(&self, action: &'static str) -> Git {
        Git { action: Some(action), ..self.clone() }
    }

    /// Returns this git with a deadline for all calls together.
    #[must_use]
    pub fn with_deadline(&self, until: Instant) -> Git {
        Git { until: Some(until), ..self.clone() }
    }

    /// Returns this git for calls of remotes, which must not wait for a person.
    #[must_use]
    pub(super) fn with_quiet_ssh(&self) -> Git {
        Git { quiet_ssh: true, ..self.clone() }
    }

    /// Returns this git for a rehearsal: what it writes goes to a folder of its own. It must
    /// move no reference.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn with_scratch_objects(&self, folder: &Path) -> Result<Git> {
        let objects =
            self.ask(&["rev-parse", "--path-format=absolute", "--git-path", "objects"])?;
        // A tree that was written elsewhere is not there.
        let answers = KnownAnswers::default();
        Ok(Git { scratch: Some((folder.to_owned(), objects.into())), answers, ..self.clone() })
    }

    /// Returns this git in another folder.
    #[must_use]
    pub(super) fn in_folder(&self, folder: &Path) -> Git {
        Git { folder: folder.to_owned(), answers: KnownAnswers::default(), ..self.clone() }
    }

    /// The working folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn base_command(&self) -> Command {
        let mut command = environment::git_command();
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_EDITOR", "true")
            .env("GIT_OPTIONAL_LOCKS", "0");
        command.args([
            "-c",
            "core.quotePath=false",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "gc.auto=0",
            "-c",
            "maintenance.auto=false",
        ]);
        command.args(["-c", "commit.gpgSign=false", "-c", "advice.detachedHead=false"]);
        // A person's settings for a rebase would move other branches, keep merges, or settle a
        // conflict as it was settled once.
        command.args(["-c", "rebase.updateRefs=false", "-c", "rebase.rebaseMerges=false"]);
        command.args(["-c", "rerere.enabled=false"]);
        if !self.hooks {
            command.args(["-c", "core.hooksPath=/dev/null"]);
        }
        if self.quiet_ssh {
            command.args(["-c", "core.sshCommand=ssh -oBatchMode=yes"]);
        }
        if self.nameless {
            command.args([
                "-c",
                "user.name=el",
                "-c",
                "user.email=el@localhost",
                "-c",
                "user.useConfigOnly=false",
            ]);
        }
        if self.nested {
            command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_LAZY_FETCH", "1");
        }
        if let Some(action) = self.action {
            command.env("GIT_REFLOG_ACTION", action);
        }
        if let Some(above) = self.folder.parent().filter(|_| self.own) {
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        if let Some((folder, others)) = &self.scratch {
            command.env("GIT_OBJECT_DIRECTORY", folder);
            command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", others);
        }
        if let Some(folder) = &self.git_folder {
            command.env("GIT_DIR", folder);
        }
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// Runs git and returns the output without the last line end.
    ///
    /// # Errors
    /// If git fails. A call that meets a lock is tried again for two seconds.
    pub fn ask<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<String> {
        self.ask_with(words, None)
    }

    /// Runs git as [`Self::ask`] does, with a text as standard input.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_with<S: AsRef<OsStr>>(&self, words: &[S], input: Option<&str>) -> Result<String> {
        let said = self.ask_bytes(words, input.map(str::as_bytes))?;
        Ok(String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned())
    }

    /// Runs git as [`Self::ask`] does, and returns bytes: names of files need not be UTF-8.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub(super) fn ask_bytes<S: AsRef<OsStr>>(
        &self,
        words: &[S],
        input: Option<&[u8]>,
    ) -> Result<Vec<u8>> {
        retry_while_locked(|| {
            let ran = self.run_once(words, input, usize::MAX)?;
            if ran.status.success() { Ok(ran.stdout) } else { Err(failed_call(words, &ran)) }
        })
    }

    /// Returns the first `max` bytes of git's output, and true if git printed more. Git is ended
    /// after that much output.
    ///
    /// # Errors
    /// If git fails.
    pub(crate) fn ask_beginning<S: AsRef<OsStr>>(
        &self,
        words: &[S],
        max: usize,
    ) -> Result<(Vec<u8>, bool)> {
        let ran = self.run_once(words, None, max)?;
        if ran.is_cut || ran.status.success() {
            Ok((ran.stdout, ran.is_cut))
        } else {
            Err(failed_call(words, &ran))
        }
    }

    /// Runs git once and returns the status and the whole output, which some refusals need. Facts
    /// about commits are asked for once.
    ///
    /// # Errors
    /// If git cannot be run, or takes too long.
    pub(super) fn run_once<S: AsRef<OsStr>>(
        &self,
        words: &[S],
        input: Option<&[u8]>,
        max: usize,
    ) -> Result<ProgramOutput> {
        if input.is_none() && max == usize::MAX {
            return self.answers.get_or_ask(words, || self.run_program(words, None, max));
        }
        self.run_program(words, input, max)
    }

    fn run_program<S: AsRef<OsStr>>(
        &self,
        words: &[S],
        input: Option<&[u8]>,
        max: usize,
    ) -> Result<ProgramOutput> {
        let what = first_word(words);
        let mut limit = if LONG.contains(&what.as_str()) { LONG_LIMIT } else { SHORT_LIMIT };
        if let Some(until) = self.until {
            limit = limit.min(until.saturating_duration_since(Instant::now()));
        }
        let mut command = self.base_command();
        command.args(words);
        bounded::run(&mut command, input, limit, max)
            .map_err(GitError::Program)?
            .ok_or(GitError::TimedOut { what, limit })
    }

    /// Git's own folder of this checkout.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn own_folder(&self) -> Result<PathBuf> {
        self.ask(&["rev-parse", "--absolute-git-dir"]).map(PathBuf::from)
    }

    /// Removes a worktree. `force`: `--force` once for one with changes, twice for a locked one.
    ///
    /// # Errors
    /// If git refuses.
    pub(super) fn remove_worktree(&self, folder: &Path, force: &[&str]) -> Result<()> {
        let words = ["worktree", "remove"].iter().chain(force).map(OsStr::new);
        self.ask(&words.chain([folder.as_os_str()]).collect::<Vec<_>>()).map(drop)
    }

    /// Runs git and returns the answer; `None` if git says no.
    ///
    /// # Errors
    /// If git cannot be run at all.
    pub fn ask_optional<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<Option<String>> {
        match self.ask(words) {
            Err(error) if error.is_refusal() => Ok(None),
            said => said.map(Some),
        }
    }
}

/// The version that worktrees and `el land` need, for `git merge-tree --write-tree`.
const NEEDED: (u32, u32) = (2, 38);

/// Checks that git is new enough, before any work begins.
///
/// # Errors
/// If git is too old, or not installed.
pub fn ensure_version() -> Result<()> {
    let said = Git::at(Path::new(".")).ask(&["--version"])?;
    let version = said.split(' ').nth(2).unwrap_or_default();
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) if (major, minor) < NEEDED => {
            Err(GitError::TooOld(version.to_owned()))
        }
        // An unreadable version is left to git's own errors.
        _ => Ok(()),
    }
}

/// Tries again for a while if another git holds a lock.
pub(super) fn retry_while_locked<T>(mut done: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..TRIES {
        match done() {
            Err(GitError::Locked(_) | GitError::Left(_)) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    done()
}

fn first_word<S: AsRef<OsStr>>(words: &[S]) -> String {
    words.first().map(|word| word.as_ref().to_string_lossy().into_owned()).unwrap_or_default()
}

/// A call that ended badly, as an error.
pub(super) fn failed_call<S: AsRef<OsStr>>(words: &[S], ran: &ProgramOutput) -> GitError {
    let said = if ran.stderr.is_empty() { &ran.stdout } else { &ran.stderr };
    let said = String::from_utf8_lossy(said).trim().to_owned();
    refusal_error(first_word(words), if said.is_empty() { ran.status.to_string() } else { said })
}

/// Builds the error of a refusal, without git's hints about commands that nobody typed.
pub(super) fn refusal_error(what: String, said: String) -> GitError {
    // The last is said beside a `git worktree add` that is in the middle of its work.
    let signs = [".lock': File exists", "Another git process", "/commondir: "];
    if signs.iter().any(|sign| said.contains(sign)) {
        let line = said.lines().find(|line| line.contains(".lock'")).or(said.lines().next());
        return GitError::Locked(line.unwrap_or_default().to_owned());
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("hint:")).collect();
    let told = lines.join("\n").trim().to_owned();
    GitError::of_refusal(what, told)
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
