//! bd (Beads) and br (a Rust sibling of bd): `.beads/issues.jsonl`, one issue a line with labels,
//! dependencies and comments. docs/import-export.md names the versions that were tested.

use serde_json::{Map, Value};

use super::draft::{Draft, take_id};
use super::record::{Part, Record, RecordBond};
use super::{NoteKind, Notes, Tracker};
use crate::model::{BondKind, IssueType, Name, Status};

pub(super) fn read_part(
    line: usize,
    mut object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Part, String> {
    match object.remove("_type").as_ref().and_then(Value::as_str) {
        None | Some("issue") => {}
        Some(other) => {
            let what = format!("a record of the kind '{other}' is no issue");
            notes.add(NoteKind::LeftOut, what, &format!("line {line}"));
            return Ok(Part::Nothing);
        }
    }
    // The writer of the file counts these from the dependencies.
    for derived in ["dependency_count", "dependent_count", "original_size"] {
        object.remove(derived);
    }
    let id = take_id(&mut object)?;
    read_issue(&mut Draft::new(line, id, object, notes))
}

fn read_issue(draft: &mut Draft<'_>) -> Result<Part, String> {
    let title = draft.take_title()?;
    let description = read_description(draft)?;
    let acceptance = draft.long_text("acceptance_criteria")?;
    let is_template = draft.take_field("is_template") == Some(Value::Bool(true));
    let mut status = draft.take_status(map_status);
    let is_work = is_work(draft);
    let mut issue_type = draft.issue_type("issue_type", issue_type);
    if is_template {
        draft.keep_source(
            "is_template",
            true.into(),
            NoteKind::Approximated,
            "a template became type formula",
        );
        issue_type = IssueType::Formula;
    }
    if !is_work && status == Status::Open {
        draft.add_note(
            NoteKind::Approximated,
            "an open record that is no work became deferred, so that no worker takes it",
        );
        status = Status::Deferred;
    }
    let defer_until = draft.take_time("defer_until");
    // bd hides an open issue until that time; here that is what deferred means.
    if status == Status::Open && defer_until.is_some() {
        status = Status::Deferred;
    }
    let priority = draft.take_priority();
    let labels = draft.take_labels("labels");
    let assignee = draft.take_name("assignee");
    let created_by = draft.take_name("created_by");
    let mut close_reason = draft.take_reason("close_reason")?;
    let mut closed_at = draft.take_time("closed_at");
    if status == Status::Discard {
        close_reason = close_reason.or(draft.take_reason("delete_reason")?);
        closed_at = closed_at.or(draft.take_time("deleted_at"));
    }
    let names = match draft.take_text("external_ref") {
        Some(reference) => {
            draft.keep_quietly("external_ref", reference.clone().into());
            vec![Name { source: Tracker::Bd.as_str().to_owned(), alias: reference }]
        }
        None => Vec::new(),
    };
    let (parent, bonds) = read_dependencies(draft);
    // Some versions name the parent besides.
    let parent = parent.or(draft.take_text("parent")).inspect(|_| drop(draft.take_field("parent")));
    let comments = read_comments(draft)?;
    let record = Record {
        run_options: None,
        needs: None,
        line: draft.line,
        id: draft.id.clone(),
        names,
        title,
        description,
        acceptance: Some(acceptance).filter(|text| !text.is_empty()),
        status,
        issue_type,
        priority,
        labels,
        assignee,
        parent,
        defer_until,
        close_reason,
        created_by,
        created_at: draft.take_time("created_at"),
        updated_at: draft.take_time("updated_at"),
        closed_at,
        metadata: draft.finish_metadata(Tracker::Bd.as_str(), Map::new()),
    };
    Ok(Part::Item(Box::new(record), bonds, comments))
}

/// Returns the description, followed by the texts that bd keeps in separate fields, each under a
/// heading. An agent has to read all of them.
fn read_description(draft: &mut Draft<'_>) -> Result<String, String> {
    let mut text = draft.take_text("description").unwrap_or_default();
    for (key, heading) in
        [("design", "Design"), ("prerequisites", "Prerequisites"), ("notes", "Notes")]
    {
        if let Some(more) = draft.take_text(key) {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&format!("## {heading}\n\n{more}"));
        }
    }
    draft.check_text("description", text)
}

fn map_status(word: &str) -> Option<(Status, bool)> {
    Some(match word {
        "tombstone" => (Status::Discard, true),
        "hooked" => (Status::InProgress, false),
        // A standing note or an undecided idea: no work for a worker.
        "pinned" | "draft" => (Status::Deferred, false),
        _ => return None,
    })
}

