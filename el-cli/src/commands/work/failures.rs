//! Errors of a worker, and of work that is not all done.

use el_agents::worker::{Summary, WorkError};
use el_core::model::{Pause, PauseKind};

use crate::{CommandError, Exit, Result};

/// The error for an action that a pause prevents, with the exit code of the pause.
pub(in crate::commands) fn pause_error(pause: &Pause) -> CommandError {
    let (exit, code, hint) = match pause.kind {
        PauseKind::Account => {
            (Exit::Configuration, "account", "el work --resume --drain goes on after that")
        }
        PauseKind::Budget => (
            Exit::Paused,
            "budget_spent",
            "el work --resume goes on today all the same; el config set budget_per_day USD sets \
             another bound",
        ),
        PauseKind::UsageLimit | PauseKind::Outage | PauseKind::EmptyRuns => (
            Exit::Paused,
            "paused",
            "el work --once --wait waits for it; el work --resume goes on at once",
        ),
    };
    CommandError::new(exit, code, format!("not all is done: {}", pause.reason))
        .with_retryable(exit == Exit::Paused)
        .with_detail("pause", serde_json::to_value(pause).unwrap_or_default())
        .with_hint(hint)
}

/// Refuses a result in which work failed, or in which `left`, atoms that were named, had no run.
pub(super) fn ensure_all_is_done(summary: &Summary, left: &[String]) -> Result<()> {
    if let Some(pause) = &summary.pause {
        return Err(pause_error(pause));
    }
    let failed = summary.unfinished_atoms();
    let left: Vec<&str> = left.iter().map(String::as_str).collect();
    let all = el_core::count_noun(summary.atoms.len() + left.len(), "atom");
    let was = if left.len() == 1 { "was" } else { "were" };
    let (mut told, mut hints) = (Vec::new(), Vec::new());
    if let Some(first) = failed.first() {
        told.push(format!("{} of {all} failed or blocked: {}", failed.len(), failed.join(", ")));
        hints.push(format!("el why {first} says how each attempt ended"));
    }
    if let Some(first) = left.first() {
        told.push(format!("{} of {all} {was} not worked on: {}", left.len(), left.join(", ")));
        hints.push(format!("el why {first} says what holds it"));
    }
    if told.is_empty() {
        return Ok(());
    }
    Err(CommandError::new(Exit::Unfinished, "unfinished", told.join("; "))
        .with_detail("atoms", [failed, left].concat())
        .with_hints(hints))
}

pub(in crate::commands) fn work_failure(error: WorkError) -> CommandError {
    match error {
        WorkError::Configuration(error) => error.into(),
        WorkError::Store(error) => error.into(),
        WorkError::DatabaseGone { .. } => CommandError::config_error("database", error.to_string())
            .with_hint("all sessions were ended, since nothing of their work could be kept")
            .with_hint("put the database back, or el init makes a new one; el doctor looks at it"),
        WorkError::CannotLaunch { .. } => CommandError::config_error("tmux", error.to_string())
            .with_hint(
                "el doctor looks at what is needed; the atoms are open again and were not lost",
            ),
        WorkError::System { .. } => {
            CommandError::internal_error("the worker could not go on").with_source(error)
        }
    }
}
