//! Workers and supervisors that a signal has stopped: they say nothing, hold what they have, and
//! heed no cancel.

use el_agents::worker;
use el_core::model::{Run, Stamp, Worker};

/// Says of each process that is stopped what it is, and how it goes on.
pub(in crate::commands) fn frozen_processes(
    runs: &[Run],
    workers: &[Worker],
) -> Vec<(String, String)> {
    let told = |role: String, process: &Stamp| {
        let pids = worker::stopped_pids(process);
        let first = pids.first()?;
        let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
        Some((
            format!("{role}, process {first}, is stopped, as by SIGSTOP or Ctrl-Z"),
            format!("kill -CONT {} lets it go on", pids.join(" ")),
        ))
    };
    let workers = workers.iter().map(|worker| ("the worker".to_owned(), &worker.process));
    let supervisors = runs.iter().filter_map(|run| {
        let role = format!("the supervisor of {} on {}", run.id, run.atom_id);
        Some((role, run.supervisor.as_ref()?))
    });
    workers.chain(supervisors).filter_map(|(role, process)| told(role, process)).collect()
}
