//! The arguments of a call. Unknown names are errors: a misspelt name must not lose its value.
//! Unambiguous forms are accepted: `null` is absent, a single text is a list of length 1, a number
//! may be a text.

use std::str::FromStr;

use serde_json::{Map, Value};

use crate::{CommandError, Result};

#[derive(Debug, Default)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn new(mut map: Map<String, Value>) -> Arguments {
        map.retain(|_, value| !value.is_null());
        Arguments(map)
    }

    /// Returns true if the argument is present and not a plain zero.
    pub(super) fn asks_for(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(
            |value| !matches!(value, Value::Number(number) if number.as_u64() == Some(0)),
        )
    }

    fn take_value(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    pub(super) fn optional_text(&mut self, name: &'static str) -> Result<Option<String>> {
        match self.take_value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => Err(type_error(name, "a text", &other)),
        }
    }

    pub(super) fn required_text(&mut self, name: &'static str) -> Result<String> {
        self.optional_text(name)?.ok_or_else(|| missing_error(name))
    }

    /// A list of texts; a single text is a list of length 1.
    pub(super) fn text_list(&mut self, name: &'static str) -> Result<Vec<String>> {
        let items = match self.take_value(name) {
            None => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(one) => vec![one],
        };
        let text = |item| match item {
            Value::String(text) => Ok(text),
            other => Err(type_error(name, "a list of texts", &other)),
        };
        items.into_iter().map(text).collect()
    }

    /// Atom ids, at least a single id, under the name `ids` or `id`.
    pub(super) fn atom_ids(&mut self) -> Result<Vec<String>> {
        let mut ids = self.text_list("ids")?;
        ids.extend(self.text_list("id")?);
        if ids.is_empty() { Err(missing_error("ids")) } else { Ok(ids) }
    }

    /// A word of the tracker: a status, a type, …
    pub(super) fn optional_word<T: FromStr<Err = el_core::Error>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>> {
        Ok(self.optional_text(name)?.map(|text| text.parse()).transpose()?)
    }

    pub(super) fn word_list<T: FromStr<Err = el_core::Error>>(
        &mut self,
        name: &'static str,
    ) -> Result<Vec<T>> {
        self.text_list(name)?.iter().map(|text| Ok(text.parse()?)).collect()
    }

    pub(super) fn optional_flag(&mut self, name: &'static str) -> Result<bool> {
        match self.take_value(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => Err(type_error(name, "true or false", &other)),
        }
    }

    /// A whole number that is not negative.
    pub(super) fn optional_number(&mut self, name: &'static str) -> Result<Option<u32>> {
        let Some(value) = self.take_value(name) else { return Ok(None) };
        let number = match &value {
            Value::String(text) => text.trim().parse().ok(),
            // Some clients know no whole numbers.
            Value::Number(number) => number.as_u64().or_else(|| {
                number
                    .as_f64()
                    .filter(|n| n.fract() == 0.0)
                    .and_then(|n| format!("{n:.0}").parse().ok())
            }),
            _ => None,
        };
        match number.map(u32::try_from) {
            Some(Ok(number)) => Ok(Some(number)),
            _ => Err(type_error(name, "a whole number from 0 to 4294967295", &value)),
        }
    }

    /// Fails if the call has an argument that the tool did not read. Tools call `ensure_all_used`
    /// before any change.
    pub(super) fn ensure_all_used(self, tool: &str) -> Result<()> {
        let Some((name, _)) = self.0.iter().next() else { return Ok(()) };
        let known = super::catalog::parameter_names(tool);
        let name: String = name.chars().take(60).collect();
        Err(CommandError::usage_error(format!("{tool} has no argument '{}'", name.escape_debug()))
            .with_hint(format!("it takes {}", known.join(", "))))
    }
}

fn missing_error(name: &str) -> CommandError {
    CommandError::usage_error(format!("the argument '{name}' is missing"))
        .with_detail("field", name)
}

fn type_error(name: &str, wanted: &str, value: &Value) -> CommandError {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let is_same = wanted.starts_with(kind);
    let given = if is_same || wanted.contains("number") && value.is_number() {
        value.to_string()
    } else {
        kind.to_owned()
    };
    let given: String = given.chars().take(60).collect();
    CommandError::invalid_value(name, format!("{name}: {wanted} is needed, not {given}"))
}

#[cfg(test)]
mod tests {
    use el_core::model::{Priority, Status};
    use serde_json::json;

    use super::*;

    fn of(value: Value) -> Arguments {
        let Value::Object(map) = value else { panic!("{value} is no object") };
        Arguments::new(map)
    }

    #[test]
    fn what_cannot_be_mistaken_is_taken() {
        let mut given = of(json!({
            "a": null, "ids": "x", "id": ["y"], "priority": 1, "n": "7", "f": 8.0,
            "s": ["Open", "in-progress"],
        }));
        assert_eq!(given.optional_text("a").unwrap(), None);
        assert_eq!(given.atom_ids().unwrap(), ["x", "y"]);
        assert_eq!(given.optional_word::<Priority>("priority").unwrap().unwrap().value(), 1);
        assert_eq!(
            (given.optional_number("n").unwrap(), given.optional_number("f").unwrap()),
            (Some(7), Some(8))
        );
        assert_eq!(given.word_list::<Status>("s").unwrap(), [Status::Open, Status::InProgress]);
        given.ensure_all_used("list").unwrap();
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |error: CommandError| error.to_string();
        assert_eq!(
            message(of(json!({"t": []})).optional_text("t").unwrap_err()),
            "t: a text is needed, not a list"
        );
        assert_eq!(
            message(of(json!({"l": [1]})).text_list("l").unwrap_err()),
            "l: a list of texts is needed, not a number"
        );
        for bad in [json!(-1), json!(1.5), json!(1e30), json!("x"), json!([])] {
            let error = of(json!({ "n": bad })).optional_number("n").unwrap_err();
            assert!(message(error).starts_with("n: a whole number"), "{bad}");
        }
        assert_eq!(
            message(of(json!({"b": "yes"})).optional_flag("b").unwrap_err()),
            "b: true or false is needed, not a text"
        );
        assert_eq!(
            message(of(json!({})).required_text("task").unwrap_err()),
            "the argument 'task' is missing"
        );
        let unknown = of(json!({"titel": "x"})).ensure_all_used("create").unwrap_err();
        assert_eq!(unknown.to_string(), "create has no argument 'titel'");
        assert!(unknown.hints()[0].contains("title"), "{:?}", unknown.hints());
    }
}
