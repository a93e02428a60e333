use schemars::JsonSchema;
use serde::Serialize;

use super::text_enum::text_enum;
use super::{Delegation, RunOptions, Timestamp};
use crate::{Error, Result};

text_enum! {
    // The *meaning* of each status to the machine is defined here and nowhere else.
    /// Where an atom stands.
    pub enum Status as "status" {
        /// To be done.
        Open = "open",
        /// Claimed: by a run, or by a person through `el claim`.
        InProgress = "in_progress",
        /// An obstacle was reported.
        Blocked = "blocked",
        /// Handed over for a look.
        Review = "review",
        /// Being tested.
        Testing = "testing",
        /// Put off until the date, or until a person reopens the atom.
        Deferred = "deferred",
        /// Done.
        Closed = "closed",
        /// Decided against.
        WontDo = "wont_do",
        /// Discarded; can be restored until pruned.
        Discard = "discard",
    }
}

impl Status {
    /// Returns true if no more work will happen. An atom that is over blocks no other.
    pub const fn is_over(self) -> bool {
        matches!(self, Status::Closed | Status::WontDo | Status::Discard)
    }

    /// Returns true if an agent that sets the status ends the run (`review` as a hand-over).
    pub const fn ends_run(self) -> bool {
        matches!(
            self,
            Status::Closed | Status::Deferred | Status::WontDo | Status::Discard | Status::Review
        )
    }

    /// Returns true if an agent may report the status and work on. If the agent exits without a
    /// further change, the run ended with that outcome.
    pub const fn is_report(self) -> bool {
        matches!(self, Status::Blocked | Status::Testing)
    }

    /// Returns true if a parent in the status holds the children.
    pub const fn holds_children(self) -> bool {
        matches!(self, Status::Blocked | Status::Deferred | Status::WontDo | Status::Discard)
    }

    /// The command that opens an atom of the status again. A cancelled atom is deferred.
    pub const fn opening_verb(self) -> &'static str {
        if matches!(self, Status::Blocked) { "retry" } else { "reopen" }
    }
}

text_enum! {
    /// The kind of work of an atom.
    pub enum IssueType as "type" {
        Task = "task",
        Bug = "bug",
        Feature = "feature",
        Artifact = "artifact",
        Discovery = "discovery",
        /// A container of atoms; never worked on.
        Epic = "epic",
        /// A template of atoms; never worked on.
        Formula = "formula",
    }
}

impl IssueType {
    /// Returns true for types that contain work and are never ready.
    pub const fn is_abstract(self) -> bool {
        matches!(self, IssueType::Epic | IssueType::Formula)
    }
}

