//! Our own export (docs/export-format.md): a header, then each atom followed by the bonds into the
//! atom and the comments.

use serde_json::{Map, Value};

use super::draft::{Draft, take_id};
use super::jsonl::FORMAT_VERSION;
use super::record::{Part, Record, RecordBond, RecordComment};
use super::{NoteKind, Notes};
use crate::model::{BondKind, Name, RunOptions, RunOptionsPatch};

pub(super) fn read_part(
    line: usize,
    mut object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Part, String> {
    match object.remove("_type").as_ref().and_then(Value::as_str) {
        Some("header") => read_header(notes, line, &object),
        Some("atom") => {
            Ok(Part::Item(Box::new(read_atom(line, object, notes)?), Vec::new(), Vec::new()))
        }
        Some("bond") => read_bond(line, &object),
        Some("comment") => read_comment(line, &object).map(Part::Comment),
        Some(other) => {
            let what = format!("a record of the kind '{other}' is not known to this el");
            notes.add(NoteKind::LeftOut, what, &format!("line {line}"));
            Ok(Part::Nothing)
        }
        None => Err("it has no '_type'".to_owned()),
    }
}

fn read_header(
    notes: &mut Notes,
    line: usize,
    object: &Map<String, Value>,
) -> Result<Part, String> {
    match object.get("version").and_then(Value::as_i64) {
        Some(version) if version > FORMAT_VERSION => Err(format!(
            "the file is of version {version} of the export format; this el reads up to \
             {FORMAT_VERSION}; use a newer el"
        )),
        Some(_) => Ok(Part::Nothing),
        None => {
            let what = "the header has no version; taken for the first";
            notes.add(NoteKind::Remark, what, &format!("line {line}"));
            Ok(Part::Nothing)
        }
    }
}

fn read_atom(
    line: usize,
    mut object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Record, String> {
    let id = take_id(&mut object)?.to_ascii_lowercase();
    // Runs and back-offs have a meaning only in the project that wrote the file.
    object.remove("run_id");
    object.remove("retry_at");
    let mut draft = Draft::new(line, id, object, notes);
    let title = draft.take_title()?;
    let description = draft.long_text("description")?;
    let acceptance = match draft.take_field("acceptance") {
        Some(Value::String(text)) => Some(draft.check_text("acceptance", text)?),
        Some(other) => {
            draft.put_back("acceptance", other);
            None
        }
        None => None,
    };
    let status = draft.take_status(|_| None);
    let issue_type = draft.issue_type("issue_type", |_| None);
    let priority = draft.take_priority();
    let labels = draft.take_labels("labels");
    let needs = draft.take_labels("needs");
    let assignee = draft.take_name("assignee");
    let created_by = draft.take_name("created_by");
    let names = draft.take_list("aliases").iter().filter_map(parse_name).collect();
    let metadata = draft.own_metadata();
    let run_options = read_run_options(&mut draft);
    let parent = draft.take_text("parent_id").map(|id| id.to_ascii_lowercase());
    let defer_until = draft.take_time("defer_until");
    let close_reason = draft.take_reason("close_reason")?;
    let (created_at, updated_at, closed_at) = (
        draft.take_time("created_at"),
        draft.take_time("updated_at"),
        draft.take_time("closed_at"),
    );
    draft.keep_the_rest();
    let id = draft.id.clone();
    let metadata = draft.metadata_if_kept(metadata);
    Ok(Record {
        line,
        id,
        names,
        title,
        description,
        acceptance,
        status,
        issue_type,
        priority,
        labels,
        assignee,
        parent,
        defer_until,
        close_reason,
        created_by,
        created_at,
        updated_at,
        closed_at,
        metadata,
        run_options,
        needs: Some(needs),
    })
}

/// Reads the run options that a file may set. Leaves out unusable ones, with a note.
fn read_run_options(draft: &mut Draft<'_>) -> Option<RunOptions> {
    let value = draft.take_field("run_options")?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(|text| Some(text.to_owned()));
    let (model, effort, base) = (text("model"), text("effort"), text("base"));
    let patch = RunOptionsPatch { model, effort, base, ..RunOptionsPatch::default() };
    RunOptions::patched(None, &patch).unwrap_or_else(|error| {
        draft.add_note(NoteKind::LeftOut, format!("run_options that cannot be used: {error}"));
        None
    })
}

fn parse_name(value: &Value) -> Option<Name> {
    let text = |key: &str| {
        value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Some(Name { source: text("source")?, alias: text("alias")? })
}

fn id_of(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    let id = object.get(key).and_then(Value::as_str).map(str::trim).filter(|id| !id.is_empty());
    id.map(str::to_ascii_lowercase).ok_or_else(|| format!("it has no '{key}'"))
}

fn time_field(object: &Map<String, Value>, key: &str) -> Option<crate::model::Timestamp> {
    object.get(key).and_then(Value::as_str).and_then(super::detect::parse_time)
}

/// An edge between two atoms; `parent_child` is known to the atom, and is taken from there.
fn read_bond(line: usize, object: &Map<String, Value>) -> Result<Part, String> {
    let (source, target) = (id_of(object, "source_id")?, id_of(object, "target_id")?);
    let word = object.get("dependency_type").and_then(Value::as_str).unwrap_or("blocks");
    let kind: BondKind = word.parse().map_err(|error: crate::Error| error.to_string())?;
    if kind == BondKind::ParentChild {
        return Ok(Part::Nothing);
    }
    let (owner, created_at) = (target.clone(), time_field(object, "created_at"));
    Ok(Part::Bond(RecordBond { line, owner, source, target, kind, created_at }))
}

fn read_comment(line: usize, object: &Map<String, Value>) -> Result<RecordComment, String> {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("content").trim().is_empty() {
        return Err("the comment is blank".to_owned());
    }
    let content = super::clean::clean_text(text("content"), crate::model::limits::TEXT)?.value;
    let author =
        super::clean::name(text("author")).map_or_else(|| "unknown".to_owned(), |name| name.value);
    Ok(RecordComment {
        line,
        id: Some(text("id").to_owned()).filter(|id| !id.is_empty()),
        key: None,
        atom: id_of(object, "parent_id")?,
        author,
        content,
        run_id: Some(text("run_id").to_owned()).filter(|id| !id.is_empty()),
        created_at: time_field(object, "created_at"),
    })
}
