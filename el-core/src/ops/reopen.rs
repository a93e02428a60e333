use super::change::{To, may_set_status, resolved_all, set_status};
use crate::model::{Atom, Status};
use crate::store::{Store, atom, run};
use crate::{Ctx, Error, Result};

/// Opens atoms again, all or none, with fresh attempts if a person asks for it. What is open stays
/// as it is; what is being worked on is refused.
pub fn reopen<S: AsRef<str>>(store: &mut Store, ctx: &Ctx<'_>, ids: &[S]) -> Result<Vec<Atom>> {
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let atoms = resolved_all(tx, ids)?;
        for atom in &atoms {
            may_set_status(tx, session.as_ref(), atom, Status::Open)?;
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
                _ => set_status(tx, ctx, atom, Status::Open, To { fresh: true, ..To::default() })?,
            }
        }
        atoms.iter().map(|a| atom::get(tx, &a.id)).collect()
    })
}
