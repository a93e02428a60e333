//! Parts of the files of runs, for the other machines that share a server.

use super::engine::{OptionalExtension as _, params};
use super::{Store, Tx};
use crate::Result;
use crate::error::Doing;

/// Adds a part of a file, from byte `start` on. A part that is stored already stays.
pub(crate) fn add(tx: &Tx<'_>, run: &str, name: &str, start: u64, data: &[u8]) -> Result<()> {
    tx.execute_cached(
        "INSERT INTO run_files (run_id, name, start, data) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
        params![run, name, start.cast_signed(), data],
    )
    .doing("keep a run's file")
    .map(drop)
}

/// Does the same as [`add`] for a live run, by one statement, which waits for no other writer of
/// the project: the runs of a fleet write much. Returns false if nothing was added.
pub(crate) fn add_alone(
    store: &Store,
    run: &str,
    name: &str,
    start: u64,
    data: &[u8],
) -> Result<bool> {
    let sql = "INSERT INTO run_files (run_id, name, start, data) SELECT ?1, ?2, ?3, ?4
         WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1 AND outcome IS NULL)
         ON CONFLICT DO NOTHING RETURNING 1";
    let values = params![run, name, start.cast_signed(), data];
    let added = store.database.query_alone(sql, values, |_| Ok(())).optional();
    added.doing("keep a run's file").map(|added| added.is_some())
}

/// The files of a run and their sizes, by name.
pub(crate) fn sizes(tx: &Tx<'_>, run: &str) -> Result<Vec<(String, u64)>> {
    tx.read_all(
        "SELECT name, max(start + length(data)) FROM run_files WHERE run_id = ?1
         GROUP BY name ORDER BY name",
        [run],
        |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())),
    )
    .doing("look for a run's files")
}

/// Visits the parts that end after a byte of a file, each with the position of its first byte.
pub(crate) fn each_from(
    tx: &Tx<'_>,
    (run, name): (&str, &str),
    from: u64,
    mut visit: impl FnMut(u64, &[u8]) -> Result<()>,
) -> Result<()> {
    const READING: &str = "read a run's file";
    let sql = "SELECT start, data FROM run_files
               WHERE run_id = ?1 AND name = ?2 AND start + length(data) > ?3 ORDER BY start";
    tx.each_row(sql, params![run, name, from.cast_signed()], READING, |row| {
        let start: i64 = row.get(0).doing(READING)?;
        let data: Vec<u8> = row.get(1).doing(READING)?;
        visit(start.cast_unsigned(), &data).map(|()| true)
    })
}
