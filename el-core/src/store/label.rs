use std::collections::HashMap;

use rusqlite::params;

use super::Tx;
use crate::Result;
use crate::error::Doing;

pub(crate) fn of(tx: &Tx<'_>, atom: &str) -> Result<Vec<String>> {
    let mut statement = tx.prepare_cached("SELECT label FROM labels WHERE atom_id = ?1 ORDER BY label").doing("read labels")?;
    let rows = statement.query_map([atom], |row| row.get(0)).doing("read labels")?;
    rows.collect::<rusqlite::Result<_>>().doing("read labels")
}

/// The labels of all atoms, sorted.
pub(crate) fn all(tx: &Tx<'_>) -> Result<HashMap<String, Vec<String>>> {
    let mut statement = tx.prepare_cached("SELECT atom_id, label FROM labels ORDER BY atom_id, label").doing("read labels")?;
    let mut rows = statement.query([]).doing("read labels")?;
    let mut labels: HashMap<String, Vec<String>> = HashMap::new();
    while let Some(row) = rows.next().doing("read labels")? {
        let (atom, label): (String, String) = (row.get(0).doing("read labels")?, row.get(1).doing("read labels")?);
        labels.entry(atom).or_default().push(label);
    }
    Ok(labels)
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
