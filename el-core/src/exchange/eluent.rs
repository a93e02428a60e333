//! Eluent, the Ruby tracker that `el` follows: `.eluent/data.jsonl` (and `ephemeral.jsonl`) with a
//! header, then atoms, bonds and comments in the order of writing.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::draft::{Draft, take_id};
use super::lines::{Progress, each_object};
use super::record::{Batch, Record, RecordBond, RecordComment};
use super::record_index::RecordIndex;
use super::{NoteKind, Tracker};
use crate::model::{BondKind, Timestamp};

pub(super) fn read_export(bytes: &[u8], progress: &mut Progress<'_>) -> Batch {
    let mut batch = Batch::new(Tracker::Eluent);
    let mut seen = RecordIndex::default();
    let mut parents = Vec::new();
    let mut said = HashSet::new();
    each_object(bytes, &mut batch, progress, |batch, line, mut object| {
        match object.remove("_type").as_ref().and_then(Value::as_str) {
            Some("header") => Ok(()),
            Some("atom") => seen.read_item(batch, |notes| {
                Ok((read_atom(line, object, notes)?, Vec::new(), Vec::new()))
            }),
            Some("bond") => read_bond(batch, &mut parents, line, &object),
            Some("comment") => {
                let made = read_comment(line, &object)?;
                // Two clones may give different comments the same id, so the content tells comments
                // apart.
                if said.insert((
                    made.atom.clone(),
                    made.author.clone(),
                    made.created_at,
                    made.content.clone(),
                )) {
                    batch.comments.push(made);
                }
                Ok(())
            }
            other => {
                let what =
                    format!("a record of the kind '{}' is not known", other.unwrap_or("none"));
                batch.notes.add(NoteKind::LeftOut, what, &format!("line {line}"));
                Ok(())
            }
        }
    });
    for (line, parent, child) in parents {
        set_parent(&mut batch, &seen, line, parent, &child);
    }
    seen.drop_replaced(&mut batch);
    batch
}

/// Applies a `parent_child` bond: sets the target's parent unless the target has a parent.
fn set_parent(batch: &mut Batch, seen: &RecordIndex, line: usize, parent: String, child: &str) {
    let place = format!("line {line}");
    match seen.get(batch, child) {
        Some(record) if record.parent.as_ref() == Some(&parent) => {}
        Some(record) if record.parent.is_none() => record.parent = Some(parent),
        Some(_) => {
            batch.notes.add(NoteKind::LeftOut, "a second parent; the first one holds", &place)
        }
        None => batch.notes.add(
            NoteKind::LeftOut,
            "a parent_child bond of an atom that is not in the file",
            &place,
        ),
    }
}

fn read_atom(
    line: usize,
    mut object: Map<String, Value>,
    notes: &mut super::Notes,
) -> Result<Record, String> {
    let id = take_id(&mut object)?;
    let mut draft = Draft::new(line, id, object, notes);
    let title = draft.take_title("title")?;
    let description = draft.long_text("description")?;
    let status = draft.take_status("status", |_| None);
    let issue_type = draft.issue_type("issue_type", |_| None);
    let priority = draft.take_priority("priority");
    let labels = draft.take_labels("labels");
    let assignee = draft.take_name("assignee");
    let own = draft.own_metadata();
    let close_reason = draft.take_reason("close_reason")?;
    let updated_at = draft.take_time("updated_at");
    Ok(Record {
        run_options: None,
        line,
        id: draft.id.clone(),
        names: Vec::new(),
        title,
        description,
        acceptance: None,
        status,
        issue_type,
        priority,
        labels,
        assignee,
        parent: draft.take_text("parent_id"),
        defer_until: draft.take_time("defer_until"),
        close_reason,
        created_by: None,
        created_at: draft.take_time("created_at"),
        updated_at,
        // It kept no time of closing: the last change is the nearest.
        closed_at: updated_at.filter(|_| status.is_over()),
        metadata: draft.finish_metadata(Tracker::Eluent.as_str(), own),
    })
}

fn text_field<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

fn time_field(object: &Map<String, Value>) -> Option<Timestamp> {
    text_field(object, "created_at").and_then(super::detect::parse_time)
}

fn read_bond(
    batch: &mut Batch,
    parents: &mut Vec<(usize, String, String)>,
    line: usize,
    object: &Map<String, Value>,
) -> Result<(), String> {
    let end = |key: &str| {
        text_field(object, key).map(str::to_owned).ok_or_else(|| format!("it has no '{key}'"))
    };
    let (source, target) = (end("source_id")?, end("target_id")?);
    let word = text_field(object, "dependency_type").unwrap_or("blocks");
    let kind: BondKind = word.parse().map_err(|error: crate::Error| error.to_string())?;
    match kind {
        BondKind::ParentChild => parents.push((line, source, target)),
        kind => {
            if kind == BondKind::ConditionalBlocks {
                let what = "conditional_blocks holds its target unless the source fails (Eluent's \
                            code did the opposite of its documents)";
                batch.notes.add(NoteKind::Remark, what, &format!("line {line}"));
            }
            batch.bonds.push(RecordBond {
                line,
                owner: target.clone(),
                source,
                target,
                kind,
                created_at: time_field(object),
            });
        }
    }
    Ok(())
}

fn read_comment(line: usize, object: &Map<String, Value>) -> Result<RecordComment, String> {
    let content = object
        .get("content")
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty())
        .ok_or("the comment is blank")?;
    Ok(RecordComment {
        line,
        id: None,
        key: super::draft::comment_key(object.get("id")),
        atom: text_field(object, "parent_id").ok_or("it has no 'parent_id'")?.to_owned(),
        author: text_field(object, "author")
            .and_then(super::clean::name)
            .map_or_else(|| "unknown".to_owned(), |name| name.value),
        content: super::clean::clean_text(content, crate::model::limits::TEXT)?.value,
        run_id: None,
        created_at: time_field(object),
    })
}
