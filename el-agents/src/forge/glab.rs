//! GitLab, asked by the user's own `glab`: its REST interface, and GraphQL where that tells of many
//! merge requests at once.

mod ask;
mod call;
mod look;
mod remarks;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::ask::PAGE;
use self::call::escape;
use super::call::{check_version, ensure_signed_in, parse};
use super::{
    Forge, ForgeError, ForgeProgram, ForgeRemark, FoundRequest, MergeMethod, NewRequest, RepoName,
    RepositoryFacts, RequestFacts, Result, state_of, text_of,
};

const GLAB: ForgeProgram = ForgeProgram {
    name: "glab",
    page: "https://gitlab.com/gitlab-org/cli",
    // The oldest that was tried.
    needed: "1.53",
    variables: &[
        ("NO_PROMPT", "1"),
        ("GLAB_NO_PROMPT", "1"),
        ("GLAB_CHECK_UPDATE", "false"),
        ("GLAB_SEND_TELEMETRY", "false"),
    ],
    unset: &["FORCE_HYPERLINKS", "GLAB_DEBUG_HTTP"],
    tokens: &["GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN"],
    signed_out: &[NEVER_SIGNED_IN, "No token provided"],
};

/// The words of `glab auth status` about a host that it does not know.
const NEVER_SIGNED_IN: &str = "has not been authenticated";

/// The access level of a developer, who may push.
const DEVELOPER: u64 = 30;

/// The user's `glab`.
#[derive(Debug, Clone, Default)]
pub struct GitlabCli;

/// The ways to merge, as the project sets them: whether commits are squashed, and how what is left
/// comes to the branch.
fn methods_of(project: &Value) -> Vec<MergeMethod> {
    let own = match project["merge_method"].as_str() {
        Some("ff") => MergeMethod::Rebase,
        _ => MergeMethod::Merge,
    };
    match project["squash_option"].as_str() {
        Some("never") => vec![own],
        Some("always") => vec![MergeMethod::Squash],
        Some("default_on") => vec![MergeMethod::Squash, own],
        _ => vec![own, MergeMethod::Squash],
    }
}

/// The title without the words that mark a draft, however often repeated.
fn without_draft(title: &str) -> &str {
    let mut plain = title.trim_start();
    while let Some(mark) = ["draft:", "[draft]", "(draft)"]
        .into_iter()
        .find(|mark| plain.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark)))
    {
        plain = plain[mark.len()..].trim_start();
    }
    plain
}

