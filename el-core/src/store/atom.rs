use std::collections::HashMap;

use super::engine::{self, Row, ToSql, params};
use super::{Tx, json_text, label, list_text};
use crate::error::Doing;
use crate::model::{Atom, IssueType, Status, Timestamp};
use crate::{Error, Result};

mod family;
mod needs;
mod overwrite;
mod resolve;
mod row;
mod tasks;
mod undo;

pub(crate) use family::{
    abstract_ids, all_parents, child_ids, each_place, open_below, parent_of, parents_of,
};
pub(crate) use needs::list_needs;
pub(crate) use overwrite::{overwrite_atom, set_parent};
pub(crate) use resolve::{resolve, unused_short};
use row::UNKNOWN_STATUS;
pub(crate) use row::{AtomRow, COLUMNS, PARENT_COLUMN, columns_of_all};
pub(crate) use tasks::{assignees_of_tasks, list_delegated};
pub(crate) use undo::restore_status;

/// Reads an atom, as [`AtomRow::read`] does.
pub(crate) fn from_row(row: &Row<'_>) -> engine::Result<Atom> {
    Ok(AtomRow::read(row)?.into_atom())
}

/// Returns the atom with exactly this id.
pub(crate) fn find(tx: &Tx<'_>, id: &str) -> Result<Option<Atom>> {
    tx.read_optional(&format!("SELECT {COLUMNS} FROM atoms a WHERE a.id = ?1"), [id], from_row)
        .doing("read an atom")
}

/// Returns the atoms with exactly these ids, by id.
pub(crate) fn find_all(tx: &Tx<'_>, ids: &[&str]) -> Result<HashMap<String, Atom>> {
    let sql =
        format!("SELECT {COLUMNS} FROM atoms a WHERE a.id IN (SELECT value FROM json_each(?1))");
    tx.read_all(&sql, [list_text(ids)], |row| {
        let atom = from_row(row)?;
        Ok((atom.id.clone(), atom))
    })
    .doing("read atoms")
}

/// Returns the atom with exactly this id, or [`Error::NotFound`].
pub(crate) fn get(tx: &Tx<'_>, id: &str) -> Result<Atom> {
    find(tx, id)?.ok_or_else(|| Error::not_found("atom", id))
}

/// The status of an atom, and what an [`Atom`] does not tell about it.
#[derive(Debug)]
pub(crate) struct AtomState {
    pub(crate) status: Status,
    /// The run that set the status.
    pub(crate) by_run: Option<String>,
    /// When the back-off began.
    pub(crate) retry_from: Option<Timestamp>,
    /// Since when failed attempts count.
    pub(crate) fresh_since: Timestamp,
}

pub(crate) fn state_of(tx: &Tx<'_>, id: &str) -> Result<Option<AtomState>> {
    tx.read_optional(
        "SELECT status, status_by_run, retry_from, fresh_since FROM atoms WHERE id = ?1",
        [id],
        |row| {
            Ok(AtomState {
                status: row.get::<_, String>(0)?.parse().unwrap_or(UNKNOWN_STATUS),
                by_run: row.get(1)?,
                retry_from: row.time_or_none(2)?,
                fresh_since: Timestamp::from_micros(row.get(3)?),
            })
        },
    )
    .doing("read a status")
}

/// Returns the atoms with a word that this `el` does not know.
pub(crate) fn with_unknown_words(tx: &Tx<'_>) -> Result<Vec<String>> {
    let list = |words: &mut dyn Iterator<Item = &'static str>| {
        words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(",")
    };
    let statuses = list(&mut Status::ALL.iter().map(|status| status.as_str()));
    let types = list(&mut IssueType::ALL.iter().map(|kind| kind.as_str()));
    let sql = format!(
        "SELECT id FROM atoms WHERE status NOT IN ({statuses}) OR issue_type NOT IN ({types})
         OR priority NOT BETWEEN 0 AND 5 ORDER BY seq"
    );
    tx.read_all(&sql, [], |row| row.get(0)).doing("find damaged records")
}

/// Inserts an atom unchanged, with labels. So many live `blocks` bonds into it follow.
pub(crate) fn insert(tx: &Tx<'_>, atom: &Atom, blockers: u32) -> Result<()> {
    let short = atom.id.rsplit_once('-').map_or(atom.id.as_str(), |(_, short)| short);
    let delegation = atom.delegation.as_ref();
    tx.gather_row(
"INSERT INTO atoms (id, short, title, description, acceptance, status, issue_type, priority,
            assignee, parent_id, defer_until, close_reason, created_by, created_at, updated_at,
            closed_at, metadata, delegated_by, workdir, timeout_ms, verify, require_verify,
            run_options, needs, blocked_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
         ?19, ?20, ?21, ?22, ?23, ?24, ?25)", params![
            atom.id,
            short,
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
            atom.created_by,
            atom.created_at.as_micros(),
            atom.updated_at.as_micros(),
            atom.closed_at.map(Timestamp::as_micros),
            json_text(&atom.metadata),
            delegation.map(|d| &d.by),
            delegation.and_then(|d| d.workdir.as_deref()),
            delegation.and_then(|d| d.timeout_ms),
            delegation
                .and_then(|d| d.verify.as_ref())
                .map(|words| serde_json::json!(words).to_string()),
            delegation.is_some_and(|d| d.require_verify),
            run_options_text(atom),
            needs_text(atom),
            blockers,
        ])
    .doing("add an atom")?;
    for label in &atom.labels {
        label::add(tx, &atom.id, label)?;
    }
    Ok(())
}

