use super::Tx;
use super::engine::params;
use crate::Result;
use crate::error::Doing;

pub(crate) fn add(tx: &Tx<'_>, atom: &str, label: &str) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO labels (atom_id, label) VALUES (?1, ?2)
             ON CONFLICT DO NOTHING",
    )
    .and_then(|mut s| s.gather_row(params![atom, label]))
    .doing("add a label")?;
    Ok(())
}

pub(crate) fn remove(tx: &Tx<'_>, atom: &str, label: &str) -> Result<()> {
    tx.execute("DELETE FROM labels WHERE atom_id = ?1 AND label = ?2", params![atom, label])
        .doing("remove a label")?;
    Ok(())
}
