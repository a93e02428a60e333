//! How an import treats what it finds.

use std::collections::BTreeSet;

/// How an import treats what it finds; by default as a whole file that somebody trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Nothing stays written; the answer is the same.
    pub dry_run: bool,
    /// The batch is a part of what the tracker has: a record that is absent is not missing.
    pub is_partial: bool,
    /// The beginning of the ids that a whole batch has; `None`: all that were ever imported.
    pub scope: Option<String>,
    pub theirs: Theirs,
    /// The other tracker's ids of records whose writers may not reword what was accepted here:
    /// title and description stay as they are until [`Theirs`] names the atom.
    pub held_texts: BTreeSet<String>,
}

/// Where the batch outranks what was done here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Theirs {
    #[default]
    Nowhere,
    /// In the fields that both sides changed since the last import.
    Conflicts,
    /// In every field of these atoms.
    Atoms(BTreeSet<String>),
}

impl ImportOptions {
    /// The same as a rehearsal, or not.
    pub fn with_dry_run(dry_run: bool) -> ImportOptions {
        ImportOptions { dry_run, ..ImportOptions::default() }
    }

    pub(super) fn takes_all_of(&self, atom: &str) -> bool {
        matches!(&self.theirs, Theirs::Atoms(atoms) if atoms.contains(atom))
    }
}
