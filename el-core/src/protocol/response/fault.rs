//! The faults and repairs of a block.

use serde::Serialize;

use super::position::Position;

/// Why a block gives no data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub kind: FaultKind,
    /// In words that a model can be told.
    pub message: String,
    pub at: Position,
    /// The part of the line around the position, with `⟪here⟫` in front of the position.
    pub excerpt: String,
}

/// The sorts of faults of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Not closed, with incomplete JSON.
    Unclosed,
    /// No sign of JSON: the delimiters were only mentioned.
    NoJson,
    /// Not JSON, and without a repair that has a single reading.
    Syntax,
    /// More than one possible repair.
    Ambiguous,
    /// The block says that a part was left out.
    LeftOut,
    /// The same key stands twice, with different values.
    RepeatedKey,
    /// JSON, but no object.
    NotAnObject,
    /// Nested too deep, or with too many values.
    TooLarge,
    /// `phase` is missing, or no text.
    NoPhase,
    /// `data` is missing, or no object.
    NoData,
}

impl FaultKind {
    /// Returns true if the delimiters were only mentioned, not meant as an answer.
    pub fn is_mention(self) -> bool {
        self == FaultKind::NoJson
    }
}

/// A slip that was put right, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Repaired {
    pub repair: Repair,
    pub at: Position,
}

/// The slips that are repaired. No repair invents a value, and each repair has a single reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// A byte order mark before the JSON.
    Bom,
    /// The JSON is in a code fence, or has the word `json` in front.
    CodeFence,
    /// A delimiter in other letters, with spaces, or with a `>` too few.
    LooseDelimiter,
    /// Begun in a message and ended in another; the messages were joined unchanged.
    JoinedMessages,
    /// No end delimiter, but the JSON is complete and ends the text.
    MissingEndDelimiter,
    /// A comma after the last item.
    TrailingComma,
    /// No comma between two items on two lines.
    MissingComma,
    /// A key without quotes.
    UnquotedKey,
    /// A text in single quotes.
    SingleQuotes,
    /// A text in typographic quotes.
    SmartQuotes,
    /// A comment.
    Comment,
    /// `True`, `False`, `None`.
    PythonLiteral,
    /// Closers that are missing at the end.
    MissingCloser,
    /// Closers after the end.
    ExtraCloser,
    /// A line end, a tab or another control character within a text.
    UnescapedControl,
    /// A pair of double quotes within a text.
    UnescapedQuote,
    /// A backslash before a character that needs none, or that has no such escape.
    BadEscape,
    /// The same key twice with the same value.
    RepeatedKey,
}
