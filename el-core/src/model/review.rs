use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// The decision about a hand-over.
    pub enum ReviewVerdict as "verdict" {
        Approved = "approved",
        Rejected = "rejected",
        /// Another hand-over, or a change of the atom's status, came before anyone decided.
        Superseded = "superseded",
    }
}

/// A hand-over of an atom for review.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Review {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    pub atom_id: String,
    /// The run that submitted the atom, if any.
    pub run_id: Option<String>,
    pub author: String,
    /// The completion report as submitted; `null` if a person set the status.
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub report: serde_json::Value,
    pub created_at: Timestamp,
    /// `null` until decided.
    pub verdict: Option<ReviewVerdict>,
    pub decided_by: Option<String>,
    /// The reason of the rejection, or the comment of the approval.
    pub reason: Option<String>,
    pub decided_at: Option<Timestamp>,
}

/// A field of a report, or of a mailbox message, that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldProblem {
    /// The path of the field, such as `buildResult.status`.
    pub field: String,
    /// The fault, and a legal form.
    pub message: String,
}

impl Review {
    /// The value of `_type` in every review's row.
    pub const RECORD_TYPE: &'static str = "review";
}
