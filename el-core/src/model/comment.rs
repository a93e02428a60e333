use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;

/// A comment on an atom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comment {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    /// The atom (Eluent's key).
    pub parent_id: String,
    pub author: String,
    pub content: String,
    /// The run that the comment was written from, if any.
    pub run_id: Option<String>,
    pub created_at: Timestamp,
}

impl Comment {
    /// The value of `_type` in every comment's row.
    pub const RECORD_TYPE: &'static str = "comment";
}
