//! Runs that go on and look wrong: they say nothing, or cost far more than usual.

use std::time::Duration;

use super::entry::{about_all, look_way, way};
use crate::model::{AtWork, Need, NeedKind, PastRun, RunRow, Timestamp};
use crate::rules::budget::format_usd;
use crate::rules::forecast::costs_too_much;

/// A run that says nothing for longer looks wrong.
const SILENT: Duration = Duration::from_secs(10 * 60);

/// The work under way, by the ids of the runs, and how past runs went.
#[derive(Debug)]
pub(super) struct Working {
    pub(super) runs: Vec<(String, AtWork)>,
    pub(super) past: Vec<PastRun>,
}

pub(super) fn odd_runs(working: &Working, running: &[RunRow], now: Timestamp) -> Vec<Need> {
    let mut found = Vec::new();
    for run in running {
        if now.since(run.last_sign()) >= SILENT {
            let why = match &run.action {
                Some(action) => format!("{} has said nothing since: {action}", run.agent),
                None => format!("{} has said nothing yet", run.agent),
            };
            found.push(about_run(NeedKind::Silent, run, why, run.last_sign()));
        }
        let known = working.runs.iter().find(|(id, _)| *id == run.id);
        if let Some(usual) = known.and_then(|(_, work)| costs_too_much(&working.past, work)) {
            let (cost, usual) = (format_usd(run.cost.cost_micros), format_usd(usual));
            let why = format!("{} has cost {cost} so far; such runs cost {usual}", run.agent);
            found.push(about_run(NeedKind::Costly, run, why, run.started_at));
        }
    }
    found
}

/// An entry about a run at work.
pub(super) fn about_run(kind: NeedKind, run: &RunRow, why: String, since: Timestamp) -> Need {
    let (id, atom) = (&run.id, &run.atom_id);
    Need {
        atom_id: Some(atom.clone()),
        run_id: Some(id.clone()),
        agent: Some(run.agent.clone()),
        cost: run.cost,
        attempts: run.attempt,
        ways: vec![
            look_way(id),
            way("o", "attach", format!("el attach {atom}")),
            way("x", "cancel", format!("el cancel {atom}")),
        ],
        ..about_all(kind, id, &run.title, why, since)
    }
}
