//! Settings of Claude Code, changed as a person would: comments, order and indentation stay.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::json;
use serde_json::Value;

use super::{HOOK_PREFIX, HOOKS};

/// Why a file is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// The text is not JSON; the message names the place.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// A value has the wrong kind: an object or a list was expected.
    #[error("'{0}' is not {1}")]
    Unexpected(String, &'static str),
    /// A key is there twice. Programs see the last value, people the first.
    #[error("'{0}' is there twice")]
    Twice(String),
    /// Another server has the name `el`.
    #[error("'mcpServers.el' is there already, and is not el's own")]
    Taken,
}

type Result<T, E = EditError> = std::result::Result<T, E>;

const BOM: char = '\u{feff}';

/// The settings with `el`'s hooks.
pub(crate) fn hooks_in(text: &str) -> Result<String> {
    edit_object(text, |root| {
        let hooks = object_in(root, "hooks", "hooks")?;
        for (event, command) in HOOKS {
            ensure_single_key(&hooks, event, event)?;
            let groups = array_in(&hooks, event)?;
            if groups.elements().iter().any(has_ours) {
                continue;
            }
            groups.ensure_multiline();
            groups.append(
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": 10 }] }),
            );
        }
        Ok(())
    })
}

/// The settings without `el`'s hooks, and without the structure that only the hooks needed.
pub(crate) fn hooks_out(text: &str) -> Result<String> {
    edit_object(text, |root| {
        let Some(hooks) = root.object_value("hooks") else { return Ok(()) };
        let mut found = false;
        for (event, _) in HOOKS {
            let Some(groups) = hooks.array_value(event) else { continue };
            if groups.elements().iter().filter(|group| without_ours(group)).count() == 0 {
                continue;
            }
            found = true;
            if groups.elements().is_empty()
                && let Some(property) = hooks.get(event)
            {
                property.remove();
            }
        }
        if found
            && hooks.properties().is_empty()
            && let Some(property) = root.get("hooks")
        {
            property.remove();
        }
        Ok(())
    })
}

/// Removes `el`'s hooks from a group, and an emptied group. Returns true if there were any.
fn without_ours(group: &CstNode) -> bool {
    let Some(list) = group.as_object().and_then(|group| group.array_value("hooks")) else {
        return false;
    };
    let ours: Vec<CstNode> = list.elements().into_iter().filter(is_ours).collect();
    if ours.is_empty() {
        return false;
    }
    ours.into_iter().for_each(CstNode::remove);
    if list.elements().is_empty() {
        group.clone().remove();
    }
    true
}

/// The list of servers with `el`'s server.
pub(crate) fn server_in(text: &str) -> Result<String> {
    edit_object(text, |root| {
        let servers = object_in(root, "mcpServers", "mcpServers")?;
        ensure_single_key(&servers, "el", "mcpServers.el")?;
        match servers.get("el") {
            Some(found) if is_el_server(found.value()) => Ok(()),
            Some(_) => Err(EditError::Taken),
            None => {
                servers.ensure_multiline();
                servers.append("el", json!({ "command": "el", "args": ["mcp"] }));
                Ok(())
            }
        }
    })
}

/// The list of servers without `el`'s server; a foreign server of the same name stays.
pub(crate) fn server_out(text: &str) -> Result<String> {
    edit_object(text, |root| {
        let Some(servers) = root.object_value("mcpServers") else { return Ok(()) };
        let Some(found) = servers.get("el").filter(|found| is_our_server(found.value())) else {
            return Ok(());
        };
        found.remove();
        if servers.properties().is_empty()
            && let Some(property) = root.get("mcpServers")
        {
            property.remove();
        }
        Ok(())
    })
}

/// Returns true for `el mcp`, whoever wrote the entry: `claude mcp add` adds more keys.
fn is_el_server(value: Option<CstNode>) -> bool {
    value.and_then(|value| value.to_serde_value()).is_some_and(|found| {
        found["command"] == "el" && found["args"] == serde_json::json!(["mcp"])
    })
}

fn is_our_server(value: Option<CstNode>) -> bool {
    value.and_then(|value| value.to_serde_value())
        == Some(serde_json::json!({ "command": "el", "args": ["mcp"] }))
}

fn has_ours(group: &CstNode) -> bool {
    let list = group.as_object().and_then(|group| group.array_value("hooks"));
    list.is_some_and(|list: CstArray| list.elements().iter().any(is_ours))
}

fn is_ours(hook: &CstNode) -> bool {
    let command = hook
        .to_serde_value()
        .and_then(|hook| hook.get("command").and_then(Value::as_str).map(str::to_owned));
    command.is_some_and(|command| command.trim_start().starts_with(HOOK_PREFIX))
}

/// Refuses a key that is there twice.
fn ensure_single_key(parent: &CstObject, key: &str, path: &str) -> Result<()> {
    let is_key = |property: &CstObjectProp| {
        property.name().and_then(|name| name.decoded_value().ok()).as_deref() == Some(key)
    };
    if parent.properties().iter().filter(|property| is_key(property)).count() > 1 {
        return Err(EditError::Twice(path.to_owned()));
    }
    Ok(())
}

fn object_in(parent: &CstObject, key: &str, path: &str) -> Result<CstObject> {
    ensure_single_key(parent, key, path)?;
    if parent.get(key).is_none() {
        parent.ensure_multiline();
        parent.append(key, CstInputValue::Object(Vec::new()));
    }
    let object = parent
        .object_value(key)
        .ok_or_else(|| EditError::Unexpected(path.to_owned(), "an object"))?;
    object.ensure_multiline();
    Ok(object)
}

fn array_in(parent: &CstObject, key: &str) -> Result<CstArray> {
    if parent.get(key).is_none() {
        parent.append(key, CstInputValue::Array(Vec::new()));
    }
    parent.array_value(key).ok_or_else(|| EditError::Unexpected(format!("hooks.{key}"), "a list"))
}

/// Applies a change to the text's object. Without a change the bytes stay the same.
fn edit_object(text: &str, change: impl FnOnce(&CstObject) -> Result<()>) -> Result<String> {
    let (bom, rest) = text.strip_prefix(BOM).map_or(("", text), |rest| ("\u{feff}", rest));
    let is_empty = rest.trim().is_empty();
    let parsed = if is_empty { "{}\n" } else { rest };
    let options =
        ParseOptions { allow_comments: true, allow_trailing_commas: true, ..strict_options() };
    let root = CstRootNode::parse(parsed, &options)
        .map_err(|error| EditError::NotJson(error.to_string()))?;
    let object = root
        .value()
        .and_then(|value| value.as_object())
        .ok_or_else(|| EditError::Unexpected("the file".to_owned(), "one JSON object"))?;
    change(&object)?;
    let after = root.to_string();
    Ok(if after == parsed { text.to_owned() } else { format!("{bom}{after}") })
}

/// Options for standard JSON.
fn strict_options() -> ParseOptions {
    ParseOptions {
        allow_comments: false,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