fn run_options_text(atom: &Atom) -> Option<String> {
    let options = atom.run_options.as_ref()?;
    Some(serde_json::to_string(options).expect("texts by name are JSON"))
}

fn needs_text(atom: &Atom) -> Option<String> {
    (!atom.needs.is_empty()).then(|| serde_json::json!(atom.needs).to_string())
}

/// Writes the plain fields that changed, without status and labels. Each written column costs a
/// page of every index on that column, even if the value stays the same.
pub(crate) fn update_fields(tx: &Tx<'_>, before: &Atom, after: &Atom) -> Result<()> {
    let defer_until = after.defer_until.map(Timestamp::as_micros);
    let metadata = after.metadata.to_string();
    let (run_options, needs) = (run_options_text(after), needs_text(after));
    let columns: [(&str, bool, &dyn ToSql); 11] = [
        ("title", before.title != after.title, &after.title),
        ("description", before.description != after.description, &after.description),
        ("acceptance", before.acceptance != after.acceptance, &after.acceptance),
        ("issue_type", before.issue_type != after.issue_type, &after.issue_type.as_str()),
        ("priority", before.priority != after.priority, &after.priority.value()),
        ("assignee", before.assignee != after.assignee, &after.assignee),
        ("parent_id", before.parent_id != after.parent_id, &after.parent_id),
        ("defer_until", before.defer_until != after.defer_until, &defer_until),
        ("metadata", before.metadata != after.metadata, &metadata),
        ("run_options", before.run_options != after.run_options, &run_options),
        ("needs", before.needs != after.needs, &needs),
    ];
    let updated_at = after.updated_at.as_micros();
    let mut sql = "UPDATE atoms SET updated_at = ?2".to_owned();
    let mut values: Vec<&dyn ToSql> = vec![&after.id, &updated_at];
    for (name, _, value) in columns.into_iter().filter(|(_, has_changed, _)| *has_changed) {
        values.push(value);
        sql.push_str(&format!(", {name} = ?{}", values.len()));
    }
    sql.push_str(" WHERE id = ?1");
    tx.execute_cached(&sql, &*values).doing("change an atom").map(drop)
}

/// The circumstances of a change of status.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StatusChange<'a> {
    pub(crate) reason: Option<&'a str>,
    pub(crate) defer_until: Option<Timestamp>,
    pub(crate) retry_at: Option<Timestamp>,
    /// The run that makes the change; `None` for a person.
    pub(crate) by_run: Option<&'a str>,
    /// Attempts before now count no longer.
    pub(crate) fresh: bool,
    /// The new assignee; `None` leaves the assignee.
    pub(crate) assignee: Option<&'a str>,
}

/// Sets the status and all dependent columns.
pub(crate) fn set_status(
    tx: &Tx<'_>,
    id: &str,
    status: Status,
    change: StatusChange<'_>,
    now: Timestamp,
) -> Result<()> {
    tx.execute_cached(
        "UPDATE atoms SET status = ?2, close_reason = ?3, closed_at = CASE WHEN ?4 = 1 THEN ?5 END,
            defer_until = ?6, retry_at = ?7, retry_from = CASE WHEN ?7 IS NOT NULL THEN ?5 END,
            status_by_run = ?8,
            fresh_since = CASE WHEN ?9 = 1 THEN ?5 ELSE fresh_since END, updated_at = ?5,
            assignee = coalesce(?10, assignee) WHERE id = ?1",
        params![
            id,
            status.as_str(),
            change.reason,
            status.is_over(),
            now.as_micros(),
            change.defer_until.map(Timestamp::as_micros),
            change.retry_at.map(Timestamp::as_micros),
            change.by_run,
            change.fresh,
            change.assignee,
        ],
    )
    .doing("change a status")
    .map(drop)
}

/// When atoms were made, by id.
pub(crate) fn created_at(tx: &Tx<'_>, ids: &[&str]) -> Result<HashMap<String, Timestamp>> {
    let sql = "SELECT id, created_at FROM atoms WHERE id IN (SELECT value FROM json_each(?1))";
    tx.read_all(sql, [list_text(ids)], |row| Ok((row.get(0)?, Timestamp::from_micros(row.get(1)?))))
        .doing("read when atoms were made")
}

pub(crate) fn touch(tx: &Tx<'_>, id: &str, now: Timestamp) -> Result<()> {
    tx.execute_cached(
        "UPDATE atoms SET updated_at = ?2 WHERE id = ?1",
        params![id, now.as_micros()],
    )
    .doing("touch an atom")
    .map(drop)
}

/// Deletes an atom with labels, bonds and comments. Runs and events stay.
pub(crate) fn delete(tx: &Tx<'_>, id: &str) -> Result<()> {
    tx.execute("DELETE FROM atoms WHERE id = ?1", [id]).doing("remove an atom").map(drop)
}
