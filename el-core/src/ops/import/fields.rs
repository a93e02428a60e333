//! The fields of an import, each compared in three versions: in the file, at the last import, and
//! in the store.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::field::{FIELDS, Field, field_name, hash_of};
use super::labels::merge_labels;
use super::past::Past;
use super::*;
use crate::model::RunOptions;

/// The hashes of a record's fields, eight characters each. A field that could not be taken yet
/// keeps its old hash, so that a later import takes it. If there is none, `=` and the digest of the
/// line follow.
pub(super) fn hash_fields(plan: &Planned, options: &ImportOptions) -> String {
    let mut hashes = String::with_capacity(FIELDS.len() * 8 + 17);
    let mut digest = plan.digest;
    for (at, field) in FIELDS.iter().enumerate() {
        let waits = plan.before.as_ref().is_some_and(|before| {
            must_wait(before, plan, *field) || is_held(plan, *field, options)
        });
        digest = digest.filter(|_| !waits);
        match last_hash(plan, at)
            .filter(|_| waits || (plan.keeps_parent && *field == Field::Parent))
        {
            Some(last) => hashes.push_str(last),
            None => hashes.push_str(&hash_text(&value_in_file(plan, *field))),
        }
    }
    if let Some(digest) = digest {
        let _ = write!(hashes, "={digest:016x}");
    }
    hashes
}

/// Returns the hash of the parent at the last import, if that import took all of the line with this
/// digest. `fields` are its hashes.
pub(super) fn parent_of_line(fields: &str, digest: u64) -> Option<u32> {
    let (hashes, last) = fields.split_once('=')?;
    let is_same = u64::from_str_radix(last, 16).ok()? == digest && hashes.len() == FIELDS.len() * 8;
    let at = FIELDS.iter().position(|field| *field == Field::Parent)? * 8;
    u32::from_str_radix(hashes.get(at..at + 8)?, 16).ok().filter(|_| is_same)
}

/// The hashes after these fields were written back.
pub(super) fn with_written(hashes: &str, written: &[PushField]) -> String {
    let value = |field: &Field| written.iter().find(|one| one.field == field_name(*field));
    let hash = |(at, field): (usize, &Field)| match value(field) {
        Some(written) => Some(hash_text(&written.ours)),
        None => hashes.get(at * 8..at * 8 + 8).map(str::to_owned),
    };
    FIELDS.iter().enumerate().map_while(hash).collect()
}

/// The hash of a field at the last import.
fn last_hash(plan: &Planned, at: usize) -> Option<&str> {
    let hashes = plan.last.as_ref()?.fields.as_deref()?;
    hashes.split_once('=').map_or(hashes, |(hashes, _)| hashes).get(at * 8..at * 8 + 8)
}

/// Returns true if the issue is over there while work on it goes on here: that work is finished.
fn must_wait(before: &Atom, plan: &Planned, field: Field) -> bool {
    field == Field::Standing
        && !plan.owns_metadata
        && before.status == model::Status::InProgress
        && plan.record.status.is_over()
}

/// Returns true if an untrusted author reworded the text after it was accepted.
fn is_held(plan: &Planned, field: Field, options: &ImportOptions) -> bool {
    matches!(field, Field::Title | Field::Description)
        && options.held_texts.contains(&plan.record.id)
        && !options.takes_all_of(&plan.atom_id)
}

fn hash_text(text: &str) -> String {
    format!("{:08x}", hash_of(Some(text)))
}

fn status_text(standing: (model::Status, Option<&str>, Option<Timestamp>)) -> String {
    let (status, reason, until) = standing;
    format!(
        "{status}\u{0}{}\u{0}{}",
        reason.unwrap_or_default(),
        until.map_or_else(String::new, |until| until.to_string())
    )
}

/// The record's value, as a text.
fn value_in_file(plan: &Planned, field: Field) -> Cow<'_, str> {
    let record = &plan.record;
    match field {
        Field::Title => record.title.as_str().into(),
        Field::Description => record.description.as_str().into(),
        Field::Acceptance => record.acceptance.as_deref().unwrap_or_default().into(),
        Field::Standing => {
            status_text((record.status, record.close_reason.as_deref(), record.defer_until)).into()
        }
        Field::Type => record.issue_type.as_str().into(),
        Field::Priority => record.priority.value().to_string().into(),
        Field::Labels => record.labels.join(",").into(),
        Field::Assignee => record.assignee.as_deref().unwrap_or_default().into(),
        Field::Parent => plan.parent.as_deref().unwrap_or_default().into(),
        Field::Metadata => canonical_json(&record.metadata).into(),
        Field::RunOptions => options_text(record.run_options.as_ref()).into(),
        Field::Needs => match (&record.needs, &plan.before) {
            (Some(needs), _) => needs.join(",").into(),
            // The file leaves them as they are.
            (None, Some(before)) => before.needs.join(",").into(),
            (None, None) => "".into(),
        },
    }
}

