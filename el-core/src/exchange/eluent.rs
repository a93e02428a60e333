//! Eluent, the Ruby tracker that `el` follows: `.eluent/data.jsonl` (and `ephemeral.jsonl`) with a
//! header, then atoms, bonds and comments in the order of writing.

use serde_json::{Map, Value};

use super::draft::{Draft, take_id};
use super::record::{Part, Record, RecordBond, RecordComment};
use super::{NoteKind, Notes, Tracker};
use crate::model::{BondKind, Timestamp};

pub(super) fn read_part(
    line: usize,
    mut object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Part, String> {
    match object.remove("_type").as_ref().and_then(Value::as_str) {
        Some("header") => Ok(Part::Nothing),
        Some("atom") => {
            Ok(Part::Item(Box::new(read_atom(line, object, notes)?), Vec::new(), Vec::new()))
        }
        Some("bond") => read_bond(notes, line, &object),
        Some("comment") => read_comment(line, &object).map(Part::Comment),
        other => {
            let what = format!("a record of the kind '{}' is not known", other.unwrap_or("none"));
            notes.add(NoteKind::LeftOut, what, &format!("line {line}"));
            Ok(Part::Nothing)
        }
    }
}

fn read_atom(
    line: usize,
    mut object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Record, String> {
    let id = take_id(&mut object)?;
    let mut draft = Draft::new(line, id, object, notes);
    let title = draft.take_title()?;
    let description = draft.long_text("description")?;
    let status = draft.take_status(|_| None);
    let issue_type = draft.issue_type("issue_type", |_| None);
    let priority = draft.take_priority();
    let labels = draft.take_labels("labels");
    let assignee = draft.take_name("assignee");
    let own = draft.own_metadata();
    let close_reason = draft.take_reason("close_reason")?;
    let updated_at = draft.take_time("updated_at");
    Ok(Record {
        run_options: None,
        needs: None,
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

fn read_bond(notes: &mut Notes, line: usize, object: &Map<String, Value>) -> Result<Part, String> {
    let end = |key: &str| {
        text_field(object, key).map(str::to_owned).ok_or_else(|| format!("it has no '{key}'"))
    };
    let (source, target) = (end("source_id")?, end("target_id")?);
    let word = text_field(object, "dependency_type").unwrap_or("blocks");
    let kind: BondKind = word.parse().map_err(|error: crate::Error| error.to_string())?;
    if kind == BondKind::ConditionalBlocks {
        let what = "conditional_blocks holds its target unless the source fails (Eluent's code did \
                    the opposite of its documents)";
        notes.add(NoteKind::Remark, what, &format!("line {line}"));
    }
    let (owner, created_at) = (target.clone(), time_field(object));
    Ok(Part::Bond(RecordBond { line, owner, source, target, kind, created_at }))
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
