//! Lists as values: how a list is written, and the form of the items.

use std::path::{Component, Path};

use el_core::model::ensure_variable;
use toml::de::DeValue;

use super::Value;
use crate::settings::keys::Key;

/// `Bash(git log:*),Edit` or `["a", "b"]`.
pub(super) fn parse_list(text: &str) -> Result<Value, String> {
    if text.starts_with('[') {
        let parsed = DeValue::parse(text).map_err(|error| error.message().to_owned())?;
        let DeValue::Array(items) = parsed.get_ref() else {
            return Err("it is no list".to_owned());
        };
        let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
        return texts
            .collect::<Option<Vec<_>>>()
            .map(Value::List)
            .ok_or_else(|| "a list of texts is needed".to_owned());
    }
    let mut items = vec![String::new()];
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '\0' => return Err("a text with a NUL character".to_owned()),
            _ => {}
        }
        if character == ',' && depth == 0 {
            items.push(String::new());
        } else if let Some(last) = items.last_mut() {
            last.push(character);
        }
    }
    Ok(Value::List(
        items.iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect(),
    ))
}

/// Checks the items of a list where they have a form of their own.
pub(super) fn checked_items(key: &Key, value: Value) -> Result<Value, String> {
    let Value::List(items) = &value else { return Ok(value) };
    match key.name {
        "worktree_copy" | "worktree_link" => ensure_below_repository(items)?,
        "needs" | "worker_offers" => {
            for item in items {
                el_core::model::validate::label(item).map_err(|error| error.to_string())?;
            }
        }
        "env" => {
            for item in items {
                let (name, text) = item
                    .split_once('=')
                    .ok_or_else(|| format!("'{item}' is not of the form NAME=VALUE"))?;
                ensure_variable(name, text).map_err(|error| error.to_string())?;
            }
        }
        _ => {}
    }
    Ok(value)
}

/// Paths for worktrees are below the repository's folder, and belong neither to git nor to `el`.
fn ensure_below_repository(items: &[String]) -> Result<(), String> {
    for item in items {
        let parts = Path::new(item).components().filter(|part| *part != Component::CurDir);
        match parts.clone().next() {
            _ if parts.clone().any(|part| !matches!(part, Component::Normal(_))) => {
                return Err(format!("'{item}' is not a path below the repository's folder"));
            }
            Some(Component::Normal(first)) if first != ".git" && first != ".eluent" => {}
            _ => {
                return Err(format!(
                    "'{item}' cannot be put into worktrees: name files or folders of the project \
                     in it"
                ));
            }
        }
    }
    Ok(())
}
