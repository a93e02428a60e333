use std::time::Duration;

use serde_json::json;

use super::budget::{self, Caps};
use super::change::{To, set_status};
use super::list::with_parent;
use super::pause::{account_pause, begin_probe, is_being_probed, paused_for};
use super::{AssigneeFilter, AtomFilter};
use crate::model::{Atom, EventKind, Progress, Run, Status, Verify, validate};
use crate::rules::retry::{Again, RetryPolicy};
use crate::store::filter::Query;
use crate::store::{Store, Tx, atom, comment, event, ready, run, worker};
use crate::{Ctx, Error, Result, counted};

/// A worker's wish for one atom. Id and token are made by the claimer before it asks, so that after
/// a broken call, asking for the run tells whether the claim happened.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    pub run_id: String,
    pub token: String,
    pub worker_id: String,
    pub agent: String,
    /// The fingerprint of the account that the agent works with, if it has one.
    pub account: Option<String>,
    /// How many runs of the agent may live at once, whichever workers they belong to; `None`: any
    /// number.
    pub agent_limit: Option<usize>,
    pub executor: String,
    /// The session id that the agent is to be started with.
    pub conversation: String,
    /// Where the agent works, unless the atom names a folder of its own.
    pub workdir: String,
    /// How the agent's work is checked, unless the atom has a check of its own.
    pub check: Option<Check>,
    /// The agent hands its work over for review; beside what the atom says.
    pub review: bool,
    pub filter: AtomFilter,
    /// What the run, and the epics that it belongs to, may cost.
    pub caps: Caps,
    /// How long the claim holds without a heartbeat.
    pub lease: Duration,
    /// How often, and after which waits, an atom is begun that only comes round.
    pub policy: RetryPolicy,
}

/// The agent's own check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The program and its arguments; empty: the agent has no check, but an atom may have one.
    pub command: Vec<String>,
    /// The agent cannot close its work while the check fails.
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

/// Picks the best ready atom for the agent, makes it `in_progress` and inserts its run: one
/// immediate transaction, so no two workers ever get the same atom, and no agent does more at a
/// time than it may. `None` if nothing is ready, the agent is busy, or the worker was asked to
/// stop: whoever asked and then looks at what runs sees all that ever will. Refused while the
/// accounts of all agents are paused; after an outage, one run at a time is begun for an account
/// until the service has answered.
pub fn claim_run(
    store: &mut Store,
    ctx: &Ctx<'_>,
    request: &ClaimRequest,
) -> Result<Option<ClaimedRun>> {
    claim_best(store, ctx, std::slice::from_ref(request))
}

/// The same for several agents: the best atom that any of those may take who are not busy. Of
/// equally good ones, the first agent's.
pub fn claim_best(
    store: &mut Store,
    ctx: &Ctx<'_>,
    requests: &[ClaimRequest],
) -> Result<Option<ClaimedRun>> {
    let agents = requests
        .iter()
        .map(|request| validate::name("agent", &request.agent))
        .collect::<Result<Vec<_>>>()?;
    store.write(|tx| {
        if requests
            .iter()
            .map(|r| worker::is_stopping(tx, &r.worker_id))
            .collect::<Result<Vec<_>>>()?
            .contains(&true)
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
                return take(tx, &ctx, &found, request, agent).map(Some);
            }
        }
    })
}

/// An atom that only comes round is not begun: it is put off, or given up. Then it is ready no
/// more.
fn is_held_back(tx: &Tx<'_>, ctx: &Ctx<'_>, found: &Atom, policy: &RetryPolicy) -> Result<bool> {
    let earlier = run::attempts_since(tx, &found.id, atom::fresh_since(tx, &found.id)?)?;
    match policy.again(&earlier, ctx.now) {
        Again::Now => return Ok(false),
        Again::Later(at) => {
            let to = To { retry_at: Some(at), via: Some("back-off"), ..To::default() };
            set_status(tx, ctx, found, Status::Open, to)?;
        }
        Again::Never(attempts) => {
            set_status(tx, ctx, found, Status::Blocked, To::default())?;
            let last = earlier.last().map_or("unknown", |attempt| attempt.outcome.as_str());
            let text = format!(
                "Given up after {} in a row that were over within a minute and left it ready again at once; the last \
                 ended as {last}. `el retry` gives it fresh attempts.",
                counted(usize::try_from(attempts).unwrap_or(usize::MAX), "attempt")
            );
            let said = comment::insert(tx, ctx, &found.id, &text)?;
            event::insert(
                tx,
                ctx,
                EventKind::Commented,
                Some(&found.id),
                None,
                &json!({ "comment": said.id }),
            )?;
        }
    }
    Ok(true)
}

/// Epics that one claim may find to have spent their money; the next claim goes on with the rest.
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
    // What belongs to an epic whose money is spent is ready no more once that is found, so each
    // round looks at another.
    for _ in 0..SPENT_EPICS {
        let Some(found) =
            Query::ready(&filter, ctx.now).rows(tx, ready::QUEUE_ORDER, Some(1), 0)?.pop()
        else {
            return Ok(None);
        };
        if budget::may_begin(tx, ctx, &found.id, request.caps)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn take(
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
        summary: None,
        completion: None,
        artifacts: 0,
        review: request.review || found.asks_for_review(),
        verify: check_of(found, request.check.as_ref()),
        output: None,
        error_lines: None,
    };
    set_status(tx, ctx, found, Status::InProgress, To::default())?;
    run::insert(tx, &made)?;
    begin_probe(tx, request.account.as_deref(), &made.id, ctx.now)?;
    budget::keep(tx, &made.id, request.caps)?;
    let data = json!({ "agent": made.agent, "attempt": made.attempt, "worker": made.worker_id });
    event::insert(tx, ctx, EventKind::RunStarted, Some(&found.id), Some(&made.id), &data)?;
    Ok(ClaimedRun { atom: atom::get(tx, &found.id)?, run: made })
}

/// How long a check may take where nothing else is said.
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

/// Records the tmux session that the run was launched in.
pub fn launched(store: &mut Store, run_id: &str, token: &str, session: &str) -> Result<()> {
    store.write(|tx| {
        run::live_with_token(tx, run_id, Some(token))?;
        run::set(tx, run_id, "session", &session)
    })
}
