use std::collections::HashSet;

use super::AtomFilter;
use super::list::with_parent;
use crate::exchange::Snapshot;
use crate::model::BondKind;
use crate::store::filter::Query;
use crate::store::{Store, alias, bond, comment, meta};
use crate::{Error, Result};

/// Everything about the atoms that fit the filter, of one moment, in an order that depends on
/// nothing but them. Bonds come along with their targets, also where the source is not among them.
pub fn export(store: &Store, filter: &AtomFilter) -> Result<Snapshot> {
    store.read(|tx| {
        let prefix = meta::get(tx, meta::PREFIX)?.ok_or_else(|| Error::Corrupt {
            table: "meta",
            why: "the prefix is missing".to_owned(),
        })?;
        let atoms =
            Query::new(&with_parent(tx, filter)?).rows(tx, "a.created_at, a.id", None, 0)?;
        let here: HashSet<&str> = atoms.iter().map(|atom| atom.id.as_str()).collect();
        let mut bonds = bond::all(tx)?;
        bonds.retain(|bond| {
            bond.dependency_type != BondKind::ParentChild && here.contains(bond.target_id.as_str())
        });
        bonds.sort_by(|a, b| {
            let key = |bond: &crate::model::Bond| {
                (bond.target_id.clone(), bond.source_id.clone(), bond.dependency_type.as_str())
            };
            key(a).cmp(&key(b))
        });
        let mut comments = comment::all(tx)?;
        comments.retain(|comment| here.contains(comment.parent_id.as_str()));
        let mut names = alias::all(tx)?;
        names.retain(|(atom, _)| here.contains(atom.as_str()));
        drop(here);
        Ok(Snapshot { prefix, atoms, bonds, comments, names })
    })
}
