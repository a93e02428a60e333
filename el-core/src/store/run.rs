use std::collections::HashMap;

use super::Tx;
use super::engine::{self, params};
use crate::error::Doing;
use crate::model::{
    Attempt, ExitRecord, Outcome, RUN_PREFIX, Run, Stamp, Timestamp, Verify, canonical_short,
};
use crate::{Ctx, Error, Result};

mod heartbeat;
mod row;

pub(crate) use heartbeat::{Heartbeat, is_at_work};
use row::COLUMNS;
pub(crate) use row::from_row;

pub(crate) fn insert(tx: &Tx<'_>, run: &Run) -> Result<()> {
    tx.execute(
        "INSERT INTO runs (id, atom_id, attempt, agent, executor, token, worker_id, session,
         conversation, workdir, started_at, heartbeat_at, lease_until,
            verify, review)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?12, ?13, ?14)",
        params![
            run.id,
            run.atom_id,
            run.attempt,
            run.agent,
            run.executor,
            run.token,
            run.worker_id,
            run.session,
            run.conversation,
            run.workdir,
            run.started_at.as_micros(),
            run.lease_until.as_micros(),
            run.verify.as_ref().map(verify_text),
            run.review,
        ],
    )
    .doing("begin a run")
    .map(drop)
}

fn query_one(tx: &Tx<'_>, condition: &str, params: &[&dyn engine::ToSql]) -> Result<Option<Run>> {
    tx.read_optional(&format!("SELECT {COLUMNS} FROM runs r WHERE {condition}"), params, from_row)
        .doing("read a run")
}

fn query_many(tx: &Tx<'_>, tail: &str, params: &[&dyn engine::ToSql]) -> Result<Vec<Run>> {
    tx.read_all(&format!("SELECT {COLUMNS} FROM runs r {tail}"), params, from_row)
        .doing("read runs")
}

/// Returns how often a run was read by its id.
#[cfg(test)]
pub(crate) fn times_read(store: &mut super::Store) -> i32 {
    store.times_run(&format!("SELECT {COLUMNS} FROM runs r WHERE r.id = ?1"))
}

pub(crate) fn find(tx: &Tx<'_>, id: &str) -> Result<Option<Run>> {
    query_one(tx, "r.id = ?1", &[&id])
}

pub(crate) fn get(tx: &Tx<'_>, id: &str) -> Result<Run> {
    find(tx, id)?.ok_or_else(|| Error::not_found("run", id))
}

/// The live run of an atom.
pub(crate) fn live_of(tx: &Tx<'_>, atom: &str) -> Result<Option<Run>> {
    query_one(tx, "r.atom_id = ?1 AND r.outcome IS NULL", &[&atom])
}

/// Returns the run of the tmux session with exactly this name.
pub(crate) fn of_session(tx: &Tx<'_>, session: &str) -> Result<Option<Run>> {
    query_one(tx, "r.session = ?1", &[&session])
}

/// Every run of an atom, oldest first.
pub(crate) fn of_atom(tx: &Tx<'_>, atom: &str) -> Result<Vec<Run>> {
    query_many(tx, "WHERE r.atom_id = ?1 ORDER BY r.seq", &[&atom])
}

/// Returns the runs of each atom, oldest first. Atoms without a run have no entry.
pub(crate) fn of_atoms(tx: &Tx<'_>, atoms: &[&str]) -> Result<HashMap<String, Vec<Run>>> {
    let ids = super::list_text(atoms);
    let mut runs: HashMap<String, Vec<Run>> = HashMap::new();
    for run in query_many(
        tx,
        "WHERE r.atom_id IN (SELECT value FROM json_each(?1)) ORDER BY r.seq",
        &[&ids],
    )? {
        runs.entry(run.atom_id.clone()).or_default().push(run);
    }
    Ok(runs)
}

/// Every run that has not ended, oldest first.
pub(crate) fn list_live(tx: &Tx<'_>) -> Result<Vec<Run>> {
    query_many(tx, "INDEXED BY runs_live WHERE r.outcome IS NULL ORDER BY r.seq", &[])
}

/// The live runs that concern a worker of a host: its own, those of its host, those without a
/// supervisor, and those whose lease is over. A fleet has thousands of others.
pub(crate) fn list_live_near(
    tx: &Tx<'_>,
    (worker, host): (&str, &str),
    now: Timestamp,
) -> Result<Vec<Run>> {
    let boot = format!("{host}{}", Stamp::HOST_END);
    query_many(
        tx,
        "INDEXED BY runs_live WHERE r.outcome IS NULL
           AND (r.worker_id = ?1 OR substr(r.supervisor_boot, 1, length(?2)) = ?2
             OR r.supervisor_boot IS NULL OR r.lease_until <= ?3)
         ORDER BY r.seq",
        &[&worker, &boot, &now.as_micros()],
    )
}

