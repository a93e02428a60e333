use std::fmt;
use std::process::Command;
use std::time::Duration;

use crate::git::run_bounded;

/// The time for ssh to read the configuration, and the most bytes of output.
const SSH_LIMIT: Duration = Duration::from_secs(5);
const SSH_ANSWER: usize = 1 << 20;

/// The name of a repository on a forge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RepoName {
    pub host: String,
    /// At GitLab the groups, one within the other: `acme/tools`.
    pub owner: String,
    pub name: String,
}

impl RepoName {
    /// Reads `HOST/OWNER/NAME`, or `OWNER/NAME` on this host. `None`: it is neither. Of more than
    /// two parts, the first is a host if it has a dot, is this host, or none is given.
    pub fn parse(text: &str, host: &str) -> Option<RepoName> {
        let text = text.trim().trim_end_matches('/');
        let (path, name) = text.rsplit_once('/')?;
        match path.split_once('/') {
            Some((first, owner)) if host.is_empty() || first.contains('.') || first == host => {
                RepoName::checked(first, owner, name)
            }
            _ => RepoName::checked(host, path, name),
        }
    }

    /// Reads the address of a pull request's page.
    pub(crate) fn of_page(url: &str) -> Option<RepoName> {
        let ends = ["/-/merge_requests/", "/pull/"];
        let (repo, _) = ends.iter().find_map(|end| url.rsplit_once(end))?;
        RepoName::of_url(repo)
    }

    /// Reads the address of a remote. `None`: it is no address of a forge, such as a folder.
    pub fn of_url(url: &str) -> Option<RepoName> {
        let url = url.trim();
        let (place, path) = match url.split_once("://") {
            Some(("https" | "http" | "ssh" | "git" | "git+ssh" | "ssh+git", rest)) => {
                rest.split_once('/')?
            }
            Some(_) => return None,
            // `git@host:owner/name`; a folder has its slash first.
            None => url.split_once(':').filter(|(place, _)| !place.contains('/'))?,
        };
        let host = place.rsplit('@').next()?.split(':').next()?;
        let path = path.trim_matches('/');
        let (owner, name) = path.strip_suffix(".git").unwrap_or(path).rsplit_once('/')?;
        RepoName::checked(host, owner, name)
    }

    /// The same, where the host may be a name that a person gave it in the configuration of ssh, as
    /// people with several accounts do. `ssh -G` resolves it, and asks nobody.
    pub fn of_remote(url: &str) -> Option<RepoName> {
        let found = RepoName::of_url(url)?;
        let is_ssh = url.trim().split_once("://").is_none_or(|(how, _)| how.contains("ssh"));
        let host = if is_ssh { ssh_host(&found.host) } else { None };
        match host.unwrap_or_else(|| found.host.clone()).as_str() {
            // The way in through the port of https.
            "ssh.github.com" => RepoName::checked("github.com", &found.owner, &found.name),
            "altssh.gitlab.com" => RepoName::checked("gitlab.com", &found.owner, &found.name),
            host => RepoName::checked(host, &found.owner, &found.name),
        }
    }

    fn checked(host: &str, owner: &str, name: &str) -> Option<RepoName> {
        let is_word = |text: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let is_name = !["", ".", ".."].contains(&text) && !text.starts_with('-');
            is_name && text.chars().all(is_plain)
        };
        let host = host.to_ascii_lowercase();
        // Only GitLab has groups within groups.
        let is_nested = owner.contains('/') && host == "github.com";
        let all = [host.as_str(), name].into_iter().chain(owner.split('/')).all(is_word);
        (all && !is_nested).then(|| RepoName {
            host,
            owner: owner.to_owned(),
            name: name.to_owned(),
        })
    }

    /// `OWNER/NAME`.
    pub fn short(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// Forges ignore the case of names.
    pub fn is_same(&self, other: &RepoName) -> bool {
        self.to_string().eq_ignore_ascii_case(&other.to_string())
    }
}

impl fmt::Display for RepoName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.host, self.owner, self.name)
    }
}

/// The host that ssh would call by this name. `None`: there is no ssh.
fn ssh_host(name: &str) -> Option<String> {
    let mut command = Command::new("ssh");
    command.args(["-G", name]);
    let ran = run_bounded(&mut command, None, SSH_LIMIT, SSH_ANSWER).ok().flatten()?;
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("hostname "))?;
    ran.status.success().then(|| host.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_forges_are_read_and_folders_are_not() {
        for url in [
            "https://github.com/acme/shop.git",
            "https://ann:token@github.com/acme/shop",
            "http://github.com/acme/shop/",
            "git@github.com:acme/shop.git",
            "ssh://git@github.com:22/acme/shop.git",
            "ssh://GitHub.com/acme/shop",
        ] {
            let name = RepoName::of_url(url).map(|name| name.to_string());
            assert_eq!(name.as_deref(), Some("github.com/acme/shop"), "{url}");
        }
        for url in [
            "/srv/git/shop.git",
            "../shop",
            "file:///srv/shop",
            "https://github.com/shop",
            "git@github.com:-x/shop",
            "https://github.com/acme/shop/tree",
            "C:\\shop",
        ] {
            assert_eq!(RepoName::of_url(url), None, "{url}");
        }
        let name = RepoName::parse("acme/shop", "github.com").unwrap();
        assert!(name.is_same(&RepoName::parse("GitHub.com/Acme/shop", "x").unwrap()));
        assert_eq!(RepoName::parse("shop", "github.com"), None);
        let nested = RepoName::of_url("git@gitlab.com:acme/tools/shop.git").unwrap();
        assert_eq!((nested.owner.as_str(), nested.name.as_str()), ("acme/tools", "shop"));
        for (text, host) in [
            ("gitlab.com/acme/tools/shop", ""),
            ("gitlab.com/acme/tools/shop", "git.acme.org"),
            ("acme/tools/shop", "gitlab.com"),
        ] {
            assert!(nested.is_same(&RepoName::parse(text, host).unwrap()), "{text}");
        }
        assert_eq!(RepoName::parse("acme//shop", "gitlab.com"), None);
        for (page, name) in [
            ("https://github.com/acme/shop/pull/12", Some("github.com/acme/shop")),
            ("https://gitlab.com/a/b/shop/-/merge_requests/3", Some("gitlab.com/a/b/shop")),
            ("https://github.com/acme/shop", None),
        ] {
            let read = RepoName::of_page(page).map(|name| name.to_string());
            assert_eq!(read.as_deref(), name);
        }
    }
}
