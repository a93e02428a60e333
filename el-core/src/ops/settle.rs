use serde_json::json;

use super::budget;
use super::change::{ChangeDetails, set_status};
use super::comment::insert_comment;
use super::pause::{known_in, note_answer, note_end, pause_in};
use super::supervise::{RunSignal, signal_of};
use crate::model::{
    Artifact, Atom, EventKind, ExitRecord, Fault, Message, Outcome, Progress, Refusal, Run, Stamp,
    Status, Summary, Timestamp, claude_code_channel, handle_of,
};
use crate::protocol::{notice, report, summary};
use crate::rules::orchestrate::find_contradiction;
use crate::rules::retry::RetryPolicy;
use crate::rules::verdict::{AtomChange, Facts, Verdict, decide_verdict};
use crate::store::{Store, Tx, artifact, atom, event, review, run};
use crate::{Ctx, Error, Result};

/// The most lines of a summary in a report of a run's end.
const SUMMARY_LINES: usize = 40;

/// Variables with which an atom has an account of its own.
const OWN_ACCOUNT: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"];

/// How a run was settled.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    pub run: Run,
    /// The atom after the change; `None` if the atom is gone.
    pub atom: Option<Atom>,
    pub outcome: Outcome,
    /// The run was settled before; nothing was written now.
    pub was_settled: bool,
    /// The message to the requester; `None` if the atom is tried again, since there is no result
    /// yet.
    pub message: Option<Message>,
}

/// The end of a run, with all facts known then.
#[derive(Debug, Clone, Copy)]
pub struct Ending<'a> {
    pub exit: &'a ExitRecord,
    pub policy: &'a RetryPolicy,
    /// From 0 to 1: spreads retries that would otherwise happen at the same time.
    pub jitter: f64,
    pub by: SettledBy<'a>,
    /// The last figures; `None`: the figures of the last heartbeat.
    pub progress: Option<&'a Progress>,
    /// The last lines of the agent's output, and the lines with errors. The caller has sanitised
    /// and cut the lines.
    pub output: &'a str,
    pub error_lines: &'a str,
}

impl<'a> Ending<'a> {
    /// Makes an ending from the supervisor, with only the exit record.
    pub fn new(exit: &'a ExitRecord, policy: &'a RetryPolicy, jitter: f64) -> Ending<'a> {
        let by = SettledBy::Supervisor;
        Ending { exit, policy, jitter, by, progress: None, output: "", error_lines: "" }
    }
}

/// The process that settles a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettledBy<'a> {
    Supervisor,
    /// Another process, which saw that the supervisor is gone or never came. Refused if another
    /// supervisor has registered since, since that supervisor's agent may be at work.
    Other {
        seen: Option<&'a Stamp>,
    },
}

/// The decision about a run, before the write.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    pub run: &'a Run,
    /// The atom after the change; `None` if the atom is gone.
    pub atom: Option<&'a Atom>,
    pub outcome: Outcome,
    pub detail: &'a str,
}

/// The hand-over of a run: the parsed summary and the files.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedOver {
    pub summary: Summary,
    pub artifacts: Vec<Artifact>,
}

