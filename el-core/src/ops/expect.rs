use crate::model::Timestamp;
use crate::store::{Store, atom, ensure_unchanged};
use crate::{Error, Result};

/// Makes the next verb on this store fail, in its own transaction, if the atom changed after
/// `seen`. A person has decided by the state that the screen showed.
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
