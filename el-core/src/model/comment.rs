use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;

/// What someone said about an atom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comment {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    /// The atom that it is about (Eluent's key).
    pub parent_id: String,
    pub author: String,
    pub content: String,
    /// The run that it was written from, if from one.
    pub run_id: Option<String>,
    pub created_at: Timestamp,
}

impl Comment {
    /// The value of `_type` in every comment's row.
    pub const RECORD_TYPE: &'static str = "comment";
}
