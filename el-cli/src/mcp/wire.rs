//! JSON-RPC 2.0: from a line to messages, and from an answer to a message.

use serde_json::{Map, Value, json};

use super::version::Version;

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

/// A protocol error: the request itself was wrong. A failure of a tool is a result instead.
#[derive(Debug, PartialEq)]
pub(super) struct WireError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl WireError {
    pub(super) fn new(code: i64, message: impl Into<String>) -> WireError {
        WireError { code, message: message.into(), data: None }
    }

    pub(super) fn with_data(mut self, data: Value) -> WireError {
        self.data = Some(data);
        self
    }
}

/// A message from the client.
#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Map<String, Value>,
    },
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// An answer to a request. The server sends no requests and ignores answers.
    Answer,
    /// An invalid message, with its id if the id is valid.
    Wrong {
        id: Option<Value>,
        error: WireError,
    },
}

/// The content of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    Nothing,
    One(Incoming),
    Batch(Vec<Incoming>),
    Bad(WireError),
}

/// Parses a line. Never fails: an invalid message becomes [`Incoming::Wrong`].
pub(super) fn parse_message(line: &[u8]) -> Parsed {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Parsed::Nothing;
    }
    // Invalid UTF-8 and excessive nesting are errors here, too.
    match serde_json::from_slice(line) {
        Err(error) => Parsed::Bad(WireError::new(PARSE_ERROR, format!("Parse error: {error}"))),
        Ok(Value::Array(values)) if values.is_empty() => {
            Parsed::Bad(WireError::new(INVALID_REQUEST, "The batch is empty"))
        }
        Ok(Value::Array(values)) => {
            Parsed::Batch(values.into_iter().map(classify_message).collect())
        }
        Ok(value) => Parsed::One(classify_message(value)),
    }
}

fn classify_message(value: Value) -> Incoming {
    let wrong = |id: Option<Value>, code: i64, why: &str| Incoming::Wrong {
        id,
        error: WireError::new(code, why),
    };
    let Value::Object(mut object) = value else {
        return wrong(None, INVALID_REQUEST, "A message is a JSON object");
    };
    let id = object.remove("id");
    let good = id.clone().filter(is_id);
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return wrong(good, INVALID_REQUEST, "\"jsonrpc\" must be \"2.0\"");
    }
    if !object.contains_key("method")
        && (object.contains_key("result") || object.contains_key("error"))
    {
        return Incoming::Answer;
    }
    if id.is_some() && good.is_none() {
        return wrong(
            None,
            INVALID_REQUEST,
            "\"id\" must be a text or a whole number of at most 64 bits",
        );
    }
    let Some(Value::String(method)) = object.remove("method") else {
        return wrong(good, INVALID_REQUEST, "\"method\" must be a text");
    };
    let params = match object.remove("params") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        // A notification gets no answer.
        Some(_) if good.is_none() => return Incoming::Answer,
        Some(_) => return wrong(good, INVALID_PARAMS, "\"params\" must be an object"),
    };
    match good {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    }
}

/// Returns true if the id can be echoed exactly. A larger number would come back changed.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.is_u64()
}

/// A good answer.
pub(super) fn result_message(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The error message for an invalid request or an invalid message.
pub(super) fn error_message(id: Option<&Value>, error: WireError, version: Version) -> Value {
    let mut body = json!({ "code": error.code, "message": error.message });
    if let Some(data) = error.data {
        body["data"] = data;
    }
    match id {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": body }),
        None if version.leaves_out_unknown_id() => json!({ "jsonrpc": "2.0", "error": body }),
        None => json!({ "jsonrpc": "2.0", "id": null, "error": body }),
    }
}

pub(super) fn notification(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Option<i64> {
        match parse_message(line.as_bytes()) {
            Parsed::Bad(error) | Parsed::One(Incoming::Wrong { error, .. }) => Some(error.code),
            _ => None,
        }
    }

    #[test]
    fn what_is_no_message_gets_the_code_that_says_why() {
        for (line, want) in [
            ("rubbish", PARSE_ERROR),
            ("{\"jsonrpc\":\"2.0\",", PARSE_ERROR),
            ("5", INVALID_REQUEST),
            ("[]", INVALID_REQUEST),
            ("{\"id\":1,\"method\":\"ping\"}", INVALID_REQUEST),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", INVALID_REQUEST),
            (
                "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"ping\"}",
                INVALID_REQUEST,
            ),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[1]}", INVALID_PARAMS),
        ] {
            assert_eq!(code(line), Some(want), "{line}");
        }
        let deep = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}1{}}}",
            "[".repeat(10_000),
            "]".repeat(10_000)
        );
        assert_eq!(code(&deep), Some(PARSE_ERROR));
        assert!(matches!(
            parse_message(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}"),
            Parsed::Bad(_)
        ));
    }

    #[test]
    fn ids_come_back_as_they_came() {
        for id in ["0", "-1", "18446744073709551615", "\"a\"", "\"\""] {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
            let Parsed::One(Incoming::Request { id: read, .. }) = parse_message(line.as_bytes())
            else {
                panic!("{line}")
            };
            assert_eq!(
                result_message(&read, json!({})).to_string(),
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
            );
        }
    }

    #[test]
    fn answers_blank_lines_and_bad_notifications_get_no_answer() {
        assert_eq!(parse_message(b" \r"), Parsed::Nothing);
        for line in [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}",
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":5}",
        ] {
            assert_eq!(parse_message(line.as_bytes()), Parsed::One(Incoming::Answer), "{line}");
        }
    }
}
