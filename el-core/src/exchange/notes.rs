use std::borrow::Cow;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

/// How `el` treated a value that did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// The nearest legal value was taken; the original stays under `metadata.source`.
    Approximated,
    /// The value has no place in an atom and stays under `metadata.source`.
    Kept,
    /// The edge is impossible: an atom would wait for itself, or an end is missing. The value stays
    /// under `metadata.source`.
    LeftOut,
    /// The file and the store both changed since the last import; the store's value stands.
    Conflict,
    /// A remark for the reader of the report.
    Remark,
}

/// A kind of value that did not fit, and how often that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    pub kind: NoteKind,
    /// In words, such as `status 'hooked' became in_progress`.
    pub what: String,
    pub count: usize,
    /// The places, of `count`: a line and the other tracker's id. The first five, but of what was
    /// left out the first 500.
    pub places: Vec<String>,
}

/// Notes, grouped by text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Notes {
    list: Vec<Note>,
    /// By text: the notes with it.
    index: HashMap<String, Vec<(NoteKind, usize)>>,
}

impl Notes {
    /// The maximum number of places that a note names; the rest is a count.
    pub const PLACES: usize = 5;
    /// The most different notes, since a file may have a new note on each line, and the most places
    /// of what was left out: nobody else has those lines.
    const MOST: usize = 500;

    /// Adds an occurrence.
    pub fn add<'w>(&mut self, kind: NoteKind, what: impl Into<Cow<'w, str>>, place: &str) {
        self.add_at(kind, what, || place.to_owned());
    }

    /// Adds an occurrence. Only the first places are asked for.
    pub(super) fn add_at<'w>(
        &mut self,
        kind: NoteKind,
        what: impl Into<Cow<'w, str>>,
        place: impl FnOnce() -> String,
    ) {
        let mut what = what.into();
        let mut known = self.position(kind, &what);
        if known.is_none() && self.list.len() >= Self::MOST {
            what = "more of other kinds".into();
            known = self.position(kind, &what);
        }
        let at = known.unwrap_or_else(|| {
            let what = what.into_owned();
            self.list.push(Note { kind, what: what.clone(), count: 0, places: Vec::new() });
            let at = self.list.len() - 1;
            self.index.entry(what).or_default().push((kind, at));
            at
        });
        let note = &mut self.list[at];
        note.count += 1;
        let most = if kind == NoteKind::LeftOut { Self::MOST } else { Self::PLACES };
        if note.places.len() < most {
            note.places.extend(Some(place()).filter(|place| !place.is_empty()));
        }
    }

    fn position(&self, kind: NoteKind, what: &str) -> Option<usize> {
        let notes = self.index.get(what)?;
        notes.iter().find(|(of, _)| *of == kind).map(|(_, at)| *at)
    }

    /// Returns the notes by kind, then in the order of the first occurrence.
    pub fn into_list(mut self) -> Vec<Note> {
        self.list.sort_by_key(|note| note.kind);
        self.list
    }

    /// The same without numbers of lines, where nobody can look them up.
    pub fn into_list_without_lines(self) -> Vec<Note> {
        let mut list = self.into_list();
        for place in list.iter_mut().flat_map(|note| &mut note.places) {
            let named = place.strip_prefix("line ").and_then(|rest| rest.split_once(" ("));
            if let Some(named) = named.and_then(|(_, named)| named.strip_suffix(')')) {
                *place = named.to_owned();
            }
        }
        list
    }

    /// Returns true if there are no notes.
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
        (0..10).for_each(|line| notes.add(NoteKind::LeftOut, "prose", &format!("line {line}")));
        let list = notes.into_list();
        assert_eq!(
            (list[0].kind, list[1].count, list[1].places.len()),
            (NoteKind::Approximated, 10, Notes::PLACES)
        );
        assert_eq!(list[2].places.len(), 10, "nothing is dropped without its line");
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
