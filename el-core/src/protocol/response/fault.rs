//! What can be wrong with a block, and what was put right in one.

use serde::Serialize;

use super::position::Position;

/// Why a block gives no data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    pub kind: FaultKind,
    /// In words that a model can be told.
    pub message: String,
    pub at: Position,
    /// What stands there: the piece of the line around it, with `⟪here⟫` before the place.
    pub excerpt: String,
}

/// The sorts of faults of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// It is opened and never closed, and its JSON is not whole.
    Unclosed,
    /// Nothing in it looks like JSON: the delimiters were only mentioned.
    NoJson,
    /// It is not JSON, and no repair is known that has only one reading.
    Syntax,
    /// It could be repaired in more than one way.
    Ambiguous,
    /// It says that something was left out.
    LeftOut,
    /// The same key stands twice, with different values.
    RepeatedKey,
    /// It is JSON, but not an object.
    NotAnObject,
    /// It is nested deeper, or holds more values, than is read.
    TooLarge,
    /// `phase` is missing, or no text.
    NoPhase,
    /// `data` is missing, or no object.
    NoData,
}

impl FaultKind {
    /// The delimiters were mentioned; nobody meant to answer here.
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

/// The slips that are put right. None of them invents a value, and each has one reading only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repair {
    /// A byte order mark before the JSON.
    Bom,
    /// The JSON stands in a code fence, or has the word `json` before it.
    CodeFence,
    /// A delimiter in other letters, with spaces, or with a `>` too few.
    LooseDelimiter,
    /// It was begun in one message and ended in another; they were joined as they are.
    JoinedMessages,
    /// No end delimiter, but the JSON is whole and the text ends with it.
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
