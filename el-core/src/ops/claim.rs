use serde_json::json;

use super::change::{ChangeDetails, only_its_own, resolve_atom, set_status};
use super::list::with_parent;
use super::{AssigneeFilter, AtomFilter};
use crate::model::{Atom, EventKind, Status, validate};
use crate::store::filter::Query;
use crate::store::{Store, Tx, atom, event, ready, run};
use crate::{Ctx, Error, Result};

/// Claims an atom for the actor: `in_progress`, assigned to the actor. For people, and for agents
/// that work without `el work`. Claiming an own claim again is no error. `force` overrides another
/// assignee and blockers, but never a live run. `conversation` is the agent's conversation that
/// claims; the Stop hook reminds the conversation later ([`super::take_unfinished`]).
///
/// # Errors
///
/// If the actor has no name, the atom is not ready or is claimed by another, the id is unknown or
/// ambiguous, or the database cannot be written.
pub fn claim(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    force: bool,
    conversation: Option<&str>,
) -> Result<Atom> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let before = resolve_atom(tx, id)?;
        if let Some(own) = &session {
            if own.atom_id == before.id {
                return Ok(before);
            }
            return Err(only_its_own(&own.atom_id));
        }
        if let Some(live) = &before.run_id {
            return Err(Error::conflict(
                "claimed",
                format!("{} is being worked on by {live}", before.id),
            ));
        }
        let owner = before.assignee.as_deref().filter(|who| *who != ctx.actor);
        match before.status {
            Status::InProgress if owner.is_none() => return Ok(before),
            Status::InProgress if !force => {
                return Err(Error::conflict(
                    "claimed",
                    format!(
                        "{} is claimed by {}; --force takes it",
                        before.id,
                        owner.unwrap_or("someone")
                    ),
                ));
            }
            status if status.is_over() => {
                return Err(Error::conflict("over", format!("{} is {status}", before.id)));
            }
            _ => {}
        }
        if let Some(owner) = owner.filter(|_| !force) {
            return Err(Error::conflict(
                "claimed",
                format!("{} is assigned to {owner}; --force takes it", before.id),
            ));
        }
        if !force && before.status == Status::Open && !is_ready(tx, ctx, &before)? {
            return Err(Error::conflict(
                "not_ready",
                format!("{} is not ready; `el why {}` says what holds it", before.id, before.id),
            ));
        }
        take_atom(tx, ctx, &before, conversation)
    })
}

/// The choice of `el next`.
#[derive(Debug, Clone, Default)]
pub struct ClaimNext {
    /// Further conditions. Atoms assigned to others are never returned.
    pub filter: AtomFilter,
    /// Claim the atom in the same transaction.
    pub claim: bool,
    /// As for [`claim`].
    pub conversation: Option<String>,
}

/// Returns the best ready atom for the actor.
///
/// # Errors
///
/// If the actor has no name, or a session of `el work` wants to claim.
pub fn claim_next(store: &mut Store, ctx: &Ctx<'_>, which: &ClaimNext) -> Result<Option<Atom>> {
    Ok(next_many(store, ctx, which, 1)?.pop())
}

/// Returns the best ready atoms for the actor, at most `count`, in one transaction.
///
/// # Errors
///
/// As for [`claim_next`].
pub fn next_many(
    store: &mut Store,
    ctx: &Ctx<'_>,
    which: &ClaimNext,
    count: u32,
) -> Result<Vec<Atom>> {
    let actor = validate::name("actor", ctx.actor)?;
    let pick = |tx: &Tx<'_>| -> Result<Vec<Atom>> {
        let mut filter = with_parent(tx, &which.filter)?;
        filter.assignee.get_or_insert(AssigneeFilter::NobodyOr(actor.clone()));
        let count = Some(i64::from(count));
        Query::ready_at(&filter, ctx.now).fetch_rows(tx, ready::QUEUE_ORDER, count, 0)
    };
    if !which.claim {
        return store.read(pick);
    }
    store.write(|tx| {
        if let Some(own) = run::fence(tx, ctx)? {
            return Err(only_its_own(&own.atom_id));
        }
        let conversation = which.conversation.as_deref();
        pick(tx)?.iter().map(|found| take_atom(tx, ctx, found, conversation)).collect()
    })
}

fn is_ready(tx: &Tx<'_>, ctx: &Ctx<'_>, atom: &Atom) -> Result<bool> {
    Query::ready_at(&AtomFilter::default(), ctx.now).matches(tx, &atom.id)
}

fn take_atom(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &Atom,
    conversation: Option<&str>,
) -> Result<Atom> {
    let owned =
        Atom { assignee: Some(ctx.actor.to_owned()), updated_at: ctx.now, ..before.clone() };
    let claimed = if before.status == Status::InProgress {
        atom::update_fields(tx, before, &owned)?;
        owned
    } else {
        let to = ChangeDetails { assignee: Some(ctx.actor), ..ChangeDetails::default() };
        set_status(tx, ctx, before, Status::InProgress, to)?;
        // To read it again would prepare a statement, which costs more than the change.
        Atom {
            status: Status::InProgress,
            close_reason: None,
            closed_at: None,
            defer_until: None,
            retry_at: None,
            ..owned
        }
    };
    let mut data = json!({ "assignee": ctx.actor, "was": before.assignee });
    if let Some(conversation) = conversation {
        data["conversation"] = conversation.into();
    }
    event::insert(tx, ctx, EventKind::Claimed, Some(&before.id), None, &data)?;
    Ok(claimed)
}
