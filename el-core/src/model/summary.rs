use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;

text_enum! {
    /// An agent's own judgement of the work. Shown, but never believed: the atom's status counts.
    pub enum SummaryStatus as "summary status" {
        Completed = "completed",
        Partial = "partial",
        Failed = "failed",
    }
}

text_enum! {
    /// The result of the tests, as reported by the agent.
    pub enum TestOutcome as "test outcome" {
        Passed = "passed",
        Failed = "failed",
        /// There are no tests, or the tests were not run.
        Skipped = "skipped",
    }
}

// Read by `protocol::summary::parse`.
/// An agent's summary of the work, or a fallback if the agent wrote none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    pub objective: Option<String>,
    pub accomplishments: Vec<String>,
    /// The files that the summary names as results, in order and unchecked.
    pub deliverables: Vec<Deliverable>,
    pub tests: Option<TestResults>,
    pub notes: Vec<String>,
    /// `null` without a readable status.
    pub status: Option<SummaryStatus>,
    /// The words of an unknown status; absent otherwise. Such a status counts as not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// The agent wrote no summary; the summary was made from the run's record and the changed
    /// files.
    pub is_fallback: bool,
    /// Parts that were unreadable or guessed; a sentence each.
    pub warnings: Vec<String>,
    /// Files in the run's own worktree without a commit at the end: the run's branch does not have
    /// the files. Only the first files are listed; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uncommitted: Vec<String>,
}

/// A file that a summary names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Deliverable {
    /// As written, without back-ticks, line numbers and a leading `./`.
    pub path: String,
    pub description: Option<String>,
}

/// The section about tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestResults {
    /// `null` where the words do not tell.
    pub outcome: Option<TestOutcome>,
    /// The section's text.
    pub text: String,
}
