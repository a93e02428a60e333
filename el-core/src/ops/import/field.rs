//! The fields that an import compares, with their names and hashes.

/// A field, or several fields that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Title,
    Description,
    Acceptance,
    /// Status, reason and date.
    Standing,
    Type,
    Priority,
    Labels,
    Assignee,
    Parent,
    Metadata,
    RunOptions,
    Needs,
}

/// In the order of the hashes that are kept: only ever appended to.
pub(super) const FIELDS: [Field; 12] = [
    Field::Title,
    Field::Description,
    Field::Acceptance,
    Field::Standing,
    Field::Type,
    Field::Priority,
    Field::Labels,
    Field::Assignee,
    Field::Parent,
    Field::Metadata,
    Field::RunOptions,
    Field::Needs,
];

pub(super) fn field_name(field: Field) -> &'static str {
    match field {
        Field::Title => "title",
        Field::Description => "description",
        Field::Acceptance => "acceptance",
        Field::Standing => "status",
        Field::Type => "type",
        Field::Priority => "priority",
        Field::Labels => "labels",
        Field::Assignee => "assignee",
        Field::Parent => "parent",
        Field::Metadata => "metadata",
        Field::RunOptions => "run_options",
        Field::Needs => "needs",
    }
}

/// The hash of a field's text; an absent value counts as an empty text.
pub(super) fn hash_of(text: Option<&str>) -> u32 {
    // FNV-1a: the hash only has to stay the same in every version; no attacker gains by a
    // collision.
    let bytes = text.unwrap_or_default().bytes();
    let full = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    u32::try_from((full >> 32) ^ (full & 0xffff_ffff)).expect("both halves have 32 bits")
}
