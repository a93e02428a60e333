use super::Tx;
use super::engine::params;
use crate::Result;
use crate::error::Doing;

/// The budget that a claim gave to a run, and whether the run overspent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunBudget {
    pub(crate) run: Option<i64>,
    pub(crate) epic: Option<i64>,
    pub(crate) over: Option<String>,
}

/// Adds an amount to the spending of a day.
pub(crate) fn add_spent(tx: &Tx<'_>, day: i64, micros: i64) -> Result<()> {
    tx.execute_cached(
        "INSERT INTO spend (day, cost_micros) VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE
         SET cost_micros = spend.cost_micros + ?2",
        params![day, micros],
    )
    .doing("count the costs")
    .map(drop)
}

pub(crate) fn spent_on(tx: &Tx<'_>, day: i64) -> Result<i64> {
    tx.read_optional("SELECT cost_micros FROM spend WHERE day = ?1", [day], |row| row.get(0))
        .doing("read the costs")
        .map(Option::unwrap_or_default)
}

pub(crate) fn of_run(tx: &Tx<'_>, run: &str) -> Result<RunBudget> {
    tx.read_optional(
        "SELECT budget_micros, epic_budget_micros, over_budget FROM runs WHERE id = ?1",
        [run],
        |row| Ok(RunBudget { run: row.get(0)?, epic: row.get(1)?, over: row.get(2)? }),
    )
    .doing("read a budget")
    .map(Option::unwrap_or_default)
}

/// Returns the default budget of epics, as recorded by the last claim.
pub(crate) fn last_for_epics(tx: &Tx<'_>) -> Result<Option<i64>> {
    tx.read_optional("SELECT epic_budget_micros FROM runs ORDER BY seq DESC LIMIT 1", [], |row| {
        row.get(0)
    })
    .doing("read a budget")
    .map(Option::flatten)
}

/// Returns the ids of an atom's ancestors, nearest first.
pub(crate) fn parent_ids(tx: &Tx<'_>, atom: &str) -> Result<Vec<String>> {
    tx.read_all(
        "WITH RECURSIVE up (id, depth) AS (
               SELECT parent_id, 1 FROM atoms WHERE id = ?1 AND parent_id IS NOT NULL
               UNION SELECT p.parent_id, up.depth + 1 FROM atoms p JOIN up ON p.id = up.id
               WHERE p.parent_id IS NOT NULL AND up.depth < 64
             ) SELECT id FROM up ORDER BY depth",
        [atom],
        |row| row.get(0),
    )
    .doing("read parents")
}

/// Returns the cost of all runs of an atom and of all descendants.
pub(crate) fn spent_below(tx: &Tx<'_>, root: &str) -> Result<i64> {
    tx.read_one(
        "WITH RECURSIVE down (id) AS (SELECT ?1 UNION SELECT c.id FROM atoms c
         JOIN down ON c.parent_id = down.id)
         SELECT coalesce(sum(r.cost_micros), 0) FROM down JOIN runs r ON r.atom_id = down.id",
        [root],
        |row| row.get(0),
    )
    .doing("add up the costs")
}
