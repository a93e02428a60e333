use schemars::JsonSchema;
use serde::Serialize;

use super::{Timestamp, limits};
use crate::{Error, Result};

/// A message of an agent or a person in a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    /// Grows with time: a later message has a higher number.
    pub seq: i64,
    pub id: String,
    pub channel: String,
    pub author: String,
    pub content: String,
    /// The inboxes that got the message: [`handle_of`]s, sorted.
    pub mentions: Vec<String>,
    /// The atom that the message is about, if any.
    pub atom_id: Option<String>,
    pub run_id: Option<String>,
    pub created_at: Timestamp,
}

impl Message {
    /// The value of `_type` in every message's row.
    pub const RECORD_TYPE: &'static str = "message";
}

/// A message in somebody's inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InboxMessage {
    #[serde(flatten)]
    pub message: Message,
    /// `null` until the reader marks the message as read.
    pub read_at: Option<Timestamp>,
}

/// A channel from the view of a reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Channel {
    pub name: String,
    pub messages: i64,
    /// Unread messages of the channel in the reader's inbox.
    pub unread: i64,
    pub last_author: String,
    pub last_at: Timestamp,
    /// The beginning of the last message, as a single line.
    pub last: String,
}

/// Returns the handle for mentions and the inbox: lower case, white space as `-`, only letters,
/// digits, `-`, `_` and `.`. `Ada Lovelace` becomes `ada-lovelace`.
pub fn handle_of(name: &str) -> String {
    let words: Vec<String> = name
        .split_whitespace()
        .map(|word| word.chars().filter(|c| is_in_handle(*c)).collect::<String>().to_lowercase())
        .filter(|word: &String| !word.is_empty())
        .collect();
    let joined: String = words.join("-").chars().take(limits::WORD).collect();
    joined.trim_end_matches(['.', '-']).to_owned()
}

/// Returns the name of a channel: a [`handle_of`], with or without a leading `#`.
///
/// # Errors
///
/// If no legal character is left.
pub fn channel_name(text: &str) -> Result<String> {
    let text = text.trim();
    let name = handle_of(text.strip_prefix('#').unwrap_or(text));
    if name.is_empty() {
        return Err(Error::invalid(
            "channel",
            format!(
                "'{}' is no name of a channel: it needs letters or digits",
                text.escape_debug()
            ),
        ));
    }
    Ok(name)
}

/// Returns the channel with the messages about finished runs for a requester.
pub fn claude_code_channel(agent: &str) -> String {
    format!("claude-code-{}", handle_of(agent))
}

/// How many a message can reach by mentions.
const MENTIONS_MAX: usize = 50;

/// Returns the [`handle_of`]s that a text mentions by `@name`, sorted. An address (`a@b.c`) and an
/// escaped `\@name` are no mention.
pub fn mentioned_handles(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '@' && !before.is_alphanumeric() && before != '\\' && found.len() < MENTIONS_MAX {
            let length = rest.find(|c: char| !is_in_handle(c)).unwrap_or(rest.len());
            let name = handle_of(&rest[..length]);
            if !name.is_empty() && !found.contains(&name) {
                found.push(name);
            }
        }
        before = c;
    }
    found.sort();
    found
}

fn is_in_handle(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn people_and_agents_are_mentioned_and_addresses_are_not() {
        let text = "@gendry, @Arya: see a@b.c, (@jon.snow) and \\@nobody. @gendry! @ @-";
        assert_eq!(mentioned_handles(text), ["arya", "gendry", "jon.snow"]);
    }

    #[test]
    fn a_name_with_spaces_has_a_handle() {
        assert_eq!(handle_of(" Ada  Lovelace "), "ada-lovelace");
        assert_eq!(mentioned_handles("@ada-lovelace."), [handle_of("Ada Lovelace")]);
        assert_eq!(claude_code_channel("Gendry"), "claude-code-gendry");
    }

    #[test]
    fn a_channel_has_a_name() {
        assert_eq!(channel_name("#General").unwrap(), "general");
        assert!(
            channel_name(" #  ").is_err()
                && channel_name("\u{1b}[2J\n").is_ok_and(|name| name == "2j")
        );
    }

    proptest! {
        #[test]
        fn a_handle_is_stable_and_mentions_itself(name in ".{0,60}") {
            let first = handle_of(&name);
            prop_assert_eq!(handle_of(&first), first.clone());
            prop_assert!(first.chars().all(is_in_handle));
            if first.starts_with(char::is_alphanumeric) {
                prop_assert_eq!(mentioned_handles(&format!("@{first} hello")), vec![first]);
            }
        }

        #[test]
        fn any_text_can_be_looked_through(text in "(@|.){0,300}") {
            prop_assert!(mentioned_handles(&text).len() <= MENTIONS_MAX);
        }
    }
}
