//! Imports the file of another tracker in one transaction; a second import does nothing twice.
//!
//! A later import of the same file finds the atoms by the other tracker's ids, and applies only
//! changes *in the file* since the last import. Changes in the store stand. If both changed a
//! field, the store's value stands, and a note says so.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::bonds::tell_of_bond;
use crate::exchange::{
    Batch, Note, NoteKind, Notes, Progress, Record, RecordBond, RecordComment, RecordFile, Tracker,
};
use crate::model::{self, Atom, BondKind, Comment, EventKind, Name, Run, Timestamp};
use crate::store::{Store, Tx, alias, atom, comment, enlarge_cache, event, meta, run, search};
use crate::{Ctx, Error, Result};

mod ahead;
mod comments;
mod edges;
mod field;
mod fields;
mod identify;
mod ids;
mod labels;
mod options;
mod past;
mod push;
mod remember;
mod steps;
mod target;

use identify::{Lookup, find_targets};
pub use options::{ImportOptions, Theirs};
pub use push::{PushField, note_push, plan_push};
use remember::{add_names, remember_import};
use steps::Steps;
use target::{Planned, Target};

/// The result of an import, or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Imported {
    /// The namespace of the ids.
    pub source: String,
    pub created: usize,
    pub updated: usize,
    pub unchanged: usize,
    pub bonds_added: usize,
    pub bonds_removed: usize,
    pub comments_added: usize,
    /// Comments with a changed text in the file.
    pub comments_edited: usize,
    /// Values that did not fit.
    pub notes: Vec<Note>,
}

/// Imports a batch, or a file whose records are read one at a time. `progress` receives the number
/// of steps done and the total.
///
/// # Errors
///
/// If a session calls, a value is not legal, the file cannot be read again, or the database cannot
/// be written.
pub fn import(
    store: &mut Store,
    ctx: &Ctx<'_>,
    records: impl Into<RecordFile>,
    options: &ImportOptions,
    progress: &mut Progress<'_>,
) -> Result<Imported> {
    let file = records.into();
    let count = file.heads.len();
    let work =
        |tx: &Tx<'_>| search::in_bulk(tx, count, || run_in(tx, ctx, file, options, progress));
    store.prepare_import()?;
    if options.dry_run { store.rehearse(work) } else { store.write(work) }
}

/// The number of new or changed records from which on many pages are written.
const MANY: usize = 1_000;

/// For how many records or comments the store is asked at once: a server is far away.
const AT_ONCE: usize = 256;

