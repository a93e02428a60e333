//! The JSON schemas of what `--robot` prints.
//!
//! Kept by hand and checked against real output: the end-to-end tests run every command and hold its document against the schema, which
//! names each key as required and allows no other, so a key that comes or goes fails them. The words (statuses, types, …) are the types'
//! own. `schemars` would have derived the shapes of el-core, but half of the answers are put together in el-cli, it would add 134 KB to
//! the binary or a second build, and every type would carry its derive.

use serde_json::{Value, json};

mod commands;
mod handing_over;
mod shapes;

pub(crate) use commands::{NOT_DESCRIBED, names};

/// The schema of a command's whole document, success and failure; `None` if there is no such command.
pub(crate) fn document(command: &str) -> Option<Value> {
    let data = commands::data(command)?;
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("el {command} --robot"),
        "oneOf": [
            object(&[("status", json!({ "const": "ok" })), ("data", data)]),
            object(&[("status", json!({ "const": "error" })), ("error", shapes::error())]),
        ],
    });
    document["$defs"] = shapes::named_in(&document);
    Some(document)
}

/// An object with exactly these keys.
fn object(keys: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        keys.iter().map(|(key, schema)| ((*key).to_owned(), schema.clone())).collect();
    let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn array(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// This, or `null`.
fn nullable(schema: Value) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some(kind) if schema.get("enum").is_none() => {
            let mut schema = schema.clone();
            schema["type"] = json!([kind, "null"]);
            schema
        }
        _ => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

fn string() -> Value {
    json!({ "type": "string" })
}

fn integer() -> Value {
    json!({ "type": "integer" })
}

fn boolean() -> Value {
    json!({ "type": "boolean" })
}

fn time() -> Value {
    json!({ "type": "string", "format": "date-time" })
}

/// An object with any keys.
fn anything() -> Value {
    json!({ "type": "object" })
}

fn words(words: impl IntoIterator<Item = &'static str>) -> Value {
    json!({ "type": "string", "enum": words.into_iter().collect::<Vec<_>>() })
}

/// One of the shapes that several commands share.
fn shape(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// `{"count","total","truncated","items"}`.
fn list(items: Value) -> Value {
    object(&list_keys(items))
}

fn list_keys(items: Value) -> Vec<(&'static str, Value)> {
    vec![("count", integer()), ("total", integer()), ("truncated", boolean()), ("items", array(items))]
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn leaves(command: &clap::Command, path: &str, out: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            let path = format!("{path} {}", sub.get_name()).trim().to_owned();
            leaves(sub, &path, out);
            if !sub.is_subcommand_required_set() {
                out.push(path);
            }
        }
    }

    #[test]
    fn every_command_has_a_schema_or_is_known_to_have_none() {
        let mut command = crate::args::Cli::command();
        command.build();
        let mut found = vec!["help".to_owned()];
        leaves(&command, "", &mut found);
        for path in &found {
            assert!(
                document(path).is_some() != NOT_DESCRIBED.contains(&path.as_str()),
                "{path}: a schema, or a place in NOT_DESCRIBED"
            );
        }
        for name in names() {
            assert!(found.iter().any(|path| path == name), "{name} is no command");
        }
    }

    #[test]
    fn every_shape_that_is_named_is_there() {
        for name in names() {
            let document = document(name).unwrap();
            let text = document.to_string();
            for part in text.split("#/$defs/").skip(1) {
                let shape = part.split('"').next().unwrap();
                assert!(document["$defs"].get(shape).is_some(), "{name} names {shape}");
            }
        }
    }
}
