//! The rows of the board. Each query reads an index that holds no more than its part, and stops at
//! a bound: the cost does not grow with the project.

use super::Tx;
use super::engine::{self, Row, named_params, params};
use super::ready::{Parents, READY};
use crate::error::Doing;
use crate::model::{
    AtomRow, Cost, IssueType, LastRun, Outcome, Priority, RunRow, Stamp, Status, Timestamp, Verify,
};
use crate::{Error, Result};

mod events;

pub(crate) use events::{done_row, has_runs, list_done, list_not_landed, list_resting};

/// The columns that [`atom_from_row`] reads, of a table that the query calls `a`.
const ATOM: &str = "a.id, a.title, a.status, a.issue_type, a.priority, a.assignee, a.parent_id, \
     a.created_at, a.updated_at, a.closed_at, \
     (SELECT r.id FROM runs r WHERE r.atom_id = a.id AND r.outcome IS NULL), \
     (SELECT group_concat(l.label, ',') FROM labels l WHERE l.atom_id = a.id)";

fn atom_from_row(row: &Row<'_>) -> engine::Result<AtomRow> {
    let word = |at: usize| row.get_ref(at).and_then(|v| v.as_str().map_err(Into::into));
    let labels: Option<String> = row.get(11)?;
    Ok(AtomRow {
        id: row.get(0)?,
        title: row.get(1)?,
        status: word(2)?.parse().unwrap_or(Status::Blocked),
        issue_type: word(3)?.parse().unwrap_or(IssueType::Task),
        priority: Priority::new(row.get(4)?).unwrap_or(Priority::DEFAULT),
        labels: labels.map(|all| all.split(',').map(str::to_owned).collect()).unwrap_or_default(),
        assignee: row.get(5)?,
        parent_id: row.get(6)?,
        created_at: Timestamp::from_micros(row.get(7)?),
        updated_at: Timestamp::from_micros(row.get(8)?),
        closed_at: row.time_or_none(9)?,
        run_id: row.get(10)?,
    })
}

/// The parts of the project that wait for a person.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Waits {
    /// In review.
    Review,
    /// Deferred by an agent, without a date.
    Asking,
    /// Blocked.
    Blocked,
    /// An epic that is deferred without a date: perhaps for its budget.
    HeldEpic,
}

impl Waits {
    /// The index of the part, and its condition.
    const fn part_sql(self) -> &'static str {
        match self {
            Waits::Review => "INDEXED BY atoms_status WHERE a.status = 'review'",
            Waits::Blocked => "INDEXED BY atoms_status WHERE a.status = 'blocked'",
            Waits::Asking => {
                "INDEXED BY atoms_asking WHERE a.status = 'deferred'
                 AND a.status_by_run IS NOT NULL AND a.defer_until IS NULL"
            }
            Waits::HeldEpic => {
                "INDEXED BY atoms_held_epics WHERE a.status = 'deferred'
                 AND a.issue_type = 'epic' AND a.defer_until IS NULL"
            }
        }
    }
}

/// The atoms of a part, in the order of the queue, each with true if an agent set the status.
pub(crate) fn list_waiting(tx: &Tx<'_>, part: Waits, most: i64) -> Result<Vec<(AtomRow, bool)>> {
    let sql = format!(
        "SELECT {ATOM}, a.status_by_run IS NOT NULL FROM atoms a {}
         ORDER BY a.priority, a.created_at, a.seq LIMIT ?1",
        part.part_sql()
    );
    tx.read_all(&sql, [most], |row| Ok((atom_from_row(row)?, row.get(12)?)))
        .doing("read what waits")
}

/// Counts the atoms of a part, no further than `most`.
pub(crate) fn count_waiting(tx: &Tx<'_>, part: Waits, most: i64) -> Result<i64> {
    let sql = format!("SELECT count(*) FROM (SELECT 1 FROM atoms a {} LIMIT ?1)", part.part_sql());
    tx.read_one(&sql, [most], |row| row.get(0)).doing("count what waits")
}

