//! The records of a file, found in a first pass and read again one by one.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::line_file::Span;
use super::lines::{Input, Line, Progress};
use super::record::{BadLine, Batch, Part, Record, RecordBond, RecordComment};
use super::{NoteKind, Notes, Tracker, bd, el, eluent, github};
use crate::model::{BondKind, IssueType, Name, Timestamp};

/// Reads an object of a tracker's file.
fn read_part(
    tracker: Tracker,
    line: usize,
    object: Map<String, Value>,
    notes: &mut Notes,
) -> Result<Part, String> {
    match tracker {
        Tracker::El => el::read_part(line, object, notes),
        Tracker::Bd => bd::read_part(line, object, notes),
        Tracker::Eluent => eluent::read_part(line, object, notes),
        Tracker::Github => github::read_part(line, object, notes),
        Tracker::Markdown => Err("it is no object in Markdown".to_owned()),
    }
}

/// The part of a record that an import needs of all records at once.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RecordHead {
    pub(crate) line: usize,
    pub(crate) id: Arc<str>,
    pub(crate) parent: Option<Box<str>>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) issue_type: IssueType,
    pub(crate) is_over: bool,
    pub(crate) names: Box<[Name]>,
    /// A hash of the line; `None` if the record was on none.
    pub(crate) digest: Option<u64>,
    span: Span,
}

impl RecordHead {
    fn new(record: &Record, span: Span, digest: Option<u64>) -> RecordHead {
        RecordHead {
            line: record.line,
            id: record.id.as_str().into(),
            parent: record.parent.as_deref().map(Into::into),
            created_at: record.created_at,
            issue_type: record.issue_type,
            is_over: record.status.is_over(),
            names: record.names.as_slice().into(),
            digest,
            span,
        }
    }
}

/// All contents of a file, of which only heads and bonds are in memory.
#[derive(Debug)]
pub struct RecordFile {
    pub tracker: Tracker,
    /// The namespace of the ids, as in [`Batch::source`].
    pub source: String,
    pub bad: Vec<BadLine>,
    pub(crate) heads: Vec<RecordHead>,
    /// By id.
    pub(crate) index: HashMap<Arc<str>, usize>,
    pub(crate) bonds: Vec<RecordBond>,
    pub(crate) comments: usize,
    pub(crate) notes: Notes,
    pub(crate) lacks_relations: bool,
    pub(crate) texts: Texts,
}

/// The long part of a file.
#[derive(Debug)]
pub(crate) enum Texts {
    Held {
        records: Vec<Option<Record>>,
        comments: Vec<RecordComment>,
    },
    InFile {
        input: Box<Input>,
        tracker: Tracker,
        /// The lines with comments.
        comments: Vec<(usize, Span)>,
    },
}

impl RecordFile {
    /// Finds the records of a file that is no Markdown. `progress` receives the number of bytes
    /// read and the total.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn index_records(
        mut input: Input,
        tracker: Tracker,
        progress: &mut Progress<'_>,
    ) -> io::Result<RecordFile> {
        let mut found = Found::default();
        let mut has_relations = tracker != Tracker::Github;
        let bad = input.each_object(progress, |line, object| {
            has_relations = has_relations || github::has_relations(&object);
            let part = read_part(tracker, line.number, object, &mut found.notes)?;
            found.push(tracker, line, part);
            Ok(())
        })?;
        found.set_parents(tracker);
        found.drop_replaced();
        let Found { heads, index, bonds, notes, comments, comment_count, .. } = found;
        Ok(RecordFile {
            tracker,
            source: tracker.as_str().to_owned(),
            bad,
            heads,
            index,
            bonds,
            comments: comment_count,
            notes,
            lacks_relations: !has_relations,
            texts: Texts::InFile { input: Box::new(input), tracker, comments },
        })
    }

    /// Returns true if there is nothing to import.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty() && self.bonds.is_empty() && self.comments == 0
    }

    /// Reads all of the file into memory.
    pub(super) fn into_batch(mut self) -> io::Result<Batch> {
        let mut records = Vec::with_capacity(self.heads.len());
        for (at, head) in self.heads.iter().enumerate() {
            let record = self.texts.read_record(at, head)?;
            records.push(Record { parent: head.parent.as_deref().map(str::to_owned), ..record });
        }
        let mut comments = Vec::new();
        let same = std::convert::identity;
        self.texts.each_comment(same, |comment| {
            comments.push(comment);
            Ok::<(), io::Error>(())
        })?;
        Ok(Batch {
            tracker: self.tracker,
            source: self.source,
            records,
            bonds: self.bonds,
            comments,
            notes: self.notes,
            bad: self.bad,
            lacks_relations: self.lacks_relations,
        })
    }
}

impl From<Batch> for RecordFile {
    fn from(batch: Batch) -> RecordFile {
        let head = |record: &Record| RecordHead::new(record, Span::default(), None);
        let heads: Vec<RecordHead> = batch.records.iter().map(head).collect();
        RecordFile {
            tracker: batch.tracker,
            source: batch.source,
            bad: batch.bad,
            index: heads.iter().enumerate().map(|(at, head)| (head.id.clone(), at)).collect(),
            heads,
            bonds: batch.bonds,
            comments: batch.comments.len(),
            notes: batch.notes,
            lacks_relations: batch.lacks_relations,
            texts: Texts::Held {
                records: batch.records.into_iter().map(Some).collect(),
                comments: batch.comments,
            },
        }
    }
}

