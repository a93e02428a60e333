//! The nouns and their legal values. Nothing here knows SQL, the clock or a terminal.

mod atom;
mod bond;
mod comment;
mod event;
mod exit;
mod id;
mod run;
mod text_enum;
mod time;
mod worker;

pub use atom::{Atom, IssueType, Priority, Status, limits, validate};
pub use bond::{Bond, BondKind};
pub use comment::Comment;
pub use event::{Event, EventKind};
pub use exit::{EndKind, ExitRecord, UsageLimit};
pub use id::{RUN_PREFIX, SHORT_MIN, canonical_short, fresh_run_id, fresh_short, fresh_token, fresh_uuid, safe_prefix};
pub use run::{CancelMode, Outcome, Progress, Run, Stamp};
pub use time::Timestamp;
pub use worker::Worker;