/// The atoms that people hold: those that were begun, then the deferred ones, each in the order of
/// the queue; and true if there may be more. Looks at no more than `most` of each status.
pub(crate) fn list_held(tx: &Tx<'_>, most: i64) -> Result<(Vec<String>, bool)> {
    let sql = "SELECT a.id, (a.status <> 'deferred'
            OR (a.status_by_run IS NULL AND a.defer_until IS NULL))
           AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.atom_id = a.id AND r.outcome IS NULL)
         FROM atoms a INDEXED BY atoms_status WHERE a.status = ?1
         ORDER BY a.priority, a.created_at, a.seq LIMIT ?2";
    let mut found = Vec::new();
    let mut is_cut = false;
    for status in [Status::InProgress, Status::Testing, Status::Deferred] {
        let rows: Vec<(String, bool)> = tx
            .read_all(sql, params![status.as_str(), most], |row| Ok((row.get(0)?, row.get(1)?)))
            .doing("read what people hold")?;
        is_cut |= i64::try_from(rows.len()).is_ok_and(|seen| seen == most);
        found.extend(rows.into_iter().filter(|(_, is_held)| *is_held).map(|(id, _)| id));
    }
    Ok((found, is_cut))
}

/// Counts the tasks of a plan, no further than `most`.
pub(crate) fn count_planned(tx: &Tx<'_>, epic: &str, most: i64) -> Result<i64> {
    tx.read_one(
        "SELECT count(*) FROM (SELECT 1 FROM planned_tasks WHERE epic_id = ?1 LIMIT ?2) counted",
        params![epic, most],
        |row| row.get(0),
    )
    .doing("count planned tasks")
}

/// The row of an atom.
pub(crate) fn atom_row(tx: &Tx<'_>, id: &str) -> Result<Option<AtomRow>> {
    tx.read_optional(&format!("SELECT {ATOM} FROM atoms a WHERE a.id = ?1"), [id], atom_from_row)
        .doing("read an atom")
}

/// The rows of all atoms that are not over, in the order of the queue.
pub(crate) fn live_atoms(tx: &Tx<'_>, most: i64) -> Result<Vec<AtomRow>> {
    let sql = format!(
        "SELECT {ATOM} FROM atoms a INDEXED BY atoms_active
         WHERE a.status NOT IN ('closed','wont_do','discard')
         ORDER BY a.priority, a.created_at, a.seq LIMIT ?1"
    );
    tx.read_all(&sql, [most], atom_from_row).doing("read the board")
}

/// The last attempt at an atom.
pub(crate) fn last_run(tx: &Tx<'_>, atom: &str) -> Result<Option<LastRun>> {
    tx.read_optional(
        "SELECT r.id, r.agent, r.attempt, r.started_at, r.ended_at, r.outcome, r.detail, r.denied,
           r.verify, r.cost_micros, r.estimated_micros, r.sandbox_notes
         FROM runs r INDEXED BY runs_atom
         WHERE r.atom_id = ?1 ORDER BY r.seq DESC LIMIT 1",
        [atom],
        |row| {
            let outcome: Option<String> = row.get(5)?;
            let list = |at: usize| -> engine::Result<Vec<String>> {
                let text: Option<String> = row.get(at)?;
                Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
            };
            let check: Option<String> = row.get(8)?;
            let check = check.and_then(|text| serde_json::from_str::<Verify>(&text).ok());
            Ok(LastRun {
                id: row.get(0)?,
                agent: row.get(1)?,
                attempt: row.get(2)?,
                started_at: Timestamp::from_micros(row.get(3)?),
                ended_at: row.time_or_none(4)?,
                outcome: outcome.map(|word| word.parse().unwrap_or(Outcome::Failed)),
                detail: row.get(6)?,
                denied: list(7)?,
                sandbox_notes: list(11)?,
                check: check.map(|check| check.status.as_str().to_owned()),
                cost: Cost { cost_micros: row.get(9)?, estimated_micros: row.get(10)? },
            })
        },
    )
    .doing("read the last attempt")
}

