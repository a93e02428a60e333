//! The author of a change: `--actor`, `EL_ACTOR`, git's user, or the login name.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_agents::git::Git;
use el_core::model::validate;

use crate::{CommandError, Result};

/// Git answers in milliseconds; a broken git must not hold up a change for long.
const GIT_DEADLINE: Duration = Duration::from_secs(2);

/// The author's name. Git, which costs a process, is asked only if no nearer source has a name.
pub(crate) fn resolve_actor(flag: Option<&str>) -> String {
    let given = flag.and_then(clean_name).or_else(|| clean_name(&env::var("EL_ACTOR").ok()?));
    given.or_else(git_user).or_else(login_name).unwrap_or_else(|| "unknown".to_owned())
}

/// A name that was given and is none is refused, rather than recorded as another.
pub(crate) fn ensure_valid_name(flag: Option<&str>) -> Result<()> {
    let variable = env::var_os("EL_ACTOR").map(|name| name.to_string_lossy().into_owned());
    // The variable counts only without the flag; a blank value counts as unset.
    let Some(name) = flag.map(str::to_owned).or(variable).filter(|name| !name.trim().is_empty())
    else {
        return Ok(());
    };
    validate::name("actor", &name).map(drop).map_err(CommandError::from)
}

/// A name that fits the store: a single trimmed line of limited length.
fn clean_name(name: &str) -> Option<String> {
    let name: String =
        name.chars().filter(|c| !c.is_control()).take(el_core::model::limits::WORD).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Git's `user.name`. The usual files are read first; otherwise git is run, which knows all files
/// and costs a process.
fn git_user() -> Option<String> {
    name_in_files().map_or_else(ask_git, |name| clean_name(&name))
}

/// The name in the usual files; `None` if git has to be asked.
fn name_in_files() -> Option<String> {
    let is_moved = env::vars_os().any(|(name, _)| {
        name.to_str().is_some_and(|n| n.starts_with("GIT_CONFIG") || n == "GIT_DIR")
    });
    let home = PathBuf::from(env::var_os("HOME").filter(|_| !is_moved)?);
    let folder = env::current_dir().ok()?;
    let repository = folder.ancestors().map(|at| at.join(".git")).find(|git| git.exists());
    let xdg = env::var_os("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let of_repository = repository.as_ref().map(|git| git.join("config"));
    // Nearest first; the first file with the name wins.
    let files = of_repository.into_iter().chain([home.join(".gitconfig"), xdg.join("git/config")]);
    for file in files {
        match fs::read_to_string(&file) {
            Ok(text) => match name_in(&text) {
                Ok(Some(name)) => return Some(name),
                Ok(None) => {}
                Err(NotSimple) => return None,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // For example in a linked worktree, where `.git` is a file.
            Err(_) => return None,
        }
    }
    None
}

/// A configuration that only git itself reads correctly.
#[derive(Debug, PartialEq)]
struct NotSimple;

/// `user.name` in a configuration of git without includes.
fn name_in(text: &str) -> Result<Option<String>, NotSimple> {
    let (mut in_user, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            let section = line.to_ascii_lowercase();
            if section.starts_with("[include") || section.contains("worktreeconfig") {
                return Err(NotSimple);
            }
            in_user = section == "[user]";
            if section.starts_with("[user]") && !in_user {
                return Err(NotSimple);
            }
        } else if line.to_ascii_lowercase().starts_with("worktreeconfig") {
            return Err(NotSimple);
        } else if in_user
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("name")
        {
            if value.contains(['"', '\\', '#', ';']) {
                return Err(NotSimple);
            }
            found = Some(value.trim().to_owned());
        }
    }
    Ok(found)
}

fn ask_git() -> Option<String> {
    let git = Git::at(Path::new(".")).with_deadline(Instant::now() + GIT_DEADLINE);
    clean_name(&git.ask(&["config", "--get", "user.name"]).ok()?)
}

fn login_name() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|variable| clean_name(&env::var(variable).ok()?)).or_else(
        || {
            let uid = rustix::process::getuid().as_raw().to_string();
            let passwd = fs::read_to_string("/etc/passwd").ok()?;
            passwd.lines().find_map(|line| {
                let mut fields = line.split(':');
                let name = fields.next()?;
                (fields.nth(1)? == uid).then(|| clean_name(name))?
            })
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_outranks_everything() {
        assert_eq!(resolve_actor(Some(" Ada\nLovelace ")), "AdaLovelace");
    }

    #[test]
    fn the_name_is_read_from_simple_files_and_no_others() {
        let name = |text: &str| name_in(text);
        assert_eq!(
            name("[core]\n\tname = x\n[User]\n\tName = Ada L.\n[user \"y\"]\n\tname = z\n"),
            Ok(Some("Ada L.".into()))
        );
        assert_eq!(name("[core]\n\tbare = false\n"), Ok(None));
        for text in [
            "[user]\nname = \"Ada\"\n",
            "[user]\nname = Ada # me\n",
            "[include]\npath = other\n",
            "[includeIf \"gitdir:/x\"]\npath = other\n",
            "[user] name = Ada\n",
            "[extensions]\nworktreeConfig = true\n[user]\nname = Ada\n",
        ] {
            assert_eq!(name(text), Err(NotSimple), "{text}");
        }
    }

    #[test]
    fn somebody_is_always_recorded() {
        assert!(!resolve_actor(None).is_empty());
        assert!(login_name().is_some());
    }

    #[test]
    fn names_are_cut_and_blank_ones_are_none() {
        assert_eq!(clean_name(" \t\n"), None);
        assert_eq!(clean_name(&"x".repeat(1000)).unwrap().len(), el_core::model::limits::WORD);
    }
}
