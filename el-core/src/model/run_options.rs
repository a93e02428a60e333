use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The efforts that a model can be asked for.
pub const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Bytes of a model, an effort or a base.
const WORD_MAX: usize = 200;
/// Bytes of a variable's value.
const VALUE_MAX: usize = 16 * 1024;

/// The settings of an atom's runs. They outrank those of the agent. An unset field leaves the
/// choice to the agent's settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunOptions {
    pub model: Option<String>,
    pub effort: Option<String>,
    /// The commit or branch at which the atom's branch begins.
    pub base: Option<String>,
    /// Variables of the agent's environment.
    pub env: BTreeMap<String, String>,
}

/// A change of [`RunOptions`]. `None` leaves a field; `Some(None)` empties it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOptionsPatch {
    pub model: Option<Option<String>>,
    pub effort: Option<Option<String>>,
    pub base: Option<Option<String>>,
    /// Variables to set; `None` removes a variable.
    pub env: BTreeMap<String, Option<String>>,
}

impl RunOptions {
    /// Returns the options after a change; `None` if nothing is set any more.
    ///
    /// # Errors
    /// If a value cannot be used.
    pub fn patched(before: Option<&RunOptions>, patch: &RunOptionsPatch) -> Result<Option<Self>> {
        let mut after = before.cloned().unwrap_or_default();
        for (field, new, old) in [
            ("model", &patch.model, &mut after.model),
            ("effort", &patch.effort, &mut after.effort),
            ("base", &patch.base, &mut after.base),
        ] {
            if let Some(new) = new {
                *old = new.as_deref().map(|text| check_word(field, text)).transpose()?;
            }
        }
        for (name, value) in &patch.env {
            ensure_variable(name, value.as_deref().unwrap_or_default())?;
            match value {
                Some(value) => after.env.insert(name.clone(), value.clone()),
                None => after.env.remove(name),
            };
        }
        Ok((after != RunOptions::default()).then_some(after))
    }

    /// The options that an export may bring in: neither a folder, nor a command, nor a variable.
    /// `None` if none is set.
    pub fn portable(&self) -> Option<RunOptions> {
        let portable = RunOptions { env: BTreeMap::new(), ..self.clone() };
        (portable != RunOptions::default()).then_some(portable)
    }
}

/// A value that becomes a word of a command line: it must not pass for an option.
fn check_word(field: &'static str, text: &str) -> Result<String> {
    let text = text.trim();
    let is_odd = |c: char| c.is_whitespace() || c.is_control();
    if text.is_empty() || text.len() > WORD_MAX || text.starts_with('-') || text.contains(is_odd) {
        let shown = text.escape_debug();
        return Err(Error::invalid(field, format!("'{shown}' is no {field}")));
    }
    if field == "effort" && !EFFORTS.contains(&text) {
        let known = EFFORTS.join(", ");
        return Err(Error::invalid(field, format!("'{text}' is not one of {known}")));
    }
    Ok(text.to_owned())
}

/// Makes sure that an environment can hold a variable, and that the variable is not el's own.
///
/// # Errors
/// If it cannot.
pub fn ensure_variable(name: &str, value: &str) -> Result<()> {
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name || value.contains('\0') {
        let shown = name.escape_debug();
        return Err(Error::invalid(
            "env",
            format!("'{shown}' is no variable: NAME=VALUE is needed"),
        ));
    }
    if name.starts_with("EL_") {
        return Err(Error::invalid("env", format!("{name} is el's own; a setting has its flag")));
    }
    if value.len() > VALUE_MAX {
        return Err(Error::invalid("env", format!("the value of {name} is too long")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set_emptied_and_checked() {
        let text = |text: &str| Some(Some(text.to_owned()));
        let patch = RunOptionsPatch {
            model: text(" opus "),
            effort: text("high"),
            env: [("A".to_owned(), Some("1".to_owned()))].into(),
            ..RunOptionsPatch::default()
        };
        let set = RunOptions::patched(None, &patch).unwrap().unwrap();
        assert_eq!((set.model.as_deref(), set.env["A"].as_str()), (Some("opus"), "1"));
        assert!(set.portable().unwrap().env.is_empty());
        let empty = RunOptionsPatch {
            model: Some(None),
            effort: Some(None),
            env: [("A".to_owned(), None)].into(),
            ..RunOptionsPatch::default()
        };
        assert_eq!(RunOptions::patched(Some(&set), &empty).unwrap(), None);
        for bad in [
            RunOptionsPatch { model: text("--dangerous"), ..RunOptionsPatch::default() },
            RunOptionsPatch { base: text("a b"), ..RunOptionsPatch::default() },
            RunOptionsPatch { effort: text("huge"), ..RunOptionsPatch::default() },
            RunOptionsPatch {
                env: [("EL_TOKEN".to_owned(), Some("x".to_owned()))].into(),
                ..RunOptionsPatch::default()
            },
            RunOptionsPatch {
                env: [("1A".to_owned(), Some("x".to_owned()))].into(),
                ..RunOptionsPatch::default()
            },
        ] {
            assert!(RunOptions::patched(None, &bad).is_err(), "{bad:?}");
        }
    }
}
