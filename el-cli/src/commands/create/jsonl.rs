//! Atoms from JSON Lines, or from a JSON array. Unknown keys are errors: a misspelt key must not
//! lose its value.

use el_core::model::{IssueType, Priority, RunOptionsPatch, Timestamp};
use el_core::ops::NewAtom;
use serde::Deserialize;
use serde_json::Value;

use crate::output::time::{self, Towards};
use crate::{CommandError, Result, strict_json};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    key: Option<String>,
    title: String,
    description: Option<String>,
    acceptance: Option<String>,
    #[serde(rename = "type", alias = "issue_type")]
    issue_type: Option<String>,
    priority: Option<Value>,
    #[serde(alias = "label")]
    labels: Option<OneOrMany>,
    needs: Option<OneOrMany>,
    assignee: Option<String>,
    #[serde(alias = "parent_id")]
    parent: Option<String>,
    blocked_by: Option<OneOrMany>,
    #[serde(alias = "blocking")]
    blocks: Option<OneOrMany>,
    discovered_from: Option<String>,
    defer_until: Option<String>,
    metadata: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn into_vec(self) -> Vec<String> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// Reads all records. An error names the file and the line, or the record of an array.
pub(super) fn read_records(name: &str, text: &str, now: Timestamp) -> Result<Vec<NewAtom>> {
    if text.trim_start().starts_with('[') {
        let values = strict_json::parse_strict(text)
            .map_err(|error| record_error(name, error.line(), &error))?;
        return values
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(at, value)| {
                let record = Record::deserialize(value);
                let place = format!("{name}, record {}", at + 1);
                record
                    .map_err(|error| wrong_record(&place, &error))
                    .and_then(|record| atom_from_record(&place, record, now))
            })
            .collect();
    }
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| {
            let record = strict_json::parse_strict(line)
                .and_then(Record::deserialize)
                .map_err(|error| record_error(name, at + 1, &error))?;
            atom_from_record(&format!("{name}:{}", at + 1), record, now)
        })
        .collect()
}

fn record_error(name: &str, line: usize, error: &serde_json::Error) -> CommandError {
    wrong_record(&format!("{name}:{line}"), error).with_detail("line", line)
}

fn wrong_record(place: &str, error: &serde_json::Error) -> CommandError {
    // The place is told already; serde_json counts within the line.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    CommandError::invalid_value("file", format!("{place}: {what}"))
}

fn atom_from_record(place: &str, record: Record, now: Timestamp) -> Result<NewAtom> {
    let at_place =
        |error: CommandError| CommandError::invalid_value("file", format!("{place}: {error}"));
    let from_core = |error: el_core::Error| at_place(error.into());
    let priority = match record.priority {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.parse::<Priority>().map_err(from_core)?),
        Some(value) => {
            let level = value.as_i64().ok_or_else(|| {
                at_place(CommandError::invalid_value(
                    "priority",
                    format!("priority: {value} is no whole number or word"),
                ))
            })?;
            Some(Priority::new(level).map_err(from_core)?)
        }
    };
    let list = |field: Option<OneOrMany>| field.map(OneOrMany::into_vec).unwrap_or_default();
    let defer =
        record.defer_until.map(|text| time::parse_time("defer_until", &text, now, Towards::Future));
    Ok(NewAtom {
        key: record.key,
        title: record.title,
        description: record.description.unwrap_or_default(),
        acceptance: record.acceptance,
        issue_type: record
            .issue_type
            .map(|text| text.parse::<IssueType>())
            .transpose()
            .map_err(from_core)?,
        priority,
        labels: list(record.labels),
        needs: list(record.needs),
        assignee: record.assignee,
        parent: record.parent,
        blocked_by: list(record.blocked_by),
        blocks: list(record.blocks),
        discovered_from: record.discovered_from,
        defer_until: defer.transpose().map_err(at_place)?,
        metadata: record.metadata.filter(|value| !value.is_null()),
        delegation: None,
        run_options: RunOptionsPatch::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<NewAtom>> {
        read_records("plan.jsonl", text, Timestamp::from_micros(0))
    }

    #[test]
    fn each_line_is_an_atom() {
        let news = parse(
            "{\"key\":\"db\",\"title\":\"Schema\",\"priority\":\"high\",\"type\":\"bug\"}\n\n\
             {\"title\":\"Queries\",\"blocked_by\":\"db\",\"labels\":[\"sql\"],\"priority\":3,\
             \"needs\":\"gpu\"}\n",
        )
        .unwrap();
        assert_eq!(news.len(), 2);
        assert_eq!(news[0].key.as_deref(), Some("db"));
        assert_eq!(news[0].priority.unwrap().value(), 1);
        assert_eq!(news[1].blocked_by, ["db"]);
        assert_eq!(news[1].needs, ["gpu"]);
        assert_eq!(news[1].priority.unwrap().value(), 3);
    }

    #[test]
    fn an_array_is_read_too() {
        assert_eq!(parse("[{\"title\":\"a\"},{\"title\":\"b\"}]").unwrap().len(), 2);
    }

    #[test]
    fn errors_name_the_line_and_the_key() {
        for (text, want) in [
            ("{\"title\":\"a\"}\n{\"titel\":\"b\"}", "plan.jsonl:2: unknown field `titel`"),
            ("{\"title\":\"a\",\"priority\":9}", "plan.jsonl:1: priority: 9 is not between"),
            ("{\"title\":\"a\",\"priority\":1.5}", "plan.jsonl:1: priority: 1.5"),
            ("{\"title\":\"a\",\"type\":\"banana\"}", "plan.jsonl:1: type: 'banana'"),
            ("{\"title\":\"a\",\"defer_until\":\"soon\"}", "plan.jsonl:1: defer_until: 'soon'"),
            ("{\"title\":", "plan.jsonl:1: EOF"),
            ("[{\"title\":\"a\"},{\"x\":1}]", "plan.jsonl, record 2: unknown field `x`"),
            ("{\"title\":\"a\",\"title\":\"b\"}", "plan.jsonl:1: the key 'title' stands twice"),
            (
                "[{\"title\":\"a\"},\n{\"title\":\"a\",\"metadata\":{\"x\":1,\"x\":2}}]",
                "plan.jsonl:2: the key 'x' stands twice",
            ),
            ("{\"title\":\"a\",\"labels\":5}", "plan.jsonl:1: a text or a list of texts"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.message().starts_with(want), "{text} gave {error}");
            assert_eq!(error.exit(), crate::exit::Exit::Usage);
        }
    }
}
