//! The value of a setting, from text (environment, flags, `el config set`) or from TOML.

use std::time::Duration;

use el_agents::forge::RepoName;
use el_agents::git::ensure_branch_prefix;
use serde::Serialize;
use toml::de::DeValue;

use super::duration;
use super::keys::{Key, Kind};

mod lists;

use lists::{checked_items, parse_list};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Unset, for a setting in which unset has a meaning of its own.
    Unset,
    Bool(bool),
    Int(i64),
    Amount(f64),
    Text(String),
    Time(Duration),
    List(Vec<String>),
}

impl Value {
    /// From text. A list is separated by commas that are not within brackets, or written as a TOML
    /// array.
    pub(crate) fn from_text(key: &Key, text: &str) -> Result<Value, String> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return match key.kind {
                Kind::List => Ok(Value::List(Vec::new())),
                Kind::Command if !key.is_optional() => Ok(Value::List(Vec::new())),
                _ if key.is_optional() => Ok(Value::Unset),
                _ => Err("the value is empty".to_owned()),
            };
        }
        match key.kind {
            Kind::Bool => match trimmed.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Ok(Value::Bool(true)),
                "false" | "no" | "off" | "0" => Ok(Value::Bool(false)),
                _ => Err(format!("'{trimmed}' is neither true nor false")),
            },
            Kind::Int { .. } => match trimmed.parse() {
                Ok(number) => in_range(key, number),
                Err(_) => Err(format!("'{trimmed}' is no whole number")),
            },
            Kind::Amount => match trimmed.trim_start_matches('$').parse() {
                Ok(amount) => positive_amount(amount),
                Err(_) => Err(format!("'{trimmed}' is no amount")),
            },
            Kind::Time { .. } => bounded_time(key, duration::parse_duration(trimmed)?),
            Kind::Choice(_) => parse_choice(key, trimmed),
            Kind::Text | Kind::Path => parse_words(trimmed),
            Kind::ServerUrl => parse_server_url(trimmed),
            // On which host is not known here, and only GitLab has groups in groups.
            Kind::RepoName => match RepoName::parse(trimmed, "host") {
                Some(_) => Ok(Value::Text(trimmed.to_owned())),
                None => Err(format!(
                    "'{trimmed}' names no repository; OWNER/NAME does, or HOST/OWNER/NAME, such as \
                     acme/shop"
                )),
            },
            Kind::BranchPrefix => {
                ensure_branch_prefix(trimmed).map(|()| Value::Text(trimmed.to_owned()))
            }
            Kind::List => checked_items(key, parse_list(trimmed)?),
            Kind::Command if trimmed.starts_with('[') => parse_list(trimmed),
            Kind::Command => {
                let words = el_core::protocol::words::split_command(trimmed)
                    .map_err(|error| error.to_string())?;
                Ok(match key.is_optional() {
                    true => Value::Text(trimmed.to_owned()),
                    false => Value::List(words),
                })
            }
        }
    }

    /// From a value in a TOML file.
    pub(crate) fn from_toml(key: &Key, value: &DeValue<'_>) -> Result<Value, String> {
        match (key.kind, value) {
            (Kind::Bool, DeValue::Boolean(flag)) => Ok(Value::Bool(*flag)),
            (Kind::Int { .. }, DeValue::Integer(_)) => in_range(key, read_integer(value)?),
            (Kind::Amount, DeValue::Integer(_) | DeValue::Float(_)) => {
                positive_amount(read_number(value)?)
            }
            (Kind::Time { .. }, DeValue::Integer(_) | DeValue::Float(_)) => {
                let seconds = read_number(value)?;
                bounded_time(
                    key,
                    Duration::try_from_secs_f64(seconds)
                        .map_err(|_| format!("{seconds} is no length of time"))?,
                )
            }
            (
                Kind::Time { .. }
                | Kind::Choice(_)
                | Kind::Text
                | Kind::BranchPrefix
                | Kind::RepoName
                | Kind::ServerUrl
                | Kind::Path
                | Kind::Command,
                DeValue::String(text),
            ) => Value::from_text(key, text),
            (Kind::Bool | Kind::Int { .. } | Kind::Amount, DeValue::String(text))
                if text.is_empty() && key.is_optional() =>
            {
                Ok(Value::Unset)
            }
            (Kind::List | Kind::Command, DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) if text.contains('\0') => {
                        Err("a text with a NUL character".to_owned())
                    }
                    DeValue::String(text) => Ok(text.clone().into_owned()),
                    other => Err(format!(
                        "a list of texts is needed, and it has {} in it",
                        type_name(other)
                    )),
                })
                .collect::<Result<_, _>>()
                .and_then(|items| checked_items(key, Value::List(items))),
            (kind, other) => {
                Err(format!("{} is needed, not {}", kind_name(kind), type_name(other)))
            }
        }
    }

    /// The text that `el config get` prints and `el config set` reads.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Value::Unset => String::new(),
            Value::Bool(flag) => flag.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Amount(amount) => amount.to_string(),
            Value::Text(text) => text.clone(),
            Value::Time(time) => duration::format_duration(*time),
            Value::List(items) => {
                let array: toml_edit::Array = items.iter().map(String::as_str).collect();
                array.to_string()
            }
        }
    }

    /// The value in a TOML file.
    pub(crate) fn to_toml(&self) -> toml_edit::Value {
        match self {
            Value::Unset => "".into(),
            Value::Bool(flag) => (*flag).into(),
            Value::Int(number) => (*number).into(),
            Value::Amount(amount) => (*amount).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Time(time) => duration::format_duration(*time).into(),
            Value::List(items) => {
                toml_edit::Value::Array(items.iter().map(String::as_str).collect())
            }
        }
    }
}