/// A filter of runs: the atom, only live runs, the outcome.
type RunQuery<'a> = (Option<&'a str>, bool, Option<Outcome>);

/// Builds only the conditions that are set: a condition like `?1 IS NULL OR …` would defeat the
/// index.
fn condition_sql((atom, live_only, outcome): RunQuery<'_>) -> String {
    let of_atom = if atom.is_some() { "r.atom_id = ?1" } else { "?1 IS NULL" };
    let live = if live_only { "?2 = 1 AND r.outcome IS NULL" } else { "?2 = 0" };
    let ended = if outcome.is_some() { "r.outcome = ?3" } else { "?3 IS NULL" };
    // Without the index, the planner would read all runs in their order.
    let index = if live_only { "INDEXED BY runs_live " } else { "" };
    format!("{index}WHERE {of_atom} AND {live} AND {ended}")
}

/// Counts the runs.
pub(crate) fn count(tx: &Tx<'_>, which: RunQuery<'_>) -> Result<i64> {
    let sql = format!("SELECT count(*) FROM runs r {}", condition_sql(which));
    let outcome = which.2.map(Outcome::as_str);
    tx.read_one(&sql, params![which.0, which.1, outcome], |row| row.get(0)).doing("count runs")
}

/// Visits the runs, newest first.
pub(crate) fn visit_each(
    tx: &Tx<'_>,
    which: RunQuery<'_>,
    limit: Option<i64>,
    mut visit: impl FnMut(Run) -> Result<()>,
) -> Result<()> {
    let sql = format!(
        "SELECT {COLUMNS} FROM runs r {} ORDER BY r.seq DESC LIMIT ?4",
        condition_sql(which)
    );
    let outcome = which.2.map(Outcome::as_str);
    let params = params![which.0, which.1, outcome, limit.unwrap_or(i64::MAX)];
    let doing = "read runs";
    tx.each_row(&sql, params, doing, |row| visit(from_row(row).doing(doing)?).map(|()| true))
}

/// Lists the runs, newest first, with the total count.
pub(crate) fn list(
    tx: &Tx<'_>,
    which: RunQuery<'_>,
    limit: Option<i64>,
) -> Result<(Vec<Run>, i64)> {
    let mut runs = Vec::new();
    visit_each(tx, which, limit, |run| {
        runs.push(run);
        Ok(())
    })?;
    Ok((runs, count(tx, which)?))
}

/// Resolves a run by id, with or without `run-`, or by a unique beginning.
pub(crate) fn resolve(tx: &Tx<'_>, text: &str) -> Result<String> {
    let wanted = text.trim().to_ascii_lowercase();
    let short =
        wanted.strip_prefix(RUN_PREFIX).and_then(|rest| rest.strip_prefix('-')).unwrap_or(&wanted);
    let short = canonical_short(short)
        .filter(|s| !s.is_empty())
        .ok_or_else(|| Error::not_found("run", text))?;
    let from = format!("{RUN_PREFIX}-{short}");
    let mut found: Vec<String> = tx
        .read_all(
            "SELECT id FROM runs WHERE id >= ?1 AND id < ?1 || '{' ORDER BY id LIMIT 10",
            [&from],
            |row| row.get(0),
        )
        .doing("find a run")?;
    match found.len() {
        0 => Err(Error::not_found("run", text)),
        1 => Ok(found.remove(0)),
        _ if found[0] == from => Ok(from),
        _ => Err(Error::Ambiguous {
            id: text.to_owned(),
            candidates: found.into_iter().map(|id| (id, String::new())).collect(),
        }),
    }
}

/// The attempts since the atom's last fresh start that are over, oldest first.
pub(crate) fn recent_attempts(tx: &Tx<'_>, atom: &str) -> Result<Vec<Attempt>> {
    tx.read_all(
        "SELECT started_at, coalesce(ended_at, started_at), outcome FROM runs
         WHERE atom_id = ?1 AND outcome IS NOT NULL
           AND started_at > (SELECT fresh_since FROM atoms WHERE id = ?1) ORDER BY seq",
        [atom],
        |row| {
            Ok(Attempt {
                started: Timestamp::from_micros(row.get(0)?),
                ended: Timestamp::from_micros(row.get(1)?),
                outcome: row.get::<_, String>(2)?.parse().unwrap_or(Outcome::Failed),
            })
        },
    )
    .doing("read earlier attempts")
}

