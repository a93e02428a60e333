//! The nouns and the legal values. No code here knows SQL, the clock or a terminal.

mod artifact;
mod atom;
mod board_rows;
mod bond;
mod comment;
mod cost;
mod delegation;
mod event;
mod exit;
mod forecast;
mod id;
mod message;
mod name;
mod need;
mod pause;
mod phase;
mod pull_request;
mod review;
mod run;
mod run_options;
mod series;
mod stats;
mod summary;
mod text_enum;
mod time;
mod worker;

pub use artifact::{Artifact, ArtifactKind, ArtifactState, NotSent};
pub use atom::{Atom, IssueType, Priority, Status, limits, validate};
pub use board_rows::{AtomRow, DoneRow, LastRun, RunRow};
pub use bond::{Bond, BondKind};
pub use comment::Comment;
pub use cost::Cost;
pub use delegation::{Delegation, Takes, TaskStatus, Verify, VerifyStatus};
pub use event::{Event, EventKind};
pub use exit::{EndKind, ExitRecord, Fault, Refusal};
pub use forecast::{AtWork, Forecast, PastRun, RunsOut, Shortage};
pub use id::{
    MAX_CANDIDATES, RUN_PREFIX, SHORT_MIN, canonical_short, fresh_run_id, fresh_short, fresh_token,
    fresh_uuid, safe_prefix,
};
pub use message::{
    Channel, InboxMessage, Message, channel_name, claude_code_channel, handle_of, mentioned_handles,
};
pub use name::Name;
pub use need::{Need, NeedKind, Way};
pub use pause::{Pause, PauseKind};
pub use phase::{Completion, CompletionStatus, Complexity, Phase, ProgressStatus, WholeCheck};
pub use pull_request::{HeldPush, PullRequest, PullRequestState};
pub use review::{FieldProblem, Review, ReviewVerdict};
pub use run::{Attempt, CancelMode, Outcome, Progress, Run, Stamp};
pub use run_options::{EFFORTS, RunOptions, RunOptionsPatch, ensure_variable};
pub use series::{AttemptFact, DoneFact, Measure, Point, Series, SeriesName, Unit};
pub use stats::{Counts, RunStats, Stats};
pub use summary::{Deliverable, Summary, SummaryStatus, TestOutcome, TestResults};
pub use time::Timestamp;
pub use worker::Worker;
