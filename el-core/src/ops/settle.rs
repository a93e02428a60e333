use serde_json::json;

use super::change::{To, set_status};
use super::pause::pause_in;
use crate::model::{
    Atom, EventKind, ExitRecord, Message, Outcome, Run, Stamp, Status, Timestamp,
    claude_code_channel, handle,
};
use crate::protocol::{notice, report, summary};
use crate::rules::orchestrate::contradiction;
use crate::rules::retry::RetryPolicy;
use crate::rules::verdict::{AtomChange, Facts, Verdict, decide};
use crate::store::{Store, Tx, atom, comment, event, review, run};
use crate::{Ctx, Error, Result};

/// Lines of a summary that are told where a run's end is told.
const SUMMARY_LINES: usize = 40;

/// How a run was settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    pub run: Run,
    /// The atom as it is now; `None` if it is gone.
    pub atom: Option<Atom>,
    pub outcome: Outcome,
    /// It had been settled before; nothing was written now.
    pub was_settled: bool,
    /// What was told of it; `None` where the atom is tried again, so that there is nothing to tell
    /// yet.
    pub message: Option<Message>,
}

/// Ends a run: re-reads the atom, decides, and writes outcome, atom and events in one transaction.
/// Called once the exit record is there and nothing of the agent's tree is left. Settling again
/// changes nothing.
pub fn settle(
    store: &mut Store,
    ctx: &Ctx<'_>,
    exit: &ExitRecord,
    policy: &RetryPolicy,
    jitter: f64,
) -> Result<Settled> {
    settle_if(store, ctx, exit, policy, jitter, |_| Ok(()))
}

/// [`settle`] by somebody else than the run's supervisor, which was seen to be gone, or never to
/// have come: `seen`. Refused if one has registered since then, for its agent may be at work.
pub fn settle_lost(
    store: &mut Store,
    ctx: &Ctx<'_>,
    exit: &ExitRecord,
    policy: &RetryPolicy,
    jitter: f64,
    seen: Option<&Stamp>,
) -> Result<Settled> {
    settle_if(store, ctx, exit, policy, jitter, |run| match &run.supervisor {
        Some(now) if Some(now) != seen => Err(Error::conflict(
            "claimed",
            format!("{} has got a supervisor meanwhile, process {}", run.id, now.pid),
        )),
        _ => Ok(()),
    })
}

fn settle_if(
    store: &mut Store,
    ctx: &Ctx<'_>,
    exit: &ExitRecord,
    policy: &RetryPolicy,
    jitter: f64,
    may: impl FnOnce(&Run) -> Result<()>,
) -> Result<Settled> {
    store.write(|tx| {
        let before = run::get(tx, &exit.run)?;
        if let Some(outcome) = before.outcome {
            let atom = atom::find(tx, &before.atom_id)?;
            return Ok(Settled { run: before, atom, outcome, was_settled: true, message: None });
        }
        may(&before)?;
        let found = atom::find(tx, &before.atom_id)?;
        let verdict = verdict(tx, &before, ctx.now, exit, policy, jitter)?;
        run::end(tx, exit, ctx.now, verdict.outcome, &verdict.detail)?;
        let mut data = json!({ "outcome": verdict.outcome, "detail": verdict.detail, "attempt": before.attempt });
        if let Some(summary) = &before.summary {
            data["summary"] = json!(summary.status);
            data["artifacts"] = json!(before.artifacts);
        }
        event::insert(tx, ctx, EventKind::RunEnded, Some(&before.atom_id), Some(&before.id), &data)?;
        if let Some(found) = &found {
            match &verdict.atom {
                AtomChange::Keep => {}
                AtomChange::Reopen { retry_at } => {
                    set_status(tx, ctx, found, Status::Open, To { retry_at: *retry_at, ..To::default() })?
                }
                AtomChange::Hold => set_status(tx, ctx, found, Status::Deferred, To::default())?,
                AtomChange::Block { comment } => {
                    set_status(tx, ctx, found, Status::Blocked, To::default())?;
                    let added = comment::insert(tx, ctx, &found.id, comment)?;
                    event::insert(
                        tx,
                        ctx,
                        EventKind::Commented,
                        Some(&found.id),
                        Some(&before.id),
                        &json!({ "comment": added.id }),
                    )?;
                }
            }
        }
        if let Some(until) = verdict.pause_until {
            pause_in(tx, until, &verdict.detail, ctx.now)?;
        }
        let ended = run::get(tx, &before.id)?;
        let atom = atom::find(tx, &before.atom_id)?;
        if let Some(atom) = &atom {
            tell_contradiction(tx, ctx, &ended, atom)?;
        }
        let is_tried_again = matches!(verdict.atom, AtomChange::Reopen { .. });
        let message = if is_tried_again { None } else { Some(tell(tx, ctx, &ended, atom.as_ref())?) };
        Ok(Settled { run: ended, atom, outcome: verdict.outcome, was_settled: false, message })
    })
}

