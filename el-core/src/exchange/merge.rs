//! Puts two copies of an export together again that had one origin: field by field, so that two
//! people who changed different things of one atom have no conflict.
//!
//! What both changed to different values, and what one changed and the other removed, cannot be
//! settled here. Such a record is written twice, between git's own marks, each copy with everything
//! else merged already: whichever copy a person leaves is whole.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::detect::time;
use crate::model::Status;

mod fields;

/// The result of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    pub text: String,
    pub conflicts: Vec<Conflict>,
}

/// Something that a person has to settle.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conflict {
    /// Whose: an id, or a bond's ends.
    pub record: String,
    /// Which field; `null` if one side removed what the other changed.
    pub field: Option<String>,
    pub ours: Value,
    pub theirs: Value,
}

/// What a line is about. Their order is that of the file, once an atom's place is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Header,
    Atom(String),
    Bond {
        target: String,
        source: String,
        kind: String,
    },
    Comment {
        atom: String,
        id: String,
    },
    /// A record that a newer `el` knows.
    Other(String),
    /// A line that is no record: kept as it is.
    Opaque(String),
}

impl Key {
    fn of(line: &str) -> (Key, Map<String, Value>) {
        let Ok(Value::Object(object)) = serde_json::from_str(line) else {
            return (Key::Opaque(line.to_owned()), Map::new());
        };
        let text =
            |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let key = match text("_type").as_str() {
            "header" => Key::Header,
            "atom" => Key::Atom(text("id")),
            "bond" => Key::Bond {
                target: text("target_id"),
                source: text("source_id"),
                kind: text("dependency_type"),
            },
            "comment" => Key::Comment { atom: text("parent_id"), id: text("id") },
            kind if object.contains_key("id") => Key::Other(format!("{kind} {}", text("id"))),
            _ => Key::Opaque(line.to_owned()),
        };
        (key, object)
    }

    fn name(&self) -> String {
        match self {
            Key::Header => "the header".to_owned(),
            Key::Atom(id) => id.clone(),
            Key::Bond { target, source, kind } => format!("{source} {kind} {target}"),
            Key::Comment { atom, id } => format!("comment {id} of {atom}"),
            Key::Other(name) => name.clone(),
            Key::Opaque(_) => "a line that is no record".to_owned(),
        }
    }
}

type Side = HashMap<Key, Map<String, Value>>;

/// The records of a file, and their keys in order.
fn side(text: &str) -> (Side, Vec<Key>) {
    let mut records = Side::new();
    let mut order = Vec::new();
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let (key, object) = Key::of(line);
        if records.insert(key.clone(), object).is_none() {
            order.push(key);
        }
    }
    (records, order)
}

/// One record of the result.
enum Outcome {
    Gone,
    Line(Map<String, Value>),
    Both { ours: Option<Map<String, Value>>, theirs: Option<Map<String, Value>> },
}

/// Merges what `ours` and `theirs` made of `base`.
pub fn merge(base: &str, ours: &str, theirs: &str) -> Merged {
    let ((base, _), (ours, mut order), (theirs, their_order)) =
        (side(base), side(ours), side(theirs));
    order.extend(their_order.into_iter().filter(|key| !ours.contains_key(key)));
    let mut conflicts = Vec::new();
    let mut lines: BTreeMap<Place, String> = BTreeMap::new();
    let created = |key: &str| {
        let find = |side: &Side| {
            side.get(&Key::Atom(key.to_owned()))?.get("created_at")?.as_str().and_then(time)
        };
        find(&ours).or_else(|| find(&theirs)).map_or(i64::MAX, |time| time.as_micros())
    };
    for (at, key) in order.into_iter().enumerate() {
        let outcome =
            record(&key, base.get(&key), ours.get(&key), theirs.get(&key), &mut conflicts);
        let text = match outcome {
            Outcome::Gone => continue,
            Outcome::Line(object) => written(&key, Some(&object)),
            Outcome::Both { ours, theirs } => format!(
                "<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n",
                written(&key, ours.as_ref()),
                written(&key, theirs.as_ref())
            ),
        };
        let either = ours.get(&key).or_else(|| theirs.get(&key));
        lines.insert(Place::of(&key, either, at, created), text);
    }
    Merged { text: lines.into_values().collect(), conflicts }
}

