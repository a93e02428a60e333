//! Reads fields of Claude Code's JSON tolerantly: a missing field, or a field of another type, is
//! `None`.

use serde_json::Value;

pub(super) fn text_field(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

/// Reads a whole number of at least 0, also if written as a fraction.
pub(super) fn number_field(value: &Value, name: &str) -> Option<u64> {
    let value = value.get(name)?;
    value.as_u64().or_else(|| {
        value.as_f64().filter(|number| (0.0..1e15).contains(number)).map(|number| number as u64)
    })
}
