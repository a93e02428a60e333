//! The needs of atoms, which the workers that take them must offer.

use crate::Result;
use crate::error::Doing;
use crate::store::Tx;

/// More are not looked at.
const MOST: i64 = 1_000;

/// The atoms to be done that need something, each with what it needs.
pub(crate) fn list_needs(tx: &Tx<'_>) -> Result<Vec<(String, Vec<String>)>> {
    let doing = "read what atoms need";
    let rows: Vec<(String, String)> = tx
        .read_all(
            "SELECT a.id, a.needs FROM atoms a INDEXED BY atoms_needs
             WHERE a.needs IS NOT NULL AND a.status IN ('open','deferred') ORDER BY a.seq LIMIT ?1",
            [MOST],
            |row| Ok((row.get(0)?, row.get::<_, String>(1)?)),
        )
        .doing(doing)?;
    let parsed = |(id, text): (String, String)| Some((id, serde_json::from_str(&text).ok()?));
    Ok(rows.into_iter().filter_map(parsed).collect())
}
