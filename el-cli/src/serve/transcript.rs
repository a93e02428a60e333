//! The transcript of a run, in pages: the end first, then new lines, and earlier pages on demand.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use el_agents::claude::{StreamEvent, parse_line};
use el_core::ops;
use serde::{Deserialize, Serialize};

use super::answer::{Data, Failure};
use super::board::Board;
use crate::commands::logs;
use crate::commands::runs::bring_run_files;
use crate::output::sanitize;
use crate::{App, CommandError, Result};

/// The bytes of a page.
const PAGE: u64 = 128 << 10;
/// A longer line is mentioned, but not shown.
const LINE: u64 = 4 << 20;
/// The most characters that are shown of a text.
const TEXT: usize = 20_000;

#[derive(Debug, Deserialize)]
pub(super) struct Place {
    /// Asks for the part from this byte on. Neither: the end of the file.
    from: Option<u64>,
    /// Asks for the part before this byte.
    before: Option<u64>,
}

/// A part of a run's transcript.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    /// The bytes of the file that it covers.
    from: u64,
    to: u64,
    is_live: bool,
    entries: Vec<Entry>,
}

/// Something that the agent said or did.
#[derive(Debug, Serialize)]
struct Entry {
    /// Where its line begins, in bytes.
    at: u64,
    kind: &'static str,
    text: String,
    /// The tool, for a call of one.
    tool: Option<String>,
    /// Joins a call with its result.
    call: Option<String>,
    /// The entry is a subagent's.
    is_nested: bool,
}

pub(super) async fn show_transcript(
    State(board): State<Arc<Board>>,
    Path(id): Path<String>,
    Query(place): Query<Place>,
) -> Result<Data<Page>, Failure> {
    board.run_call(move |app| read_page(app, &id, &place)).await.map(Data)
}

fn read_page(app: &App, id: &str, place: &Place) -> Result<Page> {
    let store = app.open_for_reading()?;
    // The state of the run is read before the file, so that its last words are not missed.
    let run = ops::get_run(&store, &ops::resolve_run(&store, id)?)?;
    let folder = bring_run_files(app, &store, &run)?;
    let (path, is_stream) = logs::telling_file(&run, &folder);
    let wrong = |source| CommandError::file_error("read", &path, source);
    let (from, bytes) = match read_lines(&path, place, !run.is_live()) {
        Ok(read) => read,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (0, Vec::new()),
        Err(error) => return Err(wrong(error)),
    };
    let to = from + bytes.len() as u64;
    let mut entries = Vec::new();
    let mut at = from;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match is_stream {
            true => entries.extend(parse_line(line).into_iter().filter_map(|e| to_entry(at, e))),
            false => entries.push(Entry::new(at, "line", &String::from_utf8_lossy(line))),
        }
        at += line.len() as u64;
    }
    Ok(Page { from, to, is_live: run.is_live(), entries })
}

/// Reads whole lines. `is_over`: the last line of the file is whole without its end.
fn read_lines(path: &FilePath, place: &Place, is_over: bool) -> io::Result<(u64, Vec<u8>)> {
    let mut file = File::open(path)?;
    let size = file.metadata()?.len();
    let (start, end) = match (place.from, place.before) {
        (Some(from), _) => (from.min(size), from.saturating_add(PAGE).min(size)),
        (None, before) => {
            let end = before.unwrap_or(size).min(size);
            (end.saturating_sub(PAGE), end)
        }
    };
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.by_ref().take(end - start).read_to_end(&mut bytes)?;
    let mut from = start;
    if place.from.is_none() && start > 0 {
        // The page begins in the midst of a line, which belongs to the page before.
        let cut = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        bytes.drain(..cut);
        from += cut as u64;
    }
    let is_at_end = end == size && is_over;
    while !is_at_end && !bytes.ends_with(b"\n") {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => bytes.truncate(last + 1),
            None => {
                // A single line is longer than the page.
                let had = bytes.len() as u64;
                let more = file.by_ref().take(PAGE).read_to_end(&mut bytes)? as u64;
                if more == 0 || had > LINE {
                    return Ok((from, if more == 0 && !is_over { Vec::new() } else { bytes }));
                }
            }
        }
    }
    Ok((from, bytes))
}