/// Returns the atom's value as a text. Of the metadata, only the keys of the record count; other
/// keys do not come from the file.
fn value_here<'a>(atom: &'a Atom, plan: &Planned, field: Field) -> Cow<'a, str> {
    match field {
        Field::Title => atom.title.as_str().into(),
        Field::Description => atom.description.as_str().into(),
        Field::Acceptance => atom.acceptance.as_deref().unwrap_or_default().into(),
        Field::Standing => {
            status_text((atom.status, atom.close_reason.as_deref(), atom.defer_until)).into()
        }
        Field::Type => atom.issue_type.as_str().into(),
        Field::Priority => atom.priority.value().to_string().into(),
        Field::Labels => atom.labels.join(",").into(),
        Field::Assignee => atom.assignee.as_deref().unwrap_or_default().into(),
        Field::Parent => atom.parent_id.as_deref().unwrap_or_default().into(),
        Field::Metadata => {
            let own = atom.metadata.as_object();
            if plan.owns_metadata {
                return own.map_or_else(String::new, canonical_json).into();
            }
            let keys = plan.record.metadata.keys();
            canonical_json(keys.filter_map(|key| own?.get_key_value(key))).into()
        }
        Field::RunOptions => options_text(atom.run_options.as_ref()).into(),
        Field::Needs => atom.needs.join(",").into(),
    }
}

/// The options as a text, without those that no file brings.
fn options_text(options: Option<&RunOptions>) -> String {
    let portable = options.and_then(RunOptions::portable).unwrap_or_default();
    let RunOptions { model, effort, base, env: _ } = portable;
    [model, effort, base].map(Option::unwrap_or_default).join("\u{0}")
}

/// Renders a value the same way, whatever the order of the keys.
fn canonical_json<'a>(map: impl IntoIterator<Item = (&'a String, &'a Value)>) -> String {
    fn write_value(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<_> = map.iter().collect();
                keys.sort_by(|a, b| a.0.cmp(b.0));
                out.push('{');
                for (key, value) in keys {
                    out.push_str(&serde_json::to_string(key).expect("a text is JSON"));
                    out.push(':');
                    write_value(value, out);
                    out.push(',');
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for item in items {
                    write_value(item, out);
                    out.push(',');
                }
                out.push(']');
            }
            scalar => {
                let _ = write!(out, "{scalar}");
            }
        }
    }
    let mut out = String::new();
    for (key, value) in map.into_iter().collect::<std::collections::BTreeMap<_, _>>() {
        out.push_str(key);
        out.push('\u{0}');
        write_value(value, &mut out);
        out.push('\u{0}');
    }
    out
}

/// Decides whether the file's value is taken, and whether both sides changed the field.
fn is_taken(last: Option<&str>, ours: &str, theirs: &str) -> (bool, bool) {
    match last {
        Some(last) if ours == theirs || hash_text(theirs) == last => (false, false),
        Some(last) if hash_text(ours) == last => (true, false),
        // Both sides changed it: a file never undoes work that was done here.
        Some(_) => (false, true),
        None => (false, false),
    }
}

/// The fields that can be written back and differ.
pub(super) fn pushed_fields(plan: &Planned) -> Vec<PushField> {
    let Some(before) = &plan.before else { return Vec::new() };
    let writable = [Field::Title, Field::Description, Field::Labels];
    FIELDS
        .iter()
        .enumerate()
        .filter(|(_, field)| writable.contains(field))
        .map(|(at, field)| {
            let theirs = value_in_file(plan, *field);
            PushField {
                field: field_name(*field),
                ours: value_here(before, plan, *field).into_owned(),
                may_write: last_hash(plan, at) == Some(&hash_text(&theirs)),
                theirs: theirs.into_owned(),
            }
        })
        .filter(|field| field.ours != field.theirs)
        .collect()
}

