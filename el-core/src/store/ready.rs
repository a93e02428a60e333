//! The one definition of *ready* in SQL. `rules::ready` states the same for people; a property test
//! compares the two.
//!
//! Readiness is computed at read, from the queue's partial index, so atoms that are over cost
//! nothing and no cache goes stale. Only the count of live `blocks` bonds of an atom is stored:
//! triggers update the column at each change. Without the column, ten thousand blocked atoms at the
//! head of the queue cost 20 ms a claim. A removed source holds no target, since removing an atom
//! removes the bonds.
//!
//! [`READY`] judges the atom, and [`Parents`] the ancestors. [`Parents`] looks at each ancestor
//! once, however many atoms are below.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::engine::params;
use super::{Tx, atom};
use crate::Result;
use crate::error::Doing;
use crate::model::Timestamp;

/// SQL: an atom `x` has a live blocker among the incoming bonds other than `blocks`. The column
/// `blocked_by` counts `blocks`.
macro_rules! has_live_blocker {
    ($x:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM bonds b INDEXED BY bonds_waiting
               CROSS JOIN atoms s ON s.id = b.source_id WHERE b.target_id = ",
            $x,
            " AND b.kind IN ('waits_for','conditional_blocks') AND CASE b.kind
                WHEN 'waits_for' THEN s.status NOT IN ('closed','wont_do','discard') OR EXISTS (
                  WITH RECURSIVE down (id) AS (
                    SELECT c.id FROM atoms c WHERE c.parent_id = s.id
                    UNION SELECT c.id FROM down CROSS JOIN atoms c ON c.parent_id = down.id
                  ) SELECT 1 FROM down CROSS JOIN atoms d ON d.id = down.id
                    WHERE d.status NOT IN ('closed','wont_do','discard'))
                WHEN 'conditional_blocks' THEN NOT (s.status = 'wont_do' OR (s.status = 'closed'
                AND (
                  lower(trim(coalesce(s.close_reason, ''))) LIKE 'fail%'
                  OR lower(trim(coalesce(s.close_reason, ''))) LIKE 'error%'
                  OR lower(trim(coalesce(s.close_reason, ''))) LIKE 'abort%'))) END)"
        )
    };
}

/// SQL: the targets of an atom that is over with a live run, since the agent may still be writing,
/// or closed with a branch whose merge is waited for. Evaluated once per query, from those atoms.
/// `CROSS JOIN` fixes the order of the loops: the planner has no statistics and would scan all
/// bonds.
macro_rules! behind_a_run {
    () => {
        "WITH RECURSIVE
           at_work (id) AS (
             SELECT r.atom_id FROM runs r WHERE r.outcome IS NULL
             UNION ALL SELECT u.atom_id FROM unmerged u CROSS JOIN atoms c ON c.id = u.atom_id
               WHERE c.status = 'closed'),
           within (id) AS (
             SELECT id FROM at_work
             UNION SELECT p.parent_id FROM within CROSS JOIN atoms p ON p.id = within.id
               WHERE p.parent_id IS NOT NULL),
           behind (id) AS (
             SELECT b.target_id FROM at_work
               CROSS JOIN bonds b INDEXED BY bonds_source ON b.source_id = at_work.id
               WHERE b.kind IN ('blocks','conditional_blocks')
             UNION SELECT b.target_id FROM within
               CROSS JOIN bonds b INDEXED BY bonds_source ON b.source_id = within.id
               WHERE b.kind = 'waits_for'
             UNION SELECT c.id FROM behind
               CROSS JOIN atoms c INDEXED BY atoms_parent ON c.parent_id = behind.id)
         SELECT id FROM behind"
    };
}

/// SQL: the atom `a` has no live run, and waits for none.
macro_rules! free_of_runs {
    () => {
        concat!(
            " AND a.id NOT IN (SELECT r.atom_id FROM runs r WHERE r.outcome IS NULL)
              AND a.id NOT IN (",
            behind_a_run!(),
            ")"
        )
    };
}

/// SQL: no bond of the rare kinds holds the atom `a`.
macro_rules! free_of_waits {
    () => {
        concat!(" AND NOT ", has_live_blocker!("a.id"))
    };
}

/// SQL: the atom with that id is the epic of a plan that has not ended and that no worker drives. A
/// look by the id: a list of such plans would be made anew for each parent.
macro_rules! is_resting_plan {
    ($id:literal) => {
        concat!(
            "EXISTS (SELECT 1 FROM orchestrations o WHERE o.epic_id = ",
            $id,
            " AND o.ended_at IS NULL
               AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.id = o.driver))"
        )
    };
}
pub(super) use is_resting_plan;

/// SQL: the atom is of a type that is worked on.
macro_rules! not_abstract {
    () => {
        "
     AND a.issue_type NOT IN ('epic','formula')"
    };
}
pub(super) use not_abstract;

