use rusqlite::params;

use super::Tx;
use crate::Result;
use crate::error::Doing;

pub(crate) fn of(tx: &Tx<'_>, atom: &str) -> Result<Vec<String>> {
    let mut statement = tx.prepare_cached("SELECT label FROM labels WHERE atom_id = ?1 ORDER BY label").doing("read labels")?;
    let rows = statement.query_map([atom], |row| row.get(0)).doing("read labels")?;
    rows.collect::<rusqlite::Result<_>>().doing("read labels")
}

pub(crate) fn add(tx: &Tx<'_>, atom: &str, label: &str) -> Result<()> {
    tx.prepare_cached("INSERT OR IGNORE INTO labels (atom_id, label) VALUES (?1, ?2)")
        .and_then(|mut s| s.execute(params![atom, label]))
        .doing("add a label")?;
    Ok(())
}

pub(crate) fn remove(tx: &Tx<'_>, atom: &str, label: &str) -> Result<()> {
    tx.execute("DELETE FROM labels WHERE atom_id = ?1 AND label = ?2", params![atom, label]).doing("remove a label")?;
    Ok(())
}