/// The last comment on an atom: the author and the text.
pub(crate) fn last_comment(tx: &Tx<'_>, atom: &str) -> Result<Option<(String, String)>> {
    tx.read_optional(
        "SELECT author, content FROM comments INDEXED BY comments_atom WHERE atom_id = ?1
         ORDER BY seq DESC LIMIT 1",
        [atom],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .doing("read the last comment")
}

/// An atom that waits for another, with its weight; an epic weighs nothing itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Behind {
    pub(crate) id: String,
    pub(crate) priority: Option<Priority>,
}

/// The atoms that wait for an atom, no more than `most`.
pub(crate) fn list_targets(tx: &Tx<'_>, atom: &str, most: i64) -> Result<Vec<Behind>> {
    list_behind(
        tx,
        "SELECT b.target_id FROM bonds b INDEXED BY bonds_source
         WHERE b.source_id = ?1 AND b.kind IN ('blocks','waits_for') LIMIT ?2",
        atom,
        most,
    )
}

/// The children of an atom, no more than `most`.
pub(crate) fn list_children(tx: &Tx<'_>, atom: &str, most: i64) -> Result<Vec<Behind>> {
    list_behind(
        tx,
        "SELECT c.id FROM atoms c INDEXED BY atoms_parent WHERE c.parent_id = ?1 LIMIT ?2",
        atom,
        most,
    )
}

fn list_behind(tx: &Tx<'_>, ids: &str, atom: &str, most: i64) -> Result<Vec<Behind>> {
    let sql = format!(
        "SELECT a.id, CASE WHEN a.issue_type NOT IN ('epic','formula') THEN a.priority END
         FROM ({ids}) found CROSS JOIN atoms a ON a.id = {}
         WHERE a.status NOT IN ('closed','wont_do','discard')",
        if ids.contains("target_id") { "found.target_id" } else { "found.id" }
    );
    tx.read_all(&sql, params![atom, most], |row| {
        let priority: Option<i64> = row.get(1)?;
        let priority = priority.map(|p| Priority::new(p).unwrap_or(Priority::DEFAULT));
        Ok(Behind { id: row.get(0)?, priority })
    })
    .doing("find what waits for a decision")
}

/// The cost of all attempts at an atom.
pub(crate) fn cost_of(tx: &Tx<'_>, atom: &str) -> Result<Cost> {
    tx.read_one(
        "SELECT coalesce(sum(cost_micros), 0), coalesce(sum(estimated_micros), 0)
         FROM runs INDEXED BY runs_atom WHERE atom_id = ?1",
        [atom],
        |row| Ok(Cost { cost_micros: row.get(0)?, estimated_micros: row.get(1)? }),
    )
    .doing("add up the costs of an atom")
}

/// The runs at work, oldest first.
pub(crate) fn list_running(tx: &Tx<'_>, most: i64) -> Result<Vec<RunRow>> {
    tx.read_all(
        "SELECT r.id, r.atom_id, coalesce(a.title, ''), r.agent, r.executor, r.attempt,
               r.session, r.started_at, r.action, r.percent, r.turns, r.tokens_in, r.tokens_out,
               r.cost_micros, r.budget_micros, r.active_at, r.heartbeat_at, r.lease_until,
               r.supervisor_boot, r.cancel_requested IS NOT NULL, r.estimated_micros
             FROM runs r INDEXED BY runs_live LEFT JOIN atoms a ON a.id = r.atom_id
             WHERE r.outcome IS NULL ORDER BY r.seq LIMIT ?1",
        [most],
        run_from_row,
    )
    .doing("read the runs at work")
}

