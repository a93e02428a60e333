//! Who is recorded as the author of a change: `--actor`, `EL_ACTOR`, git's user, the login.

use std::env;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use el_agents::git::Git;
use el_core::model::validate;

use crate::error::{CommandError, Result};

/// Git answers in milliseconds; a broken git must not hold up a change for long.
const GIT_DEADLINE: Duration = Duration::from_secs(2);

/// The author's name. Asks git, which costs a process, only if nothing nearer says who it is.
pub(crate) fn resolve(flag: Option<&str>) -> String {
    let given = flag.and_then(clean).or_else(|| clean(&env::var("EL_ACTOR").ok()?));
    given.or_else(git_user).or_else(login).unwrap_or_else(|| "unknown".to_owned())
}

/// A name that was given and is none is refused, rather than recorded as another.
pub(crate) fn check(flag: Option<&str>) -> Result<()> {
    let variable = env::var_os("EL_ACTOR").map(|name| name.to_string_lossy().into_owned());
    // The variable counts only where there is no flag; a blank one says nothing.
    let Some(name) = flag.map(str::to_owned).or(variable).filter(|name| !name.trim().is_empty())
    else {
        return Ok(());
    };
    validate::name("actor", &name).map(drop).map_err(CommandError::from)
}

/// A name that fits the store: one line, trimmed, not endless.
fn clean(name: &str) -> Option<String> {
    let name: String =
        name.chars().filter(|c| !c.is_control()).take(el_core::model::limits::WORD).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn git_user() -> Option<String> {
    let git = Git::at(Path::new(".")).until(Instant::now() + GIT_DEADLINE);
    clean(&git.ask(&["config", "--get", "user.name"]).ok()?)
}

fn login() -> Option<String> {
    ["USER", "LOGNAME"].iter().find_map(|variable| clean(&env::var(variable).ok()?)).or_else(|| {
        let uid = rustix::process::getuid().as_raw().to_string();
        let passwd = fs::read_to_string("/etc/passwd").ok()?;
        passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)? == uid).then(|| clean(name))?
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_outranks_everything() {
        assert_eq!(resolve(Some(" Ada\nLovelace ")), "AdaLovelace");
    }

    #[test]
    fn somebody_is_always_recorded() {
        assert!(!resolve(None).is_empty());
        assert!(login().is_some());
    }

    #[test]
    fn names_are_cut_and_blank_ones_are_none() {
        assert_eq!(clean(" \t\n"), None);
        assert_eq!(clean(&"x".repeat(1000)).unwrap().len(), el_core::model::limits::WORD);
    }
}
