use std::time::Duration;

use serde_json::json;

use super::change::{AtomEnd, end_atom, ensure_may_set_status, resolved_all, take_claim};
use super::reopen::open_afresh;
use super::{AtomFilter, Sort};
use crate::model::{Atom, EventKind, Status, validate};
use crate::store::filter::Query;
use crate::store::{Store, atom, event, run};
use crate::{Ctx, Error, Result};

/// Discards atoms, all or none. Discarded atoms can be restored until pruned. Discarding again is
/// no error. `force` takes a claim from its claimant.
///
/// # Errors
///
/// If another actor has a claim, a session may not discard an atom, an id is unknown or ambiguous,
/// the caller's run is stale, or the database cannot be written.
pub fn discard<S: AsRef<str>>(
    store: &mut Store,
    ctx: &Ctx<'_>,
    ids: &[S],
    reason: Option<&str>,
    force: bool,
) -> Result<Vec<Atom>> {
    let reason = reason.map(validate::reason).transpose()?;
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let atoms = resolved_all(tx, ids)?;
        for found in &atoms {
            let end = AtomEnd {
                status: Status::Discard,
                reason: reason.as_deref(),
                review: false,
                was_checked: false,
                via: None,
            };
            // Read again, since earlier ids of this call may have changed the atom.
            let atom = &atom::get(tx, &found.id)?;
            take_claim(tx, ctx, session.as_ref(), atom, force)?;
            end_atom(tx, ctx, session.as_ref(), atom, end)?;
        }
        atoms.iter().map(|a| atom::get(tx, &a.id)).collect()
    })
}

/// Restores a discarded atom as open.
///
/// # Errors
///
/// If the atom is not discarded, an id is unknown or ambiguous, the caller's run is stale, or the
/// database cannot be written.
pub fn restore(store: &mut Store, ctx: &Ctx<'_>, id: &str) -> Result<Atom> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let before = super::change::resolve_atom(tx, id)?;
        ensure_may_set_status(tx, session.as_ref(), &before, Status::Open)?;
        if before.status != Status::Discard {
            return Err(Error::conflict(
                "guard",
                format!("{} is {}, not discarded", before.id, before.status),
            ));
        }
        open_afresh(tx, ctx, &before)?;
        atom::get(tx, &before.id)
    })
}

/// Deletes atoms that were discarded longer ago than `older_than`, with comments and bonds. Events
/// and runs stay, and so do atoms with a live run. With `dry_run` nothing is deleted; the answer is
/// the same.
///
/// # Errors
///
/// If the caller is a session, or the database cannot be written.
pub fn prune(
    store: &mut Store,
    ctx: &Ctx<'_>,
    older_than: Duration,
    dry_run: bool,
) -> Result<Vec<Atom>> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let filter = AtomFilter { statuses: vec![Status::Discard], ..AtomFilter::default() };
        let before = ctx.now.minus(older_than);
        let mut pruned =
            Query::new(&filter).fetch_rows(tx, &Sort::Oldest.order_sql(ctx.now), None, 0)?;
        pruned.retain(|a| a.closed_at.unwrap_or(a.updated_at) <= before && a.run_id.is_none());
        if !dry_run {
            for atom in &pruned {
                let data = json!({ "title": atom.title });
                event::insert(tx, ctx, EventKind::Pruned, Some(&atom.id), None, &data)?;
                atom::delete(tx, &atom.id)?;
            }
        }
        Ok(pruned)
    })
}