fn run_from_row(row: &Row<'_>) -> engine::Result<RunRow> {
    let boot: Option<String> = row.get(18)?;
    Ok(RunRow {
        id: row.get(0)?,
        atom_id: row.get(1)?,
        title: row.get(2)?,
        agent: row.get(3)?,
        executor: row.get(4)?,
        attempt: row.get(5)?,
        session: row.get(6)?,
        started_at: Timestamp::from_micros(row.get(7)?),
        action: row.get(8)?,
        percent: row.get(9)?,
        turns: row.get(10)?,
        tokens_in: row.get(11)?,
        tokens_out: row.get(12)?,
        cost: Cost { cost_micros: row.get(13)?, estimated_micros: row.get(20)? },
        budget_micros: row.get(14)?,
        active_at: row.time_or_none(15)?,
        heartbeat_at: Timestamp::from_micros(row.get(16)?),
        lease_until: Timestamp::from_micros(row.get(17)?),
        host: boot.as_deref().and_then(Stamp::host_in).map(str::to_owned),
        is_ending: row.get(19)?,
    })
}

pub(crate) fn count_running(tx: &Tx<'_>) -> Result<i64> {
    tx.read_one(
        "SELECT count(*) FROM runs r INDEXED BY runs_live WHERE r.outcome IS NULL",
        [],
        |row| row.get(0),
    )
    .doing("count the runs at work")
}

/// The position of an atom in the queue.
pub(crate) type Place = (i64, i64, i64);

/// The head of the queue: the ids of ready atoms, those of atoms that something other than a
/// `blocks` bond holds, and whether the walk ended at the bound.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) ready: Vec<(Place, String)>,
    pub(crate) held: Vec<(Place, String)>,
    pub(crate) is_cut: bool,
}

/// Walks the queue, no further than `most` atoms.
pub(crate) fn walk_queue(tx: &Tx<'_>, now: Timestamp, most: i64) -> Result<Queue> {
    let sql = format!(
        "SELECT a.id, a.parent_id, ({READY}), a.priority, a.created_at, a.seq
         FROM atoms a INDEXED BY atoms_queue
         WHERE a.status IN ('open','deferred') AND a.blocked_by = 0
           AND a.issue_type NOT IN ('epic','formula')
           AND (a.status = 'open' OR a.defer_until IS NOT NULL)
         ORDER BY a.priority, a.created_at, a.seq LIMIT :most"
    );
    let mut parents = Parents::new(tx, now, None)?;
    let mut queue = Queue::default();
    let mut seen = 0;
    let params = named_params! { ":now": now.as_micros(), ":most": most };
    let doing = "read the queue";
    tx.each_row(&sql, params, doing, |row| {
        seen += 1;
        let id: String = row.get(0).doing(doing)?;
        let parent: Option<String> = row.get(1).doing(doing)?;
        let is_ready: bool = row.get(2).doing(doing)?;
        let place = place_from_row(row, 3).doing(doing)?;
        if is_ready && !parents.hold_children(parent.as_deref())? {
            queue.ready.push((place, id));
        } else {
            queue.held.push((place, id));
        }
        Ok::<_, Error>(true)
    })?;
    queue.is_cut = seen == most;
    Ok(queue)
}

fn place_from_row(row: &Row<'_>, at: usize) -> engine::Result<Place> {
    Ok((row.get(at)?, row.get(at + 1)?, row.get(at + 2)?))
}

/// The atoms that `blocks` bonds hold, in the order of the queue.
pub(crate) fn list_blocked_by(tx: &Tx<'_>, most: i64) -> Result<Vec<(Place, String)>> {
    tx.read_all(
        "SELECT a.priority, a.created_at, a.seq, a.id FROM atoms a INDEXED BY atoms_blocked_by
             WHERE a.status IN ('open','deferred') AND a.blocked_by > 0
               AND a.issue_type NOT IN ('epic','formula')
               AND (a.status = 'open' OR a.defer_until IS NOT NULL)
             ORDER BY a.priority, a.created_at, a.seq LIMIT ?1",
        [most],
        |row| Ok((place_from_row(row, 0)?, row.get(3)?)),
    )
    .doing("read what is blocked")
}
