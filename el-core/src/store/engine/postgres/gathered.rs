//! The rows that wait to be sent to a server: a question for each would take most of the time, with
//! the project's lock held.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;

use rusqlite::types::Value;

use super::super::{Params, Result};
use super::Transaction;
use super::values::{Wire, translate_for, with_types};
use crate::store::tables::TABLES;

/// The most rows that wait, and about the most bytes.
const MOST_ROWS: usize = 2_000;
const MOST_BYTES: usize = 1 << 20;

/// The most values of one statement; the protocol's own limit is 65,535.
const MOST_VALUES: usize = 8_000;

#[derive(Default)]
pub(in super::super) struct Gathered {
    is_on: Cell<bool>,
    groups: RefCell<Vec<Group>>,
    rows: Cell<usize>,
    bytes: Cell<usize>,
}

/// The rows of a statement, whose values follow each other.
struct Group {
    sql: String,
    row_len: usize,
    values: Vec<Wire>,
    /// The rows that an update changes: no statement can change a row twice.
    changed: Option<HashSet<String>>,
}

impl Gathered {
    pub(in super::super) fn start_gathering(&self) {
        self.is_on.set(true);
    }

    /// Adds a row. Returns false if that row waits for another change.
    fn add_row(&self, sql: &str, mut values: Vec<Wire>) -> bool {
        let mut groups = self.groups.borrow_mut();
        let at = groups.iter().position(|group| group.sql == sql).unwrap_or_else(|| {
            let changed = (place_of(sql) == TABLES.len()).then(HashSet::new);
            groups.push(Group {
                sql: sql.to_owned(),
                row_len: values.len(),
                values: Vec::new(),
                changed,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        if let (Some(changed), Some(Wire(Value::Text(key)))) = (&mut group.changed, values.first())
            && !changed.insert(key.clone())
        {
            return false;
        }
        let bytes = |Wire(value): &Wire| if let Value::Text(text) = value { text.len() } else { 8 };
        self.bytes.set(self.bytes.get() + values.iter().map(bytes).sum::<usize>());
        self.rows.set(self.rows.get() + 1);
        group.values.append(&mut values);
        true
    }

    fn is_full(&self) -> bool {
        self.rows.get() >= MOST_ROWS || self.bytes.get() >= MOST_BYTES
    }

    /// Takes all rows, in the order in which the tables refer to each other.
    fn take_groups(&self) -> Vec<Group> {
        self.rows.set(0);
        self.bytes.set(0);
        let mut groups = self.groups.take();
        groups.sort_by_key(|group| place_of(&group.sql));
        groups
    }
}

/// The place of a statement: an update may refer to any row that is inserted.
fn place_of(sql: &str) -> usize {
    let table = sql.strip_prefix("INSERT INTO ").and_then(|rest| rest.split(' ').next());
    TABLES.iter().position(|name| table == Some(name)).unwrap_or(TABLES.len())
}

impl Transaction<'_> {
    pub(in super::super) fn gather_row(&self, sql: &str, params: &impl Params) -> Result<()> {
        if !self.gathered.is_on.get() {
            return self.execute(sql, params).map(|_| ());
        }
        let values = || {
            let mut values = Vec::new();
            params.each_value(&mut |_, value| values.push(Wire(value)));
            values
        };
        if !self.gathered.add_row(sql, values()) {
            self.send_gathered()?;
            self.gathered.add_row(sql, values());
        }
        if self.gathered.is_full() { self.send_gathered() } else { Ok(()) }
    }

    pub(in super::super) fn send_gathered(&self) -> Result<()> {
        if self.gathered.rows.get() == 0 {
            return Ok(());
        }
        for Group { sql, row_len, values, .. } in self.gathered.take_groups() {
            let row_len = row_len.max(1);
            let mut values = values.into_iter().peekable();
            while values.peek().is_some() {
                let most = (MOST_VALUES / row_len).max(1) * row_len;
                let some: Vec<Wire> = values.by_ref().take(most).collect();
                let sql = translate_for(&of_rows(&sql, some.len() / row_len, row_len), &[], &some);
                self.call_now(move |client| client.execute_typed(&sql, &with_types(&some)))?;
            }
        }
        Ok(())
    }
}

/// The statement for so many rows, from that for one.
fn of_rows(sql: &str, rows: usize, row_len: usize) -> String {
    let begin = sql.find("VALUES (").map_or(0, |at| at + "VALUES ".len());
    let mut depth = 0;
    let len = sql[begin..].find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ')' && depth == 0
    });
    let end = begin + len.map_or(0, |len| len + 1);
    let row = |at: usize| -> String {
        let mut parts = sql[begin..end].split('?');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let place: usize = part[..digits].parse().unwrap_or_default();
            text.push_str(&format!("?{}{}", at * row_len + place, &part[digits..]));
        }
        text
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("{}{}{}", &sql[..begin], rows.join(","), &sql[end..])
}

#[cfg(test)]
mod tests {
    use super::{of_rows, place_of};

    #[test]
    fn a_statement_for_one_row_becomes_one_for_many() {
        let insert = "INSERT INTO labels (a, b) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        assert_eq!(
            of_rows(insert, 2, 2),
            "INSERT INTO labels (a, b) VALUES (?1, ?2),(?3, ?4) ON CONFLICT DO NOTHING"
        );
        let update = "UPDATE t SET a = v.a FROM (VALUES (?1, CAST(?2 AS BIGINT))) AS v (id, a)";
        assert_eq!(
            of_rows(update, 2, 2),
            "UPDATE t SET a = v.a FROM (VALUES (?1, CAST(?2 AS BIGINT)),(?3, CAST(?4 AS BIGINT))) \
             AS v (id, a)"
        );
        assert!(place_of("INSERT INTO atoms (id)") < place_of(insert));
        assert!(place_of(insert) < place_of(update));
    }
}
