//! The outcome of a run, from the exit record and the atom as read afterwards. The atom's status is
//! the only truth; the exit record only decides about an atom left in progress.

use std::time::Duration;

use crate::count_noun;
use crate::model::{
    Atom, CancelMode, EndKind, ExitRecord, Fault, Outcome, PauseKind, Refusal, Status, Timestamp,
};

use super::pause::{KnownPause, after_outage};
use super::retry::{Next, RetryPolicy};

/// The facts of a verdict.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The atom's status, and whether this run set the status; `None` if the atom is gone.
    pub atom: Option<(Status, bool)>,
    pub exit: &'a ExitRecord,
    /// When the run began.
    pub began: Timestamp,
    /// The atom's own run options asked for the model, or have the key, that was refused.
    pub are_own_options_refused: bool,
    /// The recorded pause of the run's account.
    pub known: Option<&'a KnownPause>,
    pub cancel: Option<CancelMode>,
    /// The budget that the run overspent, in words.
    pub over_budget: Option<&'a str>,
    /// How the earlier attempts since the atom's last fresh start ended.
    pub earlier: &'a [Outcome],
    pub policy: &'a RetryPolicy,
    /// From 0 to 1.
    pub jitter: f64,
    pub now: Timestamp,
}

/// The changes to write.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub outcome: Outcome,
    /// Why, in words.
    pub detail: String,
    pub atom: AtomChange,
    /// The new pause of the run's account.
    pub pause: Option<KnownPause>,
}

/// The change to the atom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtomChange {
    /// No change.
    Keep,
    /// Open again, not before the time.
    Reopen { retry_at: Option<Timestamp> },
    /// Held until a person says so.
    Hold,
    /// No more attempts; the comment says why.
    Block { comment: String },
}

impl AtomChange {
    /// Returns the atom after the change.
    pub fn applied_to(&self, atom: &Atom) -> Atom {
        let (status, retry_at) = match self {
            AtomChange::Keep => (atom.status, atom.retry_at),
            AtomChange::Reopen { retry_at } => (Status::Open, *retry_at),
            AtomChange::Hold => (Status::Deferred, None),
            AtomChange::Block { .. } => (Status::Blocked, None),
        };
        Atom { status, retry_at, ..atom.clone() }
    }
}

/// The pause after a usage limit without a known reset time, in seconds.
const UNKNOWN_LIMIT_PAUSE_S: u64 = 5 * 60;
/// The longest pause that a message can impose.
const LONGEST_PAUSE_S: u64 = 8 * 24 * 3600;

/// How much later than the others an atom comes back that met an outage.
const AFTER_OTHERS: Duration = Duration::from_secs(3);

/// After so many interruptions of an atom, the next signal to its agent counts as a failure.
const SIGNALS_MAX: usize = 3;

/// The agent could not have closed its atom, whether it tried or not.
const FULL_DISK: &str = "the disk of the tracker was full, so that the atom could not be closed";

/// How the detail begins of a run that needed branches of other machines.
pub const NO_BRANCHES: &str = "it was not started";

