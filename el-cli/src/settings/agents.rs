//! The names of agents in the configuration.

use super::keys::Key;
use super::value::Value;
use super::{Origin, Resolved, Settings};
use crate::Result;

impl Settings {
    /// The agents with a table of their own.
    pub(crate) fn agents(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.project.agents.iter().chain(&self.user.agents).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The existing agents: agents with a table, and agents that the setting `agent` names. A
    /// flag's value does not count, since a flag may be mistyped.
    pub(crate) fn known_agents(&self) -> Vec<String> {
        let is_agent = |key: &Key| key.name == "agent";
        let given = self
            .given
            .iter()
            .filter(|given| is_agent(given.key) && !matches!(given.origin, Origin::Flag { .. }));
        let files = [&self.project, &self.user]
            .into_iter()
            .flat_map(|file| &file.entries)
            .filter(|entry| is_agent(entry.key));
        let values = given.map(|given| &given.value).chain(files.map(|entry| &entry.value));
        let texts = values.filter_map(|value| match value {
            Ok(Value::Text(text)) => Some(text.as_str()),
            _ => None,
        });
        let default = Key::find_key("agent").and_then(|key| key.default);
        let named = texts.chain(default).flat_map(comma_list);
        let mut names: Vec<String> = named.chain(self.agents()).map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// `gendry`, or `gendry,ada`: at least a single agent, each once.
    pub(super) fn agent_names_to_serve(&self) -> Result<Vec<String>> {
        let Resolved { value, origin } =
            self.get(Key::find_key("agent").expect("it is among the keys"), None)?;
        let text = if let Value::Text(text) = value { text } else { String::new() };
        let mut names: Vec<String> = Vec::new();
        for name in comma_list(&text) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() {
            return Err(origin.refusal_error("agent", "agent: the name of an agent is needed"));
        }
        Ok(names)
    }
}

/// `gendry`, or `gendry,ada`.
fn comma_list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}
