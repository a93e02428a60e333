use std::time::Duration;

use serde_json::json;

use super::change::{To, set_status};
use super::list::with_parent;
use super::pause::paused_in;
use super::{AssigneeFilter, AtomFilter};
use crate::model::{Atom, EventKind, Progress, Run, Status, validate};
use crate::store::filter::Query;
use crate::store::{Store, atom, event, ready, run, worker};
use crate::{Ctx, Error, Result};

/// A worker's wish for one atom. Id and token are made by the claimer before it asks, so that after a broken call, asking for the run
/// tells whether the claim happened.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    pub run_id: String,
    pub token: String,
    pub worker_id: String,
    pub agent: String,
    pub executor: String,
    /// The session id that the agent is to be started with.
    pub conversation: String,
    pub workdir: String,
    pub filter: AtomFilter,
    /// How long the claim holds without a heartbeat.
    pub lease: Duration,
}

/// A claim that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedRun {
    pub atom: Atom,
    pub run: Run,
}

/// Picks the best ready atom for the agent, makes it `in_progress` and inserts its run: one immediate transaction, so no two workers
/// ever get the same atom. `None` if nothing is ready, or the worker was asked to stop: whoever asked and then looks at what runs sees
/// all that ever will. Refused while the account is paused.
pub fn claim_run(store: &mut Store, ctx: &Ctx<'_>, request: &ClaimRequest) -> Result<Option<ClaimedRun>> {
    let agent = validate::name("agent", &request.agent)?;
    store.write(|tx| {
        if worker::is_stopping(tx, &request.worker_id)? {
            return Ok(None);
        }
        if let Some(pause) = paused_in(tx, ctx.now)? {
            return Err(Error::Paused { until: pause.until, reason: pause.reason });
        }
        let mut filter = with_parent(tx, &request.filter)?;
        filter.assignee.get_or_insert(AssigneeFilter::NobodyOr(agent.clone()));
        let Some(found) = Query::ready(&filter, ctx.now).rows(tx, ready::QUEUE_ORDER, Some(1), 0)?.pop() else { return Ok(None) };
        let attempt = run::of_atom(tx, &found.id)?.len() + 1;
        let made = Run {
            record_type: Run::RECORD_TYPE,
            id: request.run_id.clone(),
            atom_id: found.id.clone(),
            attempt: i64::try_from(attempt).unwrap_or(i64::MAX),
            agent,
            executor: request.executor.clone(),
            token: request.token.clone(),
            worker_id: Some(request.worker_id.clone()),
            session: None,
            conversation: Some(request.conversation.clone()),
            workdir: request.workdir.clone(),
            started_at: ctx.now,
            heartbeat_at: ctx.now,
            lease_until: ctx.now.plus(request.lease),
            ended_at: None,
            outcome: None,
            detail: None,
            exit_code: None,
            exit_signal: None,
            supervisor: None,
            agent_pid: None,
            progress: Progress::default(),
            active_at: None,
            stop_blocks: 0,
            resumes: 0,
            cancel_requested: None,
        };
        set_status(tx, ctx, &found, Status::InProgress, To::default())?;
        run::insert(tx, &made)?;
        let data = json!({ "agent": made.agent, "attempt": made.attempt, "worker": made.worker_id });
        event::insert(tx, ctx, EventKind::RunStarted, Some(&found.id), Some(&made.id), &data)?;
        Ok(Some(ClaimedRun { atom: atom::get(tx, &found.id)?, run: made }))
    })
}

/// Records the tmux session that the run was launched in.
pub fn launched(store: &mut Store, run_id: &str, token: &str, session: &str) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set(tx, run_id, "session", &session)
    })
}
