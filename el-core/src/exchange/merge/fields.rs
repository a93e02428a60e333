//! Merges the fields of a record.

use serde_json::{Map, Value};

use super::{Conflict, is_over};
use crate::exchange::detect::parse_time;

/// Fields that belong together: the status of one side with the reason of the other would be made
/// up.
const STANDING: [&str; 4] = ["status", "close_reason", "closed_at", "defer_until"];

/// Merges a record and returns a version for each side. The versions differ only if there is a
/// conflict.
pub(super) fn merge_record(
    name: &str,
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    conflicts: &mut Vec<Conflict>,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut left, mut right) = (Map::new(), Map::new());
    let keys = ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key)));
    for key in keys.filter(|key| !STANDING.contains(&key.as_str()) || !ours.contains_key("status"))
    {
        let three = [base.get(key), ours.get(key), theirs.get(key)];
        match merge_field(key, three) {
            Field::Same(value) => put_field(key, value, &mut left, &mut right),
            Field::Object => {
                let empty = Map::new();
                let object = |value: Option<&Value>| {
                    value.and_then(Value::as_object).unwrap_or(&empty).clone()
                };
                let [base, ours, theirs] = three.map(object);
                let before = conflicts.len();
                let (l, r) = merge_record(name, &base, &ours, &theirs, conflicts);
                for conflict in &mut conflicts[before..] {
                    conflict.field = conflict.field.take().map(|field| format!("{key}.{field}"));
                }
                left.insert(key.clone(), Value::Object(l));
                right.insert(key.clone(), Value::Object(r));
            }
            Field::Differs => {
                conflicts.push(field_conflict(name, key, ours.get(key), theirs.get(key)));
                left.extend(ours.get(key).map(|value| (key.clone(), value.clone())));
                right.extend(theirs.get(key).map(|value| (key.clone(), value.clone())));
            }
        }
    }
    if ours.contains_key("status") {
        merge_status(name, base, ours, theirs, conflicts, &mut left, &mut right);
    }
    (in_order_of(ours, left), in_order_of(ours, right))
}

fn put_field(
    key: &str,
    value: Option<Value>,
    left: &mut Map<String, Value>,
    right: &mut Map<String, Value>,
) {
    if let Some(value) = value {
        left.insert(key.to_owned(), value.clone());
        right.insert(key.to_owned(), value);
    }
}

fn field_conflict(name: &str, key: &str, ours: Option<&Value>, theirs: Option<&Value>) -> Conflict {
    let value = |side: Option<&Value>| side.cloned().unwrap_or(Value::Null);
    Conflict {
        record: name.to_owned(),
        field: Some(key.to_owned()),
        ours: value(ours),
        theirs: value(theirs),
    }
}

/// The merged value of a field.
enum Field {
    Same(Option<Value>),
    /// Both sides are objects, to be merged in turn.
    Object,
    Differs,
}

fn merge_field(key: &str, [base, ours, theirs]: [Option<&Value>; 3]) -> Field {
    if ours == theirs || theirs == base {
        return Field::Same(ours.cloned());
    }
    if ours == base {
        return Field::Same(theirs.cloned());
    }
    match (key, ours, theirs) {
        ("updated_at", Some(o), Some(t)) => Field::Same(Some(later_value(o, t).clone())),
        // For a bond or a record that both sides made, the earlier time counts.
        ("created_at", Some(o), Some(t)) => {
            Field::Same(Some(if later_value(o, t) == o { t } else { o }.clone()))
        }
        ("version", Some(Value::Number(o)), Some(Value::Number(t))) => {
            Field::Same(Some(Value::Number(if o.as_f64() < t.as_f64() { t } else { o }.clone())))
        }
        (_, Some(Value::Array(o)), Some(Value::Array(t))) => Field::Same(Some(Value::Array(
            merge_set(base.and_then(Value::as_array).map_or(&[][..], Vec::as_slice), o, t),
        ))),
        (_, Some(Value::Object(_)), Some(Value::Object(_))) => Field::Object,
        _ => Field::Differs,
    }
}

fn later_value<'a>(a: &'a Value, b: &'a Value) -> &'a Value {
    let moment = |value: &Value| {
        value.as_str().and_then(parse_time).map_or(i64::MIN, |time| time.as_micros())
    };
    if moment(b) > moment(a) { b } else { a }
}

/// Merges a list as a set (labels, aliases): additions and removals of both sides apply. Texts are
/// sorted, as in an export.
fn merge_set(base: &[Value], ours: &[Value], theirs: &[Value]) -> Vec<Value> {
    let stays =
        |item: &&Value| ours.contains(item) && theirs.contains(item) || !base.contains(item);
    let mut merged: Vec<Value> = ours.iter().filter(stays).cloned().collect();
    merged
        .extend(theirs.iter().filter(|item| !ours.contains(item) && !base.contains(item)).cloned());
    if merged.iter().all(Value::is_string) {
        merged.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    merged
}

/// Merges status, reason and dates as a unit.
fn merge_status(
    name: &str,
    base: &Map<String, Value>,
    ours: &Map<String, Value>,
    theirs: &Map<String, Value>,
    conflicts: &mut Vec<Conflict>,
    left: &mut Map<String, Value>,
    right: &mut Map<String, Value>,
) {
    let of = |side: &Map<String, Value>| STANDING.map(|key| side.get(key).cloned());
    let (b, o, t) = (of(base), of(ours), of(theirs));
    let take = |side: &Map<String, Value>, into: &mut Map<String, Value>| {
        into.extend(
            STANDING.iter().filter_map(|key| Some(((*key).to_owned(), side.get(*key)?.clone()))),
        );
    };
    let winner = if o == t || t == b {
        Some(ours)
    } else if o == b {
        Some(theirs)
    } else {
        status_winner(base, ours, theirs)
    };
    match winner {
        Some(side) => {
            take(side, left);
            take(side, right);
        }
        None => {
            conflicts.push(field_conflict(
                name,
                "status",
                ours.get("status"),
                theirs.get("status"),
            ));
            take(ours, left);
            take(theirs, right);
        }
    }
}

/// Chooses the status if both sides changed the status. A side that finished the work wins over a
/// side that went on. If both finished the work in the same way, the earlier reason wins.
fn status_winner<'a>(
    base: &Map<String, Value>,
    ours: &'a Map<String, Value>,
    theirs: &'a Map<String, Value>,
) -> Option<&'a Map<String, Value>> {
    let status = |side: &'a Map<String, Value>| side.get("status");
    let over = (is_over(status(ours)), is_over(status(theirs)));
    if status(ours) == status(theirs) && over.0 {
        let nothing = Value::Null;
        let closed =
            |side: &'a Map<String, Value>| side.get("closed_at").cloned().unwrap_or(Value::Null);
        let (o, t) = (closed(ours), closed(theirs));
        let ours_is_first = later_value(&o, &t) != &o || o == t || t == nothing;
        return Some(if ours_is_first { ours } else { theirs });
    }
    match (is_over(base.get("status")), over) {
        (false, (true, false)) => Some(ours),
        (false, (false, true)) => Some(theirs),
        _ => None,
    }
}

/// Returns the keys in the order of `model`, then all others.
fn in_order_of(model: &Map<String, Value>, mut map: Map<String, Value>) -> Map<String, Value> {
    let mut ordered: Map<String, Value> =
        model.keys().filter_map(|key| Some((key.clone(), map.shift_remove(key)?))).collect();
    ordered.append(&mut map);
    ordered
}
