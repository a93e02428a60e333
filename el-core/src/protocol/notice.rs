//! The message at the end of a run: `@<agent> Task <id> completed (exit <code>).`, a blank line,
//! `Output:` and the summary.

use super::fence::cap_text;
use crate::model::{Atom, Outcome, Run, handle_of};

/// The most bytes of a summary, a screen or two; the full text is in the run's folder.
const SUMMARY_MAX: usize = 16_000;

/// Returns the message about an ended run.
///
/// `to`: the recipient. `summary`: the summary handed back; without a summary, the outcome is
/// shown.
pub fn completion_text(to: &str, run: &Run, atom: Option<&Atom>, summary: Option<&str>) -> String {
    let mut output = how_it_ended(run, atom);
    if let Some(summary) = summary.map(str::trim).filter(|text| !text.is_empty()) {
        output = format!("{output}\n\n{}", cap_text(summary, SUMMARY_MAX));
    }
    format!(
        "@{} Task {} completed (exit {}).\n\nOutput:\n{output}",
        handle_of(to),
        run.atom_id,
        exit_text(run)
    )
}

/// Returns the exit code as a shell shows exit codes: 128 and more for a signal. A run without an
/// exit code (the agent never started, or vanished) is described in words.
fn exit_text(run: &Run) -> String {
    match (run.exit_code, run.exit_signal) {
        (_, Some(signal)) => (128 + signal).to_string(),
        (Some(code), None) => code.to_string(),
        (None, None) => "unknown".to_owned(),
    }
}

fn how_it_ended(run: &Run, atom: Option<&Atom>) -> String {
    let detail = run.detail.as_deref().unwrap_or_default();
    let reason =
        atom.and_then(|a| a.close_reason.as_deref()).map(|reason| cap_text(reason, SUMMARY_MAX));
    match (run.outcome, reason) {
        (Some(Outcome::Closed), Some(reason)) => reason,
        (Some(Outcome::WontDo | Outcome::Discard), Some(reason)) => {
            format!("It will not be done: {reason}")
        }
        (Some(Outcome::Closed), None) => "It is closed, without a reason.".to_owned(),
        (Some(Outcome::Review), _) => {
            format!(
                "It waits for a review: `el review`, then `el approve {0}` or `el reject {0}`.",
                run.atom_id
            )
        }
        (Some(outcome), _) => {
            let status = atom.map_or("gone", |a| a.status.as_str());
            format!("The run ended as {outcome}: {detail}. The atom is {status}.")
        }
        (None, _) => detail.to_owned(),
    }
}
