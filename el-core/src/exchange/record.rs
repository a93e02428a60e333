use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Notes;
use crate::model::{
    Atom, Bond, BondKind, Comment, IssueType, Name, Priority, RunOptions, Status, Timestamp,
};

/// The tracker that wrote the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tracker {
    /// An export of `el`.
    El,
    /// `.beads/issues.jsonl` of bd and br.
    Bd,
    /// `data.jsonl` of Eluent.
    Eluent,
    /// The output of `gh issue list --json …`.
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

/// An atom from another tracker, in our terms. Ids are the other tracker's.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The line in the file.
    pub line: usize,
    /// The other tracker's id. A later import finds the atom by the id.
    pub id: String,
    /// Further names that people use; all resolve like the id.
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
    /// The other tracker's id of the parent.
    pub parent: Option<String>,
    pub defer_until: Option<Timestamp>,
    pub close_reason: Option<String>,
    pub created_by: Option<String>,
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
    pub metadata: Map<String, Value>,
    /// Only in an export of `el`, and without variables.
    pub run_options: Option<RunOptions>,
    /// The labels that its worker must offer, sorted, each once. `None`: the file has none.
    pub needs: Option<Vec<String>>,
}

/// An edge from another tracker. Ids are the other tracker's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordBond {
    pub line: usize,
    /// The record that named the edge. If a later file's record lacks the edge, the edge is
    /// removed.
    pub owner: String,
    pub source: String,
    pub target: String,
    pub kind: BondKind,
    pub created_at: Option<Timestamp>,
}

/// A comment from another tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordComment {
    pub line: usize,
    /// The id of a comment in an export of `el`. Other trackers' ids are not unique enough.
    pub id: Option<String>,
    /// The other tracker's id, used with atom, author and time to find a comment that was edited.
    pub key: Option<String>,
    /// The other tracker's id of the atom.
    pub atom: String,
    pub author: String,
    pub content: String,
    pub run_id: Option<String>,
    pub created_at: Option<Timestamp>,
}

/// A line of a file.
pub(super) enum Part {
    Nothing,
    /// A record, with the bonds and comments that the line names.
    Item(Box<Record>, Vec<RecordBond>, Vec<RecordComment>),
    Bond(RecordBond),
    Comment(RecordComment),
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BadLine {
    /// Counts from 1; in a JSON array, the element.
    pub line: usize,
    pub message: String,
}

/// All contents of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    pub tracker: Tracker,
    /// The namespace of the ids: the tracker, then a colon and more where ids are unique only
    /// within that.
    pub source: String,
    pub records: Vec<Record>,
    pub bonds: Vec<RecordBond>,
    pub comments: Vec<RecordComment>,
    pub notes: Notes,
    pub bad: Vec<BadLine>,
    /// No record tells of parents and bonds, or that there are none: nobody asked for these.
    pub lacks_relations: bool,
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
            lacks_relations: false,
        }
    }

    pub(super) fn add_error(&mut self, line: usize, message: impl Into<String>) {
        self.bad.push(BadLine { line, message: message.into() });
    }
}

/// An atom with everything that an export contains about the atom.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub atom: Atom,
    /// The bonds into the atom, by source and kind. Containment is the atom's `parent_id`.
    pub bonds: Vec<Bond>,
    /// By time and id.
    pub comments: Vec<Comment>,
    /// The atom's names in other trackers.
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
