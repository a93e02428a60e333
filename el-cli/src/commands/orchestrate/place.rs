//! The place of a task, in a person's words.

use anstyle::Style;
use el_core::model::{Status, Timestamp};
use el_core::ops::{TaskView, Tries};
use el_core::rules::orchestrate::Standing;
use el_core::rules::retry::RetryPolicy;

use crate::output::{runs, style, time};

/// Finer than [`Standing`]: tells automatic states, a person's decisions and failures apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Done,
    Running,
    Ready,
    /// An attempt failed; a worker tries again once the back-off is over.
    Again,
    Waiting,
    Review,
    Failed,
    Blocked,
    Deferred,
    WontDo,
    Held,
}

impl Place {
    /// All places, in counting order.
    pub(super) const ALL: [Place; 11] = [
        Place::Done,
        Place::Running,
        Place::Ready,
        Place::Again,
        Place::Waiting,
        Place::Review,
        Place::Failed,
        Place::Blocked,
        Place::Deferred,
        Place::WontDo,
        Place::Held,
    ];

    pub(super) fn of(task: &TaskView) -> Place {
        let has_failed = task.tries.failures > 0;
        match task.standing {
            Standing::Done => Place::Done,
            Standing::Running => Place::Running,
            Standing::Ready if task.status == Status::Deferred => Place::Deferred,
            Standing::Ready if has_failed || task.tries.retry_at.is_some() => Place::Again,
            Standing::Ready => Place::Ready,
            Standing::Waiting => Place::Waiting,
            Standing::Review => Place::Review,
            Standing::Failed if task.status == Status::WontDo => Place::WontDo,
            Standing::Failed => Place::Failed,
            Standing::Stuck if task.status == Status::Deferred => Place::Deferred,
            Standing::Stuck if has_failed => Place::Failed,
            Standing::Stuck => Place::Blocked,
            Standing::Held => Place::Held,
        }
    }

    /// After a number: `3 to try again`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Place::Done => "done",
            Place::Running => "running",
            Place::Ready => "ready",
            Place::Again => "to try again",
            Place::Waiting => "waiting",
            Place::Review => "for review",
            Place::Failed => "failed",
            Place::Blocked => "blocked",
            Place::Deferred => "deferred",
            Place::WontDo => "won't do",
            Place::Held => "held",
        }
    }

    pub(super) fn look(self) -> (&'static str, Style) {
        match self {
            Place::Done => ("✓", style::GOOD),
            Place::Running => ("◐", style::status("in_progress")),
            Place::Ready => ("○", style::status("open")),
            Place::Again => ("↻", style::WARNING),
            Place::Waiting => ("·", style::DIM),
            Place::Review => ("◑", style::status("review")),
            Place::Failed => ("✗", style::ERROR),
            Place::Blocked => ("⊘", style::WARNING),
            Place::Deferred => ("◌", style::WARNING),
            Place::WontDo => ("–", style::DIM),
            Place::Held => ("⊘", style::DIM),
        }
    }

    /// Returns true for tasks that a short view lists: tasks that need a person, run, or are next.
    pub(super) const fn is_notable(self) -> bool {
        !matches!(self, Place::Done | Place::Waiting | Place::Held | Place::WontDo)
    }
}

/// A task's state in a few words.
pub(super) fn brief(task: &TaskView, now: Timestamp) -> String {
    let place = Place::of(task);
    let head = match place {
        Place::Running => {
            let percent = task.percent.map_or_else(String::new, |percent| format!(" {percent}%"));
            let by = task
                .assignee
                .as_deref()
                .filter(|_| task.tries.outcome.is_some() || task.run_id.is_none());
            let by = by.map_or_else(String::new, |by| format!(" by {by}"));
            let span = task
                .running_since
                .map_or_else(String::new, |since| format!(" · {}", time::span(now.since(since))));
            format!("running{percent}{by}{span}")
        }
        Place::Again => format!("again {}", next_try(&task.tries, now)),
        Place::Waiting => format!("after {}", names(&task.waits_for)),
        Place::Held => format!("held by {}", names(&task.waits_for)),
        Place::Deferred => match task.defer_until.filter(|_| task.standing == Standing::Ready) {
            Some(until) => format!("deferred till {}", time::at(now, until)),
            None => place.word().to_owned(),
        },
        _ => place.word().to_owned(),
    };
    let mut parts = vec![head];
    if task.tries.attempts > 1 && matches!(place, Place::Done | Place::Running | Place::Review) {
        parts.push(match place {
            Place::Running => format!("attempt {}", task.tries.attempts),
            _ => format!("{} attempts", task.tries.attempts),
        });
    }
    if place == Place::Done && task.cost_micros > 0 {
        parts.push(runs::cost(task.cost_micros));
    }
    parts.join(" · ")
}

/// The first two, and how many more.
pub(super) fn names(ids: &[String]) -> String {
    match ids {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [one, two] => format!("{one}, {two}"),
        [one, two, more @ ..] => format!("{one}, {two} and {} more", more.len()),
    }
}

/// `at 14:05 (in 3m)`, or `now`.
pub(super) fn next_try(tries: &Tries, now: Timestamp) -> String {
    match tries.retry_at.filter(|at| *at > now) {
        Some(at) => format!("at {} ({})", time::at(now, at), time::relative(now, at)),
        None => "now".to_owned(),
    }
}

/// `attempt 2 of 3 failed: it took longer than 1h`; `None` if the last attempt did not fail. The
/// limit of attempts depends on the outcome of the last attempt.
pub(super) fn failure(tries: &Tries, policy: Option<&RetryPolicy>) -> Option<String> {
    let outcome = tries.outcome.filter(|_| tries.failures > 0)?;
    let of =
        policy.map(|policy| policy.attempts_of(outcome)).filter(|most| *most >= tries.failures);
    let of = of.map_or_else(String::new, |most| format!(" of {most}"));
    let why = tries.detail.clone().unwrap_or_else(|| outcome.as_str().replace('_', " "));
    Some(format!("attempt {}{of} failed: {why}", tries.failures))
}

/// The reasons for a task's place, a line each; empty if the place is plain.
pub(super) fn reasons(task: &TaskView, policy: Option<&RetryPolicy>) -> Vec<String> {
    match Place::of(task) {
        Place::Done | Place::Waiting | Place::Held | Place::Ready => {
            task.why.iter().cloned().collect()
        }
        Place::Running => task.action.iter().chain(&task.why).cloned().collect(),
        Place::Failed | Place::Again => {
            let failure =
                failure(&task.tries, policy).filter(|_| task.standing != Standing::Failed);
            failure.or_else(|| task.why.clone()).into_iter().collect()
        }
        Place::Blocked | Place::Deferred | Place::WontDo | Place::Review => {
            task.why.iter().cloned().collect()
        }
    }
}
