use el_core::model::{Comment, Event};
use el_core::{Store, ops};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::list::{List, stream_list, stream_table};
use crate::output::{Cell, Column, Table, style, time};
use crate::{App, Exit, Result, complete};

/// Show all changes with author and time, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el history q5e6
  el history q5e6 --robot
  el history --limit 50      The project's latest events

Works for atoms that were pruned too, by their whole id.")]
pub(crate) struct Args {
    /// The atom; without an atom, the whole project
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: Option<String>,
    /// At most this many, the latest; 0 means all [default: all]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct History<'a> {
    atom_id: Option<&'a str>,
    #[serde(flatten)]
    list: List<'a, Event>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let atom_id = args.id.as_deref().map(|id| ops::history_id(&store, id)).transpose()?;
    let limit = args.limit.filter(|limit| *limit > 0).map(i64::from);
    let (printer, id) = (&app.printer, atom_id.as_deref());
    if printer.is_robot() {
        let head = format!("\"atom_id\":{},", json!(id));
        return stream_list(printer, &head, limit, |visit| {
            ops::history_each(&store, id, limit, 1, visit)
        });
    }
    let now = app.now();
    let said = id.map_or(Ok(Vec::new()), |id| atom_comments(&store, id))?;
    let table = Table::new([
        Column::new("WHEN"),
        Column::new("WHO"),
        Column::new("ATOM"),
        Column::new("WHAT"),
        Column::new("RUN").hide_when_narrow(1),
        Column::new("DETAILS").flexible(),
    ]);
    let row_cells = |event: &Event| {
        let when = if app.verbosity() > 0 {
            event.at.to_string()
        } else {
            time::relative_time(now, event.at)
        };
        let atom = if id.is_some() { None } else { event.atom_id.as_deref() };
        vec![
            Cell::styled(style::DIM, when),
            Cell::styled(style::PERSON, &event.actor),
            Cell::styled(style::ID, atom.unwrap_or_default()),
            Cell::new(event.kind.as_str()),
            Cell::styled(style::DIM, event.run_id.as_deref().unwrap_or_default()),
            Cell::new(event_details(event, &said)),
        ]
    };
    let count = stream_table(printer, table, ["event", "events", ""], row_cells, |visit| {
        ops::history_each(&store, id, limit, 2, visit)
    })?;
    if count == 0 {
        printer.note("nothing has happened yet");
    }
    Ok(Exit::Done)
}

/// The comments on an atom, if the atom still exists.
fn atom_comments(store: &Store, id: &str) -> Result<Vec<Comment>> {
    match ops::list_comments(store, id) {
        Ok((_, comments)) => Ok(comments),
        Err(el_core::Error::NotFound { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// An event's data in a line.
fn event_details(event: &Event, said: &[Comment]) -> String {
    let Value::Object(data) = &event.data else { return String::new() };
    if let Some(comment) =
        said.iter().find(|comment| data.get("comment").is_some_and(|id| *id == comment.id))
    {
        return comment.content.clone();
    }
    let from_to = |change: &Value| {
        Some(format!("{} → {}", value_text(change.get("from")?), value_text(change.get("to")?)))
    };
    if let (Some(from), Some(to)) = (data.get("from"), data.get("to")) {
        let reason = data
            .get("reason")
            .map(|reason| format!(": {}", value_text(reason)))
            .unwrap_or_default();
        let via = data.get("via").map(|via| format!(" ({})", value_text(via))).unwrap_or_default();
        return format!("{} → {}{via}{reason}", value_text(from), value_text(to));
    }
    if let (Some(source), Some(target)) = (data.get("source"), data.get("target")) {
        let kind = data.get("type").map(value_text).unwrap_or_default();
        return format!("{} —{kind}→ {}", value_text(source), value_text(target));
    }
    let told = data.iter().filter(|(_, value)| !value.is_null());
    let parts: Vec<String> = told
        .map(|(key, value)| {
            let words = from_to(value).unwrap_or_else(|| value_text(value));
            format!("{key}: {words}")
        })
        .collect();
    parts.join(", ")
}

fn value_text(value: &Value) -> String {
    value_words(value, " ")
}

/// A value of a field in words; `between` stands between the items of a list.
pub(super) fn value_words(value: &Value, between: &str) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let words: Vec<String> = items.iter().map(|item| value_words(item, between)).collect();
            words.join(between)
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use el_core::model::{EventKind, Timestamp};
    use serde_json::json;

    use super::*;

    fn told(data: Value) -> String {
        let at = Timestamp::from_micros(0);
        event_details(
            &Event {
                seq: 1,
                at,
                actor: "ada".into(),
                kind: EventKind::Updated,
                atom_id: None,
                run_id: None,
                data,
            },
            &[],
        )
    }

    #[test]
    fn changes_bonds_and_facts_are_told_in_a_line() {
        assert_eq!(
            told(json!({"from": "open", "to": "closed", "reason": "done"})),
            "open → closed: done"
        );
        assert_eq!(
            told(json!({"from": "open", "to": "open", "via": "back-off"})),
            "open → open (back-off)"
        );
        assert_eq!(
            told(json!({"source": "a-1", "target": "a-2", "type": "blocks"})),
            "a-1 —blocks→ a-2"
        );
        assert_eq!(told(json!({"labels": {"from": [], "to": ["x", "y"]}})), "labels: none → x y");
        assert_eq!(told(json!({"agent": "fake", "worker": null})), "agent: fake");
        assert_eq!(told(json!(null)), "");
    }
}
