//! The denials that an agent met: by its permissions, or by its sandbox.

use super::entry::way;
use crate::model::{LastRun, Way};

/// The beginning of the command in a sandbox note that allows the denied access.
const COMMAND: &str = "el config set ";

fn kept_by_sandbox(run: &LastRun) -> impl Iterator<Item = (&str, &str)> {
    let notes = run.sandbox_notes.iter().map(String::as_str);
    notes.filter_map(|note| Some((note, &note[note.find(COMMAND)?..])))
}

/// Describes the denials that the run met.
pub(super) fn denial_of(run: &LastRun) -> Option<String> {
    let mut told = Vec::new();
    if !run.denied.is_empty() {
        told.push(format!("the permissions of {} denied {}", run.agent, run.denied.join(", ")));
    }
    told.extend(kept_by_sandbox(run).map(|(note, _)| note.to_owned()));
    (!told.is_empty()).then(|| told.join("; "))
}

/// Returns true if the run is stuck and met a denial.
pub(super) fn is_denied(run: &LastRun, is_stuck: bool) -> bool {
    is_stuck && denial_of(run).is_some()
}

/// Returns the command that would allow the denied access.
pub(super) fn allow_ways(run: &LastRun) -> Vec<Way> {
    if !run.denied.is_empty() {
        let rules = run.denied.join(",").replace('\'', r"'\''");
        let command = format!("el config set --add agents.{}.allowed_tools '{rules}'", run.agent);
        return vec![way("e", "allow", command)];
    }
    let first = kept_by_sandbox(run).next();
    first.map(|(_, command)| way("e", "allow", command.to_owned())).into_iter().collect()
}
