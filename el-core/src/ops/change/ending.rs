//! The one set of rules for a change of status that ends an atom, for all verbs.

use serde_json::json;

use super::{
    ChangeDetails, ensure_check_passed, ensure_may_close, ensure_may_set_status, set_status,
    taken_claim,
};
use crate::model::{Atom, EventKind, Run, Status};
use crate::ops::comment::insert_comment;
use crate::store::{Tx, event};
use crate::{Ctx, Error, Result};

/// How an atom is to end.
#[derive(Debug, Clone, Copy)]
pub(in crate::ops) struct AtomEnd<'a> {
    /// One of those that are over.
    pub(in crate::ops) status: Status,
    pub(in crate::ops) reason: Option<&'a str>,
    /// The project reviews every run.
    pub(in crate::ops) review: bool,
    /// The caller ran the required check just now.
    pub(in crate::ops) was_checked: bool,
    pub(in crate::ops) via: Option<&'static str>,
}

/// Ends an atom. If the atom has ended so before, the first reason stands, and another reason
/// becomes a comment. An atom that ended otherwise is reopened first, except that any atom can be
/// discarded. The caller has taken a claim by [`take_claim`].
pub(in crate::ops) fn end_atom(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    before: &Atom,
    end: AtomEnd<'_>,
) -> Result<()> {
    ensure_may_set_status(tx, session, before, end.status)?;
    if end.status == Status::Closed {
        ensure_may_close(tx, session, before, end.review)?;
        ensure_check_passed(session, before, end.was_checked)?;
    }
    if before.status == end.status {
        return match end.reason.filter(|reason| before.close_reason.as_deref() != Some(reason)) {
            Some(reason) => insert_comment(tx, ctx, &before.id, None, reason).map(drop),
            None => Ok(()),
        };
    }
    if before.status.is_over() && end.status != Status::Discard {
        return Err(Error::conflict(
            "over",
            format!(
                "{0} is {1}; `el reopen {0}` comes before it can be {2}",
                before.id, before.status, end.status
            ),
        ));
    }
    let to = ChangeDetails { reason: end.reason, via: end.via, ..ChangeDetails::default() };
    set_status(tx, ctx, before, end.status, to)
}

/// Takes a claim by hand from its claimant, and writes the event. Refuses as [`taken_claim`] does.
pub(in crate::ops) fn take_claim(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    atom: &Atom,
    force: bool,
) -> Result<()> {
    match taken_claim(ctx, session, atom, force)? {
        Some(owner) => {
            let data = json!({ "was": owner });
            event::insert(tx, ctx, EventKind::Released, Some(&atom.id), None, &data)
        }
        None => Ok(()),
    }
}
