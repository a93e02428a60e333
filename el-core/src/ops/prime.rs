use schemars::JsonSchema;
use serde::Serialize;

use super::{AssigneeFilter, AtomFilter};
use crate::model::{Atom, Status};
use crate::store::filter::Query;
use crate::store::{Store, atom, ready, run};
use crate::{Ctx, Result};

/// The information an agent needs at the start.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Primed {
    /// The atom of the session's live run.
    pub own: Option<Atom>,
    /// The actor's atoms in progress, best first.
    pub in_progress: Vec<Atom>,
    pub in_progress_total: i64,
    /// The ready atoms that the actor could take, best first.
    pub ready: Vec<Atom>,
    // `COUNTED`.
    /// Counted no further than 100: a hook has to answer in milliseconds.
    pub ready_total: i64,
}

/// The limit for counting ready atoms: beyond, the number does not matter.
pub const COUNTED: i64 = 100;

/// Returns the atoms that concern the actor: at most `most` of each kind, with counts.
///
/// # Errors
///
/// If the database cannot be read.
pub fn prime(store: &Store, ctx: &Ctx<'_>, most: i64) -> Result<Primed> {
    store.read(|tx| {
        let own = match ctx.session {
            Some(session) => match run::find(tx, &session.run)?.filter(|run| run.is_live()) {
                Some(live) => atom::find(tx, &live.atom_id)?,
                None => None,
            },
            None => None,
        };
        let mine = AssigneeFilter::Is(ctx.actor.to_owned());
        let mine = AtomFilter {
            statuses: vec![Status::InProgress],
            assignee: Some(mine),
            ..AtomFilter::default()
        };
        let mine = Query::new(&mine);
        let free = AtomFilter {
            assignee: Some(AssigneeFilter::NobodyOr(ctx.actor.to_owned())),
            ..AtomFilter::default()
        };
        let free = Query::ready_at(&free, ctx.now);
        Ok(Primed {
            own,
            in_progress: mine.fetch_rows(tx, ready::QUEUE_ORDER, Some(most), 0)?,
            in_progress_total: mine.count(tx)?,
            ready: free.fetch_rows(tx, ready::QUEUE_ORDER, Some(most), 0)?,
            ready_total: free.count_up_to(tx, COUNTED)?,
        })
    })
}
