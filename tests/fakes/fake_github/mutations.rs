//! The changes that `gh` makes. The refusals have GitHub's words.

use serde_json::{Map, Value, json};

use crate::git;
use crate::state::{Refusal, Repository, State, list, merged, now, refuse, text};
use crate::view;

type Input = Map<String, Value>;

pub(crate) fn change(state: &mut State, name: &str, input: &Input) -> Result<Value, Refusal> {
    let id = ["pullRequestId", "issueId", "labelableId", "assignableId", "subjectId", "id"]
        .into_iter()
        .map(|key| text(input, key))
        .find(|id| !id.is_empty())
        .unwrap_or_default();
    match name {
        "createPullRequest" => return create_pull(state, input),
        "createIssue" => return create_issue(state, input),
        "mergePullRequest" => {
            let (_, number, of) = state.named_by(id)?;
            let full_name = of.full_name();
            let method = input.get("mergeMethod").and_then(Value::as_str).unwrap_or("MERGE");
            let expected = input.get("expectedHeadOid").and_then(Value::as_str);
            state.merge(&full_name, number, method, expected)?;
            let of = &state.repositories[&full_name];
            return Ok(json!({ "clientMutationId": "", "pullRequest": view::pull(of, number) }));
        }
        _ => {}
    }
    let viewer = state.viewer.clone();
    let (kind, number, of) = state.named_by(id)?;
    if kind == 'P' {
        change_pull(of, number, name, input, &viewer)?
    } else {
        change_issue(of, number, name, input, &viewer)?;
    }
    let of = &*of;
    let comment = json!({ "url": format!("{}/comment", of.url()) });
    Ok(json!({
        "clientMutationId": "", "pullRequest": view::pull(of, number),
        "issue": view::issue(of, number), "commentEdge": { "node": comment },
    }))
}

fn create_pull(state: &mut State, input: &Input) -> Result<Value, Refusal> {
    let viewer = state.viewer.clone();
    let (base, head) = (text(input, "baseRefName"), text(input, "headRefName"));
    let of = &*state.named_by(text(input, "repositoryId"))?.2;
    let (owner, branch) = head.split_once(':').unwrap_or((of.owner.as_str(), head));
    let (owner, branch, full_name) = (owner.to_owned(), branch.to_owned(), of.full_name());
    let from = format!("{owner}/{}", of.name);
    let tip = state.repositories.get(&from).and_then(|from| git::tip(&from.folder, &branch));
    let of = &state.repositories[&full_name];
    if git::tip(&of.folder, base).is_none() {
        return refuse("Base ref must be a branch");
    }
    let none = format!("No commits between {base} and {branch}");
    let Some(tip) = tip else {
        return refuse(format!("Head sha can't be blank, {none}, Head ref must be a branch"));
    };
    if from != full_name {
        let folder = state.repositories[&from].folder.display().to_string();
        if git::git(&of.folder, &["fetch", "--quiet", &folder, &tip]).is_none() {
            return refuse("the fork has no common history");
        }
    }
    if git::contains(&of.folder, base, &tip) {
        return refuse(none);
    }
    if of.flag("no_drafts") && input.get("draft") == Some(&json!(true)) {
        return refuse("Draft pull requests are not supported in this repository.");
    }
    let is_same = |pull: &Input| {
        let same = [("headRefName", &*branch), ("headOwner", &*owner), ("baseRefName", base)];
        pull["state"] == "OPEN" && same.iter().all(|(key, value)| text(pull, key) == *value)
    };
    if of.pulls.values().any(is_same) {
        return refuse(format!("A pull request already exists for {owner}:{branch}."));
    }
    let pull = json!({
        "title": input.get("title"), "body": text(input, "body"), "state": "OPEN",
        "isDraft": input.get("draft") == Some(&json!(true)), "headRefName": branch,
        "headOwner": owner, "headRefOid": tip, "baseRefName": base, "author": viewer,
        "createdAt": now(), "updatedAt": now(), "closedAt": null, "mergedAt": null,
        "mergedBy": null, "mergeCommit": null, "autoMergeRequest": null, "inQueue": false,
        "checks": [], "labels": [], "comments": [], "reviews": [], "threads": [],
        "override": null,
    });
    let (_, _, of) = state.named_by(text(input, "repositoryId"))?;
    let number = of.next_number();
    let mut pull = pull.as_object().cloned().unwrap_or_default();
    pull.insert("number".to_owned(), json!(number));
    of.pulls.insert(number, pull);
    git::keep_head(&of.folder, number, &tip);
    Ok(json!({ "pullRequest": view::pull(of, number) }))
}