/// In JSON a duration is its text, and unset is `null`.
impl Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Unset => serializer.serialize_none(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Int(number) => serializer.serialize_i64(*number),
            Value::Amount(amount) => serializer.serialize_f64(*amount),
            Value::Text(_) | Value::Time(_) => serializer.serialize_str(&self.to_text()),
            Value::List(items) => serializer.collect_seq(items),
        }
    }
}

impl schemars::JsonSchema for Value {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Value".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A length of time is its text; unset is null.",
            "type": ["null", "boolean", "integer", "number", "string", "array"],
            "items": { "type": "string" },
        })
    }
}

fn in_range(key: &Key, number: i64) -> Result<Value, String> {
    match key.kind {
        Kind::Int { min, max } if !(min..=max).contains(&number) => {
            Err(format!("{number} is not between {min} and {max}"))
        }
        _ => Ok(Value::Int(number)),
    }
}

fn positive_amount(amount: f64) -> Result<Value, String> {
    if amount.is_finite() && amount > 0.0 {
        Ok(Value::Amount(amount))
    } else {
        Err(format!("{amount} is not more than 0"))
    }
}

fn bounded_time(key: &Key, length: Duration) -> Result<Value, String> {
    match key.kind {
        Kind::Time { min } if length < min => Err(format!(
            "{} is less than {}",
            duration::format_duration(length),
            duration::format_duration(min)
        )),
        _ => Ok(Value::Time(length)),
    }
}

fn parse_choice(key: &Key, text: &str) -> Result<Value, String> {
    let Kind::Choice(choices) = key.kind else { return parse_words(text) };
    match choices.iter().find(|choice| choice.eq_ignore_ascii_case(text)) {
        Some(choice) => Ok(Value::Text((*choice).to_owned())),
        None => Err(format!("'{text}' is not one of {}", choices.join(", "))),
    }
}

fn parse_server_url(text: &str) -> Result<Value, String> {
    if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
        return Err("an address begins with postgres://".to_owned());
    }
    match el_core::has_password(text) {
        true => Err("it contains a password, which is for ~/.pgpass or PGPASSWORD".to_owned()),
        false => parse_words(text),
    }
}

fn parse_words(text: &str) -> Result<Value, String> {
    if text.contains('\0') {
        return Err("a text with a NUL character".to_owned());
    }
    Ok(Value::Text(text.to_owned()))
}

fn read_integer(value: &DeValue<'_>) -> Result<i64, String> {
    let DeValue::Integer(integer) = value else { return Err("it is no whole number".to_owned()) };
    i64::from_str_radix(integer.as_str(), integer.radix())
        .map_err(|_| format!("{integer} is too large"))
}

