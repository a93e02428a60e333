use super::change::{ChangeDetails, ensure_may_set_status, resolved_all, set_status};
use crate::model::{Atom, Status};
use crate::store::{Store, Tx, atom, run};
use crate::{Ctx, Error, Result};

/// Reopens atoms, all or none; a person's call also gives fresh attempts. An open atom stays as it
/// is.
///
/// # Errors
///
/// If an atom has a live run, a session may not reopen the atom, an id is unknown or ambiguous, the
/// caller's run is stale, or the database cannot be written.
pub fn reopen<S: AsRef<str>>(store: &mut Store, ctx: &Ctx<'_>, ids: &[S]) -> Result<Vec<Atom>> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let atoms = resolved_all(tx, ids)?;
        for atom in &atoms {
            ensure_may_set_status(tx, session.as_ref(), atom, Status::Open)?;
            match atom.status {
                Status::Open => {}
                Status::InProgress => {
                    return Err(Error::conflict(
                        "claimed",
                        format!(
                            "{} is in progress; `el release {}` takes it back",
                            atom.id, atom.id
                        ),
                    ));
                }
                _ => open_afresh(tx, ctx, atom)?,
            }
        }
        atoms.iter().map(|a| atom::get(tx, &a.id)).collect()
    })
}

/// Puts an atom back into the queue with fresh attempts.
pub(super) fn open_afresh(tx: &Tx<'_>, ctx: &Ctx<'_>, atom: &Atom) -> Result<()> {
    let to = ChangeDetails { fresh: true, ..ChangeDetails::default() };
    set_status(tx, ctx, atom, Status::Open, to)
}
