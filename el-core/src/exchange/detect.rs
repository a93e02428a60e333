use std::borrow::Cow;
use std::io;

use serde_json::{Map, Value};

use super::{Input, Tracker};
use crate::model::Timestamp;

/// Detects the format from the first record that can be read, or from marks of Markdown. Returns
/// `None` if the text has no sign of a format.
///
/// # Errors
///
/// If the file cannot be read.
pub fn detect_tracker(input: &mut Input) -> io::Result<Option<Tracker>> {
    let (mut seen, mut found) = (0, None);
    input.each_value(|_, value| {
        if let Ok(Value::Object(object)) = value {
            found = tracker_of(&object);
            seen += 1;
        }
        found.is_none() && seen < 100
    })?;
    if found.is_some() || seen > 0 {
        return Ok(found);
    }
    let bytes = input.read_text()?;
    let text = String::from_utf8_lossy(&bytes);
    let looks_like_json = text.trim_start().starts_with('{');
    Ok((!looks_like_json && super::plan_field::is_plan(&text)).then_some(Tracker::Markdown))
}

/// Returns the tracker that writes such records; `None` for a record that is no sign.
fn tracker_of(object: &Map<String, Value>) -> Option<Tracker> {
    let has = |key: &str| object.contains_key(key);
    Some(match object.get("_type").and_then(Value::as_str).unwrap_or_default() {
        "header" if object.get("format").and_then(Value::as_str) == Some("el") => Tracker::El,
        "header" => Tracker::Eluent,
        "issue" => Tracker::Bd,
        "atom" if has("created_by") => Tracker::El,
        "atom" => Tracker::Eluent,
        "" if has("issue_type") || (has("id") && has("title") && has("status")) => Tracker::Bd,
        "" if has("number") && has("title") => Tracker::Github,
        // Other records of bd (`memory`, `event`) and of our export; later records are a sign.
        _ => return None,
    })
}

/// Reads a time as other trackers write times: RFC 3339, or a date alone.
pub(super) fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let text: Cow<'_, str> =
        if text.len() == 10 { format!("{text}T00:00:00Z").into() } else { text.into() };
    let parsed = Timestamp::parse(&text)
        .ok()
        .or_else(|| Timestamp::parse(&text.replacen(' ', "T", 1)).ok())?;
    // Go's zero time stands for "none".
    (parsed.as_secs() > -62_135_500_000).then_some(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_told_from_its_text() {
        for (text, want) in [
            ("{\"_type\":\"header\",\"format\":\"el\",\"version\":1}", Some(Tracker::El)),
            (
                "{\"_type\":\"header\",\"repo_name\":\"x\",\"generator\":\"eluent/0.1.0\"}",
                Some(Tracker::Eluent),
            ),
            ("{\"_type\":\"atom\",\"id\":\"x-1\",\"title\":\"t\"}", Some(Tracker::Eluent)),
            (
                "{\"_type\":\"memory\",\"key\":\"k\"}\n{\"_type\":\"issue\",\"id\":\"bd-1\"}",
                Some(Tracker::Bd),
            ),
            ("\n{\"id\":\"bd-1\",\"title\":\"t\",\"status\":\"open\"}", Some(Tracker::Bd)),
            ("not json\n{\"id\":\"bd-1\",\"issue_type\":\"task\"}", Some(Tracker::Bd)),
            ("[\n {\"number\": 1, \"title\": \"t\"}\n]", Some(Tracker::Github)),
            ("{\"number\":1,\"title\":\"t\"}", Some(Tracker::Github)),
            ("# Plan\n\n- [ ] a task\n", Some(Tracker::Markdown)),
            ("## First\n### Priority\n1\n## Second\n", Some(Tracker::Markdown)),
            ("## First\ntext\n## Second\n", None),
            ("just prose", None),
            ("", None),
            ("{\"a\":1}", None),
            ("{broken", None),
        ] {
            let found = detect_tracker(&mut Input::from_bytes(text.as_bytes())).unwrap();
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn times_are_read_as_others_write_them() {
        assert!(parse_time("2025-12-16T13:26:47.117226-08:00").is_some());
        assert!(parse_time("2026-08-04T05:47:45.219884793Z").is_some());
        assert!(parse_time("2025-12-16").is_some() && parse_time("2025-12-16 13:26:47Z").is_some());
        assert_eq!(parse_time("0001-01-01T00:00:00Z"), None);
        assert_eq!(parse_time("soon"), None);
    }
}
