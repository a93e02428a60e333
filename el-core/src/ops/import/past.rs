//! The history of an atom, for a field whose last import is not known: of an atom that was made
//! here and is imported for the first time, or of a field that an older `el` did not remember.

use serde_json::Value;

use super::Result;
use super::field::{Field, field_name};
use crate::model::{Atom, BondKind, Event, EventKind, Status, Timestamp};
use crate::store::{Tx, event};

pub(super) struct Past(Vec<Event>);

impl Past {
    pub(super) fn of_atom(tx: &Tx<'_>, atom: &str) -> Result<Past> {
        event::list(tx, Some(atom), 0, i64::MAX).map(Past)
    }

    /// Decides whether the file's value is taken, and what the report says of it. `there`: the
    /// atom with that value. A value that the field had here before is an old one.
    pub(super) fn judge_field(
        &self,
        field: Field,
        before: &Atom,
        there: &Atom,
        file_time: Option<Timestamp>,
    ) -> (bool, Option<&'static str>) {
        let key = key_of(field);
        let row = serde_json::to_value(there).expect("an atom has string keys only");
        let value = row.get(key).unwrap_or(&Value::Null);
        let changes = self.0.iter().filter_map(|event| {
            earlier_value(event, field, key, before).map(|earlier| (event.at, earlier))
        });
        let (mut changed_at, mut was_here) = (None, false);
        for (at, earlier) in changes {
            changed_at = Some(at);
            was_here |= earlier.is_none_or(|earlier| earlier == value);
        }
        // Before the first change of the status, every atom is open.
        was_here |=
            field == Field::Standing && changed_at.is_some() && there.status == Status::Open;
        let since = changed_at.unwrap_or(before.created_at);
        let is_news = file_time.is_none_or(|at| at > since) && !was_here;
        let told = match (is_news, changed_at) {
            (true, None) => None,
            (true, Some(_)) => Some("changed here and later in the file, whose value was taken"),
            (false, _) => Some("differs in the file; the value here stands"),
        };
        (is_news, told)
    }
}

/// If the event changed the field, its value before; `Some(None)` if the event does not tell it.
fn earlier_value<'e>(
    event: &'e Event,
    field: Field,
    key: &str,
    before: &Atom,
) -> Option<Option<&'e Value>> {
    match event.kind {
        EventKind::Created | EventKind::Commented => None,
        EventKind::Updated => event.data.get(key).map(|change| change.get("from")),
        EventKind::Status if field == Field::Standing => Some(event.data.get("from")),
        EventKind::BondAdded | EventKind::BondRemoved => {
            let is_parent = event.data.get("type").and_then(Value::as_str)
                == Some(BondKind::ParentChild.as_str());
            // An atom that is made below its parent was nowhere else before.
            (field == Field::Parent && is_parent && event.at > before.created_at)
                .then(|| event.data.get("source"))
        }
        EventKind::Undone => Some(None),
        // Claims, runs and reviews change what belongs to work.
        _ => {
            matches!(field, Field::Standing | Field::Assignee | Field::Metadata | Field::RunOptions)
                .then_some(None)
        }
    }
}

/// The field's name in the events.
fn key_of(field: Field) -> &'static str {
    match field_name(field) {
        "type" => "issue_type",
        "parent" => "parent_id",
        name => name,
    }
}
