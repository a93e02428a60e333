use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text_enum::text_enum;

text_enum! {
    /// How an agent itself judges its work. Told on, never believed: the atom's status is what
    /// counts.
    pub enum SummaryStatus as "summary status" {
        Completed = "completed",
        Partial = "partial",
        Failed = "failed",
    }
}

text_enum! {
    /// How an agent says that its tests went.
    pub enum TestOutcome as "test outcome" {
        Passed = "passed",
        Failed = "failed",
        /// There were none, or they were not run.
        Skipped = "skipped",
    }
}

// Read by `protocol::summary::parse`.
/// What an agent wrote about its work; or what was put together where it wrote nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Summary {
    pub objective: Option<String>,
    pub accomplishments: Vec<String>,
    /// The files that it names as its result, in its order. As it wrote them: nobody has looked for
    /// them yet.
    pub deliverables: Vec<Deliverable>,
    pub tests: Option<TestResults>,
    pub notes: Vec<String>,
    /// `null` where it gave none that can be read.
    pub status: Option<SummaryStatus>,
    /// The words of a status that is none of these; absent otherwise. It counts as not completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// The agent wrote none; this one was made from the run's record and the files that changed.
    pub is_fallback: bool,
    /// What could not be read, or was read with a guess; one sentence each.
    pub warnings: Vec<String>,
    /// Files in the run's own worktree that were in no commit when it ended: its branch does not
    /// have them. The first of them; absent if there are none.
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
