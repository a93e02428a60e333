use std::collections::HashMap;

use super::AtomFilter;
use super::list::with_parent;
use crate::exchange::{Exported, Piece};
use crate::model::Atom;
use crate::store::filter::Query;
use crate::store::{Store, Tx, alias, atom, bond, comment, meta};
use crate::{Error, Result};

/// Passes every atom that fits the filter to `each`, with all that an export contains. All atoms
/// are of one moment, and the order depends only on the content. A bond comes with the target, even
/// if the source does not fit the filter.
///
/// # Errors
///
/// If the store cannot be read; and the first error of `each`, which ends the export.
pub fn export<E: From<Error>>(
    store: &Store,
    filter: &AtomFilter,
    each: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    store.read(|tx| Ok(export_in(tx, filter, each)))?
}

/// Does the same as [`export`], but passes each atom after its parent, with its depth in the tree.
/// Only ids and parents are in memory.
///
/// # Errors
///
/// As [`export`].
pub fn export_tree<E: From<Error>>(
    store: &Store,
    filter: &AtomFilter,
    each: &mut dyn FnMut(Piece, usize) -> Result<(), E>,
) -> Result<(), E> {
    store.read(|tx| {
        let (query, prefix) = query_of(tx, filter)?;
        let (mut ids, mut parents) = (Vec::new(), Vec::new());
        let keep = |atom: Atom| {
            ids.push(atom.id);
            parents.push(atom.parent_id);
            Ok::<(), Error>(())
        };
        query.for_each(tx, ORDER, keep)?;
        let walk = || {
            each(Piece::Start { prefix }, 0)?;
            for (at, depth) in tree_order(&ids, &parents) {
                each(exported(tx, atom::get(tx, &ids[at])?)?, depth)?;
            }
            Ok(())
        };
        Ok(walk())
    })?
}

/// Returns every position once, parents before children, with the depth. No write allows a loop of
/// parents; atoms in such a loop come at the end, like atoms without a parent.
fn tree_order(ids: &[String], parents: &[Option<String>]) -> Vec<(usize, usize)> {
    let index: HashMap<&str, usize> = ids.iter().map(String::as_str).zip(0..).collect();
    let mut children = vec![Vec::new(); ids.len()];
    let mut roots = Vec::new();
    for (at, parent) in parents.iter().enumerate() {
        match parent.as_deref().and_then(|parent| index.get(parent)) {
            Some(parent) => children[*parent].push(at),
            None => roots.push(at),
        }
    }
    let mut order = Vec::with_capacity(ids.len());
    let mut seen = vec![false; ids.len()];
    for root in roots.into_iter().chain(0..ids.len()) {
        let mut todo = vec![(root, 0)];
        while let Some((at, depth)) = todo.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                order.push((at, depth));
                todo.extend(children[at].iter().rev().map(|child| (*child, depth + 1)));
            }
        }
    }
    order
}

/// By time of creation, then id.
const ORDER: &str = "a.created_at, a.id";

fn export_in<E: From<Error>>(
    tx: &Tx<'_>,
    filter: &AtomFilter,
    each: &mut dyn FnMut(Piece) -> Result<(), E>,
) -> Result<(), E> {
    let (query, prefix) = query_of(tx, filter)?;
    each(Piece::Start { prefix })?;
    query.for_each(tx, ORDER, |atom| each(exported(tx, atom)?))
}

/// Returns the query of a filter, and the first part of the project's ids.
fn query_of(tx: &Tx<'_>, filter: &AtomFilter) -> Result<(Query, String)> {
    let prefix = meta::project_prefix(tx)?;
    Ok((Query::new(&with_parent(tx, filter)?), prefix))
}

fn exported(tx: &Tx<'_>, atom: Atom) -> Result<Piece> {
    Ok(Piece::Atom(Box::new(Exported {
        bonds: bond::list_into(tx, &atom.id)?,
        comments: comment::by_time(tx, &atom.id)?,
        names: alias::names_of(tx, &atom.id)?,
        atom,
    })))
}
