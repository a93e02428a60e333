//! Bonds and parents without cycles, for all verbs.

use serde_json::json;

use crate::model::{BondKind, EventKind};
use crate::rules::graph::{self, Side, Vertex};
use crate::store::{Tx, atom, bond, event};
use crate::{Ctx, Error, Result};

/// Adds a bond other than containment, with its event. Returns false if the bond exists already.
///
/// # Errors
/// If both atoms are the same, or the bond would close a cycle.
pub(super) fn add_bond(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    source: &str,
    target: &str,
    kind: BondKind,
) -> Result<bool> {
    if source == target {
        return Err(Error::conflict("cycle", format!("{source} cannot be bound to itself")));
    }
    let is_new = bond::add(tx, source, target, kind, ctx.now)?;
    if kind.is_blocking() {
        ensure_no_cycle(tx, target)?;
    }
    if is_new {
        tell_of_bond(tx, ctx, EventKind::BondAdded, (source, target), kind)?;
    }
    Ok(is_new)
}

/// Writes the event of a bond that came or went.
pub(super) fn tell_of_bond(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    what: EventKind,
    (source, target): (&str, &str),
    kind: BondKind,
) -> Result<()> {
    let data = json!({ "source": source, "target": target, "type": kind });
    event::insert(tx, ctx, what, Some(target), None, &data)
}

/// Refuses a cycle through a new bond into `target`. Called inside the transaction; the rollback
/// undoes the bond.
pub(super) fn ensure_no_cycle(tx: &Tx<'_>, target: &str) -> Result<()> {
    ensure_no_cycle_through(tx, &Vertex::itself(target))
}

/// Refuses a cycle from turning an atom into an epic, since an epic waits for all contents.
pub(super) fn ensure_epic_waits_for_nothing_of_its_own(tx: &Tx<'_>, epic: &str) -> Result<()> {
    ensure_no_cycle_through(tx, &Vertex::family(epic))
}

/// Refuses a parent that makes a cycle of containment or of waiting. Atoms that wait for a whole
/// family also wait for a new child in the family.
pub(super) fn ensure_parent_fits(tx: &Tx<'_>, child: &str, parent: &str) -> Result<()> {
    if child == parent {
        return Err(Error::conflict("cycle", format!("{child} cannot be its own parent")));
    }
    ensure_no_cycle_through(tx, &Vertex::itself(child))?;
    ensure_no_cycle_through(tx, &Vertex::family(child))
}

fn ensure_no_cycle_through(tx: &Tx<'_>, start: &Vertex) -> Result<()> {
    let Some(path) = graph::cycle_through(start, |vertex| waiting_for(tx, vertex))? else {
        return Ok(());
    };
    Err(Error::conflict(
        "cycle",
        format!(
            "that would make a cycle, in which everything waits for itself: {}",
            graph::cycle_text(&graph::atoms_of(path))
        ),
    ))
}

fn waiting_for(tx: &Tx<'_>, vertex: &Vertex) -> Result<Vec<Vertex>> {
    let (targets, family) = match vertex.side {
        Side::Itself => (bond::waiting_for_itself(tx, &vertex.atom)?, Some(vertex.atom.clone())),
        Side::Family => {
            (bond::waiting_for_family(tx, &vertex.atom)?, atom::parent_of(tx, &vertex.atom)?)
        }
    };
    let targets = targets.into_iter().map(|atom| Vertex { atom, side: Side::Itself });
    let family = family.into_iter().map(|atom| Vertex { atom, side: Side::Family });
    Ok(family.chain(targets).collect())
}
