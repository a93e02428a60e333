//! All that this GitHub knows: repositories, their pull requests and issues as plain dictionaries,
//! and the rules by which calls fail.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::git;
use crate::rules::Rule;

pub(crate) struct State {
    root: PathBuf,
    pub(crate) viewer: String,
    pub(crate) repositories: BTreeMap<String, Repository>,
    pub(crate) rules: Vec<Rule>,
    /// The names that repositories had before, and what they are called now.
    moved: BTreeMap<String, String>,
    /// It plays GitLab.
    pub(crate) is_gitlab: bool,
}

/// A repository. Its settings, the pull requests and the issues are what the tests wrote.
pub(crate) struct Repository {
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) fork_of: Option<String>,
    pub(crate) is_gitlab: bool,
    pub(crate) folder: PathBuf,
    pub(crate) settings: Map<String, Value>,
    pub(crate) pulls: BTreeMap<u64, Map<String, Value>>,
    pub(crate) issues: BTreeMap<u64, Map<String, Value>>,
    last: u64,
}

/// An answer that names what is wrong, as GraphQL does.
pub(crate) struct Refusal {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
}

pub(crate) fn refuse<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { kind: "UNPROCESSABLE", message: message.into() })
}

pub(crate) fn not_found<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { kind: "NOT_FOUND", message: message.into() })
}

pub(crate) fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl State {
    /// A forge with one repository, `acme/shop`, in which ada works.
    pub(crate) fn new(root: &Path, is_gitlab: bool) -> Result<State, String> {
        let mut state = State {
            root: root.to_owned(),
            viewer: "ada".to_owned(),
            repositories: BTreeMap::new(),
            rules: Vec::new(),
            moved: BTreeMap::new(),
            is_gitlab,
        };
        state.add_repository("acme/shop", None)?;
        Ok(state)
    }

    /// The folder below which `git http-backend` finds the repositories.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn add_repository(
        &mut self,
        full_name: &str,
        fork_of: Option<&str>,
    ) -> Result<(), String> {
        let (owner, name) = full_name.rsplit_once('/').ok_or("a repository is OWNER/NAME")?;
        let folder = self.root.join(owner).join(format!("{name}.git"));
        git::make(&folder, self.is_gitlab)?;
        if let Some(parent) = fork_of.and_then(|parent| self.repositories.get(parent)) {
            let from = parent.folder.display().to_string();
            git::git(&folder, &["fetch", "--quiet", &from, "refs/heads/*:refs/heads/*"])
                .ok_or("cannot fork")?;
        }
        self.repositories.insert(
            full_name.to_owned(),
            Repository {
                owner: owner.to_owned(),
                name: name.to_owned(),
                fork_of: fork_of.map(str::to_owned),
                is_gitlab: self.is_gitlab,
                folder,
                settings: Map::new(),
                pulls: BTreeMap::new(),
                issues: BTreeMap::new(),
                last: 0,
            },
        );
        Ok(())
    }

    pub(crate) fn repository(&self, owner: &str, name: &str) -> Result<&Repository, Refusal> {
        let wanted = self.name_now(&format!("{owner}/{name}"));
        let found = self.repositories.iter().find(|(key, _)| key.eq_ignore_ascii_case(&wanted));
        found.map(|(_, repository)| repository).map_or_else(
            || not_found(format!("Could not resolve to a Repository with the name '{wanted}'.")),
            Ok,
        )
    }

    /// Renames a repository, or gives it to another owner. The old name leads there too.
    pub(crate) fn rename_repository(&mut self, from: &str, to: &str) -> Result<(), String> {
        let (owner, name) = to.rsplit_once('/').ok_or("a repository is OWNER/NAME")?;
        let mut of = self.repositories.remove(from).ok_or("there is no such repository")?;
        let before = std::mem::replace(&mut of.owner, owner.to_owned());
        name.clone_into(&mut of.name);
        for pull in of.pulls.values_mut().filter(|pull| text(pull, "headOwner") == before) {
            pull.insert("headOwner".to_owned(), json!(owner));
        }
        let place = self.root.join(owner).join(format!("{name}.git"));
        let failed = |error: std::io::Error| format!("{}: {error}", place.display());
        std::fs::create_dir_all(self.root.join(owner)).map_err(failed)?;
        std::os::unix::fs::symlink(&of.folder, &place).map_err(failed)?;
        self.repositories.insert(to.to_owned(), of);
        self.moved.insert(from.to_owned(), to.to_owned());
        Ok(())
    }

    /// The name of a repository now.
    pub(crate) fn name_now(&self, name: &str) -> String {
        let mut name = name;
        while let Some(next) = self.moved.get(name) {
            name = next;
        }
        name.to_owned()
    }

    /// The repository and the number that an id such as `PR_acme_shop_3` names.
    pub(crate) fn named_by(&mut self, id: &str) -> Result<(char, u64, &mut Repository), Refusal> {
        let parts: Vec<&str> = id.split('_').collect();
        let [kind, owner, name, number] = parts[..] else {
            return not_found(format!("Could not resolve to a node with the global id of '{id}'"));
        };
        let kind = kind.chars().next().unwrap_or_default();
        let number = number.parse().unwrap_or(0);
        match self.repositories.get_mut(&format!("{owner}/{name}")) {
            Some(repository) => Ok((kind, number, repository)),
            None => not_found(format!("Could not resolve to a node with the global id of '{id}'")),
        }
    }

    /// Lets come to pass what GitHub does by itself: branches that are gone close their pull
    /// requests, a head that the base contains is merged, and an armed merge happens.
    pub(crate) fn settle(&mut self) {
        let names: Vec<String> = self.repositories.keys().cloned().collect();
        for name in names {
            let open: Vec<u64> = self.repositories[&name]
                .pulls
                .iter()
                .filter(|(_, pull)| pull["state"] == "OPEN")
                .map(|(number, _)| *number)
                .collect();
            for number in open {
                self.settle_pull(&name, number);
            }
        }
    }

    fn settle_pull(&mut self, name: &str, number: u64) {
        let head = self.head_of(name, number);
        let Some(repository) = self.repositories.get_mut(name) else { return };
        let folder = repository.folder.clone();
        let Some(pull) = repository.pulls.get_mut(&number) else { return };
        let base = git::tip(&folder, text(pull, "baseRefName"));
        let (Some(head), Some(base)) = (head, base) else {
            // GitLab leaves it open, and says so.
            if repository.is_gitlab {
                return;
            }
            pull.extend([
                ("state".to_owned(), json!("CLOSED")),
                ("closedAt".to_owned(), json!(now())),
                ("updatedAt".to_owned(), json!(now())),
            ]);
            return;
        };
        if pull["headRefOid"] != json!(head) {
            pull.insert("headRefOid".to_owned(), json!(head));
            pull.insert("updatedAt".to_owned(), json!(now()));
        }
        git::keep_head(&folder, number, &head);
        if git::contains(&folder, &base, &head) {
            merged(pull, &head, "somebody");
            return;
        }
        let armed = pull["autoMergeRequest"]["mergeMethod"].as_str().map(str::to_owned);
        if let Some(method) = armed.filter(|_| !repository.flag("queue")) {
            // It waits for as long as it cannot be merged.
            let _ = self.merge(name, number, &method, None);
        }
    }

    /// The commit of a pull request's branch, brought into the repository that it is for.
    fn head_of(&self, name: &str, number: u64) -> Option<String> {
        let repository = self.repositories.get(name)?;
        let pull = repository.pulls.get(&number)?;
        let branch = text(pull, "headRefName");
        let from = format!("{}/{}", text(pull, "headOwner"), repository.name);
        if from == name {
            return git::tip(&repository.folder, branch);
        }
        let fork = self.repositories.get(&from)?;
        let head = git::tip(&fork.folder, branch)?;
        let folder = fork.folder.display().to_string();
        git::git(&repository.folder, &["fetch", "--quiet", &folder, &head])?;
        Some(head)
    }
}

