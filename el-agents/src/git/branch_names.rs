//! The names of atoms' branches: a prefix, which a setting gives, and the atom's id.
//!
//! Branches keep their names when the setting changes. A file in git's folder therefore lists every
//! prefix that was used.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use super::{Git, Result};

/// The prefix of every repository that names no other.
pub const DEFAULT_PREFIX: &str = "el/";
/// The file in git's folder of the repository: a prefix a line, oldest first. Lines are only
/// appended, so writers need no lock.
pub(crate) const PREFIXES_FILE: &str = "el-branch-prefixes";
/// A file that git passes over in a folder of branches. It keeps git from removing the folder as an
/// empty one when it packs, and a sandbox's folder on top of it.
pub(crate) const KEEP_FILE: &str = "el-keep.lock";

/// The prefixes that were used in a repository, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchPrefixes(Vec<String>);

impl BranchPrefixes {
    /// Reads the list of a repository. `common` is git's folder of the repository.
    pub(crate) fn of_repository(common: &Path) -> BranchPrefixes {
        BranchPrefixes::parse(&fs::read_to_string(common.join(PREFIXES_FILE)).unwrap_or_default())
    }

    /// Reads the content of the list's file. Lines that are no prefix are left out.
    pub(crate) fn parse(text: &str) -> BranchPrefixes {
        let mut known = vec![DEFAULT_PREFIX.to_owned()];
        for line in text.lines() {
            if ensure_branch_prefix(line).is_ok() && known.iter().all(|prefix| prefix != line) {
                known.push(line.to_owned());
            }
        }
        BranchPrefixes(known)
    }

    /// Adds a prefix to the list of a repository.
    pub(crate) fn add(&mut self, common: &Path, prefix: &str) -> io::Result<()> {
        if self.0.iter().any(|known| known == prefix) {
            return Ok(());
        }
        let path = common.join(PREFIXES_FILE);
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        file.write_all(format!("{prefix}\n").as_bytes())?;
        self.0.push(prefix.to_owned());
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The possible names of an atom's branch, the newest prefix first.
    pub(super) fn names(&self, atom: &str) -> Vec<String> {
        self.0.iter().map(|prefix| format!("{prefix}{atom}")).rev().collect()
    }

    /// The atom of a branch; `None` if no atom has a branch of that name.
    pub(super) fn atom_of<'a>(&self, branch: &'a str) -> Option<&'a str> {
        let atom = self.iter().find_map(|prefix| branch.strip_prefix(prefix))?;
        (!atom.contains('/')).then_some(atom)
    }
}

/// Refuses a prefix that git would refuse in a branch's name, and characters that a shell or a
/// pattern reads. Atoms' branches are in a folder of their own, so the prefix ends with a slash.
///
/// # Errors
/// The fault of the prefix.
pub fn ensure_branch_prefix(prefix: &str) -> Result<(), String> {
    let Some(folder) = prefix.strip_suffix('/') else {
        return Err(format!("'{prefix}' does not end with a slash, as {DEFAULT_PREFIX} does"));
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if let Some(bad) = prefix.chars().find(|c| !is_plain(*c)) {
        return Err(format!(
            "'{}' is not used in the names of branches here; letters, digits, '.', '_', '-' and \
             '/' are",
            bad.escape_debug()
        ));
    }
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['.', '-'])
            && !part.ends_with('.')
            && !part.ends_with(".lock")
            && !part.contains("..")
    };
    match folder.split('/').find(|part| !is_part(part)) {
        Some(bad) => Err(format!("git takes '{bad}' for no part of a branch's name")),
        None => Ok(()),
    }
}

/// Returns the atom's branch that is there, or its name with the newest prefix.
///
/// # Errors
/// If git fails.
pub(super) fn existing_branch(git: &Git, prefixes: &BranchPrefixes, atom: &str) -> Result<String> {
    let mut names = prefixes.names(atom);
    if names.len() > 1 {
        let mut words = vec!["for-each-ref".to_owned(), "--format=%(refname:lstrip=2)".to_owned()];
        words.extend(names.iter().map(|name| format!("refs/heads/{name}")));
        let said = git.ask(&words)?;
        if let Some(at) = names.iter().position(|name| said.lines().any(|line| line == name)) {
            return Ok(names.swap_remove(at));
        }
    }
    Ok(names.swap_remove(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_takes_every_prefix_that_is_accepted() {
        for prefix in ["el/", "agents/el/", "users/ann.b/x_1-2/", "A/"] {
            assert_eq!(ensure_branch_prefix(prefix), Ok(()), "{prefix}");
            let name = format!("refs/heads/{prefix}app-1");
            let mut git = std::process::Command::new("git");
            assert!(git.args(["check-ref-format", &name]).status().unwrap().success(), "{prefix}");
        }
        for bad in [
            "", "/", "el", "-x/", "a//b/", "/a/", ".a/", "a/.b/", "a./", "a..b/", "a.lock/",
            "a b/", "a~/", "a*/", "a\n/", "ä/", "a@{/", "$a/", "a/-b/",
        ] {
            assert!(ensure_branch_prefix(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn every_used_prefix_stays_known() {
        let dir = tempfile::tempdir().unwrap();
        let mut prefixes = BranchPrefixes::of_repository(dir.path());
        for prefix in ["bots/", "el/", "team/el/", "bots/"] {
            prefixes.add(dir.path(), prefix).unwrap();
        }
        // A damaged line and a repeated one, as after two writers at once.
        let file = dir.path().join(PREFIXES_FILE);
        fs::write(&file, fs::read_to_string(&file).unwrap() + "../\nbots/\n").unwrap();
        let again = BranchPrefixes::of_repository(dir.path());
        assert_eq!(again, prefixes);
        assert_eq!(again.names("a-1"), ["team/el/a-1", "bots/a-1", "el/a-1"]);
        assert_eq!(again.atom_of("team/el/a-1"), Some("a-1"));
        assert_eq!(again.atom_of("team/a-1"), None);
        assert_eq!(again.atom_of("bots/a/b"), None);
    }
}
