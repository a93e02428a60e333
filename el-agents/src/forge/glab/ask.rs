//! Asks a project at GitLab.

use serde_json::{Value, json};

use super::call::{answer_to, escape};
use super::{GLAB, GitlabCli, NEVER_SIGNED_IN};
use crate::forge::answer::Answer;
use crate::forge::call::{auth_status, parse};
use crate::forge::{ForgeError, RepoName, Result, text_of};

/// A page of a list, and the pages of one that are read at most.
pub(super) const PAGE: usize = 100;
const PAGES_MOST: usize = 20;

impl GitlabCli {
    /// Returns true if glab is there and signed in to this host.
    pub(in crate::forge) fn knows(&self, host: &str) -> bool {
        // The call also fails without a network, with other words.
        auth_status(&GLAB, host).is_ok_and(|said| !said.contains(NEVER_SIGNED_IN))
    }

    /// Calls the interface. `path`: below `projects/NAME`.
    pub(super) fn call(
        &self,
        repo: &RepoName,
        method: &'static str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer> {
        let path = format!("projects/{}{path}", escape(&repo.short()));
        self.call_any(repo, method, &path, body)
    }

    pub(super) fn call_any(
        &self,
        repo: &RepoName,
        method: &'static str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Answer> {
        let input = body.map(Value::to_string);
        answer_to(&repo.host, method, path, input.as_deref())
            .map_err(|error| error.in_repository(repo))
    }

    pub(super) fn get(&self, repo: &RepoName, path: &str) -> Result<Value> {
        parse(&repo.host, &self.call(repo, "GET", path, None)?.body)
    }

    /// All pages of a list. `path`: with a query.
    pub(super) fn list(&self, repo: &RepoName, path: &str) -> Result<Vec<Value>> {
        let mut found = Vec::new();
        let mut page = "1".to_owned();
        for _ in 0..PAGES_MOST {
            let path = format!("{path}&per_page={PAGE}&page={page}");
            let answer = self.call(repo, "GET", &path, None)?;
            match parse(&repo.host, &answer.body)? {
                Value::Array(items) => found.extend(items),
                other => {
                    let said = format!("no list: {other}");
                    return Err(ForgeError::Answer { program: &GLAB, said });
                }
            }
            match answer.header("x-next-page") {
                Some(next) if !next.is_empty() => page = next.to_owned(),
                _ => break,
            }
        }
        Ok(found)
    }

    pub(super) fn graphql(&self, repo: &RepoName, query: &str, variables: &Value) -> Result<Value> {
        let body = json!({ "query": query, "variables": variables });
        let said = parse(&repo.host, &self.call_any(repo, "POST", "graphql", Some(&body))?.body)?;
        match said["errors"][0]["message"].as_str() {
            Some(message) if !said["data"]["project"].is_object() => {
                let (repo, said) = (repo.to_string(), message.to_owned());
                Err(ForgeError::Refused { repo, said })
            }
            _ => Ok(said),
        }
    }

    /// The merge requests in the trains of the project. Servers without trains have no such page.
    pub(super) fn merge_trains(&self, repo: &RepoName) -> Result<Value> {
        match self.get(repo, &format!("/merge_trains?scope=active&per_page={PAGE}")) {
            Err(ForgeError::NoRepository { .. } | ForgeError::NoRights { .. }) => Ok(Value::Null),
            told => told,
        }
    }

    pub(super) fn read_request(&self, repo: &RepoName, number: u64) -> Result<Value> {
        self.get(repo, &format!("/merge_requests/{number}"))
    }

    pub(super) fn change(&self, repo: &RepoName, number: u64, values: Value) -> Result<()> {
        let path = format!("/merge_requests/{number}");
        self.call(repo, "PUT", &path, Some(&values)).map(drop)
    }

    /// The level of the signed-in user, who is a member by an invitation of a group.
    pub(super) fn own_level(&self, repo: &RepoName) -> Result<u64> {
        let me = parse(&repo.host, &self.call_any(repo, "GET", "user", None)?.body)?;
        match self.get(repo, &format!("/members/all/{}", me["id"])) {
            Ok(member) => Ok(member["access_level"].as_u64().unwrap_or(0)),
            Err(ForgeError::NoRepository { .. }) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// The owner of a fork; empty: it is not shown.
    pub(super) fn owner_of(&self, repo: &RepoName, id: u64) -> Result<String> {
        match self.call_any(repo, "GET", &format!("projects/{id}"), None) {
            Ok(answer) => Ok(text_of(&parse(&repo.host, &answer.body)?["namespace"]["full_path"])),
            Err(ForgeError::NoRepository { .. } | ForgeError::NoRights { .. }) => Ok(String::new()),
            Err(error) => Err(error),
        }
    }
}
