use schemars::JsonSchema;
use serde::Serialize;

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// The meaning of an edge between two atoms. The source acts on the target.
    pub enum BondKind as "type" {
        /// The target waits until the source is over.
        Blocks = "blocks",
        /// The target waits until the source and all descendants of the source are over.
        WaitsFor = "waits_for",
        /// The target is needed only if the source fails.
        ConditionalBlocks = "conditional_blocks",
        /// The source contains the target. Kept as the target's `parent_id`.
        ParentChild = "parent_child",
        Related = "related",
        Duplicates = "duplicates",
        DiscoveredFrom = "discovered_from",
        RepliesTo = "replies_to",
    }
}

impl BondKind {
    /// Returns true if a bond of the kind can hold the target. Cycles of such bonds are refused.
    pub const fn is_blocking(self) -> bool {
        matches!(self, BondKind::Blocks | BondKind::WaitsFor | BondKind::ConditionalBlocks)
    }
}

/// A typed edge between two atoms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bond {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub source_id: String,
    pub target_id: String,
    pub dependency_type: BondKind,
    pub created_at: Timestamp,
}

impl Bond {
    /// The value of `_type` in every bond's row.
    pub const RECORD_TYPE: &'static str = "bond";
}
