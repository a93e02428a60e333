//! Opens, updates and watches pull requests of atoms' branches (`el pr`).
//!
//! - [`find_place`] decides where branches are pushed and which repository receives the work.
//! - [`open_all`] pushes and opens, and records each step before it is taken.
//! - [`look_at`] asks the forge what became of them; [`gather_feedback`] what is asked for.
//!
//! The target branch is never pushed, and nothing is forced over another person's commit.

mod adopt;
mod answers;
mod commits;
mod error;
mod feedback;
mod item;
mod look;
mod merge;
mod open;
mod place;
mod predict;
mod push;
mod renamed;
mod run;
mod stack;
mod texts;
mod update;
mod watch;
mod watch_settings;

pub use self::adopt::adopt;
pub use self::answers::{PushedAnswer, find_uncommitted};
pub use self::error::{PullError, Result};
pub use self::feedback::{FeedbackRules, Handed, gather_feedback};
pub use self::item::{PullItem, PullOutcome, PullPlan};
pub use self::look::look_at;
pub use self::merge::{MergeEnd, MergeOptions, merge_one};
pub use self::open::open_all;
pub use self::place::{PullPlace, WantedPlace, find_place};
pub(crate) use self::push::take_in_before_run;
pub use self::run::{PullOptions, PullRun};
pub use self::texts::TextRules;
pub use self::watch::{BETWEEN_LOOKS, PullWatch, Watched};
pub use self::watch_settings::WatchSettings;
