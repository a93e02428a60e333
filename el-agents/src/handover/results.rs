//! `RESULTS.json`. The shape is a promise, described in `docs/results-schema.md`; [`VERSION`]
//! counts the changes.

use el_core::model::{Artifact, Atom, ExitRecord, Outcome, Run, Summary, Timestamp};
use serde_json::{Value, json};

use crate::rundir::RunDir;

/// The name of the document's schema.
const SCHEMA: &str = "el.results";
/// Raised when a key changes its meaning or disappears. New keys do not raise the version.
const VERSION: u32 = 1;

/// The data for the documents of a run's end.
#[derive(Debug, Clone, Copy)]
pub(super) struct EndedRun<'a> {
    pub(super) run: &'a Run,
    pub(super) atom: Option<&'a Atom>,
    pub(super) exit: &'a ExitRecord,
    pub(super) outcome: Outcome,
    pub(super) detail: &'a str,
    pub(super) retry_at: Option<Timestamp>,
    pub(super) summary: Option<&'a Summary>,
    pub(super) artifacts: &'a [Artifact],
    pub(super) folder: &'a RunDir,
}

pub(super) fn render_json(told: &EndedRun<'_>) -> String {
    let (run, exit) = (told.run, told.exit);
    let ended_at = run.ended_at.unwrap_or(exit.ended_at);
    let duration = ended_at.since(run.started_at).as_millis();
    let (sent, not_sent): (Vec<&Artifact>, Vec<&Artifact>) =
        told.artifacts.iter().partition(|artifact| artifact.is_sent());
    let document = json!({
        "schema": SCHEMA,
        "version": VERSION,
        "run": {
            "id": run.id,
            "atom_id": run.atom_id,
            "attempt": run.attempt,
            "agent": run.agent,
            "executor": run.executor,
            "workdir": run.workdir,
            "conversation": run.conversation,
            "started_at": run.started_at,
            "ended_at": ended_at,
            "duration_ms": u64::try_from(duration).unwrap_or(u64::MAX),
            "outcome": told.outcome,
            "detail": told.detail,
            "succeeded": told.outcome.is_said_by_agent(),
            "exit_code": exit.exit_code,
            "exit_signal": exit.signal,
            "message": exit.message,
            "denied_tools": exit.denied_tools,
            "turns": run.progress.turns,
            "tokens_in": run.progress.tokens_in,
            "tokens_out": run.progress.tokens_out,
            "cost_micros": run.progress.cost.cost_micros,
            "estimated_micros": run.progress.cost.estimated_micros,
            "stop_blocks": run.stop_blocks,
            "resumes": exit.resumes,
        },
        "atom": told.atom.map(|atom| atom_of(atom, told.retry_at)),
        "summary": told.summary,
        "verify": run.verify,
        "artifacts": sent.into_iter().map(sent_row).collect::<Vec<_>>(),
        "not_sent": not_sent.into_iter().map(refused_row).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn atom_of(atom: &Atom, retry_at: Option<Timestamp>) -> Value {
    json!({
        "id": atom.id,
        "title": atom.title,
        "status": atom.status,
        "close_reason": atom.close_reason,
        "retry_at": retry_at,
    })
}

fn sent_row(artifact: &Artifact) -> Value {
    json!({
        "n": artifact.n,
        "kind": artifact.kind,
        "name": artifact.name,
        "path": artifact.path,
        "description": artifact.description,
        "state": artifact.state,
        "size": artifact.size,
        "sha256": artifact.sha256,
        "file": artifact.file,
        "note": artifact.note,
    })
}

fn refused_row(artifact: &Artifact) -> Value {
    let message =
        artifact.reason.map(|reason| format!("{} {}", artifact.path, reason.reason_text()));
    json!({
        "path": artifact.path,
        "description": artifact.description,
        "reason": artifact.reason,
        "message": message,
        "note": artifact.note,
    })
}