/// Returns the atom after the import.
pub(super) fn merge_fields(
    tx: &Tx<'_>,
    before: &Atom,
    plan: &Planned,
    options: &ImportOptions,
    notes: &mut Notes,
) -> Result<Atom> {
    let record = &plan.record;
    let mut after = before.clone();
    let mut past = None;
    for (at, field) in FIELDS.iter().enumerate() {
        if plan.keeps_parent && *field == Field::Parent {
            continue;
        }
        let (theirs, ours) = (value_in_file(plan, *field), value_here(before, plan, *field));
        let last = last_hash(plan, at);
        let (mut take, both) = is_taken(last, &ours, &theirs);
        // Closed here and there, each for a reason of its own.
        let agrees =
            *field == Field::Standing && record.status == before.status && before.status.is_over();
        let is_wanted = ours != theirs
            && (options.takes_all_of(&before.id)
                || (both && !agrees && options.theirs == Theirs::Conflicts));
        let place = || match options.is_sync() {
            true => format!("{} ({})", record.id, before.id),
            false => format!("line {} ({})", record.line, before.id),
        };
        if last.is_none() && ours != theirs && !is_wanted {
            let past = match &past {
                Some(past) => past,
                None => past.insert(Past::of_atom(tx, &before.id)?),
            };
            let mut there = before.clone();
            set_field(&mut there, plan, *field);
            let told;
            (take, told) = past.judge_field(*field, before, &there, record.updated_at);
            if let Some(told) = told.filter(|_| !agrees) {
                let what = format!("{} {told}", field_name(*field));
                notes.add(NoteKind::Remark, what, &place());
            }
        }
        if must_wait(before, plan, *field) && ours != theirs {
            let what = "closed there while an agent is at work here; the work goes on to its end";
            notes.add(NoteKind::Remark, what, &place());
        } else if take && is_held(plan, *field, options) {
            let what = format!(
                "{} was reworded by somebody who is no member; it stays, and --theirs with the \
                 atom takes it",
                field_name(*field)
            );
            notes.add(NoteKind::Conflict, what, &place());
        } else if take || is_wanted {
            set_field(&mut after, plan, *field);
        } else if let Some(labels) = last
            .filter(|_| both && *field == Field::Labels && !options.is_sync())
            .and_then(|last| merge_labels(last, &before.labels, &record.labels))
        {
            after.labels = labels;
        } else if both && !agrees {
            let what = format!(
                "{} changed here and {}; the value here stands",
                field_name(*field),
                if options.is_sync() { "at GitHub" } else { "in the file" }
            );
            notes.add(NoteKind::Conflict, what, &place());
        }
    }
    Ok(after)
}

fn set_field(after: &mut Atom, plan: &Planned, field: Field) {
    let record = &plan.record;
    match field {
        Field::Title => after.title.clone_from(&record.title),
        Field::Description => after.description.clone_from(&record.description),
        Field::Acceptance => after.acceptance.clone_from(&record.acceptance),
        Field::Standing => {
            after.status = record.status;
            after.close_reason.clone_from(&record.close_reason);
            after.defer_until = record.defer_until;
            let over = record.status.is_over();
            after.closed_at = over.then(|| {
                record
                    .closed_at
                    .or(record.updated_at)
                    .or(after.closed_at)
                    .unwrap_or(after.updated_at)
            });
        }
        Field::Type => after.issue_type = record.issue_type,
        Field::Priority => after.priority = record.priority,
        Field::Labels => after.labels.clone_from(&record.labels),
        Field::Assignee => after.assignee.clone_from(&record.assignee),
        Field::Parent => after.parent_id.clone_from(&plan.parent),
        Field::RunOptions => {
            let env = after.run_options.take().unwrap_or_default().env;
            let theirs = record.run_options.clone().unwrap_or_default();
            let options = RunOptions { env, ..theirs };
            after.run_options = (options != RunOptions::default()).then_some(options);
        }
        Field::Needs => after.needs = record.needs.clone().unwrap_or_default(),
        Field::Metadata => {
            if let Some(own) = after.metadata.as_object_mut().filter(|_| !plan.owns_metadata) {
                own.extend(record.metadata.iter().map(|(key, value)| (key.clone(), value.clone())));
            } else {
                after.metadata = Value::Object(record.metadata.clone());
            }
        }
    }
}