fn written(key: &Key, object: Option<&Map<String, Value>>) -> String {
    match (key, object) {
        (_, None) => String::new(),
        (Key::Opaque(line), Some(_)) => format!("{line}\n"),
        (_, Some(object)) => {
            format!("{}\n", serde_json::to_string(object).expect("a JSON object can be written"))
        }
    }
}

/// Where a line stands: as in an export.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    part: u8,
    /// The atom's time of creation, and its id.
    atom: (i64, String),
    rank: u8,
    within: (i64, String, String),
    /// Where it stood, for what has no other order.
    at: usize,
}

impl Place {
    fn of(
        key: &Key,
        object: Option<&Map<String, Value>>,
        at: usize,
        created: impl Fn(&str) -> i64,
    ) -> Place {
        let place = |part: u8, atom: &str, rank: u8, within: (i64, String, String)| {
            let at = if part == 1 { 0 } else { at };
            Place { part, atom: (created(atom), atom.to_owned()), rank, within, at }
        };
        let none = (0, String::new(), String::new());
        match key {
            Key::Header => place(0, "", 0, none),
            Key::Atom(id) => place(1, id, 0, none),
            Key::Bond { target, source, kind } => {
                place(1, target, 1, (0, source.clone(), kind.clone()))
            }
            Key::Comment { atom, id } => {
                let at = object
                    .and_then(|o| o.get("created_at")?.as_str().and_then(time))
                    .map_or(0, |time| time.as_micros());
                place(1, atom, 2, (at, id.clone(), String::new()))
            }
            Key::Other(_) | Key::Opaque(_) => place(2, "", 0, none),
        }
    }
}

fn record(
    key: &Key,
    base: Option<&Map<String, Value>>,
    ours: Option<&Map<String, Value>>,
    theirs: Option<&Map<String, Value>>,
    conflicts: &mut Vec<Conflict>,
) -> Outcome {
    match (base, ours, theirs) {
        (_, None, None) => Outcome::Gone,
        // One side added it.
        (None, Some(only), None) | (None, None, Some(only)) => Outcome::Line(only.clone()),
        // One side removed it: unless the other changed it, it goes. A bond has nothing that could
        // change.
        (Some(base), Some(left), None) | (Some(base), None, Some(left)) => {
            if base == left || !matches!(key, Key::Atom(_) | Key::Comment { .. } | Key::Other(_)) {
                return Outcome::Gone;
            }
            let row = |side: Option<&Map<String, Value>>| {
                side.map_or(Value::Null, |object| Value::Object(object.clone()))
            };
            conflicts.push(Conflict {
                record: key.name(),
                field: None,
                ours: row(ours),
                theirs: row(theirs),
            });
            Outcome::Both { ours: ours.cloned(), theirs: theirs.cloned() }
        }
        (base, Some(ours), Some(theirs)) => {
            let before = conflicts.len();
            let nothing = Map::new();
            let (left, right) =
                fields::merge(&key.name(), base.unwrap_or(&nothing), ours, theirs, conflicts);
            if conflicts.len() == before {
                Outcome::Line(left)
            } else {
                Outcome::Both { ours: Some(left), theirs: Some(right) }
            }
        }
    }
}

/// Whether a status, as the file has it, is one that ends the work.
fn is_over(status: Option<&Value>) -> bool {
    status
        .and_then(Value::as_str)
        .and_then(|word| word.parse::<Status>().ok())
        .is_some_and(Status::is_over)
}

#[cfg(test)]
mod tests;