fn create_issue(state: &mut State, input: &Input) -> Result<Value, Refusal> {
    let viewer = state.viewer.clone();
    let (_, _, of) = state.named_by(text(input, "repositoryId"))?;
    let number = of.next_number();
    let values = json!({
        "title": input.get("title"), "body": text(input, "body"), "author": viewer,
        "labels": named(input, "labelIds"), "assignees": named(input, "assigneeIds"),
    });
    of.patch_issue(number, values.as_object().expect("it is an object"));
    Ok(json!({ "issue": view::issue(of, number) }))
}

fn change_pull(
    of: &mut Repository,
    number: u64,
    name: &str,
    input: &Input,
    viewer: &str,
) -> Result<(), Refusal> {
    let folder = of.folder.clone();
    let is_clean = of.pulls.get(&number).is_some_and(|it| view::merge_state(of, it) == "CLEAN");
    let (queue, no_auto) = (of.flag("queue"), of.flag("no_auto_merge"));
    let Some(pull) = of.pulls.get_mut(&number) else {
        return refuse("Could not resolve to a node");
    };
    let mut set = |values: Value| {
        pull.extend(values.as_object().cloned().unwrap_or_default());
        pull.insert("updatedAt".to_owned(), json!(now()));
    };
    match name {
        "updatePullRequest" => {
            let base = text(input, "baseRefName");
            if !base.is_empty() && git::tip(&folder, base).is_none() {
                return refuse(format!("Proposed base branch '{base}' was not found"));
            }
            for key in ["title", "body", "baseRefName"] {
                if let Some(value) = input.get(key).filter(|value| !value.is_null()) {
                    set(json!({ (key): value }));
                }
            }
        }
        "enablePullRequestAutoMerge" if no_auto => {
            return refuse("Auto merge is not allowed for this repository");
        }
        "enablePullRequestAutoMerge" if is_clean && !queue => {
            return refuse("Pull request is in clean status");
        }
        "enablePullRequestAutoMerge" => {
            let method = input.get("mergeMethod").and_then(Value::as_str).unwrap_or("MERGE");
            set(json!({
                "autoMergeRequest": {
                    "enabledAt": now(), "mergeMethod": method, "authorEmail": null,
                    "commitBody": null, "commitHeadline": null, "enabledBy": view::user(viewer),
                },
                "inQueue": queue && is_clean,
            }));
        }
        "enqueuePullRequest" => set(json!({ "inQueue": true })),
        "dequeuePullRequest" => set(json!({ "inQueue": false })),
        "disablePullRequestAutoMerge" => set(json!({ "autoMergeRequest": null })),
        "markPullRequestReadyForReview" => set(json!({ "isDraft": false })),
        "convertPullRequestToDraft" => set(json!({ "isDraft": true })),
        "closePullRequest" => set(json!({ "state": "CLOSED", "closedAt": now() })),
        "reopenPullRequest" => set(json!({ "state": "OPEN", "closedAt": null })),
        _ => return change_either(pull, name, input, viewer),
    }
    Ok(())
}

