use schemars::JsonSchema;
use serde::Serialize;

/// The name of an atom in another tracker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Name {
    /// The tracker: `bd`, `github:owner/repo`, …
    pub source: String,
    pub alias: String,
}