/// How much an atom matters: 0 (critical) to 5 (someday). Atoms with a lower number are worked on
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Priority(#[schemars(range(min = 0, max = 5))] u8);

impl Priority {
    /// The default priority.
    pub const DEFAULT: Priority = Priority(2);
    /// The words for 0 to 5.
    pub const WORDS: [&'static str; 6] =
        ["critical", "high", "medium", "low", "backlog", "someday"];

    /// Makes a priority from a number.
    ///
    /// # Errors
    ///
    /// If the number is out of range; the error names the range.
    pub fn new(value: i64) -> Result<Self> {
        match u8::try_from(value) {
            Ok(v @ 0..=5) => Ok(Priority(v)),
            _ => Err(Error::invalid(
                "priority",
                format!("{value} is not between 0 (critical) and 5 (someday)"),
            )),
        }
    }

    /// The number.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// The word for people.
    pub fn as_word(self) -> &'static str {
        Self::WORDS[usize::from(self.0)]
    }
}

impl std::str::FromStr for Priority {
    type Err = Error;

    /// Takes `1`, `p1` and `high`, and the words `urgent` and `normal` of other trackers and of the
    /// queue file.
    fn from_str(text: &str) -> Result<Self> {
        let wanted = text.trim().to_ascii_lowercase();
        if let Some(at) = Self::WORDS.iter().position(|w| *w == wanted) {
            return Ok(Priority(u8::try_from(at).expect("there are six words")));
        }
        match wanted.as_str() {
            "urgent" => return Ok(Priority(0)),
            "normal" => return Ok(Priority(2)),
            _ => {}
        }
        wanted.strip_prefix('p').unwrap_or(&wanted).parse::<i64>().ok().map_or_else(
            || {
                Err(Error::invalid(
                    "priority",
                    format!(
                        "'{text}' is neither a number from 0 to 5 nor one of {}",
                        Self::WORDS.join(", ")
                    ),
                ))
            },
            Priority::new,
        )
    }
}

/// The unit of work, with Eluent's keys; absent values are `null`, `[]` or `{}`, never left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Atom {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub id: String,
    pub title: String,
    pub description: String,
    /// How to tell that the work is done.
    pub acceptance: Option<String>,
    pub status: Status,
    pub issue_type: IssueType,
    pub priority: Priority,
    /// Sorted, without repetition.
    pub labels: Vec<String>,
    /// The labels that the worker that takes it must offer. Sorted, without repetition.
    pub needs: Vec<String>,
    pub assignee: Option<String>,
    pub parent_id: Option<String>,
    pub defer_until: Option<Timestamp>,
    /// The end of the back-off after a failed attempt: no worker claims the atom before.
    pub retry_at: Option<Timestamp>,
    pub close_reason: Option<String>,
    pub created_by: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub closed_at: Option<Timestamp>,
    /// The live run, if any.
    pub run_id: Option<String>,
    /// How the task is to be run, if delegated with `el run`.
    pub delegation: Option<Delegation>,
    /// The settings of its runs that outrank the agent's; `null` if there are none.
    pub run_options: Option<RunOptions>,
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub metadata: serde_json::Value,
}

impl Atom {
    /// The value of `_type` in every atom's row.
    pub const RECORD_TYPE: &'static str = "atom";

    /// Returns true if the work needs a review: the atom has the label `review`, or `review: true`
    /// in the metadata.
    pub fn asks_for_review(&self) -> bool {
        self.labels.iter().any(|label| label == "review")
            || self.metadata.get("review") == Some(&serde_json::Value::Bool(true))
    }
}

/// Upper bounds of an atom's values, in bytes of UTF-8 unless said otherwise.
pub mod limits {
    /// A title, in characters.
    pub const TITLE: usize = 500;
    /// A description, an acceptance or a comment.
    pub const TEXT: usize = 1 << 20;
    /// The prompt of a delegated task: more than any model reads.
    pub const PROMPT: usize = 16 << 20;
    /// A label, an assignee, an actor.
    pub const WORD: usize = 100;
    /// A reason for closing.
    pub const REASON: usize = 16 * 1024;
    /// Labels of an atom.
    pub const LABELS: usize = 50;
}

/// Checks on write. Each returns the value in the stored form.
pub mod validate {
    use super::limits;
    use crate::model::Timestamp;
    use crate::{Error, Result};

