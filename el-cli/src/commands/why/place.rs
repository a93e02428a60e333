//! The hosts and the offers that an atom's agent asks for.

use el_agents::worker;
use el_core::model::{Atom, Status};
use el_core::{Store, ops};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::sanitize;
use crate::settings::Place;
use crate::{App, Result};

/// Where an agent works, or an assignee that nobody serves, at whatever place.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AgentPlace {
    agent: String,
    /// Patterns of the names of hosts; empty: any host.
    hosts: Vec<String>,
    /// The labels that its worker must offer.
    needs: Vec<String>,
}

impl AgentPlace {
    pub(super) fn sentence(&self) -> String {
        if self.hosts.is_empty() && self.needs.is_empty() {
            let told = format!(
                "It is assigned to {0}, which is no agent here, and no worker serves {0}: el next \
                 as {0} takes it, and el update --clear-assignee gives it to any agent.",
                self.agent
            );
            return sanitize::one_line(&told).into_owned();
        }
        let mut only = Vec::new();
        if !self.hosts.is_empty() {
            only.push(format!("on hosts called {}", self.hosts.join(" or ")));
        }
        let mut command = "el work there".to_owned();
        if !self.needs.is_empty() {
            let needs = self.needs.join(",");
            only.push(format!("for a worker that offers {needs}"));
            command = format!("el work --offers {}", shell_word(&needs));
        }
        let told = format!(
            "Its agent {} works only {}, and no such worker is there: {command} takes it.",
            self.agent,
            only.join(" and ")
        );
        sanitize::one_line(&told).into_owned()
    }
}

/// A word as a shell takes it: in quotes if it needs them.
pub(super) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/@%+=".contains(c);
    match word.chars().all(is_plain) && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The place that the atom's agent asks for, while no worker that is there runs the agent.
pub(super) fn find_unmet(app: &App, store: &Store, atom: &Atom) -> Result<Option<AgentPlace>> {
    // Settings that are wrong are told by what needs them.
    let is_to_be_done = matches!(atom.status, Status::Open | Status::Deferred);
    let Some(places) = places_of(app, atom).ok().filter(|_| is_to_be_done) else {
        return Ok(None);
    };
    let stranger = stranger_of(app, atom)?;
    if places.iter().any(Place::is_anywhere) && stranger.is_none() {
        return Ok(None);
    }
    let mut workers = ops::list_workers(store)?;
    workers.retain(|worker| !worker.stop_requested && worker::is_there(worker));
    if let Some(agent) = stranger {
        let is_served = workers.iter().any(|worker| worker.agents.contains(&agent));
        let place = AgentPlace { agent, hosts: Vec::new(), needs: Vec::new() };
        return Ok((!is_served).then_some(place));
    }
    let is_served =
        |place: &Place| workers.iter().any(|worker| worker.agents.contains(&place.agent));
    if places.iter().any(is_served) {
        return Ok(None);
    }
    let place = places.into_iter().next();
    Ok(place.map(|place| AgentPlace { agent: place.agent, hosts: place.hosts, needs: place.needs }))
}

/// The assignee of an atom that is neither an agent here nor the caller.
fn stranger_of(app: &App, atom: &Atom) -> Result<Option<String>> {
    let known = app.settings()?.known_agents();
    let is_stranger = |name: &&String| **name != app.actor() && !known.contains(name);
    Ok(atom.assignee.as_ref().filter(is_stranger).cloned())
}

/// Where the agents work that may do the atom.
fn places_of(app: &App, atom: &Atom) -> Result<Vec<Place>> {
    let settings = app.settings()?;
    let agents = match &atom.assignee {
        Some(name) => vec![name.clone()],
        None => settings.work_settings()?.agents,
    };
    agents.iter().map(|name| settings.place_of(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        assert_eq!(shell_word("gpu,macos"), "gpu,macos");
        assert_eq!(shell_word("gpu*"), "'gpu*'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }
}
