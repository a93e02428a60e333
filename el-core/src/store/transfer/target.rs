use std::path::Path;

use super::super::{Durability, Store, closed, open};
use super::closed::Closed;
use super::{Identity, MoveTarget};
use crate::{Error, Result};

impl MoveTarget<'_> {
    /// Opens the target; it may be another project's. `None` if there is none. With `make`, makes a
    /// missing target, and migrates an older one. A file is closed from its first moment.
    pub(super) fn open(
        &self,
        local: &Path,
        make: Option<(&Closed, &Identity)>,
    ) -> Result<Option<Store>> {
        match self {
            MoveTarget::File(path) => open_file(path, make),
            #[cfg(feature = "postgres")]
            MoveTarget::Server(address) => Store::target_on_server(address, local, make.is_some()),
            #[cfg(not(feature = "postgres"))]
            MoveTarget::Server(address) => {
                Store::open_at(local, Some(address), Durability::Full).map(Some)
            }
        }
    }

    /// Removes a file that this move made, and that holds nothing.
    pub(super) fn remove_made(&self) {
        if let MoveTarget::File(path) = self {
            remove_file(path);
        }
    }
}

fn open_file(path: &Path, make: Option<(&Closed, &Identity)>) -> Result<Option<Store>> {
    let is_empty = std::fs::metadata(path).map_or(true, |meta| meta.len() == 0);
    match (Store::open(path, Durability::Full), make) {
        (_, Some((closed, identity))) if is_empty => {
            let is_new = !path.exists();
            let made = create_file(path, closed, identity).inspect_err(|_| {
                if is_new {
                    remove_file(path);
                }
            });
            made.map(Some)
        }
        (_, None) if is_empty => Ok(None),
        // The target is closed, and of an older version.
        (Err(Error::Moved { .. }), None) => Ok(None),
        (Err(Error::Moved { .. }), Some(_)) => {
            open::bring_up_closed(path)?;
            Store::open(path, Durability::Full).map(Some)
        }
        (opened, _) => opened.map(Some),
    }
}

/// Makes a file that is closed to changes until the move opens it.
pub(super) fn create_file(path: &Path, closed: &Closed, identity: &Identity) -> Result<Store> {
    Store::create_filled(path, |tx| {
        identity.write(tx)?;
        closed::close(tx, closed)
    })
}

/// Removes a file that was made in vain, with SQLite's files beside it.
pub(super) fn remove_file(path: &Path) {
    for end in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        // A file that cannot be removed could not be made either, or the next call reports it.
        let _ = std::fs::remove_file(name);
    }
}