impl Forge for GitlabCli {
    fn name(&self) -> &'static str {
        "gitlab"
    }

    fn ensure_ready(&self) -> Result<()> {
        check_version(&GLAB)
    }

    fn repository_facts(&self, repo: &RepoName) -> Result<RepositoryFacts> {
        let said = ensure_signed_in(&GLAB, repo, self.get(repo, ""))?;
        // Whoever is not signed in sees public projects, too.
        let Some(rights) = said["permissions"].as_object() else {
            return Err(ForgeError::NotSignedIn { program: &GLAB, host: repo.host.clone() });
        };
        let levels = rights.values().filter_map(|access| access["access_level"].as_u64());
        let level = match levels.max() {
            Some(level) => level,
            None => self.own_level(repo)?,
        };
        let named = |path: &Value| RepoName::parse(path.as_str()?, &repo.host);
        Ok(RepositoryFacts {
            repo: named(&said["path_with_namespace"]).unwrap_or_else(|| repo.clone()),
            default_branch: said["default_branch"].as_str().map(str::to_owned),
            parent: named(&said["forked_from_project"]["path_with_namespace"]),
            may_push: level >= DEVELOPER,
            methods: methods_of(&said),
        })
    }

    fn find_requests(&self, repo: &RepoName, head_ref: &str) -> Result<Vec<FoundRequest>> {
        let branch = escape(head_ref);
        let path = format!("/merge_requests?scope=all&state=all&source_branch={branch}");
        let mut owners: BTreeMap<u64, String> = BTreeMap::new();
        let mut found = Vec::new();
        for one in self.list(repo, &path)? {
            let (Some(number), source) = (one["iid"].as_u64(), &one["source_project_id"]) else {
                continue;
            };
            let head_owner = match source.as_u64() {
                source if source == one["target_project_id"].as_u64() => repo.owner.clone(),
                // The fork is gone.
                None => String::new(),
                Some(id) => match owners.get(&id) {
                    Some(owner) => owner.clone(),
                    None => {
                        let owner = self.owner_of(repo, id)?;
                        owners.insert(id, owner.clone());
                        owner
                    }
                },
            };
            found.push(FoundRequest {
                number,
                url: text_of(&one["web_url"]),
                state: state_of(&one["state"]),
                head: text_of(&one["sha"]),
                head_owner,
            });
        }
        found.sort_by_key(|one| std::cmp::Reverse(one.number));
        Ok(found)
    }

    fn create_request(&self, repo: &RepoName, new: &NewRequest<'_>) -> Result<(u64, String)> {
        let plain = match without_draft(new.title) {
            "" => new.head_ref,
            plain => plain,
        };
        let title = if new.is_draft { format!("Draft: {plain}") } else { plain.to_owned() };
        let mut values = json!({
            "source_branch": new.head_ref, "target_branch": new.base_ref, "title": title,
            "description": new.body,
        });
        if !new.head.is_same(repo) {
            values["target_project_id"] = self.get(repo, "")?["id"].take();
        }
        // A fork makes it, for the repository that receives the work.
        let said = parse(
            &repo.host,
            &self.call(new.head, "POST", "/merge_requests", Some(&values))?.body,
        )?;
        match said["iid"].as_u64() {
            Some(number) => Ok((number, text_of(&said["web_url"]))),
            None => Err(ForgeError::Answer { program: &GLAB, said: said.to_string() }),
        }
    }

    fn request_body(&self, repo: &RepoName, number: u64) -> Result<String> {
        Ok(text_of(&self.read_request(repo, number)?["description"]))
    }

    fn edit_request(
        &self,
        repo: &RepoName,
        number: u64,
        base_ref: Option<&str>,
        body: Option<&str>,
    ) -> Result<()> {
        let mut values = Map::new();
        values.extend(base_ref.map(|base| ("target_branch".to_owned(), json!(base))));
        values.extend(body.map(|body| ("description".to_owned(), json!(body))));
        self.change(repo, number, Value::Object(values))
    }

    fn set_draft(&self, repo: &RepoName, number: u64, is_draft: bool) -> Result<()> {
        let said = self.read_request(repo, number)?;
        let title = said["title"].as_str().unwrap_or_default();
        let plain = without_draft(title);
        let new = if is_draft { format!("Draft: {plain}") } else { plain.to_owned() };
        if new == title { Ok(()) } else { self.change(repo, number, json!({ "title": new })) }
    }

    fn request_facts(&self, repo: &RepoName, numbers: &[u64]) -> Result<Vec<Option<RequestFacts>>> {
        let mut found = Vec::new();
        for numbers in numbers.chunks(PAGE) {
            let listed = self.get(repo, &look::list_path(numbers));
            let listed = ensure_signed_in(&GLAB, repo, listed)?;
            let open = look::open_numbers(&listed);
            let more = match open.is_empty() {
                true => Value::Null,
                false => {
                    // GraphQL does not know the name that a project had before.
                    let path = look::path_of(&listed).unwrap_or_else(|| repo.short());
                    let variables = json!({ "path": path, "numbers": open });
                    let more = self.graphql(repo, look::QUERY, &variables)?;
                    if !more["data"]["project"].is_object() {
                        let said = "GraphQL does not show the project".to_owned();
                        return Err(ForgeError::Refused { repo: repo.to_string(), said });
                    }
                    more
                }
            };
            let trains =
                if look::has_armed(&listed) { self.merge_trains(repo)? } else { Value::Null };
            found.extend(look::read_facts(&listed, (&more, &trains), numbers));
        }
        Ok(found)
    }

    fn request_merge(
        &self,
        repo: &RepoName,
        number: u64,
        head: &str,
        method: Option<MergeMethod>,
        when_ready: bool,
    ) -> Result<()> {
        let squash = method == Some(MergeMethod::Squash);
        let ask = |path: &str, method: &'static str, waits: bool| {
            // The second word is that of servers before 17.11.
            let values = json!({
                "sha": head, "squash": squash, "auto_merge": waits,
                "merge_when_pipeline_succeeds": waits,
            });
            match self.call(repo, method, path, Some(&values)) {
                // So GitLab says that this user may not merge into the branch.
                Err(ForgeError::NotSignedIn { .. }) => {
                    let said = "your rights there do not allow a merge".to_owned();
                    Err(ForgeError::NoRights { repo: repo.to_string(), said })
                }
                done => done.map(drop),
            }
        };
        // A merge past the train would stop it for everybody.
        if self.get(repo, "")?["merge_trains_enabled"] == true {
            return ask(&format!("/merge_trains/merge_requests/{number}"), "POST", true);
        }
        let path = format!("/merge_requests/{number}/merge");
        match ask(&path, "PUT", when_ready) {
            // Nothing is left to wait for.
            Err(ForgeError::Refused { .. })
                if when_ready
                    && self.read_request(repo, number)?["detailed_merge_status"] == "mergeable" =>
            {
                ask(&path, "PUT", false)
            }
            done => done,
        }
    }

    fn find_remarks(&self, repo: &RepoName, numbers: &[u64]) -> Result<Vec<Vec<ForgeRemark>>> {
        self.remarks_of(repo, numbers)
    }

    fn failed_log(&self, repo: &RepoName, run: u64) -> Result<String> {
        Ok(self.call(repo, "GET", &format!("/jobs/{run}/trace"), None)?.body)
    }

    fn is_base(&self, repo: &RepoName, branch: &str) -> Result<bool> {
        let branch = escape(branch);
        let path = format!("/merge_requests?scope=all&state=opened&target_branch={branch}");
        Ok(self.get(repo, &path)?.as_array().is_some_and(|found| !found.is_empty()))
    }

    fn wants_signatures(&self, repo: &RepoName, _branch: &str) -> Result<bool> {
        // A rule of pushes to any branch. Servers without it say that it is not there.
        Ok(self.get(repo, "/push_rule")?["reject_unsigned_commits"] == true)
    }

    fn head_reference(&self, number: u64) -> String {
        format!("refs/merge-requests/{number}/head")
    }

    fn template_places(&self) -> (&'static [&'static str], &'static [&'static str]) {
        (&[".gitlab/merge_request_templates/"], &["default.md"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_a_title_that_says_so() {
        for (title, plain) in [
            ("Draft: Bake", "Bake"),
            ("draft:Bake", "Bake"),
            ("[Draft] Bake", "Bake"),
            ("(dRAFT)Bake", "Bake"),
            (" Draft: [DRAFT](draft) draft:Bake", "Bake"),
            ("DRAFT:", ""),
            ("Drafty", "Drafty"),
            ("Bake a draft:", "Bake a draft:"),
            ("Ünder Draft: x", "Ünder Draft: x"),
        ] {
            assert_eq!(without_draft(title), plain);
        }
    }

    #[test]
    fn the_projects_own_way_to_merge_comes_first() {
        use MergeMethod::{Merge, Rebase, Squash};
        let methods = |merge: &str, squash: &str| {
            methods_of(&json!({ "merge_method": merge, "squash_option": squash }))
        };
        assert_eq!(methods("merge", "default_off"), [Merge, Squash]);
        assert_eq!(methods("rebase_merge", "default_on"), [Squash, Merge]);
        assert_eq!(methods("ff", "never"), [Rebase]);
        assert_eq!(methods("ff", "always"), [Squash]);
    }
}
