//! The Messages API's own shapes: a message, an error, and the events of a streamed message.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Connection;
use crate::scenario::{Drop, Hang, Step};

/// The state of the connection after an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    KeepAlive,
    Closed,
}

/// The texts of the user-role messages, oldest first: the prompt, then tool results and the
/// feedback of hooks.
///
/// Removes the client's own reminders around the prompt. Feedback of a hook also comes as a
/// reminder (since about 2.1.300), so later reminders stay.
pub(crate) fn user_texts(body: &Value) -> Vec<String> {
    let messages =
        body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut texts: Vec<String> = messages
        .iter()
        .filter(|m| m.get("role").is_some_and(|r| r == "user"))
        .map(|m| {
            let mut text = String::new();
            collect(m.get("content").unwrap_or(&Value::Null), &mut text);
            text
        })
        .collect();
    if let Some(prompt) = texts.first_mut() {
        *prompt = without_reminders(prompt);
    }
    texts
}

fn collect(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|v| collect(v, out)),
        Value::Object(map) => {
            ["text", "content"].iter().filter_map(|k| map.get(*k)).for_each(|v| collect(v, out))
        }
        _ => {}
    }
}

fn without_reminders(text: &str) -> String {
    const OPEN: &str = "<system-reminder>";
    const CLOSE: &str = "</system-reminder>";
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(OPEN) {
        out.push_str(before);
        rest = inside.split_once(CLOSE).map_or("", |(_, behind)| behind);
    }
    out.push_str(rest);
    out
}

pub(crate) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

pub(crate) fn json_headers() -> Vec<(String, String)> {
    vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("request-id".to_owned(), unique("req_")),
    ]
}

/// Answers a request for a message according to the step.
pub(crate) fn answer(connection: &mut Connection, body: &Value, step: &Step) -> io::Result<End> {
    if let Some(status) = step.status {
        let kind = step.r#type.as_deref().unwrap_or("api_error");
        let message = step.message.as_deref().unwrap_or("a scripted error");
        return failed(connection, step, status, &error(kind, message));
    }
    if step.drop == Some(Drop::Before) {
        return Ok(End::Closed);
    }
    if step.hang == Some(Hang::Silent) {
        connection.wait_closed();
        return Ok(End::Closed);
    }
    let model = body.get("model").and_then(Value::as_str).unwrap_or("scripted");
    let message = message(step, model);
    if body.get("stream").is_some_and(|s| s == true) {
        stream(connection, step, &message)
    } else {
        whole(connection, step, &message)
    }
}

fn failed(connection: &mut Connection, step: &Step, status: u16, body: &Value) -> io::Result<End> {
    let mut headers = json_headers();
    headers.extend(step.headers.clone());
    connection.answer(status, &headers, body.to_string().as_bytes(), false)?;
    Ok(End::KeepAlive)
}

fn message(step: &Step, model: &str) -> Value {
    let calls = step.calls();
    let stop = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let mut content: Vec<Value> =
        step.text.iter().map(|text| json!({"type": "text", "text": text})).collect();
    content.extend(calls.into_iter().map(|(name, input)| {
        json!({"type": "tool_use", "id": unique("toolu_"),
            "name": name, "input": input})
    }));
    let mut usage = json!({
        "input_tokens": 100, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": 20,
    });
    for (key, value) in &step.usage {
        usage[key] = value.clone();
    }
    json!({
        "id": unique("msg_"), "type": "message", "role": "assistant", "model": model,
            "content": content,
        "stop_reason": step.stop_reason.as_deref().unwrap_or(stop), "stop_sequence": null,
            "usage": usage,
    })
}

/// Answers a request without a stream, such as the client's second try after a broken stream.
fn whole(connection: &mut Connection, step: &Step, message: &Value) -> io::Result<End> {
    if step.hang.is_some() {
        connection.wait_closed();
        return Ok(End::Closed);
    }
    if step.drop.is_some() {
        return Ok(End::Closed);
    }
    if let Some(error) = &step.sse_error {
        let overloaded = error.get("type").is_some_and(|t| t == "overloaded_error");
        let body = json!({"type": "error", "error": error});
        return failed(connection, step, if overloaded { 529 } else { 500 }, &body);
    }
    let mut headers = json_headers();
    headers.extend(step.headers.clone());
    connection.answer(200, &headers, message.to_string().as_bytes(), false)?;
    Ok(End::KeepAlive)
}

fn stream(connection: &mut Connection, step: &Step, message: &Value) -> io::Result<End> {
    let mut headers = vec![
        ("content-type".to_owned(), "text/event-stream; charset=utf-8".to_owned()),
        ("cache-control".to_owned(), "no-cache".to_owned()),
        ("request-id".to_owned(), unique("req_")),
    ];
    headers.extend(step.headers.clone());
    connection.start_stream(&headers)?;
    if step.hang == Some(Hang::Headers) {
        connection.wait_closed();
        return Ok(End::Closed);
    }
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    start["usage"]["output_tokens"] = json!(1);
    event(connection, "message_start", json!({"message": start}))?;
    event(connection, "ping", json!({}))?;
    if step.hang == Some(Hang::Pings) {
        // Ends with an error once the client is gone.
        loop {
            std::thread::sleep(Duration::from_secs(1));
            event(connection, "ping", json!({}))?;
        }
    }
    if let Some(error) = &step.sse_error {
        event(connection, "error", json!({"error": error}))?;
        connection.chunk(b"")?;
        return Ok(End::KeepAlive);
    }
    if step.drop == Some(Drop::Mid) {
        return Ok(End::Closed);
    }
    let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, block) in blocks.iter().enumerate() {
        stream_block(connection, index, block)?;
    }
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    event(connection, "message_delta", json!({"delta": delta, "usage": message["usage"]}))?;
    event(connection, "message_stop", json!({}))?;
    connection.chunk(b"")?;
    Ok(End::KeepAlive)
}

fn stream_block(connection: &mut Connection, index: usize, block: &Value) -> io::Result<()> {
    let mut empty = block.clone();
    let (kind, key, text) = if block["type"] == "text" {
        empty["text"] = json!("");
        ("text_delta", "text", block["text"].as_str().unwrap_or_default().to_owned())
    } else {
        empty["input"] = json!({});
        ("input_json_delta", "partial_json", block["input"].to_string())
    };
    event(connection, "content_block_start", json!({"index": index, "content_block": empty}))?;
    // In pieces, as a model writes; a small piece for short texts, so that the client's joining is
    // tested too.
    let letters: Vec<char> = text.chars().collect();
    for piece in letters.chunks((letters.len() / 8).max(40)) {
        let piece: String = piece.iter().collect();
        event(
            connection,
            "content_block_delta",
            json!({"index": index, "delta": {"type": kind, key: piece}}),
        )?;
    }
    event(connection, "content_block_stop", json!({"index": index}))
}

fn event(connection: &mut Connection, kind: &str, mut data: Value) -> io::Result<()> {
    data["type"] = json!(kind);
    connection.chunk(format!("event: {kind}\ndata: {data}\n\n").as_bytes())
}

/// An id unique on this machine.
fn unique(prefix: &str) -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::{SystemTime, UNIX_EPOCH};

    static NEXT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_micros());
    format!(
        "{prefix}{now:016x}{:04x}{:04x}",
        std::process::id() & 0xffff,
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}
