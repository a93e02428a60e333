//! GitHub, asked by the user's own `gh`.

mod call;
mod issues;
mod look;
mod remarks;

use std::time::Duration;

use serde_json::{Value, json};

use self::call::run;
pub use self::issues::{FoundIssues, IssueChange, IssueFilter};
use super::answer::Answer;
use super::call::{Call, check_version, ensure_signed_in, parse};
use super::{
    Forge, ForgeError, ForgeProgram, ForgeRemark, FoundRequest, MergeMethod, NewRequest, RepoName,
    RepositoryFacts, RequestFacts, Result, state_of, text_of,
};
use crate::clock;

const GH: ForgeProgram = ForgeProgram {
    name: "gh",
    page: "https://cli.github.com",
    // The first version with all that is used here.
    needed: "2.20",
    variables: &[
        ("GH_PROMPT_DISABLED", "1"),
        ("GH_NO_UPDATE_NOTIFIER", "1"),
        ("GH_SPINNER_DISABLED", "1"),
    ],
    unset: &["GH_FORCE_TTY", "GH_REPO", "GH_DEBUG"],
    tokens: &["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
    signed_out: &["not logged into any", "not found among authenticated"],
};

/// The user's `gh`.
#[derive(Debug, Clone, Default)]
pub struct GithubCli;

impl GithubCli {
    fn ask(&self, repo: &RepoName, words: &[&str], input: Option<&str>) -> Result<String> {
        let call = Call { program: &GH, host: &repo.host, words, input };
        run(&call).map_err(|error| match error {
            ForgeError::RateLimit { host, .. } => limit_error(host, None),
            error => error.in_repository(repo),
        })
    }

    fn ask_json(&self, repo: &RepoName, words: &[&str]) -> Result<Value> {
        parse(&repo.host, &self.ask(repo, words, None)?)
    }

    /// Calls GraphQL. Part of the answer may be there although part of the question failed.
    fn ask_graphql(&self, repo: &RepoName, query: &str) -> Result<Value> {
        self.ask_graphql_with(repo, query, &json!({ "owner": repo.owner, "name": repo.name }))
    }

    /// The same with variables.
    fn ask_graphql_with(&self, repo: &RepoName, query: &str, variables: &Value) -> Result<Value> {
        let input = json!({ "query": query, "variables": variables });
        let words = ["api", "graphql", "--include", "--hostname", &repo.host, "--input", "-"];
        let input = input.to_string();
        let call = Call { program: &GH, host: &repo.host, words: &words, input: Some(&input) };
        let (said, error) = call::run_whole(&call)?;
        let answer = Answer::parse(&said);
        let wait = answer.as_ref().and_then(Answer::retry_wait);
        let said = parse(&repo.host, answer.as_ref().map_or(&said, |answer| &answer.body));
        match (said, error) {
            (said, None) => said,
            (Ok(said), Some(_)) if said["data"]["repository"].is_object() => Ok(said),
            (_, Some(ForgeError::RateLimit { host, .. })) => Err(limit_error(host, wait)),
            (_, Some(error)) => Err(error.in_repository(repo)),
        }
    }
}

/// The error of a limit. `wait`: how long the refusal itself says; else GitHub is asked, which
/// counts no such question.
fn limit_error(host: String, wait: Option<Duration>) -> ForgeError {
    let ask = || {
        let words = ["api", "rate_limit", "--hostname", &host];
        let call = Call { program: &GH, host: &host, words: &words, input: None };
        let said = parse(&host, &run(&call).ok()?).ok()?;
        let limit = &said["resources"]["graphql"];
        let reset = limit["reset"].as_i64().filter(|_| limit["remaining"] == 0)?;
        u64::try_from(reset - clock::now().as_secs()).ok().map(Duration::from_secs)
    };
    let wait = wait.or_else(ask);
    ForgeError::RateLimit { host, wait }
}

/// The query for pull requests by number, an alias each. `fields`: the fields of each.
fn pulls_query(numbers: &[u64], fields: impl Fn(u64) -> String) -> String {
    let each: Vec<String> = numbers
        .iter()
        .map(|n| format!("p{n}: pullRequest(number: {n}) {{ {} }}", fields(*n)))
        .collect();
    format!(
        "query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) \
         {{ {} }} }}",
        each.join(" ")
    )
}

/// Returns each one's part of the answer to [`pulls_query`], in the order of the numbers.
fn pulls_of<'a>(answer: &'a Value, numbers: &'a [u64]) -> impl Iterator<Item = (u64, &'a Value)> {
    let all = &answer["data"]["repository"];
    numbers.iter().map(move |number| (*number, &all[format!("p{number}")]))
}