fn change_issue(
    of: &mut Repository,
    number: u64,
    name: &str,
    input: &Input,
    viewer: &str,
) -> Result<(), Refusal> {
    let other = |key: &str| text(input, key).rsplit('_').next().and_then(|n| n.parse::<u64>().ok());
    if let Some(child) = other("subIssueId") {
        let parent = if name == "addSubIssue" { json!(number) } else { Value::Null };
        if let Some(child) = of.issues.get_mut(&child) {
            child.insert("parent".to_owned(), parent);
        }
    }
    let Some(issue) = of.issues.get_mut(&number) else {
        return refuse("Could not resolve to a node");
    };
    let mut set = |values: Value| {
        issue.extend(values.as_object().cloned().unwrap_or_default());
        issue.insert("updatedAt".to_owned(), json!(now()));
    };
    match name {
        "updateIssue" => {
            for key in ["title", "body"] {
                if let Some(value) = input.get(key).filter(|value| !value.is_null()) {
                    set(json!({ (key): value }));
                }
            }
        }
        "closeIssue" => {
            let reason = input.get("stateReason").filter(|reason| !reason.is_null());
            let reason = reason.cloned().unwrap_or(json!("COMPLETED"));
            set(json!({ "state": "CLOSED", "stateReason": reason, "closedAt": now() }));
        }
        "reopenIssue" => {
            set(json!({ "state": "OPEN", "stateReason": "REOPENED", "closedAt": null }));
        }
        "addBlockedBy" | "removeBlockedBy" => {
            set_members(issue, "blockedBy", &[json!(other("blockingIssueId"))], name);
        }
        "addSubIssue" | "removeSubIssue" => {
            set_members(issue, "subIssues", &[json!(other("subIssueId"))], name);
        }
        _ => return change_either(issue, name, input, viewer),
    }
    Ok(())
}

/// Makes the changes that issues and pull requests have in common.
fn change_either(
    item: &mut Map<String, Value>,
    name: &str,
    input: &Input,
    viewer: &str,
) -> Result<(), Refusal> {
    match name {
        "addLabelsToLabelable" | "removeLabelsFromLabelable" => {
            set_members(item, "labels", &named(input, "labelIds"), name);
        }
        "replaceActorsForAssignable" => {
            let logins = [named(input, "actorIds"), list(input, "actorLogins").to_vec()].concat();
            item.insert("assignees".to_owned(), Value::Array(logins));
        }
        "addAssigneesToAssignable" | "removeAssigneesFromAssignable" => {
            set_members(item, "assignees", &named(input, "assigneeIds"), name);
        }
        "addComment" => add_comment(item, viewer, "MEMBER", text(input, "body")),
        _ => return refuse(format!("no mutation {name} is scripted")),
    }
    item.insert("updatedAt".to_owned(), json!(now()));
    Ok(())
}

pub(crate) fn add_comment(item: &mut Map<String, Value>, by: &str, role: &str, body: &str) {
    let mut comments = list(item, "comments").to_vec();
    // Issues and pull requests share their numbers, so an id names one comment.
    let id = format!("IC_{}_{}", item["number"], comments.len() + 1);
    comments.push(json!({
        "id": id, "author": by, "association": role, "body": body, "at": now(),
    }));
    item.insert("comments".to_owned(), Value::Array(comments));
    item.insert("updatedAt".to_owned(), json!(now()));
}

/// The names in ids such as `L_bug` and `U_ada`.
fn named(input: &Input, key: &str) -> Vec<Value> {
    let ids = list(input, key).iter().filter_map(Value::as_str);
    ids.filter_map(|id| id.split_once('_')).map(|(_, name)| json!(name)).collect()
}

/// Adds to a list, or removes from it, as the name of the mutation says.
fn set_members(item: &mut Map<String, Value>, key: &str, members: &[Value], name: &str) {
    let mut all = list(item, key).to_vec();
    all.retain(|member| !members.contains(member));
    if name.starts_with("add") {
        all.extend(members.iter().cloned());
    }
    item.insert(key.to_owned(), Value::Array(all));
}