fn run_in(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    file: RecordFile,
    options: &ImportOptions,
    progress: &mut Progress<'_>,
) -> Result<Imported> {
    let session = run::fence(tx, ctx)?;
    let session = session.as_ref();
    let prefix = meta::project_prefix(tx)?;
    let RecordFile { tracker, source, heads, index, bonds, mut notes, mut texts, .. } = file;
    let mut steps = Steps::new(3 * heads.len() + bonds.len() + file.comments, progress);
    let mut targets = find_targets(tx, &prefix, tracker, &source, &heads, &mut notes, &mut steps)?;
    if targets.iter().filter(|target| target.same_line.is_none()).count() > MANY {
        enlarge_cache(tx)?;
    }
    let lookup = Lookup { tx, source: &source, heads: &heads, index: &index };
    let changes = if file.lacks_relations {
        edges::keep_edges(tx, &mut targets)?;
        edges::Changes::default()
    } else {
        edges::plan_edges(&lookup, &mut targets, bonds, &mut notes)?
    };
    let mut done = Imported { source: source.clone(), ..Imported::default() };
    let (mut touched, mut known_lines) = (vec![false; targets.len()], HashSet::new());
    let mut state = ahead::Ahead::new(&lookup);
    for at in 0..targets.len() {
        steps.begin_step();
        state.read_next(&targets[at..], at, options)?;
        let target = &mut targets[at];
        if target.is_as_imported(options) {
            steps.begin_step();
            add_names(tx, &source, &heads[at].names, &target.atom_id)?;
            known_lines.insert(heads[at].line);
            continue;
        }
        let record = texts.read_record(at, &heads[at]).map_err(cannot_read_again)?;
        let here = state.take_state(target, &heads[at].id)?;
        let plan = target.with_record(tracker, record, heads[at].digest, here);
        touched[at] = match &plan.before {
            None => {
                create_atom(tx, ctx, session, &source, &plan, target.blockers)?;
                false
            }
            Some(before) => {
                let (done, has_ended) =
                    update_atom(tx, ctx, session, before, &plan, options, &mut notes)?;
                target.moves_later = done == Updated::WaitsForParent;
                if has_ended && state.has_alternatives()? {
                    super::change::mark_not_needed(tx, ctx, &before.id)?;
                    state.forget_all();
                }
                done != Updated::Nothing
            }
        };
        steps.begin_step();
        remember_import(tx, &source, &plan, options)?;
    }
    // A parent may stand after its children.
    for target in &targets {
        let Some(parent) = &target.parent else { continue };
        if target.moves_later || (target.is_new && target.comes_before_parent) {
            atom::set_parent(tx, &target.atom_id, parent)?;
        }
        if target.is_new {
            let ends = (&**parent, &*target.atom_id);
            tell_of_bond(tx, ctx, EventKind::BondAdded, ends, BondKind::ParentChild)?;
        }
    }
    edges::write_edges(tx, ctx, &changes, &mut done, &mut steps)?;
    for at in changes.changed_records() {
        touched[at] = true;
    }
    texts.drop_comments_of(&known_lines);
    let mut writer = comments::Writer::new(&lookup, &targets, ctx, session);
    texts.each_comment(cannot_read_again, |said| {
        steps.begin_step();
        writer.write_comment(said, &mut notes)
    })?;
    writer.finish(&mut done, &mut touched)?;
    if !options.is_partial {
        note_missing(tx, &source, &index, options, &mut notes)?;
    }
    for (target, touched) in targets.iter().zip(touched) {
        match (target.is_new, touched) {
            (true, _) => done.created += 1,
            (false, true) => done.updated += 1,
            (false, false) => done.unchanged += 1,
        }
    }
    steps.finish_steps();
    // The list of a sync is nowhere to be seen, so its lines say nothing.
    let is_sync = options.is_sync();
    done.notes = if is_sync { notes.into_list_without_lines() } else { notes.into_list() };
    let data = json!({
        "source": source, "created": done.created, "updated": done.updated,
        "unchanged": done.unchanged,
        "bonds_added": done.bonds_added, "bonds_removed": done.bonds_removed,
        "comments_added": done.comments_added,
        "comments_edited": done.comments_edited,
    });
    event::insert(tx, ctx, EventKind::Imported, None, None, &data)?;
    Ok(done)
}

fn cannot_read_again(source: std::io::Error) -> Error {
    Error::Io { doing: "read again", path: "the file of the import".into(), source }
}

/// Notes atoms of an earlier import that are missing in the file.
fn note_missing(
    tx: &Tx<'_>,
    source: &str,
    known: &HashMap<Arc<str>, usize>,
    options: &ImportOptions,
    notes: &mut Notes,
) -> Result<()> {
    let is_expected =
        |alias: &str| options.scope.as_deref().is_none_or(|scope| alias.starts_with(scope));
    alias::each_imported_name(tx, source, |alias, atom_id| {
        if !known.contains_key(alias) && is_expected(alias) {
            let what = match options.is_sync() {
                true => "an issue of an earlier sync is gone at GitHub; its atom stays",
                false => "an issue of an earlier import is not in this file; its atom stays",
            };
            notes.add(NoteKind::Remark, what, &format!("{alias} ({atom_id})"));
        }
    })
}

