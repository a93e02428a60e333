//! A JSON file: an object with a list, or a bare list.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A file of the mailbox, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The fields beside the list, in order; `None` for a bare list.
    head: Option<Map<String, Value>>,
    key: &'static str,
    pub items: Vec<Value>,
}

/// Why a text is no such file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotADocument {
    #[error("it is not JSON: {0}")]
    NotJson(String),
    #[error("it is JSON, but neither an object nor a list")]
    NotAnObject,
    #[error("its `{0}` is not a list")]
    NotAList(&'static str),
}

impl Document {
    /// Parses a file with the list under `key`. A blank text is an empty document.
    ///
    /// # Errors
    ///
    /// If the text is no such document. The caller must not throw the text away.
    pub fn parse(text: &str, key: &'static str) -> Result<Document, NotADocument> {
        // Some editors begin a file with it.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Ok(Document { head: Some(Map::new()), key, items: Vec::new() });
        }
        match serde_json::from_str(text)
            .map_err(|error| NotADocument::NotJson(error.to_string()))?
        {
            Value::Object(mut head) => {
                let items = match head.get_mut(key) {
                    None => Vec::new(),
                    Some(Value::Null) => Vec::new(),
                    Some(Value::Array(items)) => std::mem::take(items),
                    Some(_) => return Err(NotADocument::NotAList(key)),
                };
                Ok(Document { head: Some(head), key, items })
            }
            Value::Array(items) => Ok(Document { head: None, key, items }),
            _ => Err(NotADocument::NotAnObject),
        }
    }

    /// A field beside the list.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.head.as_ref()?.get(name)
    }

    /// Sets a field beside the list. A bare list has no fields.
    pub fn set_field(&mut self, name: &str, value: Value) {
        if let Some(head) = &mut self.head {
            head.insert(name.to_owned(), value);
        }
    }

    /// The text of the file.
    pub fn render(&self) -> String {
        let items = Value::Array(self.items.clone());
        let whole = match &self.head {
            None => items,
            Some(head) => {
                let mut head = head.clone();
                if let Some(list) = head.get_mut(self.key) {
                    *list = items;
                } else if self.key.is_empty() {
                    // A file that is about no list.
                } else {
                    // The list comes first, as the protocol shows it.
                    head.shift_insert(0, self.key.to_owned(), items);
                }
                Value::Object(head)
            }
        };
        let mut text =
            serde_json::to_string_pretty(&whole).expect("values of JSON always serialize");
        text.push('\n');
        text
    }
}

/// A value with the keys of every object in order: two programs that write the same message write
/// the same.
pub fn canonical_text(value: &Value) -> String {
    fn write_value(value: &Value, out: &mut String) {
        match value {
            Value::Object(map) => {
                let mut keys: Vec<&String> = map.keys().collect();
                keys.sort_unstable();
                out.push('{');
                for (at, key) in keys.into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    // A text can always be written.
                    let _ = write!(out, "{}:", Value::String(key.clone()));
                    write_value(&map[key.as_str()], out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_value(item, out);
                }
                out.push(']');
            }
            other => {
                let _ = write!(out, "{other}");
            }
        }
    }
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// Returns a hash that identifies a message by content: FNV-1a of 128 bits, the same in every build
/// and without accidental collisions. The hash need not resist attacks: a program that can write
/// the file can also drop messages.
pub fn message_digest(value: &Value) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = canonical_text(value)
        .bytes()
        .fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

/// Numbers equal messages from 0, and returns each message's digest and number.
pub fn number_messages(messages: &[Value]) -> Vec<(String, i64)> {
    let mut counts: HashMap<String, i64> = HashMap::new();
    messages
        .iter()
        .map(|message| {
            let digest = message_digest(message);
            let count = counts.entry(digest.clone()).or_insert(0);
            *count += 1;
            (digest, *count - 1)
        })
        .collect()
}