impl Repository {
    pub(crate) fn full_name(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    pub(crate) fn url(&self) -> String {
        let host = if self.is_gitlab { "gitlab" } else { "github" };
        format!("http://{host}.localhost/{}", self.full_name())
    }

    pub(crate) fn default_branch(&self) -> String {
        git::git(&self.folder, &["symbolic-ref", "--short", "HEAD"]).unwrap_or_default()
    }

    /// A setting that is off unless a test turned it on.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.settings.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// By a ruleset, or by the protection of its branch.
    pub(crate) fn wants_signatures(&self) -> bool {
        self.flag("signed") || self.flag("signed_branch")
    }

    /// A branch has to have all of its base. GitLab wants that where it only moves the base up.
    pub(crate) fn wants_all_of_base(&self) -> bool {
        self.flag("strict") || self.is_gitlab && self.methods() == [json!("REBASE")]
    }

    pub(crate) fn list(&self, name: &str) -> Vec<Value> {
        self.settings.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    }

    pub(crate) fn methods(&self) -> Vec<Value> {
        match self.list("methods") {
            none if none.is_empty() => vec![json!("SQUASH"), json!("MERGE"), json!("REBASE")],
            given => given,
        }
    }

    /// Issues and pull requests share their numbers.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Writes values over those of an issue, and makes the issue if there is none.
    pub(crate) fn patch_issue(&mut self, number: u64, values: &Map<String, Value>) {
        self.last = self.last.max(number);
        let issue = self.issues.entry(number).or_insert_with(|| new_issue(number));
        issue.insert("updatedAt".to_owned(), json!(now()));
        issue.extend(values.clone());
    }
}

fn new_issue(number: u64) -> Map<String, Value> {
    let blank = json!({
        "number": number, "title": format!("Issue {number}"), "body": "", "state": "OPEN",
        "stateReason": null, "author": "ada", "association": "MEMBER", "createdAt": now(),
        "updatedAt": now(), "closedAt": null, "labels": [], "assignees": [], "comments": [],
    });
    blank.as_object().cloned().unwrap_or_default()
}

/// Writes down that a pull request was merged as this commit.
pub(crate) fn merged(pull: &mut Map<String, Value>, commit: &str, by: &str) {
    let values = json!({
        "state": "MERGED", "mergedAt": now(), "closedAt": now(), "updatedAt": now(),
        "mergeCommit": commit, "mergedBy": by, "autoMergeRequest": null, "inQueue": false,
    });
    pull.extend(values.as_object().cloned().unwrap_or_default());
}

pub(crate) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn list<'a>(object: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
