//! Checks the fields of a phase and reports every fault.

use serde::Serialize;
use serde_json::{Map, Value};

/// A field that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldFault {
    /// The path in `data`, such as `tasks[2].dependencies[0]`.
    pub field: String,
    /// The fault and a legal form, in words for the model.
    pub message: String,
    /// The fault makes the answer unusable. Otherwise only the field is dropped.
    pub is_grave: bool,
}

impl std::fmt::Display for FieldFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`: {}", self.field, self.message)
    }
}

/// The most faults reported in detail.
pub(super) const FAULTS_MAX: usize = 30;

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A text; not empty if required.
    Text,
    /// A word of the list.
    Words(&'static [&'static str]),
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// A number from the first to the second.
    Number(f64, f64),
    Texts,
    /// Lists of texts.
    Groups,
    Object,
    Objects,
}

/// How much hangs on a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Required,
    /// May be missing, but must be legal: no guesses.
    Binding,
    /// Dropped if not legal.
    Optional,
}

/// A field of the protocol.
pub(super) type Field = (&'static str, Kind, Need);

/// A check in progress, with the faults so far.
#[derive(Debug, Default)]
pub(super) struct Check {
    pub(super) faults: Vec<FieldFault>,
    untold: usize,
}

impl Check {
    pub(super) fn add_fault(
        &mut self,
        field: impl Into<String>,
        message: impl Into<String>,
        is_grave: bool,
    ) {
        let fault = FieldFault { field: field.into(), message: message.into(), is_grave };
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
            return;
        }
        // A grave fault is never lost behind slight ones.
        self.untold += 1;
        if is_grave && let Some(slight) = self.faults.iter_mut().find(|known| !known.is_grave) {
            *slight = fault;
        }
    }

    /// Checks the fields of an object, and removes fields that are `null` or not legal. Unknown
    /// fields stay.
    pub(super) fn check_fields(
        &mut self,
        path: &str,
        map: &mut Map<String, Value>,
        fields: &[Field],
    ) {
        for &(name, kind, need) in fields {
            let field = join_path(path, name);
            let is_grave = need != Need::Optional;
            match map.get_mut(name) {
                None | Some(Value::Null) => {
                    map.shift_remove(name);
                    if need == Need::Required {
                        self.add_fault(
                            field,
                            format!("is missing; it is required and is to be {}", kind.as_words()),
                            true,
                        );
                    }
                }
                Some(value) => {
                    let known = self.faults.len() + self.untold;
                    self.check_value(&field, value, kind, is_grave);
                    if need == Need::Required
                        && value.as_str().is_some_and(|text| text.trim().is_empty())
                    {
                        self.add_fault(field, "is empty", true);
                    }
                    if self.faults.len() + self.untold > known {
                        map.shift_remove(name);
                    }
                }
            }
        }
    }

    fn check_value(&mut self, field: &str, value: &mut Value, kind: Kind, is_grave: bool) {
        let fits = match kind {
            Kind::Text => value.is_string(),
            Kind::Object => value.is_object(),
            Kind::Whole(min, max) => {
                let whole = whole_number(value).filter(|n| (min..=max).contains(n));
                if let Some(n) = whole {
                    *value = n.into();
                }
                whole.is_some()
            }
            Kind::Number(min, max) => value.as_f64().is_some_and(|n| (min..=max).contains(&n)),
            Kind::Words(words) => {
                let word =
                    value.as_str().map(|w| w.trim().to_ascii_lowercase().replace(['-', ' '], "_"));
                let word = word.filter(|word| words.contains(&word.as_str()));
                let fits = word.is_some();
                if let Some(word) = word {
                    *value = word.into();
                }
                fits
            }
            Kind::Texts => return self.check_items(field, value, Kind::Text, kind, is_grave),
            Kind::Groups => return self.check_items(field, value, Kind::Texts, kind, is_grave),
            Kind::Objects => return self.check_items(field, value, Kind::Object, kind, is_grave),
        };
        if !fits {
            self.add_fault(
                field,
                format!("is {}, and is to be {}", show_value(value), kind.as_words()),
                is_grave,
            );
        }
    }

    fn check_items(
        &mut self,
        field: &str,
        value: &mut Value,
        each: Kind,
        kind: Kind,
        is_grave: bool,
    ) {
        let Value::Array(items) = value else {
            return self.add_fault(
                field,
                format!("is {}, and is to be {}", show_value(value), kind.as_words()),
                is_grave,
            );
        };
        for (n, item) in items.iter_mut().enumerate() {
            self.check_value(&format!("{field}[{n}]"), item, each, is_grave);
        }
    }

    /// Returns true if the answer is usable, and the faults, with a line about faults beyond the
    /// limit.
    pub(super) fn into_faults(mut self) -> (bool, Vec<FieldFault>) {
        let is_usable = self.faults.iter().all(|fault| !fault.is_grave);
        if self.untold > 0 {
            let message = format!("{} further faults are not listed", self.untold);
            self.faults.push(FieldFault { field: "…".to_owned(), message, is_grave: false });
        }
        (is_usable, self.faults)
    }
}

impl Kind {
    fn as_words(self) -> String {
        match self {
            Kind::Text => "a text".to_owned(),
            Kind::Words(words) => format!("one of \"{}\"", words.join("\", \"")),
            Kind::Whole(min, u64::MAX) => format!("a whole number of {min} or more"),
            Kind::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Kind::Number(min, max) => format!("a number from {min} to {max}"),
            Kind::Texts => "a list of texts".to_owned(),
            Kind::Groups => "a list of lists of texts".to_owned(),
            Kind::Object => "an object".to_owned(),
            Kind::Objects => "a list of objects".to_owned(),
        }
    }
}

/// A whole number, also as `5.0`.
fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let n = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..=9e15).contains(n))?;
        format!("{n:.0}").parse().ok()
    })
}

/// Formats a value for a message.
fn show_value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("the text \"{}\"", super::json::short_text(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

pub(super) fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
