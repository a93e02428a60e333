//! Where agents work: the hosts, and what their workers must offer.

use el_agents::worker::this_host;
use el_core::model::validate;
use el_core::rules::placement::is_host_among;

use super::{Settings, WorkSettings};
use crate::{CommandError, Result};

/// An agent's demands on the machine on which it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) agent: String,
    /// Patterns of hosts' names; empty: any.
    pub(crate) hosts: Vec<String>,
    pub(crate) needs: Vec<String>,
}

impl Place {
    pub(crate) fn is_anywhere(&self) -> bool {
        self.hosts.is_empty() && self.needs.is_empty()
    }

    /// Returns what a worker of this host with these offers lacks; `None`: nothing.
    pub(crate) fn find_lack(&self, offers: &[String]) -> Option<String> {
        let host = this_host();
        if !is_host_among(&self.hosts, &host) {
            let hosts = self.hosts.join(", ");
            return Some(format!("{} works on {hosts} only, and this is {host}", self.agent));
        }
        let lacking: Vec<&str> =
            self.needs.iter().filter(|need| !offers.contains(need)).map(String::as_str).collect();
        let needs = lacking.join(",");
        (!lacking.is_empty())
            .then(|| format!("{} needs {needs}: el work --offers {needs}", self.agent))
    }
}

impl Settings {
    /// Returns the offers of a worker here, sorted.
    pub(crate) fn worker_offers(&self) -> Result<Vec<String>> {
        Ok(validate::labels("worker_offers", &self.text_list("worker_offers", None)?)?)
    }

    pub(crate) fn place_of(&self, agent: &str) -> Result<Place> {
        Ok(Place {
            agent: agent.to_owned(),
            hosts: self.text_list("hosts", Some(agent))?,
            needs: self.text_list("needs", Some(agent))?,
        })
    }

    /// The same settings with the agents that can work here, and why each other cannot.
    ///
    /// # Errors
    /// If none can.
    pub(crate) fn agents_here(&self, work: WorkSettings) -> Result<(WorkSettings, Vec<String>)> {
        let offers = self.worker_offers()?;
        let (mut agents, mut elsewhere) = (Vec::new(), Vec::new());
        for agent in &work.agents {
            match self.place_of(agent)?.find_lack(&offers) {
                None => agents.push(agent.clone()),
                Some(why) => elsewhere.push(why),
            }
        }
        if agents.is_empty() {
            return Err(CommandError::config_error("agent", elsewhere.join("; ")).with_hint(
                "hosts and needs of its table in the configuration say where it works",
            ));
        }
        Ok((WorkSettings { agents, ..work }, elsewhere))
    }
}