/// Decides. Total: every combination has a verdict.
pub fn decide_verdict(facts: &Facts<'_>) -> Verdict {
    let keep =
        |outcome, detail: String| Verdict { outcome, detail, atom: AtomChange::Keep, pause: None };
    let Some((status, by_this_run)) = facts.atom else {
        return keep(Outcome::Deleted, "the atom was removed while the run was on".to_owned());
    };
    if status != Status::InProgress {
        return match reported_outcome(status).filter(|_| by_this_run) {
            Some(outcome) => keep(outcome, format!("the agent set it to {status}")),
            None => keep(
                Outcome::Superseded,
                format!("someone else set the atom to {status}; that stands"),
            ),
        };
    }
    if let Some(mode) = facts.cancel {
        let (atom, what) = match mode {
            CancelMode::Hold => (AtomChange::Hold, "held until `el reopen`"),
            CancelMode::Requeue => (AtomChange::Reopen { retry_at: None }, "open again"),
        };
        return Verdict {
            outcome: Outcome::Cancelled,
            detail: match facts.over_budget {
                Some(why) => with_message(facts.exit, why),
                None => format!("cancelled; the atom is {what}"),
            },
            atom,
            pause: None,
        };
    }
    match facts.exit.fault {
        Some(Fault::UsageLimit { resets_at }) => return usage_limit(facts, resets_at),
        Some(Fault::Account { .. }) if facts.are_own_options_refused => {
            return own_options_refused(facts);
        }
        Some(Fault::Account { refusal }) => return account_error(facts, refusal),
        Some(Fault::Outage) => return outage_verdict(facts),
        Some(Fault::FullDisk) => return interrupted_verdict(facts, FULL_DISK),
        Some(Fault::Branches) => return interrupted_verdict(facts, NO_BRANCHES),
        None => {}
    }
    if facts.exit.end == EndKind::Hangup {
        return interrupted_verdict(facts, "the session terminated without closing the atom");
    }
    if let Some(name) = signal_from_outside(facts) {
        return interrupted_verdict(facts, &format!("the agent was ended from outside, by {name}"));
    }
    let (outcome, detail) = match (failed_outcome(facts.exit), facts.over_budget) {
        ((Outcome::Failed | Outcome::Violation, _), Some(why)) => {
            (Outcome::Failed, with_message(facts.exit, why))
        }
        (found, _) => found,
    };
    if facts.exit.is_permanent {
        let comment = format!(
            "Not tried again, as it would end the same: {detail}. Once that is mended, `el retry` \
             gives it fresh attempts."
        );
        return Verdict { outcome, detail, atom: AtomChange::Block { comment }, pause: None };
    }
    let atom = match facts.policy.next_attempt(outcome, facts.earlier, facts.jitter) {
        Next::Retry(wait) => AtomChange::Reopen { retry_at: Some(facts.now.plus(wait)) },
        Next::GiveUp(attempts) => AtomChange::Block {
            comment: format!(
                "Given up after {} that ended as {outcome}; the last: {detail}. `el retry` gives \
                 it fresh attempts.",
                count_noun(usize::try_from(attempts).unwrap_or(usize::MAX), "attempt")
            ),
        },
    };
    Verdict { outcome, detail, atom, pause: None }
}

