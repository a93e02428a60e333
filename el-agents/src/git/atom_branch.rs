//! The branches of atoms in a repository.

use std::path::Path;

use super::branch_names::existing_branch;
use super::error::file_error;
use super::{Repository, Result, linked};

impl Repository {
    /// The branch of an atom. A branch that is there outranks the newest prefix.
    ///
    /// # Errors
    /// If git fails.
    pub fn branch_of(&self, atom: &str) -> Result<String> {
        existing_branch(self.git(), &self.branch_prefixes, atom)
    }

    /// The branch of an atom: the branch that is there, or else a name with this prefix, which the
    /// repository remembers.
    ///
    /// # Errors
    /// If git fails, or the prefix cannot be written down.
    pub(super) fn name_branch(&mut self, atom: &str, prefix: &str) -> Result<String> {
        self.know_prefix(prefix)?;
        let name = self.branch_of(atom)?;
        let is_there = self.branch_tip(&name)?.is_some();
        Ok(if is_there { name } else { format!("{prefix}{atom}") })
    }

    /// Adds a prefix to those that the repository remembers.
    pub(super) fn know_prefix(&mut self, prefix: &str) -> Result<()> {
        let common = linked::repository_folder(self.top());
        self.branch_prefixes.add(&common, prefix).map_err(file_error("write", &common))
    }

    /// The tip of an atom's branch.
    ///
    /// # Errors
    /// If git fails.
    pub fn tip_of(&self, atom: &str) -> Result<Option<String>> {
        self.branch_tip(&self.branch_of(atom)?)
    }

    /// Returns false if an atom's branch is there and has no commit since its base.
    ///
    /// # Errors
    /// If git fails.
    pub fn has_own_commits(&self, atom: &str) -> Result<bool> {
        let (tip, base) = (self.tip_of(atom)?, self.base_of(atom)?);
        let (Some(tip), Some(base)) = (tip, base) else { return Ok(true) };
        Ok(self.git().ask(&["rev-list", "--count", &format!("{base}..{tip}")])? != "0")
    }

    /// The atoms that have a branch.
    ///
    /// # Errors
    /// If git fails.
    pub fn atoms_with_branch(&self) -> Result<Vec<String>> {
        let mut words = vec!["for-each-ref".to_owned(), "--format=%(refname:lstrip=2)".to_owned()];
        words.extend(self.branch_prefixes.iter().map(|prefix| format!("refs/heads/{prefix}")));
        let said = self.git().ask(&words)?;
        let mut atoms: Vec<String> =
            said.lines().filter_map(|name| self.atom_of(name)).map(str::to_owned).collect();
        atoms.sort_unstable();
        atoms.dedup();
        Ok(atoms)
    }

    /// The atom of a branch; `None` if no atom has a branch of that name.
    pub fn atom_of<'a>(&self, branch: &'a str) -> Option<&'a str> {
        self.branch_prefixes.atom_of(branch)
    }
}

/// Returns true if the atom has a branch of its own. Without a repository it has none.
pub(crate) fn has_branch(folder: &Path, atom: &str) -> bool {
    let tip = Repository::open_at(folder)
        .and_then(|repository| repository.branch_tip(&repository.branch_of(atom)?));
    tip.is_ok_and(|tip| tip.is_some())
}
