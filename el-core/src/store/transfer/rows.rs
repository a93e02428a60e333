//! The rows of a project's tables, copied from one database to another, and their digests.

use sha2::{Digest as _, Sha256};

use super::super::engine::{self, Row, ToSql, Value};
use super::super::tables::TABLES;
use super::super::{Tx, meta};
use super::{Step, TableCopy};
use crate::error::Doing;
use crate::{Error, Result};

/// The most values of one statement, and about the most bytes.
const MOST_VALUES: usize = 4_000;
const MOST_BYTES: usize = 1 << 20;

const READING: &str = "read the tracker";
const WRITING: &str = "write the copy";

/// The keys of `meta` that belong to the database, not to the project.
fn own_keys() -> String {
    format!("'schema_version', '{}', '{}'", meta::CLOSED, meta::ARRIVED)
}

/// The condition for the rows of a table that belong to the project.
fn condition(table: &str) -> String {
    if table == "meta" { format!("WHERE key NOT IN ({})", own_keys()) } else { String::new() }
}

/// Returns true if any table has rows.
pub(super) fn has_contents(tx: &Tx<'_>) -> Result<bool> {
    for table in TABLES.into_iter().filter(|table| *table != "meta") {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        if tx.query_row(&sql, [], |row| row.get(0)).doing(READING)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of rows of each table.
pub(super) fn count_rows(tx: &Tx<'_>) -> Result<Vec<u64>> {
    let count = |table: &&str| {
        let sql = format!("SELECT count(*) FROM {table} {}", condition(table));
        let rows: i64 = tx.query_row(&sql, [], |row| row.get(0)).doing(READING)?;
        Ok(rows.unsigned_abs())
    };
    TABLES.iter().map(count).collect()
}

/// The digest of each table.
#[cfg(test)]
pub(in crate::store) fn digests(tx: &Tx<'_>) -> Result<Vec<String>> {
    let of = |table: &&str| {
        let found = digest(tx, table, &columns_of(tx, table)?)?;
        Ok(format!("{table} {} {}", found.rows, found.text()))
    };
    TABLES.iter().map(of).collect()
}

/// Empties the tables, except for the rows that belong to the database itself.
pub(super) fn remove_all(tx: &Tx<'_>) -> Result<()> {
    let rest = TABLES.iter().rev().filter(|table| **table != "meta");
    let all = match tx.is_sqlite() {
        true => rest.map(|table| format!("DELETE FROM {table};")).collect(),
        false => format!("TRUNCATE {};", rest.copied().collect::<Vec<_>>().join(", ")),
    };
    let meta = format!("DELETE FROM meta {}", condition("meta"));
    tx.execute_batch(&format!("{all} {meta}")).doing("empty the tables")
}

impl Tx<'_> {
    /// Lets minutes pass between two statements, while another store or a file is read.
    pub(crate) fn allow_pauses(&self) -> engine::Result<()> {
        match self.is_sqlite() {
            true => Ok(()),
            false => self.execute_batch("SET LOCAL idle_in_transaction_session_timeout = '1min'"),
        }
    }
}

/// Copies every row, and compares the digests.
pub(super) fn copy(from: &Tx<'_>, into: &Tx<'_>, step: &mut Step<'_>) -> Result<Vec<TableCopy>> {
    into.allow_pauses().doing(WRITING)?;
    let counts = count_rows(from)?;
    let (mut done, all) = (0, counts.iter().sum());
    let mut tables: Vec<(&str, u64)> = TABLES.into_iter().zip(counts).collect();
    if into.is_sqlite() {
        // An atom may come before its parent, and bonds come before atoms, whose numbers of
        // blockers the triggers would count anew.
        into.execute_batch("PRAGMA defer_foreign_keys = ON").doing(WRITING)?;
        tables.sort_by_key(|(table, _)| *table != "bonds");
    } else {
        set_triggers(into, "DISABLE")?;
    }
    let mut copied = Vec::new();
    for (table, count) in tables {
        let columns = columns_of(from, table)?;
        let read = copy_table(from, into, table, &columns, &mut |rows| {
            done += rows;
            step(done, all)
        })?;
        let written = digest(into, table, &columns)?;
        if read != written || read.rows != count {
            let message = format!("the copy of the table {table} differs, so nothing was moved");
            return Err(Error::conflict("copy_differs", message));
        }
        copied.push(TableCopy { name: table, rows: read.rows, digest: read.text() });
    }
    if !into.is_sqlite() {
        set_triggers(into, "ENABLE")?;
        set_sequences(into)?;
    }
    copied.sort_by_key(|table| TABLES.iter().position(|name| *name == table.name));
    Ok(copied)
}

/// Turns the triggers off or on: copied rows must count nothing and wake nobody.
fn set_triggers(tx: &Tx<'_>, how: &str) -> Result<()> {
    let each = |table| format!("ALTER TABLE {table} {how} TRIGGER USER;");
    tx.execute_batch(&TABLES.map(each).concat()).doing(WRITING)
}

/// Makes the numbers of new rows go on after those of the copied rows.
fn set_sequences(tx: &Tx<'_>) -> Result<()> {
    let named = "SELECT table_name::text FROM information_schema.columns
        WHERE table_schema = current_schema() AND column_name = 'seq' AND is_identity = 'YES'";
    let tables: Vec<String> = tx.read_all(named, [], |row| row.get(0)).doing(WRITING)?;
    for table in tables {
        let set = format!(
            "SELECT setval(pg_get_serial_sequence('{table}', 'seq'), greatest(max(seq), 1),
               max(seq) IS NOT NULL) FROM {table}"
        );
        tx.execute_batch(&set).doing(WRITING)?;
    }
    Ok(())
}