fn issue_type(word: &str) -> Option<(IssueType, bool)> {
    Some(match word {
        "chore" | "docs" => (IssueType::Task, false),
        "story" => (IssueType::Feature, false),
        "question" | "decision" | "spike" => (IssueType::Discovery, false),
        "molecule" | "milestone" => (IssueType::Epic, false),
        _ => return None,
    })
}

/// Returns true if the record is work. bd keeps messages, agents and gates in the same file.
fn is_work(draft: &mut Draft<'_>) -> bool {
    const NO_WORK: [&str; 10] = [
        "message",
        "gate",
        "agent",
        "role",
        "rig",
        "convoy",
        "event",
        "slot",
        "merge-request",
        "memory",
    ];
    let kind = draft.take_field("issue_type");
    let is_work = kind.as_ref().and_then(Value::as_str).is_none_or(|kind| !NO_WORK.contains(&kind));
    if let Some(kind) = kind {
        draft.put_back("issue_type", kind);
    }
    is_work
}

/// Maps bd's word to a bond. The first value is true if the issue that names the dependency is the
/// target, the last if the meaning is exactly the same.
fn map_bond(word: &str) -> (bool, BondKind, bool) {
    match word.replace('-', "_").as_str() {
        "blocks" | "blocked_by" => (true, BondKind::Blocks, true),
        "parent_child" => (true, BondKind::ParentChild, true),
        "conditional_blocks" => (true, BondKind::ConditionalBlocks, true),
        "waits_for" => (true, BondKind::WaitsFor, true),
        "discovered_from" => (true, BondKind::DiscoveredFrom, true),
        "related" | "relates_to" => (true, BondKind::Related, true),
        "duplicates" => (false, BondKind::Duplicates, true),
        "replies_to" => (false, BondKind::RepliesTo, true),
        _ => (false, BondKind::Related, false),
    }
}

fn read_dependencies(draft: &mut Draft<'_>) -> (Option<String>, Vec<RecordBond>) {
    let mut parent: Option<String> = None;
    let mut bonds = Vec::new();
    let mut kept = Vec::new();
    for value in draft.take_list("dependencies") {
        let text =
            |key: &str| value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let Some(other) = text("depends_on_id") else {
            draft.add_note(NoteKind::Kept, "a dependency without 'depends_on_id'");
            kept.push(value);
            continue;
        };
        let word = text("type").unwrap_or("blocks");
        let (is_target, kind, is_same) = map_bond(word);
        if !is_same {
            draft.add_note(NoteKind::Approximated, format!("dependency '{word}' became related"));
            kept.push(value.clone());
        } else if text("metadata").is_some_and(|more| more.trim() != "{}")
            || text("thread_id").is_some()
        {
            draft.add_note(
                NoteKind::Kept,
                "a dependency's 'metadata' and 'thread_id' have no place here",
            );
            kept.push(value.clone());
        }
        if text("created_by").is_some() {
            draft.add_note(NoteKind::LeftOut, "who made a dependency");
        }
        if kind == BondKind::ParentChild {
            match &parent {
                None => parent = Some(other.to_owned()),
                Some(first) if first == other => {}
                Some(_) => {
                    draft.add_note(NoteKind::LeftOut, "a second parent; the first one holds");
                    kept.push(value.clone());
                }
            }
            continue;
        }
        let (source, target) = if is_target {
            (other.to_owned(), draft.id.clone())
        } else {
            (draft.id.clone(), other.to_owned())
        };
        let created_at = text("created_at").and_then(super::detect::parse_time);
        bonds.push(RecordBond {
            line: draft.line,
            owner: draft.id.clone(),
            source,
            target,
            kind,
            created_at,
        });
    }
    if !kept.is_empty() {
        draft.keep_quietly("dependencies", Value::Array(kept));
    }
    (parent, bonds)
}

fn read_comments(draft: &mut Draft<'_>) -> Result<Vec<super::RecordComment>, String> {
    let mut comments = Vec::new();
    // Some versions write the number of comments without the comments.
    let counted = draft.take_field("comment_count").and_then(|count| count.as_u64()).unwrap_or(0);
    let values = draft.take_list("comments");
    if counted > values.len() as u64 {
        draft.add_note(NoteKind::Remark, "it has more comments than the file holds");
    }
    for value in values {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        let at = super::detect::parse_time(text("created_at"));
        comments.extend(draft.make_comment(text("author"), text("text"), at, value.get("id"))?);
    }
    Ok(comments)
}
