//! Epics whose contents are all over.

use super::{Tx, atom};
use crate::Result;
use crate::error::Doing;
use crate::model::Atom;

/// The condition for an epic `a`: it is not over, all its direct contents are over, and no plan
/// drives it. A plan closes its own epic once the results are aggregated.
const IS_FINISHED: &str = "a.issue_type = 'epic'
   AND a.status NOT IN ('closed','wont_do','discard','review')
   AND EXISTS (SELECT 1 FROM atoms c WHERE c.parent_id = a.id)
   AND NOT EXISTS (SELECT 1 FROM atoms c WHERE c.parent_id = a.id
     AND c.status NOT IN ('closed','wont_do','discard'))
   AND NOT EXISTS (SELECT 1 FROM orchestrations o WHERE o.epic_id = a.id AND o.ended_at IS NULL)";

/// The epic with this id, if all its contents are over.
pub(crate) fn finished(tx: &Tx<'_>, id: &str) -> Result<Option<Atom>> {
    tx.read_optional(
        &format!("SELECT {} FROM atoms a WHERE a.id = ?1 AND {IS_FINISHED}", atom::COLUMNS),
        [id],
        atom::from_row,
    )
    .doing("read an epic")
}

/// Every epic whose contents are all over, oldest first.
pub(crate) fn all_finished(tx: &Tx<'_>) -> Result<Vec<Atom>> {
    let sql = format!(
        "SELECT {} FROM atoms a INDEXED BY atoms_active
         WHERE {IS_FINISHED} AND a.status NOT IN ('closed','wont_do','discard') ORDER BY a.seq",
        atom::COLUMNS
    );
    tx.read_all(&sql, [], atom::from_row).doing("find finished epics")
}

/// The closed atoms that contain atoms that are not over, each with one of those. They hold
/// nothing.
pub(crate) fn closed_around_open(tx: &Tx<'_>) -> Result<Vec<(String, String)>> {
    let sql = "SELECT a.id, min(c.id) FROM atoms c JOIN atoms a ON a.id = c.parent_id
               WHERE c.status NOT IN ('closed','wont_do','discard') AND a.status = 'closed'
               GROUP BY a.id ORDER BY a.id";
    tx.read_all(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).doing("find closed epics")
}
