use schemars::JsonSchema;
use serde::Serialize;

use super::text_enum::text_enum;
use super::{Cost, Priority, Timestamp};

text_enum! {
    /// Why something needs a person.
    pub enum NeedKind as "kind" {
        /// No agent can work: the account is refused, or its usage limit is reached.
        Paused = "paused",
        /// The budget of the day is spent.
        DayBudget = "day_budget",
        /// Atoms are ready, and no worker takes them.
        NoWorker = "no_worker",
        /// An agent deferred its atom and waits for an answer.
        Question = "question",
        /// A plan has begun, and nobody drives it.
        Plan = "plan",
        /// Work was handed over for review.
        Review = "review",
        /// A branch is in conflict with its target.
        Conflict = "conflict",
        /// The check failed on the target with a branch landed.
        LandCheck = "land_check",
        /// Branches of finished atoms can be landed.
        ToLand = "to_land",
        /// A pull request goes no further by itself.
        PullRequest = "pull_request",
        /// The permissions or the sandbox of the agent denied what the work needs.
        Denied = "denied",
        /// The attempts are used up.
        GaveUp = "gave_up",
        /// An obstacle was reported.
        Blocked = "blocked",
        /// The budget of an epic is spent.
        Budget = "budget",
        /// A run has not said anything for long.
        Silent = "silent",
        /// A run has cost more than three times the usual.
        Costly = "costly",
        /// Two runs change the same files.
        SameFiles = "same_files",
    }
}

impl NeedKind {
    /// Returns how far the trouble reaches, from 1 (nothing goes on) to 5 (work goes on, but looks
    /// wrong).
    pub const fn class(self) -> u8 {
        match self {
            NeedKind::Paused | NeedKind::DayBudget | NeedKind::NoWorker => 1,
            NeedKind::Question | NeedKind::Plan => 2,
            NeedKind::Review
            | NeedKind::Conflict
            | NeedKind::LandCheck
            | NeedKind::ToLand
            | NeedKind::PullRequest => 3,
            NeedKind::Denied | NeedKind::GaveUp | NeedKind::Blocked | NeedKind::Budget => 4,
            NeedKind::Silent | NeedKind::Costly | NeedKind::SameFiles => 5,
        }
    }
}

/// A way to settle a need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Way {
    /// The key on the boards.
    pub key: &'static str,
    /// One or two words for the effect of the key.
    pub label: &'static str,
    /// The command that does the same.
    pub command: String,
}

/// Something that waits for a person: one entry for each atom and cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Need {
    /// Names the entry for as long as the cause lasts.
    pub key: String,
    pub kind: NeedKind,
    /// How far the trouble reaches: from 1 (nothing goes on) to 5 (work goes on, but looks wrong).
    pub class: u8,
    /// `null` if the entry is about the whole project.
    pub atom_id: Option<String>,
    pub title: String,
    pub priority: Option<Priority>,
    pub run_id: Option<String>,
    pub agent: Option<String>,
    /// The cause in words.
    pub why: String,
    /// How many other atoms wait for the decision, directly or through others. Counted no further
    /// than 100, and than 2000 for all entries together.
    pub frees: i64,
    /// The atoms that the decision releases, weighed by their priorities.
    pub weight: i64,
    pub since: Timestamp,
    /// The cost of the atom's attempts so far.
    #[serde(flatten)]
    pub cost: Cost,
    pub attempts: i64,
    /// The best first.
    pub ways: Vec<Way>,
}
