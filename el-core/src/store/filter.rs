//! From a filter to SQL. Values travel as parameters; only fixed fragments are put together.

use std::collections::HashSet;

use super::engine::{self, Row, Value};
use super::ready::{self, Parents};
use super::{Tx, atom};
use crate::Result;
use crate::error::Doing;
use crate::model::{Atom, Status, Timestamp};

mod criteria;
mod offers;
mod queue_row;
mod sorted;

pub use criteria::{AssigneeFilter, AtomFilter, Page, Sort};
pub(crate) use queue_row::{QueueRow, open_rows_beside};

#[derive(Default)]
pub(crate) struct Query {
    /// The index to use where the planner would choose badly. The planner has no statistics, since
    /// gathering statistics would tax every start.
    index: Option<&'static str>,
    conditions: Vec<String>,
    values: Vec<(String, Value)>,
    /// The parameter that names the agent of [`AssigneeFilter::NobodyOr`].
    nobody_or: Option<String>,
    /// Only atoms ready at that time; atoms held by parents are excluded.
    ready_at: Option<Timestamp>,
    /// The plan that the caller drives.
    driving: Option<String>,
}

/// The index of the whole queue, and the index with a part for each agent.
const OF_ALL: &str = "atoms_queue";
const OF_ONE: &str = "atoms_queue_of";

/// The index of all that is not over, in the order of the queue.
const IN_ORDER: &str = "atoms_active";

const NOT_OVER: &str = "a.status NOT IN ('closed','wont_do','discard')";

impl Query {
    pub(crate) fn new(filter: &AtomFilter) -> Query {
        let mut query = Query::default();
        query.add_filter(filter);
        query
    }

    /// Returns a query for the atoms ready at `now`.
    pub(crate) fn ready_at(filter: &AtomFilter, now: Timestamp) -> Query {
        let conditions = vec![ready::READY.to_owned()];
        let values = vec![(":now".to_owned(), now.as_micros().into())];
        // A query for an agent's own atoms does not scan the atoms of others.
        let index = match filter.assignee {
            Some(AssigneeFilter::Is(_) | AssigneeFilter::Nobody) => OF_ONE,
            _ => OF_ALL,
        };
        let mut query = Query {
            index: Some(index),
            conditions,
            values,
            ready_at: Some(now),
            driving: filter.below.clone(),
            ..Query::default()
        };
        query.add_filter(&AtomFilter { include_over: true, ..filter.clone() });
        query
    }

    /// Returns a query for the atoms that nothing but their type keeps from being ready at `now`.
    pub(crate) fn unheld_at(filter: &AtomFilter, now: Timestamp) -> Query {
        let mut query = Query::ready_at(filter, now);
        query.index = None;
        query.conditions[0] = ready::READY.replace(ready::not_abstract!(), "");
        query
    }