fn create_atom(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    source: &str,
    plan: &Planned,
    blockers: u32,
) -> Result<()> {
    let record = &plan.record;
    super::change::ensure_may_claim(session, record.status)?;
    // A file does not make a session speak for others.
    let created_by = record.created_by.clone().filter(|_| session.is_none());
    let created_at = record.created_at.unwrap_or(ctx.now);
    let updated_at = record.updated_at.or(record.created_at).unwrap_or(ctx.now);
    let made = Atom {
        record_type: Atom::RECORD_TYPE,
        id: plan.atom_id.clone(),
        title: record.title.clone(),
        description: record.description.clone(),
        acceptance: record.acceptance.clone(),
        status: record.status,
        issue_type: record.issue_type,
        priority: record.priority,
        labels: record.labels.clone(),
        needs: record.needs.clone().unwrap_or_default(),
        assignee: record.assignee.clone(),
        parent_id: plan.parent.clone().filter(|_| !plan.comes_before_parent),
        defer_until: record.defer_until,
        retry_at: None,
        close_reason: record.close_reason.clone(),
        created_by: created_by.unwrap_or_else(|| ctx.actor.to_owned()),
        created_at,
        updated_at,
        closed_at: record.status.is_over().then(|| record.closed_at.unwrap_or(updated_at)),
        run_id: None,
        metadata: serde_json::Value::Object(record.metadata.clone()),
        delegation: None,
        run_options: record.run_options.clone(),
    };
    atom::insert(tx, &made, blockers)?;
    let data = json!({
        "title": made.title, "type": made.issue_type, "priority": made.priority,
        "status": made.status,
        "imported_from": { "source": source, "id": record.id },
    });
    event::insert(tx, ctx, EventKind::Created, Some(&made.id), None, &data)
}

/// The change of an atom that was here before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Updated {
    Nothing,
    All,
    /// All but the new parent, which comes later in the file.
    WaitsForParent,
}

/// Applies the file's changes since the last import. Returns true with them if the atom ended, and
/// did not fail.
fn update_atom(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    before: &Atom,
    plan: &Planned,
    options: &ImportOptions,
    notes: &mut Notes,
) -> Result<(Updated, bool)> {
    let after = fields::merge_fields(tx, before, plan, options, notes)?;
    if after == *before {
        return Ok((Updated::Nothing, false));
    }
    // Budgets, reviews, claims, epics: what a session may change has rules that a file does not
    // follow.
    if session.is_some() {
        return Err(Error::Refused(format!(
            "the file changes {0}, and in an agent's session an import only adds; `el update {0}` \
             and `el close {0}` change what a session may change",
            before.id
        )));
    }
    let sets_status = after.status != before.status;
    if sets_status {
        super::change::ensure_may_set_status(tx, session, before, after.status)?;
    }
    let after = Atom {
        updated_at: before.updated_at.max(plan.record.updated_at.unwrap_or(ctx.now)),
        ..after
    };
    let waits = plan.comes_before_parent && after.parent_id != before.parent_id;
    let parent_id = if waits { &before.parent_id } else { &after.parent_id };
    let written = Atom { parent_id: parent_id.clone(), ..after.clone() };
    atom::overwrite_atom(tx, &written, sets_status, sets_status.then_some(ctx.now))?;
    for label in before.labels.iter().filter(|label| !after.labels.contains(label)) {
        crate::store::label::remove(tx, &before.id, label)?;
    }
    for label in &after.labels {
        crate::store::label::add(tx, &before.id, label)?;
    }
    let mut changes = super::update::changed_fields(before, &after);
    for key in ["status", "close_reason", "defer_until", "parent_id"] {
        changes.shift_remove(key);
    }
    if !changes.is_empty() {
        let data = serde_json::Value::Object(changes);
        event::insert(tx, ctx, EventKind::Updated, Some(&before.id), None, &data)?;
    }
    if sets_status
        || after.close_reason != before.close_reason
        || after.defer_until != before.defer_until
    {
        let data = json!({
            "from": before.status, "to": after.status, "reason": after.close_reason,
            "defer_until": after.defer_until,
        });
        event::insert(tx, ctx, EventKind::Status, Some(&before.id), None, &data)?;
    }
    if after.parent_id != before.parent_id {
        let (kind, parent) = match (&after.parent_id, &before.parent_id) {
            (Some(parent), _) => (EventKind::BondAdded, parent),
            (None, Some(parent)) => (EventKind::BondRemoved, parent),
            (None, None) => return Ok((Updated::All, false)),
        };
        tell_of_bond(tx, ctx, kind, (parent, &before.id), BondKind::ParentChild)?;
    }
    let failed = crate::rules::ready::has_failed(after.status, after.close_reason.as_deref());
    let has_ended = after.status.is_over() && !before.status.is_over() && !failed;
    Ok((if waits { Updated::WaitsForParent } else { Updated::All }, has_ended))
}
