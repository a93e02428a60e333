//! Decides where branches are pushed, and which repository receives the work. Neither is guessed.

use super::{PullError, Result};
use crate::forge::{ForgeError, Forges, MergeMethod, RepoName};
use crate::git::{Remote, Repository};

/// The place, as far as a person has named it.
#[derive(Debug, Clone, Default)]
pub struct WantedPlace {
    /// The remote that branches are pushed to.
    pub remote: Option<String>,
    /// `OWNER/NAME` or `HOST/OWNER/NAME`.
    pub repo: Option<String>,
    pub base: Option<String>,
}

/// The place of pull requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullPlace {
    /// The remote that branches are pushed to.
    pub remote: String,
    /// The repository behind that remote.
    pub head: RepoName,
    /// The repository that receives the work.
    pub repo: RepoName,
    /// The word of its forge in the store.
    pub forge: &'static str,
    /// The remote of that repository.
    pub base_remote: String,
    pub base: String,
    /// The base is the default branch, so `Closes #n` works.
    pub is_default_base: bool,
    pub methods: Vec<MergeMethod>,
}

impl PullPlace {
    /// The base as git names it here: `origin/main`.
    pub fn base_name(&self) -> String {
        format!("{}/{}", self.base_remote, self.base)
    }
}

/// Finds the place, and asks the forge about it. Nothing is pushed.
///
/// # Errors
/// If there is no remote, more than one without a word about them, no right to push, or the forge
/// cannot be asked.
pub fn find_place(
    repository: &Repository,
    forges: &Forges,
    wanted: &WantedPlace,
) -> Result<PullPlace> {
    let all = repository.remotes()?;
    let named = |remote: &Remote| Some((remote.clone(), RepoName::of_remote(&remote.url)?));
    let remotes: Vec<(Remote, RepoName)> = all.iter().filter_map(named).collect();
    let (remote, pushed_to) = choose_remote(&all, &remotes, wanted.remote.as_deref())?;
    let asked = match &wanted.repo {
        Some(text) => RepoName::parse(text, &pushed_to.host).ok_or_else(|| {
            PullError::place(
                format!("pr_repo is '{text}', which names no repository"),
                "el config set pr_repo OWNER/NAME",
            )
        })?,
        None => pushed_to.clone(),
    };
    let (forge, facts) = forges.find(&asked)?;
    if let Some(parent) = facts.parent.as_ref().filter(|_| wanted.repo.is_none()) {
        let (fork, parent) = (asked.short(), parent.short());
        return Err(PullError::Fork { fork, parent });
    }
    // Under the names that they have now: the remote's may be an older one.
    let (may_push, head) = match asked.is_same(pushed_to) {
        true => (facts.may_push, facts.repo.clone()),
        false => {
            let of_head = forge.repository_facts(pushed_to)?;
            (of_head.may_push, of_head.repo)
        }
    };
    if !may_push {
        let said = "your rights there do not allow a push".to_owned();
        return Err(ForgeError::NoRights { repo: pushed_to.to_string(), said }.into());
    }
    let base_remote = remotes
        .iter()
        .find(|(_, name)| name.is_same(&asked) || name.is_same(&facts.repo))
        .map(|(remote, _)| remote.name.clone())
        .ok_or_else(|| {
            PullError::place(
                format!("no remote of this repository is {asked}, whose branches are needed"),
                format!("git remote add upstream https://{asked}"),
            )
        })?;
    let is_default_base = wanted.base.is_none() || wanted.base == facts.default_branch;
    let base = wanted.base.clone().or(facts.default_branch).ok_or_else(|| {
        PullError::place(format!("{asked} has no branch yet"), "push its first branch yourself")
    })?;
    Ok(PullPlace {
        remote: remote.name.clone(),
        head,
        repo: facts.repo,
        forge: forge.name(),
        base_remote,
        base,
        is_default_base,
        methods: facts.methods,
    })
}

/// `all`: also those whose address is not of a forge.
fn choose_remote<'a>(
    all: &[Remote],
    remotes: &'a [(Remote, RepoName)],
    wanted: Option<&str>,
) -> Result<&'a (Remote, RepoName)> {
    if let Some(wanted) = wanted {
        let found = remotes.iter().find(|(remote, _)| remote.name == wanted);
        return found.ok_or_else(|| match all.iter().any(|remote| remote.name == wanted) {
            true => no_forge(wanted),
            false => PullError::place(
                format!("pr_remote is '{wanted}', and there is no such remote"),
                "git remote -v lists the remotes",
            ),
        });
    }
    match remotes {
        [] => Err(match all {
            [] => PullError::place(
                "this repository has no remote",
                "git remote add origin https://HOST/OWNER/NAME",
            ),
            [one, ..] => no_forge(&one.name),
        }),
        [one] => Ok(one),
        many => Err(PullError::Remotes {
            remotes: many.iter().map(|(one, to)| (one.name.clone(), to.to_string())).collect(),
        }),
    }
}

/// The address itself may have a password.
fn no_forge(remote: &str) -> PullError {
    PullError::place(
        format!("the address of the remote {remote} is a folder, or names no OWNER/NAME"),
        format!(
            "git remote set-url {remote} https://HOST/OWNER/NAME, or git remote add another and el \
             config set pr_remote to its name"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remotes(urls: &[(&str, &str)]) -> Vec<(Remote, RepoName)> {
        urls.iter()
            .map(|(name, url)| {
                let remote = Remote { name: (*name).to_owned(), url: (*url).to_owned() };
                (remote, RepoName::of_url(url).unwrap())
            })
            .collect()
    }

    #[test]
    fn one_remote_is_taken_and_two_are_asked_about() {
        let one = remotes(&[("up", "git@github.com:acme/shop")]);
        assert_eq!(choose_remote(&[], &one, None).unwrap().0.name, "up");
        let two = remotes(&[
            ("origin", "git@github.com:ada/shop"),
            ("upstream", "https://github.com/acme/shop"),
        ]);
        let said = choose_remote(&[], &two, None).unwrap_err().to_string();
        assert_eq!(
            said,
            "this repository has 2 remotes: origin (github.com/ada/shop), upstream \
             (github.com/acme/shop)"
        );
        assert_eq!(choose_remote(&[], &two, Some("origin")).unwrap().1.owner, "ada");
    }
}