/// Returns the name of the signal by which a person or the system ends programs, if that ended the
/// agent. One that ends its own processes by name, again and again, is a failure.
fn signal_from_outside(facts: &Facts<'_>) -> Option<&'static str> {
    let before = facts.earlier.iter().filter(|o| **o == Outcome::Interrupted).count();
    if facts.exit.end != EndKind::Exited || facts.over_budget.is_some() || before >= SIGNALS_MAX {
        return None;
    }
    match facts.exit.signal {
        Some(1) => Some("SIGHUP"),
        Some(15) => Some("SIGTERM"),
        _ => None,
    }
}

fn reported_outcome(status: Status) -> Option<Outcome> {
    match status {
        Status::Closed => Some(Outcome::Closed),
        Status::Deferred => Some(Outcome::Deferred),
        Status::WontDo => Some(Outcome::WontDo),
        Status::Discard => Some(Outcome::Discard),
        Status::Review => Some(Outcome::Review),
        Status::Blocked => Some(Outcome::Blocked),
        Status::Testing => Some(Outcome::Testing),
        Status::Open | Status::InProgress => None,
    }
}

fn usage_limit(facts: &Facts<'_>, resets_at: Option<Timestamp>) -> Verdict {
    let seconds = Duration::from_secs;
    let longest = facts.now.plus(seconds(LONGEST_PAUSE_S));
    let until = match resets_at {
        // Up to a fifth of the wait on top, so that not every worker of the account comes back in
        // the same second.
        Some(at) if at > facts.now => {
            let spread =
                at.since(facts.now).mul_f64(0.2 * facts.jitter.clamp(0.0, 1.0)).min(seconds(600));
            at.plus(spread).min(longest)
        }
        _ => facts.now.plus(seconds(UNKNOWN_LIMIT_PAUSE_S)),
    };
    let detail = format!("the account's usage limit was reached; paused until {until}");
    external_verdict(facts, Outcome::UsageLimit, detail, PauseKind::UsageLimit, Some(until))
}

fn account_error(facts: &Facts<'_>, refusal: Refusal) -> Verdict {
    let what = with_message(facts.exit, "the account cannot be used");
    let detail = format!("{what}. To go on, {}; then run el work --resume", refusal.remedy());
    external_verdict(facts, Outcome::AccountError, detail, PauseKind::Account, None)
}

/// The account may work: only this atom asks for the model or the key, and no other waits for it.
fn own_options_refused(facts: &Facts<'_>) -> Verdict {
    let detail = with_message(facts.exit, "the model or the key of the atom itself is refused");
    let comment = format!(
        "Not tried again, as it would end the same: {detail}. `el update` sets another one by \
         --model or --env, and `el retry` gives the atom fresh attempts."
    );
    let atom = AtomChange::Block { comment };
    Verdict { outcome: Outcome::Failed, detail, atom, pause: None }
}

fn external_verdict(
    facts: &Facts<'_>,
    outcome: Outcome,
    detail: String,
    kind: PauseKind,
    until: Option<Timestamp>,
) -> Verdict {
    let pause = KnownPause {
        kind,
        until,
        learnt_at: facts.now,
        reason: detail.clone(),
        strikes: 0,
        probe: None,
        is_answered: false,
    };
    let atom = AtomChange::Reopen { retry_at: None };
    Verdict { outcome, detail, atom, pause: Some(pause) }
}

/// Makes the verdict of an outage. The atom returns a little after the others, so that the probe is
/// not always the same atom.
fn outage_verdict(facts: &Facts<'_>) -> Verdict {
    let detail = with_message(facts.exit, "the service failed");
    let known = after_outage(facts.known, facts.began, facts.now, facts.policy, &detail);
    let retry_at = known.until.map(|until| until.max(facts.now).plus(AFTER_OTHERS));
    Verdict {
        outcome: Outcome::Outage,
        detail,
        atom: AtomChange::Reopen { retry_at },
        pause: Some(known),
    }
}

fn interrupted_verdict(facts: &Facts<'_>, what: &str) -> Verdict {
    let wait = facts.policy.after_interruption(facts.earlier);
    Verdict {
        outcome: Outcome::Interrupted,
        detail: with_message(facts.exit, what),
        atom: AtomChange::Reopen { retry_at: (!wait.is_zero()).then(|| facts.now.plus(wait)) },
        pause: None,
    }
}

/// Adds the agent's last words: the agent's text about a limit belongs to the description.
fn with_message(exit: &ExitRecord, what: &str) -> String {
    // The reason is continued in the same sentence, or has another after it.
    let message = exit.message.as_deref().map(|m| m.trim().trim_end_matches('.'));
    let message = message.filter(|m| !m.is_empty());
    message.map_or_else(|| what.to_owned(), |m| format!("{what}: {m}"))
}

fn failed_outcome(exit: &ExitRecord) -> (Outcome, String) {
    let with = |what: &str| with_message(exit, what);
    match exit.end {
        EndKind::TimedOut => (Outcome::TimedOut, with("its time was up")),
        EndKind::Stalled => {
            (Outcome::Stalled, with("the agent neither said nor did anything for too long"))
        }
        EndKind::SpawnFailed => (Outcome::LaunchFailed, with("the agent could not be started")),
        EndKind::LaunchFailed => (Outcome::LaunchFailed, with("the session could not be started")),
        EndKind::SupervisorLost => (Outcome::Lost, with("the supervisor vanished")),
        EndKind::LeaseLost => (Outcome::Lost, with("the lease could not be kept")),
        // Both have been decided before; a record without the reason is one of the machine's.
        EndKind::Hangup | EndKind::Refused => (Outcome::Lost, with("it was ended from outside")),
        EndKind::Cancelled => (Outcome::Failed, with("the agent was ended from outside")),
        EndKind::Finished | EndKind::Exited if exit.is_error => {
            (Outcome::Failed, with("the agent reported an error"))
        }
        EndKind::Finished | EndKind::Exited => match (exit.signal, exit.exit_code) {
            (Some(signal), _) => {
                (Outcome::Failed, with(&format!("the agent was killed by signal {signal}")))
            }
            (None, Some(code)) if code != 0 => {
                (Outcome::Failed, with(&format!("the agent exited with code {code}")))
            }
            _ => {
                let mut detail = "the agent ended without closing its atom".to_owned();
                if !exit.denied_tools.is_empty() {
                    detail.push_str(&format!(
                        "; its permissions denied {}",
                        exit.denied_tools.join(", ")
                    ));
                }
                (Outcome::Violation, detail)
            }
        },
    }
}

#[cfg(test)]
mod tests;
