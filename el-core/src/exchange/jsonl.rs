use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::Snapshot;
use crate::model::{Bond, Comment, Name};

/// The version of the export format that this `el` writes. docs/export-format.md tells what each
/// holds.
pub const FORMAT_VERSION: i64 = 1;

/// The whole snapshot as JSON Lines: a header, then each atom with the bonds into it and its
/// comments. The order depends on nothing but the content, and what is added later stands further
/// down, so that a diff in git is readable.
pub fn jsonl(snapshot: &Snapshot) -> String {
    let mut out = String::with_capacity(snapshot.atoms.len() * 600);
    line(
        &mut out,
        &json!({ "_type": "header", "format": "el", "version": FORMAT_VERSION, "prefix": snapshot.prefix }),
    );
    let mut names: HashMap<&str, Vec<&Name>> = HashMap::new();
    for (atom, name) in &snapshot.names {
        names.entry(atom).or_default().push(name);
    }
    let bonds = by(&snapshot.bonds, |bond: &Bond| bond.target_id.as_str());
    let comments = by(&snapshot.comments, |comment: &Comment| comment.parent_id.as_str());
    for atom in &snapshot.atoms {
        let mut row = serde_json::to_value(atom).expect("an atom has string keys only");
        if let Value::Object(row) = &mut row {
            // A run is this machine's own affair, and so is how a task is to be run: a file must
            // not bring in folders and commands.
            row.shift_remove("run_id");
            row.shift_remove("retry_at");
            row.shift_remove("delegation");
            row.insert(
                "aliases".to_owned(),
                json!(names.get(atom.id.as_str()).map_or(&[][..], Vec::as_slice)),
            );
        }
        line(&mut out, &row);
        for bond in bonds.get(atom.id.as_str()).into_iter().flatten() {
            line(&mut out, bond);
        }
        for comment in comments.get(atom.id.as_str()).into_iter().flatten() {
            line(&mut out, comment);
        }
    }
    out
}

fn by<T>(items: &[T], key: impl Fn(&T) -> &str) -> HashMap<&str, Vec<&T>> {
    let mut map: HashMap<&str, Vec<&T>> = HashMap::new();
    for item in items {
        map.entry(key(item)).or_default().push(item);
    }
    map
}

fn line<T: Serialize>(out: &mut String, value: &T) {
    out.push_str(&serde_json::to_string(value).expect("every row has string keys only"));
    out.push('\n');
}