/// The condition for an atom `a` at the time `:now`, without the ancestors. A back-off that begins
/// more than a minute in the future (`CLOCK_SKEW`) holds nothing: the clock was turned back.
pub(crate) const READY: &str = concat!(
    "a.status IN ('open','deferred') AND a.blocked_by = 0
     AND (a.status = 'open' OR a.defer_until <= :now)",
    not_abstract!(),
    "
     AND (a.retry_at IS NULL OR a.retry_at <= :now OR a.retry_from > :now + 60000000)",
    free_of_runs!(),
    free_of_waits!(),
);

/// Takes the runs out of a query with [`READY`] while there is no live run and no awaited merge,
/// and the bonds while there is none of the rare kinds. SQLite needs longer to prepare each part
/// than to do all the rest.
pub(super) fn without_idle_parts<'q>(tx: &Tx<'_>, sql: &'q str) -> Result<Cow<'q, str>> {
    if !tx.is_sqlite() {
        return Ok(Cow::Borrowed(sql));
    }
    let any = "SELECT EXISTS (SELECT 1 FROM runs r INDEXED BY runs_live WHERE r.outcome IS NULL)
          OR EXISTS (SELECT 1 FROM unmerged),
        EXISTS (SELECT 1 FROM bonds b INDEXED BY bonds_waiting
          WHERE b.kind IN ('waits_for','conditional_blocks'))";
    let (are_runs, are_waits): (bool, bool) =
        tx.read_one(any, [], |row| Ok((row.get(0)?, row.get(1)?))).doing("find live runs")?;
    let mut sql = Cow::Borrowed(sql);
    for (is_needed, part) in [(are_runs, free_of_runs!()), (are_waits, free_of_waits!())] {
        if !is_needed {
            sql = Cow::Owned(sql.replace(part, ""));
        }
    }
    Ok(sql)
}

/// Selects whether an atom holds the atoms below, and the atom's parent. `?3`: a plan without a
/// driver holds the tasks.
const HOLDS_CHILDREN: &str = concat!(
    "SELECT p.status IN ('blocked','wont_do','discard')
       OR (p.status = 'deferred' AND (p.defer_until IS NULL OR p.defer_until > ?2))
       OR p.blocked_by > 0 OR (?3 = 1 AND ",
    is_resting_plan!("p.id"),
    ") OR ",
    has_live_blocker!("p.id"),
    ", p.parent_id FROM atoms p WHERE p.id = ?1"
);

/// The ancestors read so far, each with the answer whether the ancestor holds the children.
pub(crate) struct Parents<'t> {
    tx: &'t Tx<'t>,
    now: Timestamp,
    holding: HashMap<String, bool>,
    /// The plan that the caller drives, and all ancestors of the plan: none of these hold tasks
    /// from the caller.
    driven: HashSet<String>,
}

impl<'t> Parents<'t> {
    /// `driving`: the epic of the plan that the caller drives.
    pub(crate) fn new(
        tx: &'t Tx<'t>,
        now: Timestamp,
        driving: Option<&str>,
    ) -> Result<Parents<'t>> {
        let mut driven = HashSet::new();
        let mut next = driving.map(str::to_owned);
        while let Some(id) = next.filter(|id| driven.insert(id.clone())) {
            next = atom::find(tx, &id)?.and_then(|epic| epic.parent_id);
        }
        Ok(Parents { tx, now, holding: HashMap::new(), driven })
    }

    /// Returns true if `parent` or an ancestor of `parent` holds the children.
    pub(crate) fn hold_children(&mut self, parent: Option<&str>) -> Result<bool> {
        let Some(parent) = parent else { return Ok(false) };
        if let Some(known) = self.holding.get(parent) {
            return Ok(*known);
        }
        let mut path: Vec<String> = Vec::new();
        let mut next = Some(parent.to_owned());
        let mut is_held = false;
        while let Some(id) = next {
            if let Some(known) = self.holding.get(&id) {
                is_held = *known;
                break;
            }
            let holds = !self.driven.contains(&id);
            let found: Option<(bool, Option<String>)> = self
                .tx
                .read_optional(HOLDS_CHILDREN, params![id, self.now.as_micros(), holds], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .doing("read a parent")?;
            // In a damaged database, the parents may form a cycle.
            self.holding.insert(id.clone(), false);
            path.push(id);
            match found {
                Some((true, _)) => {
                    is_held = true;
                    break;
                }
                Some((false, above)) => next = above,
                None => break,
            }
        }
        if is_held {
            for id in path {
                self.holding.insert(id, true);
            }
        }
        Ok(is_held)
    }
}

/// The order of work on ready atoms.
pub(crate) const QUEUE_ORDER: &str = "a.priority, a.created_at, a.seq";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_idle_part_stands_in_the_condition_once_and_can_be_taken_out() {
        for (part, table) in [(free_of_runs!(), "runs r"), (free_of_waits!(), "bonds_waiting")] {
            assert_eq!(READY.matches(part).count(), 1);
            assert!(!READY.replace(part, "").contains(table));
        }
    }
}
