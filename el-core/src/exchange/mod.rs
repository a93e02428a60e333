//! Work that comes from other trackers and goes to other programs: the texts, and nothing but the
//! texts.
//!
//! Readers turn a file of another tracker into a [`Batch`], in our words, and tell what did not fit
//! ([`Notes`]); [`crate::ops::import`] brings a batch into the store. Writers turn the [`Piece`]s of
//! an export, or a [`Snapshot`] of all of them, into a text. [`merge`] puts two copies of an export together again. Everything here is pure,
//! tolerant of what it reads, and never drops a value in silence: what has no place of its own
//! stays under `metadata.source`.

mod bd;
mod clean;
mod detect;
mod draft;
mod el;
mod eluent;
mod github;
mod graph;
mod jsonl;
mod lines;
pub mod merge;
mod notes;
pub mod outline;
mod plan;
mod plan_field;
mod read;
mod record;
mod tables;

pub use detect::detect;
pub use graph::{Edge, Vertex, dot, mermaid};
pub use jsonl::{FORMAT_VERSION, write_jsonl};
pub use lines::{OPEN_CONFLICT, Progress};
pub use notes::{Note, NoteKind, Notes};
pub use plan_field::is_plan;
pub use read::read;
pub use record::{
    BadLine, Batch, Exported, Piece, Record, RecordBond, RecordComment, Snapshot, Tracker,
};
pub use tables::{markdown, write_csv};