impl Texts {
    /// Reads a record. The parent is the head's to tell.
    pub(crate) fn read_record(&mut self, at: usize, head: &RecordHead) -> io::Result<Record> {
        let changed = || io::Error::other(format!("line {} changed in the meantime", head.line));
        match self {
            Texts::Held { records, .. } => {
                records.get_mut(at).and_then(Option::take).ok_or_else(changed)
            }
            Texts::InFile { input, tracker, .. } => {
                let object = input.read_object(head.span)?.ok_or_else(changed)?;
                // The notes of the first pass are kept.
                match read_part(*tracker, head.line, object, &mut Notes::default()) {
                    Ok(Part::Item(record, ..)) if *record.id == *head.id => Ok(*record),
                    _ => Err(changed()),
                }
            }
        }
    }

    /// Leaves out the comments that stand in these lines of a file.
    pub(crate) fn drop_comments_of(&mut self, lines: &HashSet<usize>) {
        if let Texts::InFile { comments, .. } = self {
            comments.retain(|(line, _)| !lines.contains(line));
        }
    }

    /// Hands every comment to `each`, in the order of the file. `cannot_read` names the fault of a
    /// file that cannot be read again.
    pub(crate) fn each_comment<E>(
        &mut self,
        cannot_read: impl Fn(io::Error) -> E,
        mut each: impl FnMut(RecordComment) -> Result<(), E>,
    ) -> Result<(), E> {
        let (input, tracker, lines) = match self {
            Texts::Held { comments, .. } => {
                return std::mem::take(comments).into_iter().try_for_each(each);
            }
            Texts::InFile { input, tracker, comments } => (input, *tracker, comments),
        };
        let mut said = HashSet::new();
        for (line, span) in lines {
            let object = input.read_object(*span).map_err(&cannot_read)?.unwrap_or_default();
            match read_part(tracker, *line, object, &mut Notes::default()) {
                Ok(Part::Item(_, _, comments)) => comments.into_iter().try_for_each(&mut each)?,
                // Two clones of Eluent may give different comments the same id, so the content
                // tells comments apart.
                Ok(Part::Comment(made))
                    if tracker != Tracker::Eluent || said.insert(comment_hash(&made)) =>
                {
                    each(made)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A hash by which the next import knows a line again. Another version of `el` may read the same
/// line in another way, and knows none.
fn line_hash(tracker: Tracker, line: &[u8]) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), tracker, line).hash(&mut hasher);
    hasher.finish()
}

/// A hash of all that tells comments of Eluent apart.
fn comment_hash(comment: &RecordComment) -> u128 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        let RecordComment { atom, author, created_at, content, .. } = comment;
        (salt, atom, author, created_at.map(Timestamp::as_micros), content).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// The findings of the first pass.
#[derive(Default)]
struct Found {
    heads: Vec<RecordHead>,
    index: HashMap<Arc<str>, usize>,
    bonds: Vec<RecordBond>,
    /// The `parent_child` bonds.
    families: Vec<RecordBond>,
    comments: Vec<(usize, Span)>,
    comment_count: usize,
    notes: Notes,
    /// Lines with a record that a later line replaced.
    replaced: HashSet<usize>,
}

impl Found {
    fn push(&mut self, tracker: Tracker, line: Line<'_>, part: Part) {
        let Line { number, span, bytes } = line;
        match part {
            Part::Nothing => {}
            Part::Item(record, bonds, comments) => {
                let digest = line_hash(tracker, bytes);
                self.push_record(RecordHead::new(&record, span, Some(digest)));
                bonds.into_iter().for_each(|bond| self.push_bond(bond));
                self.push_comments(comments.len(), number, span);
            }
            Part::Bond(bond) => self.push_bond(bond),
            Part::Comment(_) => self.push_comments(1, number, span),
        }
    }

    fn push_bond(&mut self, bond: RecordBond) {
        match bond.kind {
            BondKind::ParentChild => self.families.push(bond),
            _ => self.bonds.push(bond),
        }
    }

    fn push_comments(&mut self, count: usize, line: usize, span: Span) {
        if count > 0 {
            self.comments.push((line, span));
            self.comment_count += count;
        }
    }

    /// Adds a record. A record of the same id is replaced, as in an append-only file.
    fn push_record(&mut self, head: RecordHead) {
        if let Some(at) = self.index.get(&head.id) {
            let place = format!("line {} ({})", head.line, head.id);
            let what = "an id stands in the file twice; the later line holds";
            self.notes.add(NoteKind::Remark, what, &place);
            self.replaced.insert(self.heads[*at].line);
            self.heads[*at] = head;
        } else {
            self.index.insert(head.id.clone(), self.heads.len());
            self.heads.push(head);
        }
    }

    /// Applies the `parent_child` bonds: sets the target's parent unless the target has one.
    fn set_parents(&mut self, tracker: Tracker) {
        for bond in std::mem::take(&mut self.families) {
            let (line, parent) = (bond.line, bond.source.into_boxed_str());
            let head = self.index.get(bond.target.as_str()).map(|at| &mut self.heads[*at]);
            let what = match head {
                Some(head) if head.parent.as_ref() == Some(&parent) => continue,
                Some(head) if head.parent.is_none() => {
                    head.parent = Some(parent);
                    continue;
                }
                Some(_) => "a second parent; the first one holds".to_owned(),
                None if tracker == Tracker::Github => {
                    format!("sub-issue {} is not in the file", bond.target)
                }
                None => "a parent_child bond of an atom that is not in the file".to_owned(),
            };
            let place = format!("line {line} ({parent})");
            self.notes.add(NoteKind::LeftOut, what, &place);
        }
    }

    /// Removes the bonds and comments of replaced lines.
    fn drop_replaced(&mut self) {
        if !self.replaced.is_empty() {
            self.bonds.retain(|bond| !self.replaced.contains(&bond.line));
            self.comments.retain(|(line, _)| !self.replaced.contains(line));
        }
    }
}