/// Ends a run: reads run and atom again, decides, and writes outcome, hand-over, atom and events in
/// one transaction. The caller has written the exit record, and no process of the agent is left.
/// Settling again changes nothing.
///
/// `publish` gets the decision before the write. It writes the run's documents, so that other
/// processes that see the end also see the documents, and returns the hand-over. The transaction
/// waits for `publish`, so `publish` has to be quick.
///
/// # Errors
///
/// If the store fails, or the run has another supervisor than the one seen.
pub fn settle(
    store: &mut Store,
    ctx: &Ctx<'_>,
    ending: &Ending<'_>,
    publish: impl FnOnce(&Decided<'_>) -> Option<HandedOver>,
) -> Result<Settled> {
    store.write(|tx| {
        let mut run = run::get(tx, &ending.exit.run)?;
        if let Some(outcome) = run.outcome {
            let atom = atom::find(tx, &run.atom_id)?;
            return Ok(Settled { run, atom, outcome, was_settled: true, message: None });
        }
        ensure_may_settle(&run, ending.by)?;
        run = record_progress(tx, run, ending.progress, ctx.now)?;
        let found = atom::find(tx, &run.atom_id)?;
        let verdict = verdict_of(tx, &run, found.as_ref(), ctx.now, ending)?;
        let will_be = found.as_ref().map(|atom| verdict.atom.applied_to(atom));
        let (outcome, detail) = (verdict.outcome, verdict.detail.as_str());
        let decided = Decided { run: &run, atom: will_be.as_ref(), outcome, detail };
        let handed = publish(&decided);
        record_hand_over(tx, &mut run, ending, handed)?;
        run::record_end(tx, ending.exit, ctx.now, outcome, detail)?;
        let mut data = json!({ "outcome": outcome, "detail": detail, "attempt": run.attempt });
        if let Some(summary) = &run.summary {
            data["summary"] = json!(summary.status);
            data["artifacts"] = json!(run.artifacts);
        }
        event::insert(tx, ctx, EventKind::RunEnded, Some(&run.atom_id), Some(&run.id), &data)?;
        if let Some(found) = &found {
            change_atom(tx, ctx, found, &run.id, &verdict.atom)?;
        }
        let account = ending.exit.account.as_deref();
        note_end(tx, account, &run, outcome)?;
        if let Some(pause) = &verdict.pause {
            pause_in(tx, account, pause)?;
        }
        let ended = run::get(tx, &run.id)?;
        let atom = atom::find(tx, &run.atom_id)?;
        if let Some(atom) = &atom {
            tell_contradiction(tx, ctx, &ended, atom)?;
        }
        let is_tried_again = matches!(verdict.atom, AtomChange::Reopen { .. });
        let message = if is_tried_again {
            None
        } else {
            Some(notify_requester(tx, ctx, &ended, atom.as_ref())?)
        };
        Ok(Settled { run: ended, atom, outcome, was_settled: false, message })
    })
}

fn ensure_may_settle(run: &Run, by: SettledBy<'_>) -> Result<()> {
    match (by, &run.supervisor) {
        (SettledBy::Other { seen }, Some(now)) if Some(now) != seen => Err(Error::conflict(
            "claimed",
            format!("{} has got a supervisor meanwhile, process {}", run.id, now.pid),
        )),
        _ => Ok(()),
    }
}

/// Records the last figures, or else keeps those of the last heartbeat, and ends this run or others
/// if over budget. Returns the run after the change.
fn record_progress(
    tx: &Tx<'_>,
    before: Run,
    last: Option<&Progress>,
    now: Timestamp,
) -> Result<Run> {
    let is_working = signal_of(tx, &before)? == RunSignal::Work;
    if let Some(progress) = last {
        let beat = run::Heartbeat { run: &before.id, now, active_at: None, progress };
        beat.write(tx, before.lease_until)?;
        note_answer(tx, &before, progress)?;
    }
    let progress = last.unwrap_or(&before.progress);
    let has_ended_runs = budget::record_cost(tx, &before, progress, now, is_working, true)?;
    Ok(match last {
        None => before,
        Some(_) if has_ended_runs => run::get(tx, &before.id)?,
        Some(progress) => Run { heartbeat_at: now, progress: progress.clone(), ..before },
    })
}

/// Records the hand-over. Without output of the agent, the output is `NULL`, not empty.
fn record_hand_over(
    tx: &Tx<'_>,
    run: &mut Run,
    ending: &Ending<'_>,
    handed: Option<HandedOver>,
) -> Result<()> {
    for (column, text) in [("output", ending.output), ("error_lines", ending.error_lines)] {
        if !text.is_empty() {
            run::set_column(tx, &run.id, column, &text)?;
        }
    }
    let Some(HandedOver { summary, artifacts }) = handed else { return Ok(()) };
    let text = serde_json::to_string(&summary).expect("a summary has string keys only");
    run::set_column(tx, &run.id, "summary", &text)?;
    artifact::replace(tx, &run.id, &artifacts)?;
    run.artifacts = i64::try_from(artifacts.iter().filter(|each| each.is_sent()).count())
        .expect("a run hands over few files");
    run.summary = Some(summary);
    Ok(())
}

fn change_atom(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    found: &Atom,
    run: &str,
    change: &AtomChange,
) -> Result<()> {
    match change {
        AtomChange::Keep => Ok(()),
        AtomChange::Reopen { retry_at } => set_status(
            tx,
            ctx,
            found,
            Status::Open,
            ChangeDetails { retry_at: *retry_at, ..ChangeDetails::default() },
        ),
        AtomChange::Hold => set_status(tx, ctx, found, Status::Deferred, ChangeDetails::default()),
        AtomChange::Block { comment } => {
            set_status(tx, ctx, found, Status::Blocked, ChangeDetails::default())?;
            comment_on_end(tx, ctx, &found.id, run, comment)
        }
    }
}

/// A comment that tells of a run's end.
fn comment_on_end(tx: &Tx<'_>, ctx: &Ctx<'_>, atom: &str, run: &str, text: &str) -> Result<()> {
    insert_comment(tx, ctx, atom, Some(run), text).map(drop)
}

/// Comments on an atom if the agent's completion report contradicts the status. The status counts,
/// not the report.
fn tell_contradiction(tx: &Tx<'_>, ctx: &Ctx<'_>, ended: &Run, atom: &Atom) -> Result<()> {
    let Some(said) = &ended.completion else { return Ok(()) };
    let Some(words) = find_contradiction(said.status, atom.status, atom.close_reason.as_deref())
    else {
        return Ok(());
    };
    let text = format!("A contradiction: {words}. The status stands.");
    comment_on_end(tx, ctx, &atom.id, &ended.id, &text)
}

fn verdict_of(
    tx: &Tx<'_>,
    run: &Run,
    atom: Option<&Atom>,
    now: Timestamp,
    ending: &Ending<'_>,
) -> Result<Verdict> {
    let state = atom::state_of(tx, &run.atom_id)?;
    let earlier = run::recent_attempts(tx, &run.atom_id)?;
    let over = budget::overrun_reason(tx, &run.id)?;
    Ok(decide_verdict(&Facts {
        atom: state.map(|state| (state.status, state.by_run.as_deref() == Some(run.id.as_str()))),
        exit: ending.exit,
        began: run.started_at,
        are_own_options_refused: are_own_options_refused(atom, ending.exit),
        known: known_in(tx, ending.exit.account.as_deref())?.as_ref(),
        cancel: run.cancel_requested,
        over_budget: over.as_deref(),
        earlier: &earlier.iter().map(|one| one.outcome).collect::<Vec<_>>(),
        policy: ending.policy,
        jitter: ending.jitter,
        now,
    }))
}

/// Returns true if the account was refused for the model or the key that the atom itself has.
fn are_own_options_refused(atom: Option<&Atom>, exit: &ExitRecord) -> bool {
    let Some(Fault::Account { refusal }) = exit.fault else { return false };
    atom.and_then(|atom| atom.run_options.as_ref()).is_some_and(|options| {
        let sets = |name: &&str| options.env.contains_key(*name);
        refusal == Refusal::Model && (options.model.is_some() || sets(&"ANTHROPIC_MODEL"))
            || OWN_ACCOUNT.iter().any(sets)
    })
}

/// Sends the requester a message about the end of a run, in the requester's channel.
fn notify_requester(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    ended: &Run,
    atom: Option<&Atom>,
) -> Result<Message> {
    let to = requester_of(ended, atom);
    let channel = claude_code_channel(&to);
    let summary = handed_back(tx, ended)?;
    let text = notice::completion_text(&to, ended, atom, summary.as_deref());
    // The names that the summary mentions get the message too.
    super::post::insert_message(
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

/// Returns the requester: the actor who delegated the task, or else who created the atom. If the
/// atom is gone, only the agent is known.
fn requester_of(ended: &Run, atom: Option<&Atom>) -> String {
    let delegated = atom.and_then(|a| a.delegation.as_ref()).map(|task| task.by.as_str());
    let names = [delegated, atom.map(|a| a.created_by.as_str()), Some(ended.agent.as_str())];
    let found = names.into_iter().flatten().find(|name| !handle_of(name).is_empty());
    found.unwrap_or("unknown").to_owned()
}

/// Returns the hand-over as a text: the report of a review, or else the agent's summary.
pub(super) fn handed_back(tx: &Tx<'_>, ended: &Run) -> Result<Option<String>> {
    let report = review::last_review(tx, &ended.atom_id)?
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
    /// Returns the time of the next attempt, if there will be an attempt.
    pub fn retry_at(&self) -> Option<Timestamp> {
        self.atom.as_ref().filter(|a| a.status == Status::Open).and_then(|a| a.retry_at)
    }
}