    fn add_filter(&mut self, filter: &AtomFilter) {
        let is_not_over = Status::ALL.iter().all(|s| s.is_over() != filter.statuses.contains(s));
        if (filter.statuses.is_empty() && !filter.include_over) || is_not_over {
            self.conditions.push(NOT_OVER.to_owned());
            if filter.parent.is_none() {
                self.index = Some(IN_ORDER);
            }
        } else if filter.statuses == [Status::InProgress] {
            // A literal: a partial index does not know what a parameter will be.
            self.conditions.push("a.status = 'in_progress'".to_owned());
            if matches!(filter.assignee, Some(AssigneeFilter::Is(_))) {
                self.index = Some("atoms_in_progress");
            }
        } else if !filter.statuses.is_empty() {
            self.any_of("a.status", filter.statuses.iter().map(|s| s.as_str().to_owned().into()));
        }
        if !filter.types.is_empty() {
            self.any_of("a.issue_type", filter.types.iter().map(|t| t.as_str().to_owned().into()));
        }
        if !filter.exclude_types.is_empty() {
            let left_out = filter.exclude_types.iter().map(|t| t.as_str().to_owned().into());
            let names: Vec<String> = left_out.map(|v| self.bind_value(v)).collect();
            self.conditions.push(format!("a.issue_type NOT IN ({})", names.join(",")));
        }
        if !filter.priorities.is_empty() {
            self.any_of(
                "a.priority",
                filter.priorities.iter().map(|p| i64::from(p.value()).into()),
            );
        }
        for label in &filter.labels {
            let name = self.bind_value(label.clone().into());
            self.conditions.push(format!(
                "EXISTS (SELECT 1 FROM labels l WHERE l.atom_id = a.id AND l.label = {name})"
            ));
        }
        self.add_offers(filter.offers.as_deref());
        match &filter.assignee {
            None => {}
            Some(AssigneeFilter::Nobody) => self.conditions.push("a.assignee IS NULL".to_owned()),
            Some(AssigneeFilter::Is(who)) => {
                self.add_comparison("a.assignee =", who.clone().into())
            }
            Some(AssigneeFilter::NobodyOr(who)) => {
                self.nobody_or = Some(self.bind_value(who.clone().into()));
            }
        }
        if let Some(parent) = &filter.parent {
            self.add_comparison("a.parent_id =", parent.clone().into());
        }
        if let Some(top) = &filter.below {
            let name = self.bind_value(top.clone().into());
            self.conditions.push(format!(
                "a.id IN (WITH RECURSIVE below (id) AS (
                   SELECT id FROM atoms WHERE parent_id = {name} UNION SELECT c.id FROM atoms c
                   JOIN below ON c.parent_id = below.id
                 ) SELECT id FROM below)"
            ));
        }
        if !filter.ids.is_empty() {
            self.any_of("a.id", filter.ids.iter().map(|id| id.clone().into()));
        }
        if filter.asks {
            self.conditions
                .push("EXISTS (SELECT 1 FROM questions q WHERE q.atom_id = a.id)".to_owned());
        }
        for word in filter.text.iter().flat_map(|text| text.split_whitespace()) {
            let name = self.bind_value(word.to_owned().into());
            self.conditions.push(format!(
                "(instr(lower(a.title), lower({name})) > 0 OR instr(lower(a.description), \
                 lower({name})) > 0)"
            ));
        }
        for (comparison, time) in [
            ("a.created_at >=", filter.created_after),
            ("a.created_at <", filter.created_before),
            ("a.updated_at >=", filter.updated_after),
            ("a.updated_at <", filter.updated_before),
        ] {
            if let Some(time) = time {
                self.add_comparison(comparison, time.as_micros().into());
            }
        }
    }

    fn bind_value(&mut self, value: Value) -> String {
        let name = format!(":v{}", self.values.len());
        self.values.push((name.clone(), value));
        name
    }

    fn add_comparison(&mut self, left: &str, value: Value) {
        let name = self.bind_value(value);
        self.conditions.push(format!("{left} {name}"));
    }

    fn any_of(&mut self, column: &str, values: impl Iterator<Item = Value>) {
        let names: Vec<String> = values.map(|v| self.bind_value(v)).collect();
        self.conditions.push(format!("{column} IN ({})", names.join(",")));
    }

    /// `FROM atoms a …`, conditions included.
    fn from(&self) -> String {
        let whose = self
            .nobody_or
            .as_ref()
            .map(|name| format!("(a.assignee IS NULL OR a.assignee = {name})"));
        self.queue_part(self.index, whose)
    }

    fn queue_part(&self, index: Option<&str>, whose: Option<String>) -> String {
        let index = index.map_or_else(String::new, |name| format!(" INDEXED BY {name}"));
        let conditions: Vec<&str> =
            self.conditions.iter().chain(&whose).map(String::as_str).collect();
        let conditions = if conditions.is_empty() {
            String::new()
        } else {
            format!(" WHERE {}", conditions.join(" AND "))
        };
        format!("FROM atoms a{index}{conditions}")
    }

    /// Builds `SELECT columns FROM atoms a …`. SQLite merges two parts of the queue for ready atoms
    /// of nobody or of an agent; PostgreSQL would sort both, and reads the queue in its order.
    fn select_sql(&self, tx: &Tx<'_>, columns: &str) -> String {
        match &self.nobody_or {
            Some(name) if self.index == Some(OF_ALL) && tx.is_sqlite() => {
                ["a.assignee IS NULL".to_owned(), format!("a.assignee = {name}")]
                    .map(|whose| {
                        format!("SELECT {columns} {}", self.queue_part(Some(OF_ONE), Some(whose)))
                    })
                    .join(" UNION ALL ")
            }
            _ => format!("SELECT {columns} {}", self.from()),
        }
    }

    fn bound_params(&self) -> Vec<(&str, &dyn engine::ToSql)> {
        self.values
            .iter()
            .map(|(name, value)| (name.as_str(), value as &dyn engine::ToSql))
            .collect()
    }

    /// Calls `visit` with each row of `sql` until `visit` returns false. Column `parent` holds the
    /// atom's parent.
    fn visit_sql(
        &self,
        tx: &Tx<'_>,
        sql: &str,
        parent: usize,
        doing: &'static str,
        mut visit: impl FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut parents =
            self.ready_at.map(|now| Parents::new(tx, now, self.driving.as_deref())).transpose()?;
        let sql = match self.ready_at {
            Some(_) => ready::without_idle_parts(tx, sql)?,
            None => sql.into(),
        };
        tx.each_row(&sql, &*self.bound_params(), doing, |row| {
            if let Some(parents) = &mut parents {
                let parent = row.get_ref(parent).doing(doing)?;
                let parent = parent.as_str_or_null().unwrap_or_default();
                if parents.hold_children(parent)? {
                    return Ok(true);
                }
            }
            visit(row)
        })
    }

    pub(crate) fn count(&self, tx: &Tx<'_>) -> Result<i64> {
        if self.ready_at.is_some() {
            return self.count_up_to(tx, i64::MAX);
        }
        let sql = format!("SELECT count(*) {}", self.from());
        tx.read_one(&sql, &*self.bound_params(), |row| row.get(0)).doing("count atoms")
    }

    /// Counts the matching atoms, no further than `most`.
    pub(crate) fn count_up_to(&self, tx: &Tx<'_>, most: i64) -> Result<i64> {
        let mut count = 0;
        self.visit_sql(tx, &self.select_sql(tx, "a.parent_id"), 0, "count atoms", |_| {
            count += 1;
            Ok(count < most)
        })?;
        Ok(count)
    }

    /// The ids of all matching atoms.
    pub(crate) fn ids(&self, tx: &Tx<'_>) -> Result<HashSet<String>> {
        let mut ids = HashSet::new();
        self.visit_sql(tx, &self.select_sql(tx, "a.id, a.parent_id"), 1, "list ids", |row| {
            ids.insert(row.get(0).doing("list ids")?);
            Ok(true)
        })?;
        Ok(ids)
    }

    /// Returns true if an atom matches. Stops at the first.
    pub(crate) fn is_any(&self, tx: &Tx<'_>) -> Result<bool> {
        Ok(self.count_up_to(tx, 1)? > 0)
    }

    /// Returns true if the atom with this whole id matches.
    pub(crate) fn matches(mut self, tx: &Tx<'_>, id: &str) -> Result<bool> {
        self.add_comparison("a.id =", id.to_owned().into());
        self.is_any(tx)
    }

    /// Returns the earliest end of the back-offs that run at `now`.
    pub(crate) fn next_retry(mut self, tx: &Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>> {
        self.add_comparison("a.retry_at >", now.as_micros().into());
        self.add_comparison("a.retry_from - 60000000 <=", now.as_micros().into());
        let sql = format!("SELECT min(a.retry_at) {}", self.from());
        tx.read_one(&sql, &*self.bound_params(), |row| row.time_or_none(0))
            .doing("find the next retry")
    }

    /// Counts the back-offs that run at `now`.
    pub(crate) fn backing_off(mut self, tx: &Tx<'_>, now: Timestamp) -> Result<i64> {
        self.add_comparison("a.retry_at >", now.as_micros().into());
        self.add_comparison("a.retry_from - 60000000 <=", now.as_micros().into());
        self.count(tx)
    }

    /// The atoms, in `order` (a fixed fragment of SQL), from `offset` on, at most `limit`.
    pub(crate) fn fetch_rows(
        &self,
        tx: &Tx<'_>,
        order: &str,
        limit: Option<i64>,
        offset: i64,
    ) -> Result<Vec<Atom>> {
        let mut atoms = Vec::new();
        self.visit_rows(tx, order, limit, offset, |row| {
            atoms.push(atom::from_row(row).doing("list atoms")?);
            Ok(())
        })?;
        Ok(atoms)
    }

    /// Visits the rows of [`Query::fetch_rows`] as [`atom::COLUMNS`], in constant memory.
    fn visit_rows(
        &self,
        tx: &Tx<'_>,
        order: &str,
        limit: Option<i64>,
        offset: i64,
        mut visit: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        // Parents are judged row by row, so SQLite cannot do the counting.
        let (mut to_skip, mut left) = match self.ready_at {
            Some(_) => (offset, limit.unwrap_or(i64::MAX)),
            None => (0, i64::MAX),
        };
        if left == 0 {
            return Ok(());
        }
        let is_whole = self.ready_at.is_none() && limit.is_none() && offset == 0;
        let is_in_order = order == ready::QUEUE_ORDER && self.index == Some(IN_ORDER);
        if is_whole && !is_in_order && tx.is_sqlite() {
            return self.visit_sorted(tx, order, visit);
        }
        let page = match self.ready_at {
            Some(_) => String::new(),
            // With a limit, SQLite sorts in a tree, which is slower for all rows.
            None if limit.is_none() && offset == 0 => String::new(),
            None => format!(" LIMIT {} OFFSET {offset}", limit.unwrap_or(i64::MAX)),
        };
        let sql = if order == ready::QUEUE_ORDER {
            let select = self.select_sql(tx, &format!("{}, a.seq AS seq", atom::COLUMNS));
            format!("{select} ORDER BY priority, created_at, seq{page}")
        } else {
            format!("SELECT {} {} ORDER BY {order}{page}", atom::COLUMNS, self.from())
        };
        self.visit_sql(tx, &sql, atom::PARENT_COLUMN, "list atoms", |row| {
            if to_skip > 0 {
                to_skip -= 1;
                return Ok(true);
            }
            visit(row)?;
            left -= 1;
            Ok(left > 0)
        })
    }
}
