//! Merges two copies of an export that have a common origin. The merge is by field: changes to
//! different fields of an atom do not conflict.
//!
//! A conflict is a field that both sides changed to different values, or a record that one side
//! changed and the other removed. Such a record is written twice, between git's conflict marks.
//! Both copies have all other fields merged, so either copy is complete.
//!
//! The three files are indexed, not held: memory grows with the number of lines, by some hundred
//! bytes each, and not with the length of the lines.

use std::collections::HashMap;
use std::io::{self, Read, Seek, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::Status;

mod fields;
mod index;
mod key;

use index::{Entry, Index, Span};
use key::Key;

/// A conflict that a person has to settle.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    /// An id, or a bond's ends.
    pub record: String,
    /// The field, or `null` if a record was changed by one side and removed by the other.
    pub field: Option<String>,
    pub ours: Value,
    pub theirs: Value,
}

/// A file that was indexed and is UTF-8.
#[derive(Debug)]
pub struct Side<R>(Index<R>);

impl<R: Read + Seek> Side<R> {
    /// Indexes a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read; `InvalidData` if the file is not UTF-8.
    pub fn index_file(file: R) -> io::Result<Side<R>> {
        Index::index_lines(file).map(Side)
    }
}

/// Merges the changes of `ours` and `theirs` to `base`, and writes the result to `out`, in the
/// order of an export.
///
/// # Errors
///
/// If a file cannot be read again, or the result cannot be written.
pub fn merge_exports<R: Read + Seek>(
    base: Side<R>,
    ours: Side<R>,
    theirs: Side<R>,
    out: &mut dyn Write,
) -> io::Result<Vec<Conflict>> {
    let (mut base, mut ours, mut theirs) = (base.0, ours.0, theirs.0);
    let mut conflicts = Vec::new();
    for entry in merged_order(&mut ours, &mut theirs) {
        let three = [
            base.read_line(entry.hash)?.map(str::to_owned),
            ours.read_line(entry.hash)?.map(str::to_owned),
            theirs.read_line(entry.hash)?.map(str::to_owned),
        ];
        let [base, ours, theirs] = three.each_ref().map(Option::as_deref);
        write_record(&entry.key, base, ours, theirs, &mut conflicts, out)?;
    }
    Ok(conflicts)
}

/// Every record of both sides once, in the order of an export.
fn merged_order<R>(ours: &mut Index<R>, theirs: &mut Index<R>) -> Vec<Entry> {
    let mut entries = std::mem::take(&mut ours.entries);
    let added = std::mem::take(&mut theirs.entries);
    entries.extend(added.into_iter().filter(|entry| !ours.spans.contains_key(&entry.hash)));
    let created = |spans: &HashMap<u128, Span>, atom: &str| {
        spans.get(&Key::Atom(atom.into()).stable_hash()).and_then(|span| span.created)
    };
    for (at, entry) in entries.iter_mut().enumerate() {
        entry.at = at;
        if let Some(atom) = entry.key.atom_id() {
            entry.atom_created = created(&ours.spans, atom)
                .or_else(|| created(&theirs.spans, atom))
                .unwrap_or(i64::MAX);
        }
    }
    entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    entries
}

/// Writes a record of the result. A line that one side left alone is copied unchanged.
fn write_record(
    key: &Key,
    base: Option<&str>,
    ours: Option<&str>,
    theirs: Option<&str>,
    conflicts: &mut Vec<Conflict>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match (base, ours, theirs) {
        (_, None, None) => Ok(()),
        (None, Some(only), None) | (None, None, Some(only)) => writeln!(out, "{only}"),
        (Some(base), Some(left), None) | (Some(base), None, Some(left)) => {
            // A bond has nothing that could change.
            if parse_object(base) == parse_object(left)
                || !matches!(key, Key::Atom(_) | Key::Comment { .. } | Key::Other(_))
            {
                return Ok(());
            }
            let row =
                |line: Option<&str>| line.map_or(Value::Null, |line| parse_object(line).into());
            conflicts.push(Conflict {
                record: key.display_name(),
                field: None,
                ours: row(ours),
                theirs: row(theirs),
            });
            write_both(out, ours, theirs)
        }
        (base, Some(ours), Some(theirs)) => {
            if ours == theirs || base == Some(theirs) {
                return writeln!(out, "{ours}");
            }
            if base == Some(ours) {
                return writeln!(out, "{theirs}");
            }
            let before = conflicts.len();
            let base = base.map(parse_object).unwrap_or_default();
            let (left, right) = fields::merge_record(
                &key.display_name(),
                &base,
                &parse_object(ours),
                &parse_object(theirs),
                conflicts,
            );
            let (left, right) = (Value::Object(left).to_string(), Value::Object(right).to_string());
            if conflicts.len() == before {
                writeln!(out, "{left}")
            } else {
                write_both(out, Some(&left), Some(&right))
            }
        }
    }
}

fn write_both(out: &mut dyn Write, ours: Option<&str>, theirs: Option<&str>) -> io::Result<()> {
    writeln!(out, "<<<<<<< ours")?;
    ours.map_or(Ok(()), |line| writeln!(out, "{line}"))?;
    writeln!(out, "=======")?;
    theirs.map_or(Ok(()), |line| writeln!(out, "{line}"))?;
    writeln!(out, ">>>>>>> theirs")
}

/// A line's object; empty for a line that is no record.
fn parse_object(line: &str) -> Map<String, Value> {
    serde_json::from_str(line).unwrap_or_default()
}

/// Returns true if the status in the file ends the work.
fn is_over(status: Option<&Value>) -> bool {
    status
        .and_then(Value::as_str)
        .and_then(|word| word.parse::<Status>().ok())
        .is_some_and(Status::is_over)
}

#[cfg(test)]
mod tests;
