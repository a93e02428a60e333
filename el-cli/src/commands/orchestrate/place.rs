//! The place of a task, in a person's words.

use anstyle::Style;
use el_core::model::{Status, Timestamp};
use el_core::ops::{TaskView, Tries};
use el_core::rules::orchestrate::Standing;
use el_core::rules::retry::RetryPolicy;

use crate::output::{runs, style, time};

/// Finer than [`Standing`]: tells automatic states, a person's decisions and failures apart. In
/// counting order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TaskStage {
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

impl TaskStage {
    pub(super) fn from_task(task: &TaskView) -> TaskStage {
        let has_failed = task.tries.failures > 0;
        match task.standing {
            Standing::Done => TaskStage::Done,
            Standing::Running => TaskStage::Running,
            Standing::Ready if task.status == Status::Deferred => TaskStage::Deferred,
            Standing::Ready if has_failed || task.tries.retry_at.is_some() => TaskStage::Again,
            Standing::Ready => TaskStage::Ready,
            Standing::Waiting => TaskStage::Waiting,
            Standing::Review => TaskStage::Review,
            Standing::Failed if task.status == Status::WontDo => TaskStage::WontDo,
            Standing::Failed => TaskStage::Failed,
            Standing::Stuck if task.status == Status::Deferred => TaskStage::Deferred,
            Standing::Stuck if has_failed => TaskStage::Failed,
            Standing::Stuck => TaskStage::Blocked,
            Standing::Held => TaskStage::Held,
        }
    }

    /// After a number: `3 to try again`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            TaskStage::Done => "done",
            TaskStage::Running => "running",
            TaskStage::Ready => "ready",
            TaskStage::Again => "to try again",
            TaskStage::Waiting => "waiting",
            TaskStage::Review => "for review",
            TaskStage::Failed => "failed",
            TaskStage::Blocked => "blocked",
            TaskStage::Deferred => "deferred",
            TaskStage::WontDo => "won't do",
            TaskStage::Held => "held",
        }
    }

    pub(super) fn sign_and_style(self) -> (&'static str, Style) {
        let by_status = |word| (style::status_mark(word), style::status_style(word));
        match self {
            TaskStage::Done => by_status("closed"),
            TaskStage::Running => by_status("in_progress"),
            TaskStage::Ready => by_status("open"),
            TaskStage::Again => ("↻", style::WARNING),
            TaskStage::Waiting => ("‖", style::DIM),
            TaskStage::Review => by_status("review"),
            TaskStage::Failed => ("✗", style::ERROR),
            TaskStage::Blocked => by_status("blocked"),
            TaskStage::Deferred => (style::status_mark("deferred"), style::WARNING),
            TaskStage::WontDo => by_status("wont_do"),
            TaskStage::Held => (style::HELD_MARK, style::DIM),
        }
    }

    /// Returns true for tasks that a short view lists: tasks that need a person, run, or are next.
    pub(super) const fn is_notable(self) -> bool {
        !matches!(self, TaskStage::Done | TaskStage::Waiting | TaskStage::Held | TaskStage::WontDo)
    }
}

/// A task's state in a few words.
pub(super) fn brief_state(task: &TaskView, now: Timestamp) -> String {
    let place = TaskStage::from_task(task);
    let head = match place {
        TaskStage::Running => {
            let percent = task.percent.map_or_else(String::new, |percent| format!(" {percent}%"));
            let by = task
                .assignee
                .as_deref()
                .filter(|_| task.tries.outcome.is_some() || task.run_id.is_none());
            let by = by.map_or_else(String::new, |by| format!(" by {by}"));
            let span = task.running_since.map_or_else(String::new, |since| {
                format!(" · {}", time::format_span(now.since(since)))
            });
            format!("running{percent}{by}{span}")
        }
        TaskStage::Again => format!("again {}", next_try(&task.tries, now)),
        TaskStage::Waiting => format!("after {}", list_names(&task.waits_for)),
        TaskStage::Held => format!("held by {}", list_names(&task.waits_for)),
        TaskStage::Deferred => {
            match task.defer_until.filter(|_| task.standing == Standing::Ready) {
                Some(until) => format!("deferred till {}", time::time_of_day(now, until)),
                None => place.word().to_owned(),
            }
        }
        _ => place.word().to_owned(),
    };
    let mut parts = vec![head];
    if task.tries.attempts > 1
        && matches!(place, TaskStage::Done | TaskStage::Running | TaskStage::Review)
    {
        parts.push(match place {
            TaskStage::Running => format!("attempt {}", task.tries.attempts),
            _ => format!("{} attempts", task.tries.attempts),
        });
    }
    if place == TaskStage::Done && task.cost.cost_micros > 0 {
        parts.push(runs::format_cost(task.cost));
    }
    parts.join(" · ")
}

/// The first two, and how many more.
pub(super) fn list_names(ids: &[String]) -> String {
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
        Some(at) => format!("at {} ({})", time::time_of_day(now, at), time::relative_time(now, at)),
        None => "now".to_owned(),
    }
}

/// `attempt 2 of 3 failed: it took longer than 1h`; `None` if the last attempt did not fail. The
/// limit of attempts depends on the outcome of the last attempt.
pub(super) fn last_failure(tries: &Tries, policy: Option<&RetryPolicy>) -> Option<String> {
    let outcome = tries.outcome.filter(|_| tries.failures > 0)?;
    let of =
        policy.map(|policy| policy.attempts_of(outcome)).filter(|most| *most >= tries.failures);
    let of = of.map_or_else(String::new, |most| format!(" of {most}"));
    let why = tries.detail.clone().unwrap_or_else(|| outcome.as_str().replace('_', " "));
    Some(format!("attempt {}{of} failed: {why}", tries.failures))
}

/// The reasons for a task's place, a line each; empty if the place is plain.
pub(super) fn waiting_reasons(task: &TaskView, policy: Option<&RetryPolicy>) -> Vec<String> {
    match TaskStage::from_task(task) {
        TaskStage::Running => task.action.iter().chain(&task.why).cloned().collect(),
        TaskStage::Failed | TaskStage::Again => {
            let failure =
                last_failure(&task.tries, policy).filter(|_| task.standing != Standing::Failed);
            failure.or_else(|| task.why.clone()).into_iter().collect()
        }
        _ => task.why.iter().cloned().collect(),
    }
}
