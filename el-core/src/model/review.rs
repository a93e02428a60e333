use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// What became of a hand-over.
    pub enum ReviewVerdict as "verdict" {
        Approved = "approved",
        Rejected = "rejected",
        /// Another hand-over, or a change of the atom's status, came before anyone decided.
        Superseded = "superseded",
    }
}

/// One hand-over of an atom for review.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Review {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    pub atom_id: String,
    /// The run that handed it over, if a run did.
    pub run_id: Option<String>,
    pub author: String,
    /// The completion report, as it was given; `null` where someone set the status by hand.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub report: serde_json::Value,
    pub created_at: Timestamp,
    /// `null` while it waits.
    pub verdict: Option<ReviewVerdict>,
    pub decided_by: Option<String>,
    /// Why it was rejected, or what was said with the approval.
    pub reason: Option<String>,
    pub decided_at: Option<Timestamp>,
}

/// A field of a report, or of a mailbox message, that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldProblem {
    /// Its path, as `buildResult.status`.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Review {
    /// The value of `_type` in every review's row.
    pub const RECORD_TYPE: &'static str = "review";
}
