//! All rows in an order.

use super::Query;
use crate::Result;
use crate::error::Doing;
use crate::model::Atom;
use crate::store::engine::Row;
use crate::store::{Tx, atom};

/// Room for the labels of 100,000 atoms, which are looked up one by one. SQLite's own 2 MB would
/// read each page of theirs again and again.
const CACHE: &str = "PRAGMA cache_size = -6144";

impl Query {
    /// Each of the atoms, in `order`.
    pub(crate) fn visit_atoms(
        &self,
        tx: &Tx<'_>,
        order: &str,
        mut visit: impl FnMut(Atom) -> Result<()>,
    ) -> Result<()> {
        self.visit_rows(tx, order, None, 0, |row| visit(atom::from_row(row).doing("list atoms")?))
    }

    /// Each of the atoms as JSON, in `order`.
    pub(crate) fn visit_lines(
        &self,
        tx: &Tx<'_>,
        order: &str,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut line = Vec::new();
        self.visit_rows(tx, order, None, 0, |row| {
            line.clear();
            atom::AtomRow::read(row).doing("list atoms")?.append_to(&mut line);
            visit(&line)
        })
    }

    /// Hands each atom to `each`, in `order` (a fixed fragment of SQL).
    pub(crate) fn for_each<E: From<crate::Error>>(
        &self,
        tx: &Tx<'_>,
        order: &str,
        mut each: impl FnMut(Atom) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = format!("SELECT {} {} ORDER BY {order}", atom::COLUMNS, self.from());
        let doing = "list atoms";
        tx.each_row(&sql, &*self.bound_params(), doing, |row| {
            each(atom::from_row(row).doing(doing)?).map(|()| true)
        })
    }

    /// Visits all rows as [`atom::COLUMNS`], in `order`. SQLite would sort the whole rows, in
    /// files; so the numbers of the rows are sorted alone, mostly without a look at the table.
    pub(super) fn visit_sorted(
        &self,
        tx: &Tx<'_>,
        order: &str,
        mut visit: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let doing = "list atoms";
        let sql = format!("SELECT a.seq {} ORDER BY {order}", self.from());
        let sorted: Vec<i64> =
            tx.read_all(&sql, &*self.bound_params(), |row| row.get(0)).doing(doing)?;
        tx.execute_batch(CACHE).doing(doing)?;
        let sql = format!("SELECT {} FROM atoms a WHERE a.seq = ?1", atom::columns_of_all(tx)?);
        let mut statement = tx.prepare_cached(&sql).doing(doing)?;
        for seq in sorted {
            let mut rows = statement.query([seq]).doing(doing)?;
            if let Some(row) = rows.next().doing(doing)? {
                visit(&row)?;
            }
        }
        Ok(())
    }
}
