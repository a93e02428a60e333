//! The changes of an import to an atom, row by row on a file and in groups on a server.

use super::*;

/// Writes every field that an import may change, including status and times. The change counts as a
/// person's, so the status belongs to no run. `fresh_since`: earlier attempts no longer count.
pub(crate) fn overwrite_atom(
    tx: &Tx<'_>,
    atom: &Atom,
    sets_status: bool,
    fresh_since: Option<Timestamp>,
) -> Result<()> {
    let text = tx.pick_text(
        "UPDATE atoms SET title = ?2, description = ?3, acceptance = ?4, status = ?5,
            issue_type = ?6, priority = ?7, assignee = ?8, parent_id = ?9, defer_until = ?10,
            close_reason = ?11, updated_at = ?12, closed_at = ?13, metadata = ?14,
            status_by_run = CASE WHEN ?15 = 1 THEN NULL ELSE status_by_run END,
            retry_at = CASE WHEN ?15 = 1 THEN NULL ELSE retry_at END,
            retry_from = CASE WHEN ?15 = 1 THEN NULL ELSE retry_from END,
            fresh_since = coalesce(?16, fresh_since), run_options = ?17,
            needs = ?18 WHERE id = ?1",
        "UPDATE atoms SET title = v.title, description = v.description, acceptance = v.acceptance,
            status = v.status, issue_type = v.issue_type, priority = v.priority,
            assignee = v.assignee, parent_id = v.parent_id, defer_until = v.defer_until,
            close_reason = v.close_reason, updated_at = v.updated_at, closed_at = v.closed_at,
            metadata = v.metadata,
            status_by_run = CASE WHEN v.sets_status = 1 THEN NULL ELSE atoms.status_by_run END,
            retry_at = CASE WHEN v.sets_status = 1 THEN NULL ELSE atoms.retry_at END,
            retry_from = CASE WHEN v.sets_status = 1 THEN NULL ELSE atoms.retry_from END,
            fresh_since = coalesce(v.fresh_since, atoms.fresh_since), run_options = v.run_options,
            needs = v.needs
         FROM (VALUES (?1, ?2, ?3, ?4, ?5, ?6, CAST(?7 AS BIGINT), ?8, ?9, CAST(?10 AS BIGINT),
            ?11, CAST(?12 AS BIGINT), CAST(?13 AS BIGINT), ?14, CAST(?15 AS BIGINT),
            CAST(?16 AS BIGINT), ?17, ?18))
         AS v (id, title, description, acceptance, status, issue_type, priority, assignee,
            parent_id, defer_until, close_reason, updated_at, closed_at, metadata, sets_status,
            fresh_since, run_options, needs)
         WHERE atoms.id = v.id",
    );
    tx.gather_row(
        text,
        params![
            atom.id,
            atom.title,
            atom.description,
            atom.acceptance,
            atom.status.as_str(),
            atom.issue_type.as_str(),
            atom.priority.value(),
            atom.assignee,
            atom.parent_id,
            atom.defer_until.map(Timestamp::as_micros),
            atom.close_reason,
            atom.updated_at.as_micros(),
            atom.closed_at.map(Timestamp::as_micros),
            atom.metadata.to_string(),
            sets_status,
            fresh_since.map(Timestamp::as_micros),
            run_options_text(atom),
            needs_text(atom),
        ],
    )
    .doing("change an atom")
}

/// Sets the parent of a new atom that was inserted before the parent.
pub(crate) fn set_parent(tx: &Tx<'_>, id: &str, parent: &str) -> Result<()> {
    let text = tx.pick_text(
        "UPDATE atoms SET parent_id = ?2 WHERE id = ?1",
        "UPDATE atoms SET parent_id = v.parent_id FROM (VALUES (?1, ?2)) AS v (id, parent_id)
         WHERE atoms.id = v.id",
    );
    tx.gather_row(text, [id, parent]).doing("set a parent")
}
