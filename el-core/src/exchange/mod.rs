//! Files of other trackers and of our own, as texts only.
//!
//! Readers turn a file of another tracker into a [`RecordFile`], or a text into a [`Batch`], and
//! report all values that did not fit ([`Notes`]); [`crate::ops::import`] brings either into the
//! store. Writers turn the [`Piece`]s
//! of an export into a text. [`merge`] merges two copies of an
//! export. Everything here is pure, tolerant of the input, and drops no value in silence: a value
//! without a place stays under `metadata.source`.

mod bd;
mod clean;
mod detect;
mod draft;
mod el;
mod eluent;
mod github;
mod graph;
mod jsonl;
mod line_file;
mod lines;
pub mod merge;
mod notes;
pub mod outline;
mod plan;
mod plan_field;
mod read;
mod record;
mod record_file;
mod tables;

pub use clean::own_label;
pub use detect::detect_tracker;
pub use graph::{Edge, Vertex, render_dot, render_mermaid};
pub use jsonl::{FORMAT_VERSION, write_jsonl};
pub use lines::{Input, OPEN_CONFLICT, Progress, Spare, Stored};
pub use notes::{Note, NoteKind, Notes};
pub use plan_field::is_plan;
pub use read::read_records;
pub use record::{BadLine, Batch, Exported, Piece, Record, RecordBond, RecordComment, Tracker};
pub use record_file::RecordFile;
pub(crate) use record_file::RecordHead;
pub use tables::{write_csv, write_markdown};
