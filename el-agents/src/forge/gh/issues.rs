//! Issues of GitHub.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{ForgeError, GH, GithubCli, RepoName, Result};
use crate::forge::text_of;

/// The fields of an issue that every version of `gh` knows.
const FIELDS: &str = "number,title,body,state,labels,assignees,author,comments,milestone,\
                      createdAt,updatedAt,closedAt,url";
/// The fields that newer versions know, the newest first.
const NEWER: [&str; 2] =
    ["stateReason,parent,subIssues,blockedBy,blocking,issueType", "stateReason"];
/// The fields that can be written.
const TEXTS: &str = "number,title,body,state,labels,url";
/// A search gives no more than so many.
const SEARCH_MOST: usize = 1_000;
/// More than any repository has.
const ALL: &str = "1000000";

/// Which issues are asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct IssueFilter<'a> {
    pub label: Option<&'a str>,
    /// Changed since then, in RFC 3339.
    pub since: Option<&'a str>,
}

/// The issues of a repository.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundIssues {
    /// As `gh issue list --json` gives them.
    pub items: Vec<Value>,
    /// This version of `gh` does not tell parents, sub-issues, blockers and types; one of Debian 12
    /// neither why an issue was closed.
    pub lacks_relations: bool,
    /// There are more changed ones than a search gives.
    pub is_cut: bool,
}

/// The values to write into an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueChange {
    pub title: Option<String>,
    pub body: Option<String>,
    pub add_labels: Vec<String>,
    pub remove_labels: Vec<String>,
}

impl GithubCli {
    /// Returns true if everybody can see the repository, and so file issues there.
    ///
    /// # Errors
    /// If GitHub cannot be asked, or does not show the repository.
    pub fn is_public(&self, repo: &RepoName) -> Result<bool> {
        let said = self.ask_json(repo, &["repo", "view", &repo.to_string(), "--json", "isPrivate"]);
        Ok(said?["isPrivate"] != true)
    }

    /// Lists issues, open or not.
    ///
    /// # Errors
    /// If GitHub cannot be asked.
    pub fn issues(&self, repo: &RepoName, filter: IssueFilter<'_>) -> Result<FoundIssues> {
        let mut lacks_relations = false;
        let mut newer = NEWER.iter();
        let said = loop {
            let more = newer.next();
            let fields = more.map_or_else(|| FIELDS.to_owned(), |more| format!("{FIELDS},{more}"));
            match self.list_issues(repo, filter, &fields) {
                Err(ForgeError::Refused { said, .. })
                    if more.is_some() && said.contains("Unknown JSON field") =>
                {
                    lacks_relations = true;
                }
                said => break said?,
            }
        };
        let items = said.as_array().cloned().unwrap_or_default();
        let is_cut = filter.since.is_some() && items.len() >= SEARCH_MOST;
        Ok(FoundIssues { items, lacks_relations, is_cut })
    }

    fn list_issues(&self, repo: &RepoName, filter: IssueFilter<'_>, fields: &str) -> Result<Value> {
        let name = repo.to_string();
        let mut words =
            vec!["issue", "list", "-R", &name, "--state", "all", "--limit", ALL, "--json", fields];
        if let Some(label) = filter.label {
            words.extend(["--label", label]);
        }
        let search = filter.since.map(|since| format!("updated:>={since}"));
        if let Some(search) = &search {
            words.extend(["--search", search]);
        }
        self.ask_json(repo, &words)
    }

    /// One issue, with the fields that can be written.
    ///
    /// # Errors
    /// If GitHub cannot be asked, or has no such issue.
    pub fn read_issue(&self, repo: &RepoName, number: u64) -> Result<Value> {
        let (name, number) = (repo.to_string(), number.to_string());
        self.ask_json(repo, &["issue", "view", &number, "-R", &name, "--json", TEXTS])
    }

    /// Returns the roles of issues' authors in the repository, in GitHub's words (`MEMBER`,
    /// `NONE`), by the number of the issue.
    ///
    /// # Errors
    /// If GitHub cannot be asked.
    pub fn author_roles(
        &self,
        repo: &RepoName,
        since: Option<&str>,
    ) -> Result<BTreeMap<u64, String>> {
        let mut found = BTreeMap::new();
        let mut after = Value::Null;
        loop {
            let query = "query IssueAuthors($owner: String!, $name: String!, $after: String, \
                         $since: DateTime) { repository(owner: $owner, name: $name) { \
                         issues(first: 100, after: $after, filterBy: {since: $since}) { \
                         nodes { number authorAssociation } \
                         pageInfo { hasNextPage endCursor } } } }";
            let variables = json!({
                "owner": repo.owner, "name": repo.name, "after": after, "since": since,
            });
            let said = self.ask_graphql_with(repo, query, &variables)?;
            let issues = &said["data"]["repository"]["issues"];
            for issue in issues["nodes"].as_array().into_iter().flatten() {
                if let Some(number) = issue["number"].as_u64() {
                    found.insert(number, text_of(&issue["authorAssociation"]));
                }
            }
            after = issues["pageInfo"]["endCursor"].clone();
            if issues["pageInfo"]["hasNextPage"] != true || after.is_null() {
                return Ok(found);
            }
        }
    }

    /// Changes an issue. The texts go by standard input; only names of labels are arguments.
    ///
    /// # Errors
    /// If GitHub refuses.
    pub fn change_issue(&self, repo: &RepoName, number: u64, change: &IssueChange) -> Result<()> {
        let (name, number) = (repo.to_string(), number.to_string());
        // An unknown label is refused before anything is written.
        if !(change.add_labels.is_empty() && change.remove_labels.is_empty()) {
            let mut words = vec!["issue", "edit", &number, "-R", &name];
            for label in &change.add_labels {
                words.extend(["--add-label", label]);
            }
            for label in &change.remove_labels {
                words.extend(["--remove-label", label]);
            }
            self.ask(repo, &words, None)?;
        }
        let mut input = Map::new();
        input.extend(change.title.as_ref().map(|title| ("title".to_owned(), json!(title))));
        input.extend(change.body.as_ref().map(|body| ("body".to_owned(), json!(body))));
        if input.is_empty() {
            return Ok(());
        }
        let words = ["issue", "view", &number, "-R", &name, "--json", "id"];
        input.insert("id".to_owned(), self.ask_json(repo, &words)?["id"].take());
        let mutation = "mutation IssueTexts($input: UpdateIssueInput!) { \
                        updateIssue(input: $input) { issue { number } } }";
        let said = self.ask_graphql_with(repo, mutation, &json!({ "input": input }))?;
        match said["data"]["updateIssue"]["issue"]["number"].is_u64() {
            true => Ok(()),
            false => Err(ForgeError::Answer { program: &GH, said: said.to_string() }),
        }
    }
}
