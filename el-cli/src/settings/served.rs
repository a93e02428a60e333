//! Which agents a worker serves, how many things each may do at a time, who may hand over, and how work is checked.

use std::path::PathBuf;

use el_agents::worker::Served;
use el_core::protocol::words;

use super::keys::Key;
use super::{Origin, Settings, WorkSettings};
use crate::error::{CommandError, Result};

impl Settings {
    /// The agents of a worker, in the order given.
    ///
    /// An agent does one thing at a time. `max_parallel` in its table says otherwise, for all workers together. Where it is not set, the only agent of a
    /// worker may do as many as that worker has sessions; and `--concurrency` on the command line, being the last word, also raises a
    /// `max_parallel` of the files. A worker of several agents divides its sessions among them, so it raises nobody's bound.
    pub(crate) fn served(&self, work: &WorkSettings) -> Result<Vec<Served>> {
        let is_alone = work.agents.len() == 1;
        let concurrency = usize::try_from(work.concurrency).unwrap_or(usize::MAX);
        let asked_for = matches!(self.origin("concurrency", None)?, Origin::Flag { .. });
        work.agents
            .iter()
            .map(|name| {
                let agent = self.agent(name)?;
                let own = agent.max_parallel.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
                let at_most = match own {
                    Some(most) if is_alone && asked_for => most.max(concurrency),
                    Some(most) => most,
                    None if is_alone => concurrency,
                    None => 1,
                };
                Ok(Served { agent, at_most })
            })
            .collect()
    }

    fn origin(&self, name: &str, agent: Option<&str>) -> Result<Origin> {
        let key = Key::find(name).expect("the names in this file are those of the list of keys");
        Ok(self.get(key, agent)?.origin)
    }

    /// Projects of other users that are trusted. Whatever stands in a project's own file.
    pub(crate) fn safe_directories(&self) -> Result<Vec<PathBuf>> {
        let home = std::env::home_dir();
        let path = |text: String| match (text.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        Ok(self.list("safe_directories", None)?.into_iter().map(path).collect())
    }

    /// Who may hand over tasks; empty: everyone.
    pub(crate) fn delegates(&self) -> Result<Vec<String>> {
        self.list("delegates", None)
    }

    /// The words of the check's command; empty: there is none.
    pub(super) fn check(&self, agent: Option<&str>) -> Result<Vec<String>> {
        let Some(text) = self.text("verify", agent)? else { return Ok(Vec::new()) };
        words::split(&text).map_err(|error| {
            let origin = self.origin("verify", agent).map_or_else(|_| String::new(), |origin| format!("{origin}: "));
            CommandError::config("verify", format!("{origin}verify: {error}"))
                .with_hint("no shell reads the check's command; sh -c '…' gives it one")
        })
    }
}