impl State {
    /// Merges a pull request for real, in the bare repository.
    pub(crate) fn merge(
        &mut self,
        name: &str,
        number: u64,
        method: &str,
        expected: Option<&str>,
    ) -> Result<(), Refusal> {
        let viewer = self.viewer.clone();
        let Some(of) = self.repositories.get_mut(name) else { return refuse("no repository") };
        let Some(pull) = of.pulls.get(&number).filter(|pull| pull["state"] == "OPEN") else {
            return refuse("Pull Request is not mergeable");
        };
        let (base, head) = (text(pull, "baseRefName"), text(pull, "headRefOid"));
        if expected.is_some_and(|expected| expected != head) {
            return refuse("Head branch was modified. Review and try the merge again.");
        }
        match view::merge_state(of, pull) {
            "CLEAN" | "UNSTABLE" => {}
            "DRAFT" => return refuse("Pull request is in draft state"),
            "DIRTY" => return refuse("Pull Request has merge conflicts"),
            "BEHIND" => return refuse("Head branch is out of date"),
            _ if of.wants_signatures() => return refuse("Commits must have verified signatures."),
            _ => return refuse("Repository rule violations found: a required check is expected."),
        }
        if !of.methods().contains(&json!(method)) {
            return refuse(format!("{method} merges are not allowed on this repository."));
        }
        let Some((commit, squash)) = merge_commit(of, pull, method) else {
            return refuse("Pull Request is not mergeable");
        };
        git::git(&of.folder, &["update-ref", &format!("refs/heads/{base}"), &commit]);
        let branch = text(pull, "headRefName").to_owned();
        let deletes = of.flag("delete_branch_on_merge") && text(pull, "headOwner") == of.owner;
        let base = base.to_owned();
        if let Some(pull) = of.pulls.get_mut(&number) {
            merged(pull, &commit, &viewer);
            pull.insert("squashCommit".to_owned(), json!(squash));
        }
        if deletes {
            git::git(&of.folder, &["update-ref", "-d", &format!("refs/heads/{branch}")]);
            // GitHub gives the pull requests onto this branch its own base.
            for pull in of.pulls.values_mut().filter(|pull| pull["state"] == "OPEN") {
                if text(pull, "baseRefName") == branch {
                    pull.insert("baseRefName".to_owned(), json!(base));
                }
            }
        }
        self.settle();
        Ok(())
    }
}

/// The commit to which the base moves, and the squashed one beside it, if there is one.
fn merge_commit(
    of: &Repository,
    pull: &Map<String, Value>,
    method: &str,
) -> Option<(String, Option<String>)> {
    let base = git::tip(&of.folder, text(pull, "baseRefName"))?;
    let head = text(pull, "headRefOid");
    if method == "REBASE" {
        // GitLab only moves the branch up.
        return match of.is_gitlab {
            true => git::contains(&of.folder, head, &base).then(|| (head.to_owned(), None)),
            false => Some((git::rebased(&of.folder, &base, head)?, None)),
        };
    }
    let tree = git::merged_tree(&of.folder, &base, head)?;
    let message = format!("{} (#{})", text(pull, "title"), pull["number"]);
    let commit = |tree: &str, parents: &[&str]| {
        let mut words = vec!["commit-tree", tree, "-m", &message];
        words.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        git::git(&of.folder, &words)
    };
    if method == "MERGE" {
        return Some((commit(&tree, &[&base, head])?, None));
    }
    if of.is_gitlab && of.methods().contains(&json!("MERGE")) {
        // The squashed commit is merged.
        let start = git::git(&of.folder, &["merge-base", &base, head])?;
        let squash = commit(&format!("{head}^{{tree}}"), &[&start])?;
        return Some((commit(&tree, &[&base, &squash])?, Some(squash)));
    }
    let squash = commit(&tree, &[&base])?;
    Some((squash.clone(), Some(squash)))
}
