use crate::model::Timestamp;
use crate::store::{Store, atom, ensure_unchanged};
use crate::{Error, Result};

/// Has the next verb on this store refused, in its own transaction, if the atom changed after
/// `seen`: a person decides on what the screen showed.
///
/// # Errors
///
/// If the id is unknown or ambiguous, the atom has changed already, or the database cannot be read.
pub fn expect_unchanged(store: &mut Store, id: &str, seen: Timestamp) -> Result<()> {
    let id = store.read(|tx| {
        let id = atom::resolve(tx, id)?;
        ensure_unchanged(tx, &id, seen)?;
        Ok::<_, Error>(id)
    })?;
    store.expect_unchanged(id, seen);
    Ok(())
}
