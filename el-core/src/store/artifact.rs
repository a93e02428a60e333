use super::Tx;
use super::engine::{self, Row, params};
use crate::Result;
use crate::error::Doing;
use crate::model::{Artifact, ArtifactKind, ArtifactState, NotSent};

fn from_row(row: &Row<'_>) -> engine::Result<Artifact> {
    let word = |at: usize| row.get::<_, String>(at);
    let path: String = row.get(3)?;
    Ok(Artifact {
        record_type: Artifact::RECORD_TYPE,
        run_id: row.get(0)?,
        n: row.get(1)?,
        // A newer `el` may have written other words. Each is read as the nearest known word.
        kind: word(2)?.parse().unwrap_or(ArtifactKind::Deliverable),
        name: path.rsplit('/').next().unwrap_or_default().to_owned(),
        path,
        description: row.get(4)?,
        state: word(5)?.parse().unwrap_or(ArtifactState::Refused),
        size: row.get(6)?,
        sha256: row.get(7)?,
        file: row.get(8)?,
        reason: row
            .get::<_, Option<String>>(9)?
            .map(|text| text.parse().unwrap_or(NotSent::Unreadable)),
        note: row.get(10)?,
    })
}

/// Returns the artifacts of a run by number, refused files included.
pub(crate) fn of_run(tx: &Tx<'_>, run: &str) -> Result<Vec<Artifact>> {
    tx.read_all(
        "SELECT run_id, n, kind, path, description, state, size, sha256, file, reason, note
             FROM artifacts WHERE run_id = ?1 ORDER BY n",
        [run],
        from_row,
    )
    .doing("read artifacts")
}

/// Replaces the recorded artifacts of a run.
pub(crate) fn replace(tx: &Tx<'_>, run: &str, artifacts: &[Artifact]) -> Result<()> {
    tx.execute("DELETE FROM artifacts WHERE run_id = ?1", [run]).doing("record artifacts")?;
    let mut statement = tx
        .prepare_cached(
            "INSERT INTO artifacts (run_id, n, kind, path, description, state, size, sha256, file,
             reason, note)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )
        .doing("record artifacts")?;
    for (n, artifact) in (1_i64..).zip(artifacts) {
        statement
            .execute(params![
                run,
                n,
                artifact.kind.as_str(),
                artifact.path,
                artifact.description,
                artifact.state.as_str(),
                artifact.size,
                artifact.sha256,
                artifact.file,
                artifact.reason.map(NotSent::as_str),
                artifact.note,
            ])
            .doing("record artifacts")?;
    }
    Ok(())
}

/// Returns the last run of an atom that handed back an artifact.
pub(crate) fn last_run_with_any(tx: &Tx<'_>, atom: &str) -> Result<Option<String>> {
    tx.read_optional(
        "SELECT r.id FROM runs r WHERE r.atom_id = ?1 AND EXISTS (SELECT 1 FROM artifacts x
         WHERE x.run_id = r.id) ORDER BY r.seq DESC LIMIT 1",
        [atom],
        |row| row.get(0),
    )
    .doing("find artifacts")
}
