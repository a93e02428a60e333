//! A record in the making. Readers take fields out of the other tracker's object; the fields left
//! at the end are kept as metadata.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::detect::parse_time;
use super::record::RecordComment;
use super::{NoteKind, Notes, clean};
use crate::model::{IssueType, Priority, Status, Timestamp, limits};

/// An object of a file.
pub(super) struct Draft<'a> {
    pub(super) line: usize,
    pub(super) id: String,
    notes: &'a mut Notes,
    object: Map<String, Value>,
    /// The later `metadata.source`.
    source: Map<String, Value>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        line: usize,
        id: String,
        object: Map<String, Value>,
        notes: &'a mut Notes,
    ) -> Draft<'a> {
        Draft { line, id, notes, object, source: Map::new() }
    }

    pub(super) fn add_note<'w>(&mut self, kind: NoteKind, what: impl Into<Cow<'w, str>>) {
        let Draft { line, id, notes, .. } = self;
        notes.add_at(kind, what, || format!("line {line} ({id})"));
    }

    /// Takes a field out. `null` counts as absent.
    pub(super) fn take_field(&mut self, key: &str) -> Option<Value> {
        self.object.remove(key).filter(|value| !value.is_null())
    }

    /// Puts a field back that was only looked at.
    pub(super) fn put_back(&mut self, key: &str, value: Value) {
        self.object.insert(key.to_owned(), value);
    }

    /// Takes a text out. An empty text counts as absent; a value that is no text is kept and
    /// reported.
    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        match self.take_field(key)? {
            Value::String(text) => Some(text).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            other => {
                self.keep_source(key, other, NoteKind::Kept, format!("field '{key}' is no text"));
                None
            }
        }
    }

    /// Takes the first text out that is present under one of the keys.
    pub(super) fn first_text(&mut self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.take_text(key))
    }

    /// Takes a list out. A single value counts as a list of length 1.
    pub(super) fn take_list(&mut self, key: &str) -> Vec<Value> {
        match self.take_field(key) {
            None => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        }
    }

    /// Takes a time out. An unreadable time is kept and reported.
    pub(super) fn take_time(&mut self, key: &str) -> Option<Timestamp> {
        let text = self.take_text(key)?;
        let read = parse_time(&text);
        if read.is_none() && !text.starts_with("0001-") {
            self.keep_source(
                key,
                Value::String(text),
                NoteKind::Kept,
                format!("field '{key}' is no time"),
            );
        }
        read
    }

    /// Puts a value under `metadata.source` and adds a note.
    pub(super) fn keep_source<'w>(
        &mut self,
        key: &str,
        value: Value,
        kind: NoteKind,
        what: impl Into<Cow<'w, str>>,
    ) {
        self.keep_quietly(key, value);
        self.add_note(kind, what);
    }

    /// Puts a value under `metadata.source` without a note: a note exists already, or the value is
    /// also in a field.
    pub(super) fn keep_quietly(&mut self, key: &str, value: Value) {
        self.source.insert(key.to_owned(), value);
    }

    /// Takes the title out. A record without a title is an error.
    pub(super) fn take_title(&mut self) -> Result<String, String> {
        let text = self.take_text("title").ok_or("it has no title")?;
        let cleaned = clean::title(&text).ok_or("its title is blank")?;
        if cleaned.is_changed {
            self.keep_source(
                "title",
                Value::String(text),
                NoteKind::Approximated,
                "a title of several lines or too many characters was cut",
            );
        }
        Ok(cleaned.value)
    }

    /// A long text, blank if there is none.
    pub(super) fn long_text(&mut self, key: &str) -> Result<String, String> {
        let text = self.take_text(key).unwrap_or_default();
        self.check_text(key, text)
    }

    pub(super) fn check_text(
        &mut self,
        key: &str,
        text: impl Into<String>,
    ) -> Result<String, String> {
        self.check_length(key, text, limits::TEXT)
    }

    /// A reason for closing.
    pub(super) fn take_reason(&mut self, key: &str) -> Result<Option<String>, String> {
        let Some(text) = self.take_text(key).filter(|text| !text.trim().is_empty()) else {
            return Ok(None);
        };
        self.check_length(key, text.trim(), limits::REASON).map(Some)
    }

    fn check_length(
        &mut self,
        key: &str,
        text: impl Into<String>,
        most: usize,
    ) -> Result<String, String> {
        let text = text.into();
        if text.len() <= most && !text.contains('\0') {
            return Ok(text);
        }
        let cleaned = clean::clean_text(&text, most).map_err(|why| format!("{key}: {why}"))?;
        if cleaned.is_changed {
            self.add_note(
                NoteKind::Approximated,
                format!("a NUL character in '{key}' became \u{fffd}"),
            );
        }
        Ok(cleaned.value)
    }

    /// Cleans a name. The original of a changed name is kept and reported.
    pub(super) fn check_name(&mut self, key: &str, text: &str) -> Option<String> {
        let cleaned = clean::name(text)?;
        if cleaned.is_changed {
            self.keep_source(
                key,
                Value::String(text.to_owned()),
                NoteKind::Approximated,
                format!("a name in '{key}' was cut"),
            );
        }
        Some(cleaned.value)
    }

    /// Takes a name out and cleans the name.
    pub(super) fn take_name(&mut self, key: &str) -> Option<String> {
        let text = self.take_text(key)?;
        self.check_name(key, &text)
    }

    /// Takes labels out, sorted and without duplicates. Originals of changed labels are kept and
    /// reported.
    pub(super) fn take_labels(&mut self, key: &str) -> Vec<String> {
        let values = self.take_list(key);
        self.labels_of(key, values)
    }

    /// Cleans labels that were taken out already, as [`Self::take_labels`] does.
    pub(super) fn labels_of(&mut self, key: &str, values: Vec<Value>) -> Vec<String> {
        let mut labels: Vec<String> = Vec::with_capacity(values.len());
        let mut originals = Vec::new();
        for value in values {
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                Value::Null => continue,
                other => {
                    self.add_note(NoteKind::Kept, "a label that is no text");
                    originals.push(other);
                    continue;
                }
            };
            match clean::label(&text) {
                Some(cleaned) => {
                    if cleaned.is_changed {
                        self.add_note(
                            NoteKind::Approximated,
                            format!("label '{text}' became {}", cleaned.value),
                        );
                        originals.push(Value::String(text));
                    }
                    labels.push(cleaned.value);
                }
                None if text.is_empty() => {}
                None => originals.push(Value::String(text)),
            }
        }
        labels.sort();
        labels.dedup();
        if labels.len() > limits::LABELS {
            self.add_note(NoteKind::Kept, format!("more than {} labels", limits::LABELS));
            originals.extend(labels.split_off(limits::LABELS).into_iter().map(Value::String));
        }
        if !originals.is_empty() {
            self.keep_quietly(key, Value::Array(originals));
        }
        labels
    }

    /// Takes the priority out: a number, a word, or `P1`. A value out of range becomes the nearest.
    pub(super) fn take_priority(&mut self) -> Priority {
        let Some(value) = self.take_field("priority") else { return Priority::DEFAULT };
        let read = match &value {
            Value::Number(number) => number.as_i64().map(|n| (n.clamp(0, 5), (0..=5).contains(&n))),
            Value::String(text) => {
                text.parse::<Priority>().ok().map(|p| (i64::from(p.value()), true))
            }
            _ => None,
        };
        let (level, is_same) = read.unwrap_or((i64::from(Priority::DEFAULT.value()), false));
        if !is_same {
            let what = format!("priority {value} became {level}");
            self.keep_source("priority", value, NoteKind::Approximated, what);
        }
        Priority::new(level).unwrap_or(Priority::DEFAULT)
    }

    /// Takes the status out. `map` translates the other tracker's word and tells if the meaning is
    /// the same. An unknown word becomes `deferred` and not `open`, since a worker would start on
    /// an open atom.
    pub(super) fn take_status(&mut self, map: impl Fn(&str) -> Option<(Status, bool)>) -> Status {
        let Some(text) = self.take_text("status") else { return Status::Open };
        let folded = text.trim().to_ascii_lowercase().replace('-', "_");
        let (status, is_same) = map(&folded)
            .or_else(|| folded.parse().ok().map(|same| (same, true)))
            .unwrap_or((Status::Deferred, false));
        if !is_same {
            self.keep_source(
                "status",
                Value::String(text),
                NoteKind::Approximated,
                format!("status '{folded}' became {status}"),
            );
        }
        status
    }

    /// Takes the type out. An unknown word becomes `task`.
    pub(super) fn issue_type(
        &mut self,
        key: &str,
        map: impl Fn(&str) -> Option<(IssueType, bool)>,
    ) -> IssueType {
        let Some(text) = self.take_text(key) else { return IssueType::Task };
        let folded = text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let (kind, is_same) = map(&folded)
            .or_else(|| folded.parse().ok().map(|same| (same, true)))
            .unwrap_or((IssueType::Task, false));
        if !is_same {
            self.keep_source(
                key,
                Value::String(text),
                NoteKind::Approximated,
                format!("type '{folded}' became {kind}"),
            );
        }
        kind
    }

    /// Makes a comment, or none from a blank text.
    pub(super) fn make_comment(
        &mut self,
        author: &str,
        content: &str,
        at: Option<Timestamp>,
        key: Option<&Value>,
    ) -> Result<Option<RecordComment>, String> {
        if content.trim().is_empty() {
            return Ok(None);
        }
        let content = self.check_text("comment", content)?;
        let author = clean::name(author).map_or_else(|| "unknown".to_owned(), |name| name.value);
        Ok(Some(RecordComment {
            line: self.line,
            id: None,
            key: comment_key(key),
            atom: self.id.clone(),
            author,
            content,
            run_id: None,
            created_at: at,
        }))
    }

    /// Takes the record's metadata out. A value that is no object is kept and reported.
    pub(super) fn own_metadata(&mut self) -> Map<String, Value> {
        match self.take_field("metadata") {
            Some(Value::Object(map)) => map,
            Some(other) => {
                self.keep_source("metadata", other, NoteKind::Kept, "metadata that is no object");
                Map::new()
            }
            None => Map::new(),
        }
    }

    /// Keeps and reports every field left over, except empty fields.
    pub(super) fn keep_the_rest(&mut self) {
        for (key, value) in std::mem::take(&mut self.object) {
            if !says_nothing(&value) {
                let what = format!("field '{key}' has no place here");
                self.keep_source(&key, value, NoteKind::Kept, what);
            }
        }
    }

    /// Returns `own` with all kept values under `source`, after the tracker and the id of the
    /// record.
    pub(super) fn finish_metadata(
        &mut self,
        tracker: &str,
        mut own: Map<String, Value>,
    ) -> Map<String, Value> {
        self.keep_the_rest();
        let mut source = Map::new();
        source.insert("tracker".to_owned(), tracker.into());
        source.insert("id".to_owned(), self.id.clone().into());
        source.append(&mut self.source);
        own.insert("source".to_owned(), Value::Object(source));
        own
    }
}

impl Draft<'_> {
    /// Returns the metadata of our own export, with `kept` only if a value had no place.
    pub(super) fn metadata_if_kept(&mut self, mut own: Map<String, Value>) -> Map<String, Value> {
        if !self.source.is_empty() {
            own.insert("kept".to_owned(), Value::Object(std::mem::take(&mut self.source)));
        }
        own
    }
}

/// Returns true if a field is as good as absent.
pub(super) fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// Returns another tracker's id of a comment: a text or a number.
pub(super) fn comment_key(id: Option<&Value>) -> Option<String> {
    match id? {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// Takes the id out. A record without an id is an error.
pub(super) fn take_id(object: &mut Map<String, Value>) -> Result<String, String> {
    match object.remove("id") {
        Some(Value::String(id)) if !id.trim().is_empty() => Ok(id.trim().to_owned()),
        _ => Err("it has no id".to_owned()),
    }
}