/// What the agent said of its task's end counts for nothing, but where it contradicts the status,
/// whoever looks at the atom is told.
fn tell_contradiction(tx: &Tx<'_>, ctx: &Ctx<'_>, ended: &Run, atom: &Atom) -> Result<()> {
    let Some(said) = &ended.completion else { return Ok(()) };
    let Some(words) = contradiction(said.status, atom.status, atom.close_reason.as_deref()) else {
        return Ok(());
    };
    let added = comment::insert(
        tx,
        ctx,
        &atom.id,
        &format!("A contradiction: {words}. The status stands."),
    )?;
    event::insert(
        tx,
        ctx,
        EventKind::Commented,
        Some(&atom.id),
        Some(&ended.id),
        &json!({ "comment": added.id }),
    )
}

/// How a run would be settled now, for whoever has to write it down before: its outcome and why.
/// Writes nothing.
pub fn foresee(
    store: &Store,
    now: Timestamp,
    exit: &ExitRecord,
    policy: &RetryPolicy,
) -> Result<(Outcome, String)> {
    store.read(|tx| {
        let run = run::get(tx, &exit.run)?;
        if let Some(outcome) = run.outcome {
            return Ok((outcome, run.detail.unwrap_or_default()));
        }
        let verdict = verdict(tx, &run, now, exit, policy, 0.0)?;
        Ok((verdict.outcome, verdict.detail))
    })
}

fn verdict(
    tx: &Tx<'_>,
    run: &Run,
    now: Timestamp,
    exit: &ExitRecord,
    policy: &RetryPolicy,
    jitter: f64,
) -> Result<Verdict> {
    let status = atom::status(tx, &run.atom_id)?;
    let fresh_since = atom::fresh_since(tx, &run.atom_id)?;
    let over = super::budget::over(tx, &run.id)?;
    Ok(decide(&Facts {
        atom: status.map(|(status, by_run)| (status, by_run.as_deref() == Some(run.id.as_str()))),
        exit,
        cancel: run.cancel_requested,
        over_budget: over.as_deref(),
        earlier: &run::outcomes_since(tx, &run.atom_id, fresh_since)?,
        policy,
        jitter,
        now,
    }))
}

/// Tells whoever asked for the work that it has ended, in that one's channel.
fn tell(tx: &Tx<'_>, ctx: &Ctx<'_>, ended: &Run, atom: Option<&Atom>) -> Result<Message> {
    let to = requester(ended, atom);
    let channel = claude_code_channel(&to);
    let summary = handed_back(tx, ended)?;
    let text = notice::completion(&to, ended, atom, summary.as_deref());
    // A summary may name others by an at-sign: they hear of it too.
    super::post::insert(
        tx,
        ctx,
        &channel,
        &ended.agent,
        &text,
        &[to],
        Some(&ended.atom_id),
        Some(&ended.id),
    )
}

/// Who asked for the work: who handed it over, or else who filed the atom; of an atom that is gone,
/// nobody is known but the agent itself.
fn requester(ended: &Run, atom: Option<&Atom>) -> String {
    let delegated = atom.and_then(|a| a.delegation.as_ref()).map(|task| task.by.as_str());
    let names = [delegated, atom.map(|a| a.created_by.as_str()), Some(ended.agent.as_str())];
    let found = names.into_iter().flatten().find(|name| !handle(name).is_empty());
    found.unwrap_or("unknown").to_owned()
}

/// What the run handed back: the report of a hand-over, or else the summary that its agent wrote.
pub(super) fn handed_back(tx: &Tx<'_>, ended: &Run) -> Result<Option<String>> {
    let report = review::last(tx, &ended.atom_id)?
        .filter(|review| review.run_id.as_deref() == Some(ended.id.as_str()));
    let own = || {
        ended
            .summary
            .as_ref()
            .filter(|summary| !summary.is_fallback)
            .map(|summary| summary::in_words(summary, SUMMARY_LINES))
    };
    Ok(report.and_then(|review| report::in_words(&review.report)).or_else(own))
}

impl Settled {
    /// When the atom will be tried again, if it will.
    pub fn retry_at(&self) -> Option<Timestamp> {
        self.atom.as_ref().filter(|a| a.status == Status::Open).and_then(|a| a.retry_at)
    }
}
