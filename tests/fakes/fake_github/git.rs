//! The bare repositories behind the addresses, and git in them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Git as this server calls it: with a name of its own, and nobody's configuration.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let ran = command(folder).args(arguments).output().ok()?;
    let said = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
    ran.status.success().then_some(said)
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "GitHub");
        command.env(format!("GIT_{who}_EMAIL"), "noreply@github.localhost");
    }
    command
}

/// The settings of a repository. As on GitHub, whoever knows a commit can fetch it.
const CONFIG: &str = "[core]
	repositoryformatversion = 0
	bare = true
[http]
	receivepack = true
[uploadpack]
	allowAnySHA1InWant = true
";

/// Refuses pushes to the branches that the file `protected` names.
const PRE_RECEIVE: &str = r#"#!/bin/sh
[ -e protected ] || exit 0
while read -r old new name; do
  if grep -qxF "$name" protected; then
    echo "SAID" >&2
    exit 1
  fi
done
"#;
const GITHUB_SAYS: &str = "error: GH006: Protected branch update failed for $name.";
const GITLAB_SAYS: &str =
    "GitLab: You are not allowed to push code to protected branches on this project.";

/// Makes a bare repository that `git http-backend` serves.
pub(crate) fn make(folder: &Path, is_gitlab: bool) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt as _;

    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    git(folder, &["init", "--quiet", "--bare", "--initial-branch=main"])
        .ok_or("git init failed")?;
    std::fs::write(folder.join("config"), CONFIG).map_err(failed)?;
    let hook = folder.join("hooks/pre-receive");
    std::fs::create_dir_all(folder.join("hooks")).map_err(failed)?;
    let says = if is_gitlab { GITLAB_SAYS } else { GITHUB_SAYS };
    std::fs::write(&hook, PRE_RECEIVE.replace("SAID", says)).map_err(failed)?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).map_err(failed)
}

/// Writes down the branches to which nobody pushes.
pub(crate) fn protect(folder: &Path, branches: &[String]) {
    let names: String = branches.iter().map(|branch| format!("refs/heads/{branch}\n")).collect();
    // A failure shows in the test that pushes there.
    let _ = std::fs::write(folder.join("protected"), names);
}

/// Keeps the head of a pull request under the names that each forge has for it.
pub(crate) fn keep_head(folder: &Path, number: u64, head: &str) {
    for kind in ["pull", "merge-requests"] {
        let _ = git(folder, &["update-ref", &format!("refs/{kind}/{number}/head"), head]);
    }
}

pub(crate) fn tip(folder: &Path, branch: &str) -> Option<String> {
    let name = format!("refs/heads/{branch}");
    // Without a process, for most of them.
    match std::fs::read_to_string(folder.join(&name)) {
        Ok(commit) => Some(commit.trim().to_owned()),
        Err(_) => git(folder, &["rev-parse", "-q", "--verify", &name]),
    }
}

pub(crate) fn contains(folder: &Path, whole: &str, part: &str) -> bool {
    git(folder, &["merge-base", "--is-ancestor", part, whole]).is_some()
}

/// The tree of a merge; `None` after a conflict.
pub(crate) fn merged_tree(folder: &Path, ours: &str, theirs: &str) -> Option<String> {
    git(folder, &["merge-tree", "--write-tree", "--no-messages", ours, theirs])
}

/// Puts the commits of a branch onto its base, one by one.
pub(crate) fn rebased(folder: &Path, base: &str, head: &str) -> Option<String> {
    let scratch: PathBuf = folder.join("scratch");
    let path = scratch.to_str()?;
    git(folder, &["worktree", "add", "--quiet", "--force", "--detach", path, head])?;
    let done = git(&scratch, &["rebase", "--quiet", "--force-rebase", base])
        .and_then(|_| git(&scratch, &["rev-parse", "HEAD"]));
    let _ = git(folder, &["worktree", "remove", "--force", path]);
    done
}
