use std::io::{self, Write};

use serde::Serialize;
use serde_json::json;

use super::{Exported, Piece};
use crate::model::{Atom, IssueType, Name, Priority, RunOptions, Status, Timestamp};

/// The version of the export format that `el` writes. docs/export-format.md describes each version.
pub const FORMAT_VERSION: i64 = 1;

/// Writes a piece as JSON Lines: a header, then each atom with the bonds into the atom and the
/// comments. The order depends only on the content, and later additions stand further down, so a
/// diff in git is readable.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write_jsonl(out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
    match piece {
        Piece::Start { prefix } => write_line(
            out,
            &json!({
                "_type": "header", "format": "el", "version": FORMAT_VERSION, "prefix": prefix
            }),
        ),
        Piece::Atom(exported) => {
            write_line(out, &Line::new(exported))?;
            exported.bonds.iter().try_for_each(|bond| write_line(out, bond))?;
            exported.comments.iter().try_for_each(|comment| write_line(out, comment))
        }
    }
}

fn write_line<T: Serialize>(mut out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer(&mut out, value)?;
    out.write_all(b"\n")
}

/// An atom's line.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(rename = "_type")]
    record_type: &'a str,
    id: &'a str,
    title: &'a str,
    description: &'a str,
    acceptance: &'a Option<String>,
    status: Status,
    issue_type: IssueType,
    priority: Priority,
    labels: &'a [String],
    assignee: &'a Option<String>,
    parent_id: &'a Option<String>,
    defer_until: &'a Option<Timestamp>,
    close_reason: &'a Option<String>,
    created_by: &'a str,
    created_at: Timestamp,
    updated_at: Timestamp,
    closed_at: &'a Option<Timestamp>,
    metadata: &'a serde_json::Value,
    aliases: &'a [Name],
    run_options: Option<Portable<'a>>,
    /// Left out where it is empty, so that the lines of other projects stay as they are.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    needs: &'a [String],
}

/// The part of [`RunOptions`] that an export may bring in.
#[derive(Serialize)]
struct Portable<'a> {
    model: &'a Option<String>,
    effort: &'a Option<String>,
    base: &'a Option<String>,
}

impl<'a> Portable<'a> {
    fn from_options(options: &'a RunOptions) -> Option<Portable<'a>> {
        // A variable can name programs, and can be a secret.
        let RunOptions { model, effort, base, env: _ } = options;
        let is_any = model.is_some() || effort.is_some() || base.is_some();
        is_any.then_some(Portable { model, effort, base })
    }
}

impl<'a> Line<'a> {
    fn new(Exported { atom, names, .. }: &'a Exported) -> Line<'a> {
        // Runs belong to a machine, and so do the settings of a task: a file must not bring in
        // folders and commands. The pattern names every field, so that a new field needs a
        // decision.
        let Atom {
            record_type,
            id,
            title,
            description,
            acceptance,
            status,
            issue_type,
            priority,
            labels,
            needs,
            assignee,
            parent_id,
            defer_until,
            retry_at: _,
            close_reason,
            created_by,
            created_at,
            updated_at,
            closed_at,
            run_id: _,
            delegation: _,
            run_options,
            metadata,
        } = atom;
        Line {
            record_type,
            id,
            title,
            description,
            acceptance,
            status: *status,
            issue_type: *issue_type,
            priority: *priority,
            labels,
            assignee,
            parent_id,
            defer_until,
            close_reason,
            created_by,
            created_at: *created_at,
            updated_at: *updated_at,
            closed_at,
            metadata,
            aliases: names,
            run_options: run_options.as_ref().and_then(Portable::from_options),
            needs,
        }
    }
}
