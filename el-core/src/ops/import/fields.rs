//! The fields of an import, each compared in three versions: in the file, at the last import, and
//! in the store.

use serde_json::{Map, Value};

use super::*;
use crate::model::RunOptions;

/// A field, or several fields that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Title,
    Description,
    Acceptance,
    /// Status, reason and date.
    Standing,
    Type,
    Priority,
    Labels,
    Assignee,
    Parent,
    Metadata,
    RunOptions,
}

/// In the order of the hashes that are kept: only ever appended to.
const FIELDS: [Field; 11] = [
    Field::Title,
    Field::Description,
    Field::Acceptance,
    Field::Standing,
    Field::Type,
    Field::Priority,
    Field::Labels,
    Field::Assignee,
    Field::Parent,
    Field::Metadata,
    Field::RunOptions,
];

/// The hashes of a record's fields, eight characters each.
pub(super) fn hash_fields(plan: &Planned) -> String {
    FIELDS.iter().map(|field| hash_text(&value_in_file(plan, *field))).collect()
}

fn hash_text(text: &str) -> String {
    // FNV-1a: the hash only has to stay the same in every version; no attacker gains by a
    // collision.
    let full = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", (full >> 32) ^ (full & 0xffff_ffff))
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
fn value_in_file(plan: &Planned, field: Field) -> String {
    let record = &plan.record;
    match field {
        Field::Title => record.title.clone(),
        Field::Description => record.description.clone(),
        Field::Acceptance => record.acceptance.clone().unwrap_or_default(),
        Field::Standing => {
            status_text((record.status, record.close_reason.as_deref(), record.defer_until))
        }
        Field::Type => record.issue_type.to_string(),
        Field::Priority => record.priority.value().to_string(),
        Field::Labels => record.labels.join(","),
        Field::Assignee => record.assignee.clone().unwrap_or_default(),
        Field::Parent => plan.parent.clone().unwrap_or_default(),
        Field::Metadata => canonical_json(&record.metadata),
        Field::RunOptions => options_text(record.run_options.as_ref()),
    }
}

/// Returns the atom's value as a text. Of the metadata, only the keys of the record count; other
/// keys do not come from the file.
fn value_here(atom: &Atom, plan: &Planned, field: Field) -> String {
    match field {
        Field::Title => atom.title.clone(),
        Field::Description => atom.description.clone(),
        Field::Acceptance => atom.acceptance.clone().unwrap_or_default(),
        Field::Standing => {
            status_text((atom.status, atom.close_reason.as_deref(), atom.defer_until))
        }
        Field::Type => atom.issue_type.to_string(),
        Field::Priority => atom.priority.value().to_string(),
        Field::Labels => atom.labels.join(","),
        Field::Assignee => atom.assignee.clone().unwrap_or_default(),
        Field::Parent => atom.parent_id.clone().unwrap_or_default(),
        Field::Metadata => {
            let own = atom.metadata.as_object();
            if plan.owns_metadata {
                return own.map_or_else(String::new, canonical_json);
            }
            let keys = plan.record.metadata.keys();
            canonical_json(
                &keys.filter_map(|key| Some((key.clone(), own?.get(key)?.clone()))).collect(),
            )
        }
        Field::RunOptions => options_text(atom.run_options.as_ref()),
    }
}

/// The options as a text, without those that no file brings.
fn options_text(options: Option<&RunOptions>) -> String {
    let portable = options.and_then(RunOptions::portable).unwrap_or_default();
    let RunOptions { model, effort, base, env: _ } = portable;
    [model, effort, base].map(Option::unwrap_or_default).join("\u{0}")
}

/// Renders a value the same way, whatever the order of the keys.
fn canonical_json(map: &Map<String, Value>) -> String {
    fn write_value(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<_> = map.iter().collect();
                keys.sort_by(|a, b| a.0.cmp(b.0));
                out.push('{');
                for (key, value) in keys {
                    out.push_str(&Value::String(key.clone()).to_string());
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
            scalar => out.push_str(&scalar.to_string()),
        }
    }
    let mut out = String::new();
    for (key, value) in map.iter().collect::<std::collections::BTreeMap<_, _>>() {
        out.push_str(key);
        out.push('\u{0}');
        write_value(value, &mut out);
        out.push('\u{0}');
    }
    out
}

/// Decides whether the file's value is taken, and whether both sides changed the field.
pub(super) fn is_taken(
    last: Option<&str>,
    ours: &str,
    theirs: &str,
    file_is_newer: bool,
) -> (bool, bool) {
    if ours == theirs {
        return (false, false);
    }
    match last {
        Some(last) if hash_text(theirs) == last => (false, false),
        Some(last) if hash_text(ours) == last => (true, false),
        // Both changed it: work that was done here is never undone by a file.
        Some(_) => (false, true),
        // Never imported under this name: the atom came another way.
        None => (file_is_newer, false),
    }
}

/// Returns the atom after the import.
pub(super) fn merge_fields(before: &Atom, plan: &Planned, notes: &mut Notes) -> Atom {
    let record = &plan.record;
    let mut after = before.clone();
    let file_is_newer = record.updated_at.is_none_or(|at| at > before.updated_at);
    let last = plan.last.as_ref().and_then(|last| last.fields.as_deref());
    for (at, field) in FIELDS.iter().enumerate() {
        let last = last.and_then(|last| last.get(at * 8..at * 8 + 8));
        let (theirs, ours) = (value_in_file(plan, *field), value_here(before, plan, *field));
        let (take, both) = is_taken(last, &ours, &theirs, file_is_newer);
        if both {
            let what = format!(
                "{} changed here and in the file; the value here stands",
                field_name(*field)
            );
            notes.add(NoteKind::Conflict, what, &format!("line {} ({})", record.line, before.id));
        }
        if take {
            set_field(&mut after, plan, *field);
        }
    }
    after
}

fn field_name(field: Field) -> &'static str {
    match field {
        Field::Title => "title",
        Field::Description => "description",
        Field::Acceptance => "acceptance",
        Field::Standing => "status",
        Field::Type => "type",
        Field::Priority => "priority",
        Field::Labels => "labels",
        Field::Assignee => "assignee",
        Field::Parent => "parent",
        Field::Metadata => "metadata",
        Field::RunOptions => "run_options",
    }
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
        Field::Metadata => {
            if let Some(own) = after.metadata.as_object_mut().filter(|_| !plan.owns_metadata) {
                own.extend(record.metadata.iter().map(|(key, value)| (key.clone(), value.clone())));
            } else {
                after.metadata = Value::Object(record.metadata.clone());
            }
        }
    }
}
