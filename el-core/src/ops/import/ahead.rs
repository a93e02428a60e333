//! The state of the store for the next records of a file.

use super::*;
use crate::store::bond;

/// Atoms and imported states that were read for several records at once, and not changed since.
pub(super) struct Ahead<'a> {
    lookup: &'a Lookup<'a>,
    atoms: HashMap<String, Atom>,
    imported: HashMap<String, alias::Imported>,
    has_alternatives: Option<bool>,
}

impl<'a> Ahead<'a> {
    pub(super) fn new(lookup: &'a Lookup<'a>) -> Self {
        Ahead { lookup, atoms: HashMap::new(), imported: HashMap::new(), has_alternatives: None }
    }

    /// Reads the state for the next records, of which the first has the number `at`, if it is time.
    pub(super) fn read_next(
        &mut self,
        targets: &[Target],
        at: usize,
        options: &ImportOptions,
    ) -> Result<()> {
        if !at.is_multiple_of(AT_ONCE) {
            return Ok(());
        }
        let next = targets.iter().zip(&self.lookup.heads[at..]).take(AT_ONCE);
        let next = next.filter(|(target, _)| !target.is_new && !target.is_as_imported(options));
        let (atoms, names): (Vec<&str>, Vec<&str>) =
            next.map(|(target, head)| (&*target.atom_id, &*head.id)).unzip();
        self.forget_all();
        if !atoms.is_empty() {
            self.atoms = atom::find_all(self.lookup.tx, &atoms)?;
            self.imported = alias::find_all(self.lookup.tx, self.lookup.source, &names)?;
        }
        Ok(())
    }

    /// Takes the atom of a record, and the state of its last import. Two records may have one atom.
    pub(super) fn take_state(
        &mut self,
        target: &Target,
        name: &str,
    ) -> Result<(Option<Atom>, Option<alias::Imported>)> {
        let Lookup { tx, source, .. } = *self.lookup;
        let before = match self.atoms.remove(&*target.atom_id) {
            _ if target.is_new => None,
            None => Some(atom::get(tx, &target.atom_id)?),
            before => before,
        };
        let last = match self.imported.remove(name) {
            _ if !target.has_last => None,
            None => alias::find(tx, source, name)?,
            last => last,
        };
        Ok((before, last))
    }

    /// Returns true if an atom may be there that is needed only if another one fails.
    pub(super) fn has_alternatives(&mut self) -> Result<bool> {
        if self.has_alternatives.is_none() {
            let found = bond::has_kind(self.lookup.tx, BondKind::ConditionalBlocks)?;
            self.has_alternatives = Some(found);
        }
        Ok(self.has_alternatives.unwrap_or_default())
    }

    /// Has everything read again: an atom that is over may change others.
    pub(super) fn forget_all(&mut self) {
        self.atoms.clear();
        self.imported.clear();
    }
}
