use std::time::Duration;

use serde_json::json;

use super::budget::{self, Caps};
use super::change::{ChangeDetails, set_status};
use super::comment::insert_comment;
use super::list::with_parent;
use super::pause::{account_pause, begin_probe, is_being_probed, paused_for};
use super::{AssigneeFilter, AtomFilter};
use crate::model::{
    Atom, EventKind, Progress, Run, Status, Verify, fresh_run_id, fresh_token, fresh_uuid, validate,
};
use crate::rules::retry::{NextStart, RetryPolicy};
use crate::store::filter::Query;
use crate::store::{Store, Tx, atom, event, ready, run, worker};
use crate::{Ctx, Error, Result, count_noun};

/// A worker's request for an atom. The worker makes id and token before the request. If the call
/// breaks, a look for the run tells whether the claim happened.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    pub run_id: String,
    pub token: String,
    pub worker_id: String,
    pub agent: String,
    /// The fingerprint of the agent's account, if known.
    pub account: Option<String>,
    /// The most live runs of the agent, over all workers; `None`: no limit.
    pub agent_limit: Option<usize>,
    pub executor: String,
    /// The session id that the agent is to be started with.
    pub conversation: String,
    /// The working folder, unless the atom names a folder.
    pub workdir: String,
    /// The check of the agent's work, unless the atom has a check.
    pub check: Option<Check>,
    /// The agent's work needs a review, in addition to atoms that ask for a review.
    pub review: bool,
    pub filter: AtomFilter,
    /// The budgets of the run and of the epics above.
    pub caps: Caps,
    /// How long the claim holds without a heartbeat.
    pub lease: Duration,
    /// The limits and waits for an atom that comes back to the queue again and again.
    pub policy: RetryPolicy,
}

impl ClaimRequest {
    /// A request by a worker for an agent, with a fresh id and token: any atom, without limits and
    /// without a check.
    #[must_use]
    pub fn new(worker_id: &str, agent: &str, workdir: String, lease: Duration) -> ClaimRequest {
        ClaimRequest {
            run_id: fresh_run_id(),
            token: fresh_token(),
            worker_id: worker_id.to_owned(),
            agent: agent.to_owned(),
            account: None,
            agent_limit: None,
            executor: "claude".to_owned(),
            conversation: fresh_uuid(),
            workdir,
            check: None,
            review: false,
            filter: AtomFilter::default(),
            caps: Caps::default(),
            lease,
            policy: RetryPolicy::default(),
        }
    }
}

/// The agent's own check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The program and the arguments; empty: the agent has no check, but an atom may have a check.
    pub command: Vec<String>,
    /// The agent cannot close an atom while the check fails.
    pub required: bool,
    /// How long any check may take.
    pub timeout: Duration,
}

/// A claim that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedRun {
    pub atom: Atom,
    pub run: Run,
}

/// Claims the best ready atom for the agent: the atom becomes `in_progress` and a run is inserted,
/// in one immediate transaction. No two workers get the same atom, and no agent exceeds the limit
/// of runs.
///
/// Returns `None` if no atom is ready, the agent is busy, or the worker was asked to stop: a caller
/// that sees `None` after a stop request has seen all runs that there will be. After an outage, an
/// account gets one run at a time until the service has answered.
///
/// # Errors
///
/// If the accounts of all agents are paused, or the database cannot be written.
pub fn claim_run(
    store: &mut Store,
    ctx: &Ctx<'_>,
    request: &ClaimRequest,
) -> Result<Option<ClaimedRun>> {
    claim_best(store, ctx, std::slice::from_ref(request))
}

/// Claims the best atom for any of several agents of one worker that are not busy. Between equally
/// good atoms, the first agent's wins.
///
/// # Errors
///
/// As for [`claim_run`].
pub fn claim_best(
    store: &mut Store,
    ctx: &Ctx<'_>,
    requests: &[ClaimRequest],
) -> Result<Option<ClaimedRun>> {
    let agents = requests
        .iter()
        .map(|request| validate::name("agent", &request.agent))
        .collect::<Result<Vec<_>>>()?;
    let claimed = store.write(|tx| {
        if let Some(first) = requests.first()
            && worker::is_stopping(tx, &first.worker_id)?
        {
            return Ok(None);
        }
        let accounts: Vec<_> = requests.iter().map(|request| request.account.clone()).collect();
        if let Some(pause) = paused_for(tx, &accounts, ctx.now)? {
            return Err(Error::Paused { until: pause.until, reason: pause.reason });
        }
        loop {
            let mut best: Option<(Atom, &ClaimRequest, &String)> = None;
            for (request, agent) in requests.iter().zip(&agents) {
                let Some(found) = first_for(tx, ctx, request, agent)? else { continue };
                if best.as_ref().is_none_or(|(other, ..)| {
                    (found.priority, found.created_at) < (other.priority, other.created_at)
                }) {
                    best = Some((found, request, agent));
                }
            }
            let Some((found, request, agent)) = best else { return Ok(None) };
            let ctx = Ctx { actor: agent, ..*ctx };
            if !is_held_back(tx, &ctx, &found, &request.policy)? {
                return start_run(tx, &ctx, &found, request, agent).map(Some);
            }
        }
    });
    match claimed {
        // If the look-up fails too, a claim that was made stays unused until its lease is over.
        Err(error) if error.is_server_away() => match store.read(|tx| made_by(tx, requests)) {
            Ok(Some(claimed)) => Ok(Some(claimed)),
            _ => Err(error),
        },
        claimed => claimed,
    }
}