/// The columns that a table keeps, in order of their names.
fn columns_of(tx: &Tx<'_>, table: &str) -> Result<Vec<String>> {
    let sql = tx.pick_text(
        "SELECT name FROM pragma_table_info(?1) ORDER BY name",
        "SELECT column_name::text FROM information_schema.columns
         WHERE table_schema = current_schema() AND table_name = ?1 AND is_generated = 'NEVER'
         ORDER BY column_name",
    );
    tx.read_all(sql, [table], |row| row.get(0)).doing(READING)
}

fn select(table: &str, columns: &[String]) -> String {
    let names: Vec<String> = columns.iter().map(|name| format!("t.\"{name}\"")).collect();
    let (names, condition) = (names.join(", "), condition(table));
    if table != "atoms" {
        return format!("SELECT {names} FROM {table} t {condition}");
    }
    // A server needs a parent before its children.
    format!(
        "WITH RECURSIVE below (id, depth) AS (
           SELECT id, 0 FROM atoms WHERE parent_id IS NULL
           UNION ALL SELECT a.id, b.depth + 1 FROM atoms a JOIN below b ON a.parent_id = b.id)
         SELECT {names} FROM atoms t JOIN below b ON b.id = t.id ORDER BY b.depth, t.seq"
    )
}

fn copy_table(
    from: &Tx<'_>,
    into: &Tx<'_>,
    table: &str,
    columns: &[String],
    count: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<TableDigest> {
    let mut found = TableDigest::default();
    let mut batch: Vec<Value> = Vec::new();
    let mut bytes = 0;
    from.each_row(&select(table, columns), [], READING, |row| {
        let values = values_of(row, columns.len()).doing(READING)?;
        found.add(&values);
        bytes += values.iter().map(size_of_value).sum::<usize>();
        batch.extend(values);
        if batch.len() + columns.len() > MOST_VALUES || bytes > MOST_BYTES {
            count(insert(into, table, columns, &batch)?)?;
            batch.clear();
            bytes = 0;
        }
        Ok::<_, Error>(true)
    })?;
    count(insert(into, table, columns, &batch)?)?;
    Ok(found)
}

fn size_of_value(value: &Value) -> usize {
    if let Value::Text(text) = value { text.len() } else { 8 }
}

fn values_of(row: &Row<'_>, count: usize) -> engine::Result<Vec<Value>> {
    (0..count).map(|at| row.get(at)).collect()
}

/// Inserts rows, whose values follow each other. Returns the number of rows.
fn insert(tx: &Tx<'_>, table: &str, columns: &[String], values: &[Value]) -> Result<u64> {
    if values.is_empty() {
        return Ok(0);
    }
    let names: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
    let places: Vec<String> = (1..=values.len()).map(|place| format!("?{place}")).collect();
    let rows: Vec<String> =
        places.chunks(columns.len()).map(|row| format!("({})", row.join(","))).collect();
    let sql = format!("INSERT INTO {table} ({}) VALUES {}", names.join(","), rows.join(","));
    let values: Vec<&dyn ToSql> = values.iter().map(|value| value as &dyn ToSql).collect();
    tx.execute(&sql, &values[..]).doing(WRITING)?;
    Ok(rows.len() as u64)
}

/// The contents of a table in any order: the number of rows, and the sum of their digests.
#[derive(Debug, Default, PartialEq, Eq)]
struct TableDigest {
    rows: u64,
    sum: [u64; 4],
}

impl TableDigest {
    fn add(&mut self, values: &[Value]) {
        let mut hash = Sha256::new();
        for value in values {
            let (kind, bytes) = match value {
                Value::Null => (0, Vec::new()),
                Value::Integer(number) => (1, number.to_le_bytes().to_vec()),
                Value::Real(number) => (2, number.to_le_bytes().to_vec()),
                Value::Text(text) => (3, text.as_bytes().to_vec()),
                Value::Blob(bytes) => (4, bytes.clone()),
            };
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(&bytes);
        }
        self.rows += 1;
        for (sum, part) in self.sum.iter_mut().zip(hash.finalize().chunks_exact(8)) {
            let part: [u8; 8] = part.try_into().expect("eight bytes are eight");
            *sum = sum.wrapping_add(u64::from_be_bytes(part));
        }
    }

    fn text(&self) -> String {
        self.sum.iter().map(|part| format!("{part:016x}")).collect()
    }
}

fn digest(tx: &Tx<'_>, table: &str, columns: &[String]) -> Result<TableDigest> {
    let names: Vec<String> = columns.iter().map(|name| format!("t.\"{name}\"")).collect();
    let sql = format!("SELECT {} FROM {table} t {}", names.join(", "), condition(table));
    let mut found = TableDigest::default();
    tx.each_row(&sql, [], READING, |row| {
        found.add(&values_of(row, columns.len()).doing(READING)?);
        Ok::<_, Error>(true)
    })?;
    Ok(found)
}
