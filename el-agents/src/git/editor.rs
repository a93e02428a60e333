//! The editor of a person, as git chooses it.

use std::path::Path;
use std::process::Stdio;

use super::environment;

/// The command of the editor that git would start in this folder: `GIT_EDITOR`, `core.editor`,
/// `VISUAL`, `EDITOR`, or its own default. `None` if there is no git, or it knows none.
pub fn editor(folder: &Path) -> Option<String> {
    let mut git = environment::git_command();
    git.arg("-C").arg(folder).args(["var", "GIT_EDITOR"]).stdin(Stdio::null());
    let said = git.stderr(Stdio::null()).output().ok().filter(|said| said.status.success())?;
    let command = String::from_utf8(said.stdout).ok()?;
    Some(command.trim().to_owned()).filter(|command| !command.is_empty())
}
