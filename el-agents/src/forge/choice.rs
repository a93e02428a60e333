//! Chooses the forge to ask. No other place decides.

use el_core::model::PullRequest;

use super::{Forge, ForgeError, GithubCli, GitlabCli, RepoName, RepositoryFacts, Result};

/// A kind of forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForgeKind {
    Github,
    Gitlab,
}

/// The forges, each asked by the user's own program.
#[derive(Debug, Clone, Default)]
pub struct Forges {
    github: GithubCli,
    gitlab: GitlabCli,
    wanted: Option<ForgeKind>,
}

impl Forges {
    /// `wanted`: the kind that a person has set; `None`: the host tells.
    pub fn new(wanted: Option<ForgeKind>) -> Forges {
        Forges { wanted, ..Forges::default() }
    }

    /// The forge behind a host.
    pub fn of_host(&self, host: &str) -> &dyn Forge {
        let kind = self.wanted.or_else(|| kind_of_name(host)).unwrap_or_else(|| {
            // A host of any other name: one that glab is signed in to, or as before GitHub's.
            if self.gitlab.knows(host) { ForgeKind::Gitlab } else { ForgeKind::Github }
        });
        match kind {
            ForgeKind::Github => &self.github,
            ForgeKind::Gitlab => &self.gitlab,
        }
    }

    /// Asks the forge behind a repository's host about it.
    ///
    /// # Errors
    /// If the forge cannot be asked, does not show the repository, or is not known.
    pub(crate) fn find(&self, repo: &RepoName) -> Result<(&dyn Forge, RepositoryFacts)> {
        let forge = self.of_host(&repo.host);
        let is_guess = self.wanted.is_none() && kind_of_name(&repo.host).is_none();
        match forge.ensure_ready().and_then(|()| forge.repository_facts(repo)) {
            Ok(facts) => Ok((forge, facts)),
            Err(ForgeError::Missing { .. } | ForgeError::NotSignedIn { .. })
                if is_guess && forge.name() == self.github.name() =>
            {
                // A fault that keeps glab from telling comes first.
                match self.gitlab.ensure_ready() {
                    Err(error @ ForgeError::Configuration { .. }) => Err(error),
                    _ => Err(ForgeError::Unclear { host: repo.host.clone() }),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// The forge with this word in the store.
    pub(crate) fn named(&self, word: &str) -> &dyn Forge {
        if word == self.gitlab.name() { &self.gitlab } else { &self.github }
    }

    /// The forge that has a pull request.
    pub(crate) fn of_record(&self, record: &PullRequest) -> &dyn Forge {
        self.named(&record.forge)
    }
}

/// The kind that a host's name tells: github.com, `gitlab.acme.org`.
fn kind_of_name(host: &str) -> Option<ForgeKind> {
    let host = host.to_ascii_lowercase();
    let first = host.split('.').next().unwrap_or_default();
    if first.starts_with("gitlab") {
        Some(ForgeKind::Gitlab)
    } else if first.starts_with("github") || host.ends_with(".ghe.com") {
        Some(ForgeKind::Github)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_names_the_forge_and_a_setting_overrides_it() {
        let forges = Forges::new(None);
        for (host, name) in [
            ("github.com", "github"),
            ("github.localhost", "github"),
            ("acme.ghe.com", "github"),
            ("gitlab.com", "gitlab"),
            ("GitLab.acme.org", "gitlab"),
        ] {
            assert_eq!(forges.of_host(host).name(), name, "{host}");
        }
        let set = Forges::new(Some(ForgeKind::Gitlab));
        assert_eq!(set.of_host("salsa.debian.org").name(), "gitlab");
        assert_eq!(set.named("github").name(), "github", "a record keeps its own");
    }
}