    /// Checks a title: a single line, not blank, trimmed.
    ///
    /// # Errors
    ///
    /// If the value is not legal; the error names the rule.
    pub fn title(text: &str) -> Result<String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Error::invalid("title", "a title is needed, and it is blank"));
        }
        if text.chars().any(|c| c == '\n' || c == '\r') {
            return Err(Error::invalid(
                "title",
                "a title is one line; put the rest into the description",
            ));
        }
        if text.chars().count() > limits::TITLE {
            return Err(Error::invalid(
                "title",
                format!(
                    "a title has at most {} characters; put the rest into the description",
                    limits::TITLE
                ),
            ));
        }
        no_nul("title", text)
    }

    /// Checks a long text of any number of lines.
    ///
    /// # Errors
    ///
    /// If the value is not legal; the error names the rule.
    pub fn text(field: &'static str, text: &str) -> Result<String> {
        if text.len() > limits::TEXT {
            return Err(Error::invalid(
                field,
                format!(
                    "{} bytes are more than the {} that fit; put it into a file and name the file",
                    text.len(),
                    limits::TEXT
                ),
            ));
        }
        no_nul(field, text)
    }

    /// Checks the prompt of a delegated task: like a text, but not blank and with a higher limit.
    ///
    /// # Errors
    ///
    /// If the value is not legal; the error names the rule.
    pub fn prompt(text: &str) -> Result<String> {
        if text.trim().is_empty() {
            return Err(Error::invalid("prompt", "the prompt is blank; say what is to be done"));
        }
        if text.len() > limits::PROMPT {
            return Err(Error::invalid(
                "prompt",
                format!("{} bytes are more than the {} that fit", text.len(), limits::PROMPT),
            ));
        }
        no_nul("prompt", text)
    }

    /// Checks a reason: a short text, not blank.
    ///
    /// # Errors
    ///
    /// If the value is not legal; the error names the rule.
    pub fn reason(text: &str) -> Result<String> {
        if text.trim().is_empty() {
            return Err(Error::invalid("reason", "the reason is blank"));
        }
        if text.len() > limits::REASON {
            return Err(Error::invalid(
                "reason",
                format!("a reason has at most {} bytes; use a comment for more", limits::REASON),
            ));
        }
        no_nul("reason", text.trim())
    }

    /// Checks a label: a word without white space or commas, so that lists of labels can be parsed.
    ///
    /// # Errors
    ///
    /// If the value is not legal; the error names the rule.
    pub fn label(text: &str) -> Result<String> {
        label_of("label", text)
    }

    /// Checks a list of labels, and puts it in order. No label stands in it twice.
    ///
    /// # Errors
    ///
    /// If a label is not legal, or there are too many; the error names the rule.
    pub fn labels(field: &'static str, texts: &[String]) -> Result<Vec<String>> {
        let labels = texts.iter().map(|text| label_of(field, text));
        let mut labels = labels.collect::<Result<Vec<_>>>()?;
        labels.sort();
        labels.dedup();
        if labels.len() > limits::LABELS {
            let message = format!("an atom has at most {} labels", limits::LABELS);
            return Err(Error::invalid(field, message));
        }
        Ok(labels)
    }

    fn label_of(field: &'static str, text: &str) -> Result<String> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > limits::WORD {
            return Err(Error::invalid(
                field,
                format!("a label has 1 to {} characters", limits::WORD),
            ));
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == ',') {
            return Err(Error::invalid(
                field,
                format!("'{}' has a space, a comma or a control character", text.escape_debug()),
            ));
        }
        Ok(text.to_owned())
    }

    /// Checks the date of a deferral: a past date defers nothing.
    ///
    /// # Errors
    ///
    /// If the date is not in the future.
    pub fn date(date: Timestamp, now: Timestamp) -> Result<()> {
        if date > now {
            return Ok(());
        }
        Err(Error::invalid(
            "defer-until",
            format!("{date} is not in the future; give a later time, such as 3h or tomorrow"),
        ))
    }

    /// Checks the name of a person or an agent.
    ///
    /// # Errors
    ///
    /// If the value is not legal; the error names the rule.
    pub fn name(field: &'static str, text: &str) -> Result<String> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > limits::WORD {
            return Err(Error::invalid(
                field,
                format!("a name has 1 to {} characters", limits::WORD),
            ));
        }
        if text.chars().any(char::is_control) {
            return Err(Error::invalid(field, "a name has no control characters"));
        }
        Ok(text.to_owned())
    }

    fn no_nul(field: &'static str, text: &str) -> Result<String> {
        if text.contains('\0') {
            return Err(Error::invalid(field, "it has a NUL character"));
        }
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests;
