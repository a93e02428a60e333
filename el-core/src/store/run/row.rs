//! A row of the table of runs, as a [`Run`].

use crate::model::{Cost, Outcome, Progress, Run, Stamp, Timestamp};
use crate::store::engine::{self, Row};

/// The columns that [`from_row`] reads, of a table that the query calls `r`.
pub(super) const COLUMNS: &str = "r.id, r.atom_id, r.attempt, r.agent, r.executor, r.token, \
     r.worker_id, r.session, r.conversation, r.workdir, r.started_at, r.heartbeat_at, \
     r.lease_until, r.ended_at, r.outcome, r.detail, r.exit_code, r.exit_signal, \
     r.supervisor_pid, r.supervisor_start, r.supervisor_boot, r.agent_pid, r.turns, r.tokens_in, \
     r.tokens_out, r.cost_micros, r.action, r.active_at, r.stop_blocks, r.resumes, \
     r.cancel_requested, r.verify, r.output, r.error_lines, r.summary, r.percent, r.sandbox_notes, \
     r.files_processed, r.files_total, r.completion, r.review, r.estimated_micros, r.denied, \
     r.model, (SELECT count(*) FROM artifacts x WHERE x.run_id = r.id AND x.state <> 'refused') \
     AS artifact_count";

pub(crate) fn from_row(row: &Row<'_>) -> engine::Result<Run> {
    let word = |at: usize| row.get::<_, Option<String>>(at);
    let supervisor =
        match (row.get::<_, Option<i64>>(18)?, row.get::<_, Option<i64>>(19)?, word(20)?) {
            (Some(pid), Some(start), Some(boot)) => Some(Stamp { pid, start, boot }),
            _ => None,
        };
    Ok(Run {
        record_type: Run::RECORD_TYPE,
        id: row.get(0)?,
        atom_id: row.get(1)?,
        attempt: row.get(2)?,
        agent: row.get(3)?,
        executor: row.get(4)?,
        token: row.get(5)?,
        worker_id: row.get(6)?,
        session: row.get(7)?,
        conversation: row.get(8)?,
        workdir: row.get(9)?,
        started_at: Timestamp::from_micros(row.get(10)?),
        heartbeat_at: Timestamp::from_micros(row.get(11)?),
        lease_until: Timestamp::from_micros(row.get(12)?),
        ended_at: row.time_or_none(13)?,
        // An outcome that a newer el wrote is still an end.
        outcome: word(14)?.map(|text| text.parse().unwrap_or(Outcome::Failed)),
        detail: row.get(15)?,
        exit_code: row.get(16)?,
        exit_signal: row.get(17)?,
        denied_tools: row.json_or_none("denied")?.unwrap_or_default(),
        supervisor,
        agent_pid: row.get(21)?,
        progress: Progress {
            turns: row.get(22)?,
            tokens_in: row.get(23)?,
            tokens_out: row.get(24)?,
            cost: Cost {
                cost_micros: row.get(25)?,
                estimated_micros: row.get("estimated_micros")?,
            },
            model: row.get("model")?,
            action: row.get(26)?,
            percent: row.get("percent")?,
            files_processed: row.get("files_processed")?,
            files_total: row.get("files_total")?,
        },
        active_at: row.time_or_none(27)?,
        stop_blocks: row.get(28)?,
        resumes: row.get(29)?,
        cancel_requested: word(30)?.and_then(|text| text.parse().ok()),
        summary: row.json_or_none("summary")?,
        artifacts: row.get("artifact_count")?,
        completion: row.json_or_none("completion")?,
        review: row.get("review")?,
        // A check that a newer el wrote counts as none.
        verify: row.json_or_none("verify")?,
        output: row.get("output")?,
        error_lines: row.get("error_lines")?,
        sandbox_notes: row.json_or_none("sandbox_notes")?.unwrap_or_default(),
    })
}