impl Forge for GithubCli {
    fn name(&self) -> &'static str {
        "github"
    }

    fn ensure_ready(&self) -> Result<()> {
        check_version(&GH)
    }

    fn repository_facts(&self, repo: &RepoName) -> Result<RepositoryFacts> {
        let fields = "nameWithOwner,defaultBranchRef,parent,viewerPermission,squashMergeAllowed,\
                      mergeCommitAllowed,rebaseMergeAllowed";
        let name = repo.to_string();
        let said = self.ask_json(repo, &["repo", "view", &name, "--json", fields]);
        let said = ensure_signed_in(&GH, repo, said)?;
        let named = |owner: &Value, name: &Value| {
            RepoName::parse(&format!("{}/{}", owner.as_str()?, name.as_str()?), &repo.host)
        };
        let parent = &said["parent"];
        let methods = [
            ("squashMergeAllowed", MergeMethod::Squash),
            ("mergeCommitAllowed", MergeMethod::Merge),
            ("rebaseMergeAllowed", MergeMethod::Rebase),
        ];
        Ok(RepositoryFacts {
            repo: RepoName::parse(&text_of(&said["nameWithOwner"]), &repo.host)
                .unwrap_or_else(|| repo.clone()),
            default_branch: Some(text_of(&said["defaultBranchRef"]["name"]))
                .filter(|name| !name.is_empty()),
            parent: named(&parent["owner"]["login"], &parent["name"]),
            may_push: matches!(
                said["viewerPermission"].as_str(),
                Some("ADMIN" | "MAINTAIN" | "WRITE")
            ),
            methods: methods
                .into_iter()
                .filter(|(key, _)| said[*key] == true)
                .map(|(_, method)| method)
                .collect(),
        })
    }

    fn find_requests(&self, repo: &RepoName, head_ref: &str) -> Result<Vec<FoundRequest>> {
        let fields = "number,url,state,headRefOid,headRepositoryOwner";
        let name = repo.to_string();
        let words =
            ["pr", "list", "-R", &name, "--head", head_ref, "--state", "all", "--json", fields];
        let said = self.ask_json(repo, &words)?;
        let all = said.as_array().cloned().unwrap_or_default();
        let read = |one: &Value| {
            Some(FoundRequest {
                number: one["number"].as_u64()?,
                url: text_of(&one["url"]),
                state: state_of(&one["state"]),
                head: text_of(&one["headRefOid"]),
                head_owner: text_of(&one["headRepositoryOwner"]["login"]),
            })
        };
        let mut found: Vec<FoundRequest> = all.iter().filter_map(read).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.number));
        Ok(found)
    }

    fn create_request(&self, repo: &RepoName, new: &NewRequest<'_>) -> Result<(u64, String)> {
        let name = repo.to_string();
        let head = match new.head.owner.eq_ignore_ascii_case(&repo.owner) {
            true => new.head_ref.to_owned(),
            false => format!("{}:{}", new.head.owner, new.head_ref),
        };
        let mut words = vec![
            "pr",
            "create",
            "-R",
            &name,
            "--head",
            &head,
            "--base",
            new.base_ref,
            "--title",
            new.title,
            "--body-file",
            "-",
        ];
        if new.is_draft {
            words.push("--draft");
        }
        let said = self.ask(repo, &words, Some(new.body))?;
        // The last line is the address.
        let url = said.split_whitespace().rfind(|word| word.contains("://")).unwrap_or_default();
        let number = url.rsplit('/').next().and_then(|number| number.parse().ok());
        match number {
            Some(number) => Ok((number, url.to_owned())),
            None => Err(ForgeError::Answer { program: &GH, said }),
        }
    }

    fn request_body(&self, repo: &RepoName, number: u64) -> Result<String> {
        let (name, number) = (repo.to_string(), number.to_string());
        let said = self.ask_json(repo, &["pr", "view", &number, "-R", &name, "--json", "body"])?;
        Ok(text_of(&said["body"]))
    }

    fn edit_request(
        &self,
        repo: &RepoName,
        number: u64,
        base_ref: Option<&str>,
        body: Option<&str>,
    ) -> Result<()> {
        let (name, number) = (repo.to_string(), number.to_string());
        let mut words = vec!["pr", "edit", &number, "-R", &name];
        if let Some(base) = base_ref {
            words.extend(["--base", base]);
        }
        if body.is_some() {
            words.extend(["--body-file", "-"]);
        }
        self.ask(repo, &words, body).map(drop)
    }

    fn set_draft(&self, repo: &RepoName, number: u64, is_draft: bool) -> Result<()> {
        let (name, number) = (repo.to_string(), number.to_string());
        let mut words = vec!["pr", "ready", &number, "-R", &name];
        if is_draft {
            words.push("--undo");
        }
        self.ask(repo, &words, None).map(drop)
    }

    fn request_facts(&self, repo: &RepoName, numbers: &[u64]) -> Result<Vec<Option<RequestFacts>>> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let said = self.ask_graphql(repo, &look::facts_query(numbers));
        Ok(look::read_facts(&ensure_signed_in(&GH, repo, said)?, numbers))
    }

    fn request_merge(
        &self,
        repo: &RepoName,
        number: u64,
        head: &str,
        method: Option<MergeMethod>,
        when_ready: bool,
    ) -> Result<()> {
        let (name, number) = (repo.to_string(), number.to_string());
        let mut words = vec!["pr", "merge", &number, "-R", &name, "--match-head-commit", head];
        words.extend(method.map(|method| match method {
            MergeMethod::Squash => "--squash",
            MergeMethod::Merge => "--merge",
            MergeMethod::Rebase => "--rebase",
        }));
        let at_once = words.clone();
        if when_ready {
            words.push("--auto");
        }
        match self.ask(repo, &words, None) {
            // It became ready meanwhile, and nothing is left to wait for.
            Err(ForgeError::Refused { said, .. })
                if when_ready && said.contains("clean status") =>
            {
                self.ask(repo, &at_once, None).map(drop)
            }
            done => done.map(drop),
        }
    }

    fn find_remarks(&self, repo: &RepoName, numbers: &[u64]) -> Result<Vec<Vec<ForgeRemark>>> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        Ok(remarks::read_remarks(
            &self.ask_graphql(repo, &remarks::remarks_query(numbers))?,
            numbers,
        ))
    }

    fn failed_log(&self, repo: &RepoName, run: u64) -> Result<String> {
        let (name, run) = (repo.to_string(), run.to_string());
        self.ask(repo, &["run", "view", &run, "-R", &name, "--log-failed"], None)
    }

    fn is_base(&self, repo: &RepoName, branch: &str) -> Result<bool> {
        let name = repo.to_string();
        let words = ["pr", "list", "-R", &name, "--base", branch, "--json", "number"];
        let said = self.ask_json(repo, &words)?;
        Ok(said.as_array().is_some_and(|found| !found.is_empty()))
    }

    fn wants_signatures(&self, repo: &RepoName, branch: &str) -> Result<bool> {
        let path = format!("repos/{}/rules/branches/{}", repo.short(), branch.replace('/', "%2F"));
        let said = self.ask_json(repo, &["api", &path, "--hostname", &repo.host])?;
        let mut rules = said.as_array().into_iter().flatten();
        if rules.any(|rule| rule["type"] == "required_signatures") {
            return Ok(true);
        }
        // The protection of a branch that is older than rulesets; whoever may read can ask this.
        let query = "query BranchRule($owner: String!, $name: String!, $branch: String!) { \
                     repository(owner: $owner, name: $name) { ref(qualifiedName: $branch) { \
                     refUpdateRule { requiresSignatures } } } }";
        let variables = json!({
            "owner": repo.owner, "name": repo.name, "branch": format!("refs/heads/{branch}"),
        });
        match self.ask_graphql_with(repo, query, &variables) {
            Ok(said) => {
                let rule = &said["data"]["repository"]["ref"]["refUpdateRule"];
                Ok(rule["requiresSignatures"] == true)
            }
            // A server that does not know the question.
            Err(ForgeError::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn head_reference(&self, number: u64) -> String {
        format!("refs/pull/{number}/head")
    }

    fn template_places(&self) -> (&'static [&'static str], &'static [&'static str]) {
        let names = &["pull_request_template.md", "pull_request_template.txt"];
        (&[".github/", "", "docs/"], names)
    }
}
