use crate::Result;
use crate::store::{Store, run_file};

/// Stores a part of a run's file, from byte `start` on, for the other machines that share the
/// server. A part that is stored already stays.
///
/// # Errors
///
/// If the store is closed, or cannot be written.
pub fn keep_run_file(
    store: &mut Store,
    run: &str,
    name: &str,
    start: u64,
    data: &[u8],
) -> Result<()> {
    // After a failure, the transaction makes a connection anew, or fails.
    if store.is_on_server() && run_file::add_alone(store, run, name, start, data).unwrap_or(false) {
        return Ok(());
    }
    store.write(|tx| run_file::add(tx, run, name, start, data))
}

/// Returns the names of a run's stored files, with the stored bytes of each.
///
/// # Errors
///
/// If the store cannot be read.
pub fn kept_run_files(store: &Store, run: &str) -> Result<Vec<(String, u64)>> {
    store.read(|tx| run_file::sizes(tx, run))
}

/// Visits the stored parts of a file that end after a byte, each with its first byte's position.
///
/// # Errors
///
/// If the store cannot be read, or `visit` fails.
pub fn read_run_file(
    store: &Store,
    (run, name): (&str, &str),
    from: u64,
    visit: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    store.read(|tx| run_file::each_from(tx, (run, name), from, visit))
}
