use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Notes;
use crate::model::{Atom, Bond, BondKind, Comment, IssueType, Name, Priority, Status, Timestamp};

/// Which tracker's file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tracker {
    /// Our own export.
    El,
    /// `.beads/issues.jsonl` of bd and br.
    Bd,
    /// `data.jsonl` of Eluent.
    Eluent,
    /// What `gh issue list --json …` prints.
    Github,
    /// Task lists, and plans of headings.
    Markdown,
}

impl Tracker {
    pub const ALL: &'static [Tracker] =
        &[Tracker::El, Tracker::Bd, Tracker::Eluent, Tracker::Github, Tracker::Markdown];

    /// The word on the command line and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Tracker::El => "el",
            Tracker::Bd => "bd",
            Tracker::Eluent => "eluent",
            Tracker::Github => "github",
            Tracker::Markdown => "markdown",
        }
    }
}

/// An atom as it comes from elsewhere, in our words. Ids are the other tracker's.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Where it stands in the file.
    pub line: usize,
    /// Its id there: what a later import finds it by.
    pub id: String,
    /// Further names that people know it by; they resolve like its id.
    pub names: Vec<Name>,
    pub title: String,
    pub description: String,
    pub acceptance: Option<String>,
    pub status: Status,
    pub issue_type: IssueType,
    pub priority: Priority,
    /// Sorted, without repetition.
    pub labels: Vec<String>,
    pub assignee: Option<String>,
    /// The id, there, of what contains it.
    pub parent: Option<String>,
    pub defer_until: Option<Timestamp>,
    pub close_reason: Option<String>,
    pub created_by: Option<String>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
    pub metadata: Map<String, Value>,
}

/// An edge as it comes from elsewhere. Ids are the other tracker's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordBond {
    pub line: usize,
    /// The record that told of it: an edge that this record tells of no more is removed.
    pub owner: String,
    pub source: String,
    pub target: String,
    pub kind: BondKind,
    pub created_at: Option<Timestamp>,
}

/// A comment as it comes from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordComment {
    pub line: usize,
    /// The id of a comment in an export of `el`. Other trackers' ids are not unique enough.
    pub id: Option<String>,
    /// The other tracker's id: with atom, author and time it finds a comment that was edited.
    pub key: Option<String>,
    /// The other tracker's id of the atom.
    pub atom: String,
    pub author: String,
    pub content: String,
    pub run_id: Option<String>,
    pub created_at: Option<Timestamp>,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BadLine {
    /// Counts from 1; in a JSON array, the element.
    pub line: usize,
    pub message: String,
}

/// Everything that a file brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub tracker: Tracker,
    /// Whose ids these are: the tracker, with more after a colon where ids are unique only within
    /// that.
    pub source: String,
    pub records: Vec<Record>,
    pub bonds: Vec<RecordBond>,
    pub comments: Vec<RecordComment>,
    pub notes: Notes,
    pub bad: Vec<BadLine>,
}

impl Batch {
    pub(super) fn new(tracker: Tracker) -> Batch {
        Batch {
            tracker,
            source: tracker.as_str().to_owned(),
            records: Vec::new(),
            bonds: Vec::new(),
            comments: Vec::new(),
            notes: Notes::default(),
            bad: Vec::new(),
        }
    }

    pub(super) fn bad(&mut self, line: usize, message: impl Into<String>) {
        self.bad.push(BadLine { line, message: message.into() });
    }
}

/// An atom with all that an export says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub atom: Atom,
    /// The bonds into it, by source and kind. Containment is the atom's `parent_id`.
    pub bonds: Vec<Bond>,
    /// By time and id.
    pub comments: Vec<Comment>,
    /// What the atom is called elsewhere.
    pub names: Vec<Name>,
}

/// A part of an export, in the order of the export.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Comes first, with the first part of the project's ids.
    Start { prefix: String },
    /// The atoms come by time of creation, then id.
    Atom(Box<Exported>),
}

/// A project, or the part of it that filters chose, of one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshot {
    /// The first part of the project's ids.
    pub prefix: String,
    /// By time of creation, then id.
    pub atoms: Vec<Exported>,
}

impl Snapshot {
    /// Adds a piece.
    pub fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Start { prefix } => self.prefix = prefix,
            Piece::Atom(exported) => self.atoms.push(*exported),
        }
    }
}
