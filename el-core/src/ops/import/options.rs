//! The options of an import.

use std::collections::BTreeSet;

/// The options of an import; the default fits a whole file that a person trusts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Roll back at the end; the answer is the same.
    pub dry_run: bool,
    /// The batch is a part of the other tracker: an absent record does not count as missing.
    pub is_partial: bool,
    /// The prefix of the ids that the batch covers; `None`: all ids that were ever imported.
    pub scope: Option<String>,
    pub theirs: Theirs,
    /// The other tracker's ids of records with untrusted authors. Their title and description stay
    /// as accepted here until [`Theirs`] names the atom.
    pub held_texts: BTreeSet<String>,
}

/// The fields in which the batch outranks changes made here.
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
    /// The default options, as a rehearsal if `dry_run` is set.
    pub fn with_dry_run(dry_run: bool) -> ImportOptions {
        ImportOptions { dry_run, ..ImportOptions::default() }
    }

    /// The batch is not a file: the other tracker itself was asked for a part of its records.
    pub(super) fn is_sync(&self) -> bool {
        self.scope.is_some()
    }

    pub(super) fn takes_all_of(&self, atom: &str) -> bool {
        matches!(&self.theirs, Theirs::Atoms(atoms) if atoms.contains(atom))
    }
}