/// The fence at the head of every write. A caller in an agent session passes only if the session's
/// run is live and the token matches.
pub(crate) fn fence(tx: &Tx<'_>, ctx: &Ctx<'_>) -> Result<Option<Run>> {
    let Some(session) = ctx.session else { return Ok(None) };
    live_with_token(tx, &session.run, session.token.as_deref()).map(Some)
}

/// Returns the run `id` if the run is live and `token` matches.
pub(crate) fn live_with_token(tx: &Tx<'_>, id: &str, token: Option<&str>) -> Result<Run> {
    let stale = |why: String| Error::StaleRun { run: id.to_owned(), why };
    let run = find(tx, id)?.ok_or_else(|| stale("there is no such run here".to_owned()))?;
    if token != Some(run.token.as_str()) {
        return Err(stale("the token of the session is not the run's".to_owned()));
    }
    match run.outcome {
        Some(outcome) => Err(stale(format!("it ended as {outcome}"))),
        None => Ok(run),
    }
}

pub(crate) fn set_supervisor(
    tx: &Tx<'_>,
    id: &str,
    stamp: &Stamp,
    now: Timestamp,
    lease_until: Timestamp,
) -> Result<()> {
    tx.execute(
        "UPDATE runs SET supervisor_pid = ?2, supervisor_start = ?3, supervisor_boot = ?4,
         heartbeat_at = ?5, lease_until = ?6 WHERE id = ?1",
        params![id, stamp.pid, stamp.start, stamp.boot, now.as_micros(), lease_until.as_micros()],
    )
    .doing("register a supervisor")
    .map(drop)
}

/// Sets a column of a run. `column` is a fixed name.
pub(crate) fn set_column(
    tx: &Tx<'_>,
    id: &str,
    column: &'static str,
    value: &dyn engine::ToSql,
) -> Result<()> {
    tx.execute(&format!("UPDATE runs SET {column} = ?2 WHERE id = ?1"), params![id, value])
        .doing("change a run")
        .map(drop)
}

/// Records the result of the run's check.
pub(crate) fn set_verify(tx: &Tx<'_>, id: &str, verify: &Verify) -> Result<()> {
    set_column(tx, id, "verify", &verify_text(verify))
}

fn verify_text(verify: &Verify) -> String {
    serde_json::to_string(verify).expect("a check has string keys only")
}

/// Counts the live runs of the agent, by any worker.
pub(crate) fn live_count(tx: &Tx<'_>, agent: &str) -> Result<i64> {
    tx.read_one("SELECT count(*) FROM runs WHERE agent = ?1 AND outcome IS NULL", [agent], |row| {
        row.get(0)
    })
    .doing("count an agent's runs")
}

/// The last run of an atom, live or not.
pub(crate) fn last_of(tx: &Tx<'_>, atom: &str) -> Result<Option<Run>> {
    query_one(tx, "r.atom_id = ?1 ORDER BY r.seq DESC LIMIT 1", &[&atom])
}

/// How many runs an atom has had.
pub(crate) fn count_of(tx: &Tx<'_>, atom: &str) -> Result<i64> {
    tx.read_one("SELECT count(*) FROM runs WHERE atom_id = ?1", [atom], |row| row.get(0))
        .doing("count attempts")
}

fn list_text(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| serde_json::json!(words).to_string())
}

/// Writes the end of a run once: an ended run is not changed.
pub(crate) fn record_end(
    tx: &Tx<'_>,
    exit: &ExitRecord,
    now: Timestamp,
    outcome: Outcome,
    detail: &str,
) -> Result<()> {
    tx.execute(
        "UPDATE runs SET outcome = ?2, detail = ?3, ended_at = ?4, exit_code = ?5, exit_signal = ?6,
         resumes = CASE WHEN resumes < ?7 THEN ?7 ELSE resumes END, denied = ?8, sandbox_notes = ?9,
         action = NULL
         WHERE id = ?1 AND outcome IS NULL",
        params![
            exit.run,
            outcome.as_str(),
            detail,
            now.as_micros(),
            exit.exit_code,
            exit.signal,
            exit.resumes,
            list_text(&exit.denied_tools),
            list_text(&exit.sandbox_notes),
        ],
    )
    .doing("end a run").map(drop)
}
