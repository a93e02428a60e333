//! Remotes: their names and branches, and the pushes of el.

use super::call::refusal_error;
use super::{Git, GitError, Repository, Result};

/// Lines of a push that failed here, such as by a hook, that are told.
const SAID_LINES: usize = 8;

/// A remote of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    pub name: String,
    /// The address that git pushes to.
    pub url: String,
}

/// How a push ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushResult {
    Pushed,
    /// The remote refused the branch, or another commit is there than was expected.
    Refused(String),
}

impl Repository {
    /// Lists the remotes.
    ///
    /// # Errors
    /// If git fails.
    pub fn remotes(&self) -> Result<Vec<Remote>> {
        let names = self.git().ask(&["remote"])?;
        let mut found = Vec::new();
        for name in names.lines().filter(|name| !name.starts_with('-')) {
            if let Some(url) = self.git().ask_optional(&["remote", "get-url", "--push", name])? {
                found.push(Remote { name: name.to_owned(), url });
            }
        }
        Ok(found)
    }

    /// Fetches a branch of a remote into its tracking reference and returns the commit. `None`: the
    /// remote has no such branch.
    ///
    /// # Errors
    /// If git fails.
    pub fn fetch_branch(&self, remote: &str, branch: &str) -> Result<Option<String>> {
        let tracking = format!("refs/remotes/{remote}/{branch}");
        match self.fetch_commit(remote, &format!("+refs/heads/{branch}:{tracking}"))? {
            true => self.resolve_commit(&tracking),
            false => Ok(None),
        }
    }

    /// Fetches the commit that a reference of a remote names, and leaves every reference here as it
    /// is, unless the reference comes with one to write to. Returns false if the remote has no such
    /// reference.
    ///
    /// # Errors
    /// If git fails.
    pub fn fetch_commit(&self, remote: &str, reference: &str) -> Result<bool> {
        match self.fetch(&["--", remote, reference]) {
            Err(GitError::Failed { said, .. }) if said.contains("couldn't find remote ref") => {
                Ok(false)
            }
            done => done.map(|_| true),
        }
    }

    /// Fetches into the named references alone: no tags, no submodules, no `FETCH_HEAD`.
    pub(super) fn fetch(&self, rest: &[&str]) -> Result<String> {
        let words =
            ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
        self.remote_git()?.ask(&[&words[..], rest].concat())
    }

    /// Fetches the tip of a branch and returns it. No reference here changes. `None`: there is no
    /// such branch. `remote`: a name or an address.
    ///
    /// # Errors
    /// If git fails.
    pub fn fetch_tip(&self, remote: &str, branch: &str) -> Result<Option<String>> {
        let Some(tip) = self.remote_tip(remote, branch)? else { return Ok(None) };
        if self.resolve_commit(&tip)?.is_none() {
            self.fetch_commit(remote, &format!("refs/heads/{branch}"))?;
        }
        Ok(Some(tip))
    }

    /// The address from which a remote is fetched, and the one that is pushed to.
    pub(crate) fn remote_addresses(&self, remote: &str) -> Result<Option<(String, String)>> {
        let ask = |kind: &[&str]| {
            self.git().ask_optional(&[&["remote", "get-url"], kind, &[remote]].concat())
        };
        Ok(ask(&[])?.zip(ask(&["--push"])?))
    }

    /// Asks a remote, by its name or an address, for the tip of a branch.
    ///
    /// # Errors
    /// If git fails.
    pub fn remote_tip(&self, remote: &str, branch: &str) -> Result<Option<String>> {
        let name = format!("refs/heads/{branch}");
        let said = self.remote_git()?.ask(&["ls-remote", "--refs", "--", remote, &name])?;
        Ok(said
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .find(|(_, found)| *found == name)
            .map(|(commit, _)| commit.to_owned()))
    }

    /// Pushes a commit to one branch of a remote, if the branch is still at `expected` there;
    /// `None`: if it is not there yet. No other reference is touched. The person's own hooks run.
    ///
    /// # Errors
    /// If the remote cannot be reached.
    pub fn push_branch(
        &self,
        remote: &str,
        commit: &str,
        branch: &str,
        expected: Option<&str>,
    ) -> Result<PushResult> {
        let refspec = format!("{commit}:refs/heads/{branch}");
        self.push_over(remote, &refspec, branch, expected)
    }

    /// Deletes a branch of a remote, if it still is at `expected` there.
    ///
    /// # Errors
    /// If the remote cannot be reached.
    pub fn delete_remote_branch(
        &self,
        remote: &str,
        branch: &str,
        expected: &str,
    ) -> Result<PushResult> {
        let refspec = format!(":refs/heads/{branch}");
        self.push_over(remote, &refspec, branch, Some(expected))
    }

    fn push_over(
        &self,
        remote: &str,
        refspec: &str,
        branch: &str,
        expected: Option<&str>,
    ) -> Result<PushResult> {
        let lease =
            format!("--force-with-lease=refs/heads/{branch}:{}", expected.unwrap_or_default());
        let words = [
            "push",
            "--porcelain",
            "--no-follow-tags",
            "--recurse-submodules=no",
            &lease,
            remote,
            refspec,
        ];
        let ran = self.remote_git()?.run_once(&words, None, usize::MAX)?;
        if ran.status.success() {
            return Ok(PushResult::Pushed);
        }
        let told = String::from_utf8_lossy(&ran.stdout);
        let Some(line) = told.lines().find(|line| line.starts_with('!')) else {
            // A hook of the person has spoken, on either.
            let said = [&ran.stdout, &ran.stderr].map(|said| String::from_utf8_lossy(said));
            let lines: Vec<&str> = said.iter().flat_map(|said| said.lines()).collect();
            let lines = lines.into_iter().filter(|line| !line.trim().is_empty());
            let lines: Vec<&str> = lines.collect();
            let end = lines[lines.len().saturating_sub(SAID_LINES)..].join("\n");
            let end = if end.is_empty() { ran.status.to_string() } else { end };
            return Err(refusal_error("push".to_owned(), end));
        };
        let why = line.rsplit('\t').next().unwrap_or(line);
        let said = String::from_utf8_lossy(&ran.stderr);
        let server = said.lines().filter_map(|line| line.strip_prefix("remote: "));
        let lines: Vec<&str> = [why].into_iter().chain(server.map(str::trim)).collect();
        let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
        Ok(PushResult::Refused(lines.join("\n")))
    }

    /// Git for calls of a remote, which must not wait for a person.
    fn remote_git(&self) -> Result<Git> {
        let has_own = std::env::var_os("GIT_SSH_COMMAND").is_some()
            || std::env::var_os("GIT_SSH").is_some()
            || self.git().ask_optional(&["config", "--get", "core.sshCommand"])?.is_some();
        Ok(if has_own { self.git().clone() } else { self.git().with_quiet_ssh() })
    }
}
