//! Which forge is asked: the one place that decides it.

use el_core::model::PullRequest;

use super::{Forge, GithubCli};

/// The forges, each asked by the user's own program.
#[derive(Debug, Clone, Default)]
pub struct Forges {
    github: GithubCli,
}

impl Forges {
    /// The forge behind a host.
    pub fn of_host(&self, _host: &str) -> &dyn Forge {
        &self.github
    }

    /// The forge with this word in the store.
    pub(crate) fn named(&self, _word: &str) -> &dyn Forge {
        &self.github
    }

    /// The forge that has a pull request.
    pub(crate) fn of_record(&self, record: &PullRequest) -> &dyn Forge {
        self.named(&record.forge)
    }
}
