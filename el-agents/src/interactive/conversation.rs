//! Reads the client's record of the conversation while the record grows: the agent's words and
//! actions, the tokens, the cost, and the reason for a stop.
//!
//! The file and the format belong to the client and are undocumented, so no decision depends on
//! them: without the file a run has no figures. The messages have the shape of the event stream's.
//! Other lines (the client's prompts, whole requests) are skipped.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::claude::{Line, LineSplitter, one_line};

/// Between two searches for a file that is not there yet.
const SEARCH: Duration = Duration::from_secs(1);
/// Read at most so much at a time.
const CHUNK: u64 = 1 << 20;
/// Longest text of an error, in characters.
const ERROR: usize = 300;

/// The conversation of a run.
#[derive(Debug)]
pub(crate) struct Conversation {
    projects: Option<PathBuf>,
    name: String,
    file: Option<File>,
    searched: Option<Instant>,
    lines: LineSplitter,
    told: ConversationFacts,
}

/// The facts of a conversation so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ConversationFacts {
    /// Texts that the client took as a person's.
    pub(crate) prompts: u32,
    /// Millionths of a dollar, as soon as the client has recorded the cost.
    pub(crate) cost_micros: Option<u64>,
    /// The last request failed, and no message came after the failure.
    pub(crate) error: Option<ApiError>,
}

/// A request that failed for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) text: String,
    pub(crate) status: Option<i64>,
    /// The client's error code.
    pub(crate) kind: String,
}

impl Conversation {
    /// `config`: the client's own folder. `id`: the value of `--session-id`.
    pub(crate) fn new(config: Option<&Path>, id: &str) -> Conversation {
        Conversation {
            projects: config.filter(|_| !id.is_empty()).map(|config| config.join("projects")),
            name: format!("{id}.jsonl"),
            file: None,
            searched: None,
            lines: LineSplitter::default(),
            told: ConversationFacts::default(),
        }
    }

    pub(crate) fn known_facts(&self) -> &ConversationFacts {
        &self.told
    }

    /// Reads the new lines since the last call and returns the messages, as in the event stream.
    pub(crate) fn read_new_messages(&mut self, now: Instant) -> Vec<u8> {
        if self.file.is_none() {
            self.find_file(now);
        }
        let Some(file) = &mut self.file else { return Vec::new() };
        let mut bytes = Vec::new();
        // A failed read is repeated at the next look.
        let _ = file.take(CHUNK).read_to_end(&mut bytes);
        let mut kept = Vec::new();
        for line in self.lines.push(&bytes) {
            let Line::Whole(line) = line else { continue };
            let Ok(value) = serde_json::from_slice::<Value>(&line) else { continue };
            if apply_line(&mut self.told, &value) {
                kept.extend_from_slice(&line);
                kept.push(b'\n');
            }
        }
        kept
    }

    /// Finds the file by its unique id. The folder's name derives from the working folder, by rules
    /// of the client.
    fn find_file(&mut self, now: Instant) {
        if self.searched.is_some_and(|at| now.duration_since(at) < SEARCH) {
            return;
        }
        self.searched = Some(now);
        let folders =
            self.projects.as_deref().and_then(|projects| std::fs::read_dir(projects).ok());
        let mut files = folders
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path().join(&self.name)));
        self.file = files.find_map(|file| File::open(file).ok());
    }
}

/// Applies a line. Returns true if the line is a message.
fn apply_line(told: &mut ConversationFacts, value: &Value) -> bool {
    let is = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    if is("isSidechain") {
        return false;
    }
    match text("type") {
        Some("assistant") => {
            told.error = text("error")
                .or_else(|| is("isApiErrorMessage").then_some("unknown"))
                .map(|kind| {
                    let said = value
                        .pointer("/message/content/0/text")
                        .and_then(Value::as_str)
                        .unwrap_or(kind);
                    let status = value.get("apiErrorStatus").and_then(Value::as_i64);
                    ApiError { text: one_line(said, ERROR), status, kind: kind.to_owned() }
                });
            true
        }
        Some("user") => {
            let content = value.pointer("/message/content");
            let is_result = content
                .and_then(Value::as_array)
                .is_some_and(|parts| parts.iter().any(|part| part["type"] == "tool_result"));
            if !is_result && !is("isMeta") && !is("isSynthetic") {
                told.prompts += 1;
                told.error = None;
            }
            true
        }
        Some("cost-state") => {
            let dollars = value
                .get("totalCostUSD")
                .and_then(Value::as_f64)
                .filter(|cost| (0.0..1e6).contains(cost));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it was just checked to be in range"
            )]
            let micros = dollars.map(|dollars| (dollars * 1e6).round() as u64);
            told.cost_micros = micros.or(told.cost_micros);
            false
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_record_is_found_by_its_id_and_read_as_it_grows() {
        let config = tempfile::tempdir().unwrap();
        let mut conversation = Conversation::new(Some(config.path()), "abc");
        let start = Instant::now();
        assert_eq!(conversation.read_new_messages(start), b"");
        let folder = config.path().join("projects/-some-where");
        std::fs::create_dir_all(&folder).unwrap();
        let mut file = File::create(folder.join("abc.jsonl")).unwrap();
        let user = r#"{"type":"user","message":{"role":"user","content":"do it"}}"#;
        let said =
            r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"yes"}]}}"#;
        let big = r#"{"type":"api-request-shape","shape":"secret prompts"}"#;
        write!(file, "{user}\n{big}\n{}", &said[..20]).unwrap();
        assert_eq!(
            conversation.read_new_messages(start),
            b"",
            "it is not searched for at every look"
        );
        let later = start + Duration::from_secs(2);
        assert_eq!(conversation.read_new_messages(later), format!("{user}\n").as_bytes());
        assert_eq!(conversation.known_facts().prompts, 1);
        write!(
            file,
            "{}\n{{\"type\":\"cost-state\",\"totalCostUSD\":0.0123}}\nrubbish\n",
            &said[20..]
        )
        .unwrap();
        assert_eq!(conversation.read_new_messages(later), format!("{said}\n").as_bytes());
        assert_eq!(conversation.known_facts().cost_micros, Some(12_300));
    }

    #[test]
    fn an_error_counts_only_while_it_is_the_last_word() {
        let mut told = ConversationFacts::default();
        let line = |text: &str| serde_json::from_str(text).unwrap();
        let failed = line(concat!(
            r#"{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","#,
            r#""apiErrorStatus":429,"message":{"content":[{"type":"text","text":"limit"}]}}"#
        ));
        apply_line(&mut told, &failed);
        assert_eq!(
            told.error,
            Some(ApiError {
                text: "limit".to_owned(),
                status: Some(429),
                kind: "rate_limit".to_owned()
            })
        );
        let on = line(
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"on I go"}]}}"#,
        );
        apply_line(&mut told, &on);
        assert_eq!(told.error, None);
        let result = line(
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"x"}]}}"#,
        );
        apply_line(&mut told, &result);
        assert_eq!(told.prompts, 0);
    }

    #[test]
    fn nowhere_to_look_is_no_error() {
        assert_eq!(Conversation::new(None, "abc").read_new_messages(Instant::now()), b"");
    }
}