/// Finds the run of a claim that succeeded although its answer was lost.
fn made_by(tx: &Tx<'_>, requests: &[ClaimRequest]) -> Result<Option<ClaimedRun>> {
    for request in requests {
        let made = run::find(tx, &request.run_id)?;
        if let Some(run) = made.filter(|run| run.token == request.token && run.outcome.is_none()) {
            return Ok(Some(ClaimedRun { atom: atom::get(tx, &run.atom_id)?, run }));
        }
    }
    Ok(None)
}

/// Holds an atom that comes back to the queue again and again: the atom is deferred or given up.
/// Returns true if the atom was held, and so is no longer ready.
fn is_held_back(tx: &Tx<'_>, ctx: &Ctx<'_>, found: &Atom, policy: &RetryPolicy) -> Result<bool> {
    let earlier = run::recent_attempts(tx, &found.id)?;
    match policy.next_start(&earlier, ctx.now) {
        NextStart::Now => return Ok(false),
        NextStart::Later(at) => {
            let to = ChangeDetails {
                retry_at: Some(at),
                via: Some("back-off"),
                ..ChangeDetails::default()
            };
            set_status(tx, ctx, found, Status::Open, to)?;
        }
        NextStart::Never(attempts) => {
            set_status(tx, ctx, found, Status::Blocked, ChangeDetails::default())?;
            let last = earlier.last().map_or("unknown", |attempt| attempt.outcome.as_str());
            let text = format!(
                "Given up after {} in a row that were over within a minute and left it ready again \
                 at once; the last ended as {last}. `el retry` gives it fresh attempts.",
                count_noun(usize::try_from(attempts).unwrap_or(usize::MAX), "attempt")
            );
            insert_comment(tx, ctx, &found.id, None, &text)?;
        }
    }
    Ok(true)
}

/// The most epics with a spent budget that a claim holds. The next claim holds the rest.
const SPENT_EPICS: usize = 100;

fn first_for(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    request: &ClaimRequest,
    agent: &str,
) -> Result<Option<Atom>> {
    if let Some(limit) = request.agent_limit
        && run::live_count(tx, agent)? >= i64::try_from(limit).unwrap_or(i64::MAX)
    {
        return Ok(None);
    }
    let account = request.account.as_deref();
    if account_pause(tx, account, ctx.now)?.is_some() || is_being_probed(tx, account, ctx.now)? {
        return Ok(None);
    }
    let mut filter = with_parent(tx, &request.filter)?;
    filter.assignee.get_or_insert_with(|| AssigneeFilter::NobodyOr(agent.to_owned()));
    // An epic with a spent budget is held once found, so each round looks at another atom.
    for _ in 0..SPENT_EPICS {
        let Some(found) =
            Query::ready_at(&filter, ctx.now).fetch_rows(tx, ready::QUEUE_ORDER, Some(1), 0)?.pop()
        else {
            return Ok(None);
        };
        if budget::may_begin(tx, ctx, &found.id, request.caps)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn start_run(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    found: &Atom,
    request: &ClaimRequest,
    agent: &str,
) -> Result<ClaimedRun> {
    let own_folder = found.delegation.as_ref().and_then(|task| task.workdir.clone());
    let made = Run {
        record_type: Run::RECORD_TYPE,
        id: request.run_id.clone(),
        atom_id: found.id.clone(),
        attempt: run::count_of(tx, &found.id)? + 1,
        agent: agent.to_owned(),
        executor: request.executor.clone(),
        token: request.token.clone(),
        worker_id: Some(request.worker_id.clone()),
        session: None,
        conversation: Some(request.conversation.clone()),
        workdir: own_folder.unwrap_or_else(|| request.workdir.clone()),
        started_at: ctx.now,
        heartbeat_at: ctx.now,
        lease_until: tx.lease_time(ctx.now).plus(request.lease),
        ended_at: None,
        outcome: None,
        detail: None,
        exit_code: None,
        exit_signal: None,
        denied_tools: Vec::new(),
        supervisor: None,
        agent_pid: None,
        progress: Progress::default(),
        active_at: None,
        stop_blocks: 0,
        resumes: 0,
        cancel_requested: None,
        summary: None,
        completion: None,
        artifacts: 0,
        review: request.review || found.asks_for_review(),
        verify: check_of(found, request.check.as_ref()),
        output: None,
        error_lines: None,
        sandbox_notes: Vec::new(),
    };
    set_status(tx, ctx, found, Status::InProgress, ChangeDetails::default())?;
    run::insert(tx, &made)?;
    begin_probe(tx, request.account.as_deref(), &made.id, ctx.now)?;
    budget::record_caps(tx, &made.id, request.caps)?;
    let data = json!({ "agent": made.agent, "attempt": made.attempt, "worker": made.worker_id });
    event::insert(tx, ctx, EventKind::RunStarted, Some(&found.id), Some(&made.id), &data)?;
    Ok(ClaimedRun { atom: atom::get(tx, &found.id)?, run: made })
}

/// The time limit of a check without a setting.
const CHECK_TIMEOUT: Duration = Duration::from_secs(600);

fn check_of(atom: &Atom, check: Option<&Check>) -> Option<Verify> {
    let own = atom.delegation.as_ref();
    let command = own
        .and_then(|task| task.verify.clone())
        .or_else(|| check.map(|check| check.command.clone()))?;
    let required =
        own.is_some_and(|task| task.require_verify) || check.is_some_and(|check| check.required);
    let timeout = check.map_or(CHECK_TIMEOUT, |check| check.timeout);
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    (!command.is_empty()).then(|| Verify::pending(command, required, timeout_ms))
}

/// Records the tmux session of the run.
///
/// # Errors
///
/// If the run is over or the token is not the run's, or the database cannot be written.
pub fn record_launch(store: &mut Store, run_id: &str, token: &str, session: &str) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set_column(tx, run_id, "session", &session)
    })
}
