//! Writes the documents of a run's end: the artifacts, `RESULTS.json`, and `ERRORS.md` for a failed
//! run. No failure here keeps a run from being settled.

mod errors;
mod results;

use std::path::Path;

use el_core::model::{Atom, EndKind, ExitRecord, Run};
use el_core::ops::{Decided, HandedOver};

use crate::artifacts::{Collected, CollectionJob};
use crate::claude::one_line;
use crate::git::Isolation;
use crate::launch_spec::LaunchSpec;
use crate::output::RunOutput;
use crate::rundir::{RunDir, replace_private};
use crate::settings::Places;

/// Builds the input for collecting a run's artifacts. `launched`: the supervisor's launch spec, if
/// the run was launched.
pub(crate) fn collection_job(
    run: Run,
    atom: Option<Atom>,
    exit: &ExitRecord,
    output: &RunOutput,
    places: &Places,
    launched: Option<&LaunchSpec>,
) -> CollectionJob {
    let is_within = |isolation: &Isolation| {
        let worktrees = isolation.folder.canonicalize();
        worktrees.is_ok_and(|folder| Path::new(&run.workdir).starts_with(folder))
    };
    let isolation = launched.and_then(|LaunchSpec { agent, .. }| {
        agent.isolation.clone().or_else(|| agent.task_isolation.clone().filter(is_within))
    });
    // The run ended before it had a worktree, so the folder is not its own.
    let is_unplaced = isolation.as_ref().is_some_and(|isolation| !is_within(isolation));
    CollectionJob {
        folder: RunDir::new(&places.runs, &run.id),
        places: launched.map_or(places, |spec| &spec.places).clone(),
        summary_before: launched.and_then(|spec| spec.summary_before),
        output: output.output.clone(),
        never_ran: is_unplaced || matches!(exit.end, EndKind::SpawnFailed | EndKind::LaunchFailed),
        isolation,
        run,
        atom,
    }
}

/// Writes the run's documents. Called with the decision, before the store writes the decision.
/// Returns the hand-over for the store.
pub(crate) fn write_documents(
    decided: &Decided<'_>,
    exit: &ExitRecord,
    folder: &RunDir,
    collected: Option<&mut Collected>,
) -> Option<HandedOver> {
    let handed = collected.map(|collected| {
        collected.complete_fallback(folder, describe_run(decided));
        HandedOver { summary: collected.summary.clone(), artifacts: collected.artifacts.clone() }
    });
    let told = results::EndedRun {
        run: decided.run,
        atom: decided.atom,
        exit,
        outcome: decided.outcome,
        detail: decided.detail,
        retry_at: decided.atom.and_then(|atom| atom.retry_at),
        summary: handed.as_ref().map(|handed| &handed.summary),
        artifacts: handed.as_ref().map_or(&[], |handed| handed.artifacts.as_slice()),
        folder,
    };
    // A full disk must not keep a run from its end; the store has all of the data.
    let _ = replace_private(&folder.results_path(), results::render_json(&told).as_bytes());
    let _ = match errors::render_markdown(&told) {
        Some(text) => replace_private(&folder.errors_path(), text.as_bytes()),
        None => std::fs::remove_file(folder.errors_path()).map_or(Ok(()), Ok),
    };
    handed
}

/// Describes the run and its end. Without times, which are in the run's own record.
fn describe_run(decided: &Decided<'_>) -> Vec<String> {
    let Decided { run, outcome, detail, .. } = decided;
    let agent = one_line(&run.agent, 100);
    vec![
        format!("Run {}, attempt {}, by {agent}", run.id, run.attempt),
        format!("It ended as {outcome}: {}", one_line(detail, 300)),
    ]
}