impl Entry {
    fn new(at: u64, kind: &'static str, text: &str) -> Entry {
        let mut text = sanitize::multi_line(text).into_owned();
        if let Some((cut, _)) = text.char_indices().nth(TEXT) {
            text.truncate(cut);
            text.push('…');
        }
        let text = text.trim_end().to_owned();
        Entry { at, kind, text, tool: None, call: None, is_nested: false }
    }
}

fn to_entry(at: u64, event: StreamEvent) -> Option<Entry> {
    let note = |text: &str| Some(Entry::new(at, "note", text));
    match event {
        StreamEvent::Text { text, subagent } => {
            Some(Entry { is_nested: subagent, ..Entry::new(at, "text", &text) })
        }
        StreamEvent::ToolUse { id, name, summary, subagent } => Some(Entry {
            tool: Some(sanitize::one_line(&name).into_owned()),
            call: Some(id),
            is_nested: subagent,
            ..Entry::new(at, "tool", &summary)
        }),
        StreamEvent::ToolResult { id, is_error, summary, subagent } => {
            let kind = if is_error { "error" } else { "result" };
            Some(Entry { call: Some(id), is_nested: subagent, ..Entry::new(at, kind, &summary) })
        }
        StreamEvent::Init { model, .. } => {
            note(&format!("started: {}", model.as_deref().unwrap_or("unknown model")))
        }
        StreamEvent::ApiRetry { attempt, max_retries, error, .. } => {
            note(&format!("API: {error}, retry {attempt} of {max_retries}"))
        }
        StreamEvent::ApiError { text, .. } => Some(Entry::new(at, "error", &text)),
        StreamEvent::RateLimit(limit) if limit.is_reached() => note("the usage limit is reached"),
        StreamEvent::ModelFallback { from, to } => note(&format!("model changed: {from} → {to}")),
        StreamEvent::StopHookFeedback { text } | StreamEvent::Note { text } => note(&text),
        StreamEvent::Interrupted => note("interrupted"),
        StreamEvent::TaskStarted { description, .. } => note(&format!("goes on: {description}")),
        StreamEvent::TaskEnded { status, .. } => note(&format!("background task {status}")),
        StreamEvent::Result(result) => {
            let kind = if result.is_error { "error" } else { "end" };
            Some(Entry::new(at, kind, &result.message()))
        }
        StreamEvent::Garbage { text } => Some(Entry::new(at, "line", &text)),
        StreamEvent::Thinking
        | StreamEvent::Usage { .. }
        | StreamEvent::RateLimit(_)
        | StreamEvent::Other { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &FilePath, from: Option<u64>, before: Option<u64>, over: bool) -> (u64, usize) {
        let (from, bytes) = read_lines(path, &Place { from, before }, over).unwrap();
        (from, bytes.len())
    }

    #[test]
    fn pages_are_whole_lines_and_meet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript.jsonl");
        let line = format!("{}\n", "x".repeat(999));
        let text = line.repeat(400) + "unfinished";
        std::fs::write(&path, &text).unwrap();
        let whole = 400_000;
        let (from, length) = read(&path, None, None, false);
        assert_eq!((from % 1000, from + length as u64), (0, whole), "the end, without the rest");
        let (_, length) = read(&path, None, None, true);
        assert_eq!(from + length as u64, whole + 10, "and with it, once the run is over");
        let mut before = from;
        while before > 0 {
            let (from, length) = read(&path, None, Some(before), false);
            assert_eq!((from % 1000, from + length as u64), (0, before));
            before = from;
        }
        assert_eq!(read(&path, Some(whole), None, false), (whole, 0));
        assert_eq!(read(&path, Some(9_999_999), None, true), (whole + 10, 0));
        let (from, length) = read(&path, Some(0), None, false);
        assert_eq!((from, length % 1000), (0, 0));
    }

    #[test]
    fn a_line_longer_than_a_page_is_read_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("transcript.jsonl");
        let long = 3 * PAGE as usize;
        std::fs::write(&path, format!("{}\nnext\n", "x".repeat(long))).unwrap();
        let (from, bytes) =
            read_lines(&path, &Place { from: Some(0), before: None }, false).unwrap();
        assert_eq!(from, 0);
        assert!(bytes.len() > long && bytes.ends_with(b"\n"), "{}", bytes.len());
    }
}
