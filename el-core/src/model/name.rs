use schemars::JsonSchema;
use serde::Serialize;

/// What an atom is called in another tracker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Name {
    /// Whose name it is: `bd`, `github:owner/repo`, …
    pub source: String,
    pub alias: String,
}