fn read_number(value: &DeValue<'_>) -> Result<f64, String> {
    match value {
        DeValue::Float(float) => {
            float.as_str().parse().map_err(|_| format!("{float} is not a number"))
        }
        // A length of time or an amount of money never needs the 53rd bit.
        other => read_integer(other).map(|whole| whole as f64),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "true or false",
        Kind::Int { .. } => "a whole number",
        Kind::Amount => "an amount such as 2.50",
        Kind::Text
        | Kind::BranchPrefix
        | Kind::RepoName
        | Kind::ServerUrl
        | Kind::Path
        | Kind::Choice(_) => "a text in quotes",
        Kind::Time { .. } => "a number of seconds or a text such as \"90m\"",
        Kind::List => "a list of texts in brackets",
        Kind::Command => "a text in quotes, or a list of texts in brackets,",
    }
}

fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Value, String> {
        Value::from_text(Key::find_key(name).unwrap(), text)
    }

    #[test]
    fn a_command_is_a_text_or_a_list_and_is_checked_when_it_is_read() {
        let list =
            |items: &[&str]| Ok(Value::List(items.iter().map(|s| (*s).to_owned()).collect()));
        assert_eq!(read("verify", "cargo test"), Ok(Value::Text("cargo test".to_owned())));
        assert_eq!(read("verify", r#"["cargo", "test"]"#), list(&["cargo", "test"]));
        assert_eq!(read("notify", "notify-send 'el says'"), list(&["notify-send", "el says"]));
        assert_eq!(read("command", ""), list(&[]));
        for bad in ["cargo test | tee", "sh -c 'exit", "[1]"] {
            assert!(read("land_check", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lists_are_split_at_commas_outside_brackets() {
        let list =
            |items: &[&str]| Ok(Value::List(items.iter().map(|s| (*s).to_owned()).collect()));
        assert_eq!(read("allowed_tools", "Bash(a,b:*), Edit"), list(&["Bash(a,b:*)", "Edit"]));
        assert_eq!(read("allowed_tools", r#"["a, b", "c"]"#), list(&["a, b", "c"]));
        assert_eq!(read("allowed_tools", ""), list(&[]));
    }

    #[test]
    fn values_out_of_range_say_what_would_be_right() {
        assert_eq!(read("concurrency", "0"), Err("0 is not between 1 and 256".to_owned()));
        assert_eq!(read("lease", "1s"), Err("1s is less than 5s".to_owned()));
        assert!(read("permission_mode", "banana").unwrap_err().contains("acceptEdits"));
        assert!(read("budget_per_run", "-1").is_err());
        assert!(read("budget_per_run", "inf").is_err());
    }

    #[test]
    fn an_optional_setting_can_be_unset_and_another_cannot() {
        assert_eq!(read("model", ""), Ok(Value::Unset));
        assert!(read("execution_timeout", "").is_err());
    }

    #[test]
    fn toml_types_are_checked() {
        let parse = |name: &str, text: &str| {
            Value::from_toml(Key::find_key(name).unwrap(), DeValue::parse(text).unwrap().get_ref())
        };
        assert_eq!(parse("execution_timeout", "90"), Ok(Value::Time(Duration::from_secs(90))));
        assert_eq!(
            parse("execution_timeout", "\"90m\""),
            Ok(Value::Time(Duration::from_secs(5400)))
        );
        assert_eq!(
            parse("max_turns", "\"ten\"").unwrap_err(),
            "a whole number is needed, not a text"
        );
        assert!(parse("preserve_sessions", "\"true\"").is_err());
        assert!(parse("allowed_tools", "[1]").unwrap_err().contains("whole number"));
    }

    #[test]
    fn what_get_prints_set_reads() {
        for (name, text) in [
            ("allowed_tools", "Bash(a,b),Edit"),
            ("lease", "90s"),
            ("budget_per_run", "2.5"),
            ("model", ""),
        ] {
            let value = read(name, text).unwrap();
            assert_eq!(read(name, &value.to_text()), Ok(value));
        }
    }
}
