use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

/// What became of something that did not fit as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// It became the nearest that we have; the original stays under `metadata.source`.
    Approximated,
    /// It has no place here and stays under `metadata.source`.
    Kept,
    /// It cannot be here: it would wait for itself, or its other end is nowhere. It stays under
    /// `metadata.source`.
    LeftOut,
    /// It changed here and there since the last import; the newer one stands.
    Conflict,
    /// Something that the reader of the report should know.
    Remark,
}

/// One kind of thing that did not fit, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    pub kind: NoteKind,
    /// In words, such as `status 'hooked' became in_progress`.
    pub what: String,
    pub count: usize,
    // At most `Notes::PLACES`.
    /// The first places, of `count`: a line and the other tracker's id.
    pub places: Vec<String>,
}

/// Notes, gathered by what they say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    list: Vec<Note>,
    index: HashMap<(NoteKind, String), usize>,
}

impl Notes {
    /// So many places are named; the rest is a count.
    pub const PLACES: usize = 5;
    /// So many different things are told apart: a file may hold a new one on each line.
    const MOST: usize = 500;

    /// Adds one occurrence.
    pub fn add(&mut self, kind: NoteKind, what: impl Into<String>, place: &str) {
        let mut what = what.into();
        if self.list.len() >= Self::MOST && !self.index.contains_key(&(kind, what.clone())) {
            what = "more of other kinds".to_owned();
        }
        let at = *self.index.entry((kind, what)).or_insert_with_key(|(kind, what)| {
            self.list.push(Note { kind: *kind, what: what.clone(), count: 0, places: Vec::new() });
            self.list.len() - 1
        });
        let note = &mut self.list[at];
        note.count += 1;
        if note.places.len() < Self::PLACES && !place.is_empty() {
            note.places.push(place.to_owned());
        }
    }

    /// What was gathered: by kind, then in the order in which it was found.
    pub fn into_list(mut self) -> Vec<Note> {
        self.list.sort_by_key(|note| note.kind);
        self.list
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_counted_and_only_its_first_places_are_named() {
        let mut notes = Notes::default();
        for line in 0..10 {
            notes.add(NoteKind::Kept, "field 'due_at' has no place here", &format!("line {line}"));
        }
        notes.add(NoteKind::Approximated, "type 'chore' became task", "line 3");
        let list = notes.into_list();
        assert_eq!(
            (list[0].kind, list[1].count, list[1].places.len()),
            (NoteKind::Approximated, 10, Notes::PLACES)
        );
    }

    #[test]
    fn a_file_of_nothing_but_surprises_does_not_make_an_endless_report() {
        let mut notes = Notes::default();
        for line in 0..5_000 {
            notes.add(NoteKind::Kept, format!("field 'f{line}' has no place here"), "");
        }
        let list = notes.into_list();
        assert_eq!(list.len(), Notes::MOST + 1);
        assert_eq!(list.iter().map(|note| note.count).sum::<usize>(), 5_000);
    }
}
