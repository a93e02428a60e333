use super::Tx;
use super::engine::params;
use crate::Result;
use crate::error::Doing;

pub(crate) fn add(tx: &Tx<'_>, atom: &str, label: &str) -> Result<()> {
    tx.gather_row(
        "INSERT INTO labels (atom_id, label) VALUES (?1, ?2)
             ON CONFLICT DO NOTHING",
        params![atom, label],
    )
    .doing("add a label")
}

pub(crate) fn remove(tx: &Tx<'_>, atom: &str, label: &str) -> Result<()> {
    tx.execute("DELETE FROM labels WHERE atom_id = ?1 AND label = ?2", params![atom, label])
        .doing("remove a label")
        .map(drop)
}
