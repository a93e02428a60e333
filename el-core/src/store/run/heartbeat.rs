//! Heartbeats of runs: within a transaction, and of a server in one statement.
//!
//! A fleet has thousands of supervisors. A heartbeat on a server is one statement, which is a
//! transaction by itself and waits for no other writer of the project.

use crate::Result;
use crate::error::Doing;
use crate::model::{Progress, Timestamp};
use crate::store::engine::{OptionalExtension as _, ToSql, Value};
use crate::store::{Store, Tx};

/// The values that a supervisor writes at a heartbeat.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heartbeat<'a> {
    pub(crate) run: &'a str,
    pub(crate) now: Timestamp,
    /// The time of the last output in the agent's stream.
    pub(crate) active_at: Option<Timestamp>,
    pub(crate) progress: &'a Progress,
}

const PROGRESS: &str = "heartbeat_at = ?2, active_at = coalesce(?4, active_at), turns = ?5,
    tokens_in = ?6, tokens_out = ?7, cost_micros = ?8, action = ?9, percent = ?10,
    files_processed = ?11, files_total = ?12, estimated_micros = ?13, model = coalesce(?14, model)";

/// The condition for the run `?1` whose agent may go on, by the present state of the atom.
const AT_WORK: &str = "r.id = ?1 AND r.outcome IS NULL AND r.cancel_requested IS NULL
    AND r.over_budget IS NULL
    AND EXISTS (SELECT 1 FROM atoms a WHERE a.id = r.atom_id AND a.status = 'in_progress')";

impl Heartbeat<'_> {
    /// Writes the heartbeat within a transaction.
    pub(crate) fn write(&self, tx: &Tx<'_>, lease_until: Timestamp) -> Result<()> {
        let sql = format!(
            "UPDATE runs SET lease_until = ?3, {PROGRESS} WHERE id = ?1 AND outcome IS NULL"
        );
        let values = self.progress_values(lease_until.as_micros());
        tx.execute_cached(&sql, &refs(&values)[..]).doing("extend a lease").map(drop)
    }

    /// Writes the heartbeat to a server by one statement, if it has no consequences: the run is at
    /// work, there are no new costs, and it is not the first answer of the agent. Otherwise changes
    /// nothing and returns false.
    ///
    /// A process that settles a run as lost has read, in a transaction of its own, that the lease
    /// is over. So a lease that is over by the server's clock is never extended here.
    pub(crate) fn write_alone(&self, store: &Store, token: &str, lease: i64) -> Result<bool> {
        const CLOCK: &str = "CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
        let sql = format!(
            "UPDATE runs r SET lease_until = {CLOCK} + ?3, {PROGRESS}
             WHERE {AT_WORK} AND r.token = ?15 AND r.lease_until > {CLOCK}
               AND r.cost_micros - r.estimated_micros = ?16 AND (r.tokens_out > 0 OR ?7 = 0)
             RETURNING 1"
        );
        let mut values = self.progress_values(lease);
        values.push(Value::from(token.to_owned()));
        values.push(Value::from(self.progress.cost.reported_micros()));
        let written = store.database.query_alone(&sql, &refs(&values)[..], |_| Ok(()));
        written.optional().doing("extend a lease").map(|written| written.is_some())
    }

    /// The values of [`PROGRESS`], and before them the run; `lease` is the third.
    fn progress_values(&self, lease: i64) -> Vec<Value> {
        let progress = self.progress;
        vec![
            self.run.to_owned().into(),
            self.now.as_micros().into(),
            lease.into(),
            self.active_at.map(Timestamp::as_micros).into(),
            progress.turns.into(),
            progress.tokens_in.into(),
            progress.tokens_out.into(),
            progress.cost.cost_micros.into(),
            progress.action.clone().into(),
            progress.percent.into(),
            progress.files_processed.into(),
            progress.files_total.into(),
            progress.cost.estimated_micros.into(),
            progress.model.clone().into(),
        ]
    }
}

fn refs(values: &[Value]) -> Vec<&dyn ToSql> {
    values.iter().map(|value| value as &dyn ToSql).collect()
}

/// Returns true if the run's agent may go on, by one statement. Otherwise the caller has to look
/// closer.
pub(crate) fn is_at_work(store: &Store, run: &str, token: &str) -> Result<bool> {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM runs r WHERE {AT_WORK} AND r.token = ?2)");
    let found = store.database.query_alone(&sql, [run, token], |row| row.get(0));
    found.doing("read a run")
}
