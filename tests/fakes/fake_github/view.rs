//! The view of a repository, a pull request and an issue at the interface: whole objects, of which
//! a query takes the fields that it asks for.

use serde_json::{Map, Value, json};

use crate::git;
use crate::state::{Repository, State, list, now, text};

/// A list, as GraphQL gives it.
pub(crate) fn connection(nodes: Vec<Value>) -> Value {
    let edges: Vec<Value> = nodes.iter().map(|node| json!({ "node": node })).collect();
    json!({
        "totalCount": nodes.len(), "nodes": nodes, "edges": edges,
        "pageInfo": {
            "hasNextPage": false, "endCursor": null, "hasPreviousPage": false, "startCursor": null,
        },
    })
}

pub(crate) fn user(login: &str) -> Value {
    // Bots are told apart by the kind of their account.
    let kind = if login.ends_with("[bot]") { "Bot" } else { "User" };
    json!({
        "__typename": kind, "login": login.trim_end_matches("[bot]"), "id": format!("U_{login}"),
        "name": login, "databaseId": 1,
    })
}

pub(crate) fn label(name: &str) -> Value {
    json!({
        "__typename": "Label", "databaseId": 1, "id": format!("L_{name}"), "name": name,
        "color": "ededed", "description": "",
    })
}

fn labels(object: &Map<String, Value>) -> Value {
    let names = list(object, "labels").iter().filter_map(Value::as_str);
    connection(names.map(label).collect())
}

fn users(object: &Map<String, Value>, key: &str) -> Value {
    connection(list(object, key).iter().filter_map(Value::as_str).map(user).collect())
}

pub(crate) fn repository(state: &State, of: &Repository) -> Value {
    let branch = of.default_branch();
    let oid = git::tip(&of.folder, &branch);
    let methods = of.methods();
    let allows = |method: &str| methods.contains(&json!(method));
    let parent = of.fork_of.as_deref().and_then(|name| state.repositories.get(name));
    let permission = of.settings.get("permission").cloned().unwrap_or(json!("WRITE"));
    let templates: Vec<Value> = of
        .settings
        .get("template")
        .map(|body| json!({ "filename": "pull_request_template.md", "body": body }))
        .into_iter()
        .collect();
    let queue = of.flag("queue").then(|| json!({ "id": "MQ_1", "url": of.url() + "/queue" }));
    json!({
        "__typename": "Repository", "databaseId": 1, "id": format!("R_{}_{}_0", of.owner, of.name),
        "name": of.name, "nameWithOwner": of.full_name(), "owner": user(&of.owner),
        "url": of.url(), "sshUrl": "", "description": "",
        "isPrivate": of.flag("private"), "isFork": of.fork_of.is_some(), "isArchived": false,
        "visibility": if of.flag("private") { "PRIVATE" } else { "PUBLIC" },
        "parent": parent.map(|parent| repository(state, parent)),
        "hasIssuesEnabled": true, "hasWikiEnabled": false, "hasProjectsEnabled": false,
        "viewerPermission": permission, "viewerCanPush": permission != "READ",
        "isInOrganization": true, "mergeCommitAllowed": allows("MERGE"),
        "squashMergeAllowed": allows("SQUASH"), "rebaseMergeAllowed": allows("REBASE"),
        "autoMergeAllowed": !of.flag("no_auto_merge"),
        "deleteBranchOnMerge": of.flag("delete_branch_on_merge"),
        "viewerDefaultMergeMethod": "SQUASH", "pullRequestTemplates": templates,
        "issueTemplates": [],
        "defaultBranchRef": { "name": branch, "target": { "oid": oid } }, "mergeQueue": queue,
    })
}

/// The rules of a branch.
pub(crate) fn branch(of: &Repository, name: &str) -> Value {
    let name = name.trim_start_matches("refs/heads/");
    let Some(oid) = git::tip(&of.folder, name) else { return Value::Null };
    let on_branch = of.list("base_checks").into_iter().map(|mut check| {
        check["__typename"] = json!("CheckRun");
        check
    });
    let on_branch = json!({ "contexts": connection(on_branch.collect()) });
    json!({
        "__typename": "Ref", "id": format!("REF_{name}"), "name": name, "prefix": "refs/heads/",
        "target": { "__typename": "Commit", "oid": oid, "statusCheckRollup": on_branch },
        "refUpdateRule": { "requiresSignatures": of.flag("signed_branch") },
        "branchProtectionRule": {
            "requiresStrictStatusChecks": of.flag("strict"),
            "requiresCommitSignatures": of.flag("signed_branch"),
            "requiresStatusChecks": !of.list("required_checks").is_empty(),
            "requiredStatusCheckContexts": of.list("required_checks"),
            "requiredApprovingReviewCount": of.settings.get("required_reviews"),
        },
    })
}

/// The checks of the present head: those that a test wrote for it, and those that every head gets.
pub(crate) fn checks(of: &Repository, pull: &Map<String, Value>) -> Vec<Value> {
    let head = &pull["headRefOid"];
    let own: Vec<Value> =
        list(pull, "checks").iter().filter(|check| check["oid"] == *head).cloned().collect();
    let of_all = of.list("checks");
    let others =
        of_all.into_iter().filter(|check| own.iter().all(|it| it["name"] != check["name"]));
    others.chain(own.clone()).collect()
}

pub(crate) fn is_required(of: &Repository, check: &Value) -> bool {
    of.list("required_checks").contains(&check["name"])
}

fn rollup(of: &Repository, pull: &Map<String, Value>) -> Value {
    let contexts: Vec<Value> = checks(of, pull)
        .iter()
        .map(|check| {
            let run = check.get("run").and_then(Value::as_u64).unwrap_or(7);
            json!({
                "__typename": "CheckRun", "id": format!("CR_{run}"), "databaseId": 9,
                "name": check["name"], "isRequired": is_required(of, check),
                "status": check.get("status").unwrap_or(&json!("COMPLETED")),
                "conclusion": conclusion(check), "startedAt": now(),
                "completedAt": check.get("at").unwrap_or(&json!(now())),
                "detailsUrl": format!("{}/actions/runs/{run}/job/9", of.url()),
                "description": "", "event": "pull_request",
                "checkSuite": { "workflowRun": {
                    "event": "pull_request", "databaseId": run, "workflow": { "name": "CI" },
                } },
            })
        })
        .collect();
    if contexts.is_empty() {
        return Value::Null;
    }
    let is = |key: &str, word: &str| contexts.iter().any(|context| context[key] == word);
    let state = if is("conclusion", "FAILURE") {
        "FAILURE"
    } else if contexts.iter().any(|context| context["status"] != "COMPLETED") {
        "PENDING"
    } else {
        "SUCCESS"
    };
    let count = contexts.len();
    let mut found = connection(contexts);
    found["checkRunCount"] = json!(count);
    found["statusContextCount"] = json!(0);
    found["checkRunCountsByState"] = json!([]);
    found["statusContextCountsByState"] = json!([]);
    json!({ "state": state, "contexts": found })
}

pub(crate) fn conclusion(check: &Value) -> Value {
    let is_over = check.get("status").is_none_or(|status| status == "COMPLETED");
    match check.get("conclusion") {
        _ if !is_over => Value::Null,
        Some(word) => word.clone(),
        None => json!("SUCCESS"),
    }
}

/// The last word of each reviewer.
pub(crate) fn decision(of: &Repository, pull: &Map<String, Value>) -> Value {
    let mut last: Vec<(&str, &str)> = Vec::new();
    for review in list(pull, "reviews") {
        let (who, state) = (review["author"].as_str(), review["state"].as_str());
        let (Some(who), Some(state)) = (who, state) else { continue };
        if state != "COMMENTED" {
            last.retain(|(other, _)| *other != who);
            last.push((who, state));
        }
    }
    let approvals = last.iter().filter(|(_, state)| *state == "APPROVED").count();
    let needed = of.settings.get("required_reviews").and_then(Value::as_u64).unwrap_or(0);
    if last.iter().any(|(_, state)| *state == "CHANGES_REQUESTED") {
        json!("CHANGES_REQUESTED")
    } else if u64::try_from(approvals).unwrap_or(0) < needed {
        json!("REVIEW_REQUIRED")
    } else if approvals > 0 {
        json!("APPROVED")
    } else {
        Value::Null
    }
}

/// A draft may have one, too.
pub(crate) fn has_conflict(of: &Repository, pull: &Map<String, Value>) -> bool {
    let (base, head) = (text(pull, "baseRefName"), text(pull, "headRefOid"));
    pull["state"] == "OPEN" && git::merged_tree(&of.folder, base, head).is_none()
}

/// Returns the state of a pull request before a merge, in GitHub's words.
pub(crate) fn merge_state(of: &Repository, pull: &Map<String, Value>) -> &'static str {
    let (base, head) = (text(pull, "baseRefName"), text(pull, "headRefOid"));
    let checks = checks(of, pull);
    let passes = |check: &Value| conclusion(check) == "SUCCESS";
    let is_missing = |name: &Value| checks.iter().all(|check| check["name"] != *name);
    let decided = decision(of, pull);
    let is_held = checks.iter().any(|check| is_required(of, check) && !passes(check))
        || of.list("required_checks").iter().any(is_missing)
        || decided == "CHANGES_REQUESTED"
        || decided == "REVIEW_REQUIRED"
        || of.wants_signatures();
    if pull["state"] != "OPEN" {
        "UNKNOWN"
    } else if pull["isDraft"] == true {
        "DRAFT"
    } else if has_conflict(of, pull) {
        "DIRTY"
    } else if is_held {
        "BLOCKED"
    } else if of.wants_all_of_base() && !git::contains(&of.folder, head, base) {
        "BEHIND"
    } else if checks.iter().all(passes) {
        "CLEAN"
    } else {
        "UNSTABLE"
    }
}

pub(crate) fn comment(kind: &str, url: &str, of: &Value) -> Value {
    json!({
        "__typename": kind, "id": of["id"], "databaseId": 1,
        "author": of["author"].as_str().map(user),
        "authorAssociation": of.get("association").unwrap_or(&json!("MEMBER")),
        "body": of["body"], "bodyText": of["body"], "createdAt": of["at"], "updatedAt": of["at"],
        "publishedAt": of["at"], "includesCreatedEdit": false, "isMinimized": false,
        "minimizedReason": "", "reactionGroups": [], "viewerDidAuthor": false,
        "url": format!("{url}#{}", of["id"].as_str().unwrap_or_default()), "diffHunk": "@@",
        "pullRequestReview": { "id": "PRR_1", "state": "CHANGES_REQUESTED" },
    })
}

fn review(url: &str, of: &Value) -> Value {
    let mut found = comment("PullRequestReview", url, of);
    found["state"] = of["state"].clone();
    found["submittedAt"] = of["at"].clone();
    found["commit"] = json!({ "oid": of["oid"] });
    found
}

fn thread(url: &str, of: &Value) -> Value {
    let comments = of["comments"].as_array().map_or(&[][..], Vec::as_slice);
    let comments = comments.iter().map(|said| {
        let mut said = comment("PullRequestReviewComment", url, said);
        said["path"] = of["path"].clone();
        said["line"] = of["line"].clone();
        said
    });
    json!({
        "id": of["id"], "isResolved": of["resolved"] == true, "isOutdated": of["outdated"] == true,
        "path": of["path"], "line": of["line"], "startLine": null, "originalLine": of["line"],
        "diffSide": "RIGHT", "comments": connection(comments.collect()),
    })
}

pub(crate) fn pull(of: &Repository, number: u64) -> Value {
    let Some(stored) = of.pulls.get(&number) else { return Value::Null };
    let url = format!("{}/pull/{number}", of.url());
    let head_owner = text(stored, "headOwner");
    let oid = &stored["headRefOid"];
    let status = merge_state(of, stored);
    let all = |key: &str, show: &dyn Fn(&Value) -> Value| {
        connection(list(stored, key).iter().map(show).collect())
    };
    let reviews = all("reviews", &|said| review(&url, said));
    let commit = json!({ "commit": {
        "oid": oid, "messageHeadline": "", "messageBody": "", "committedDate": now(),
        "authoredDate": now(), "statusCheckRollup": rollup(of, stored),
        "authors": connection(vec![json!({ "name": "Ada", "email": "", "user": user("ada") })]),
    } });
    let mut found = stored.clone();
    let computed = json!({
        "__typename": "PullRequest", "id": format!("PR_{}_{}_{number}", of.owner, of.name),
        "databaseId": number,
        "fullDatabaseId": number.to_string(), "url": url, "closed": stored["state"] != "OPEN",
        "author": user(text(stored, "author")), "mergedBy": stored["mergedBy"].as_str().map(user),
        "mergeCommit": stored["mergeCommit"].as_str().map(|oid| json!({ "oid": oid })),
        "headRefOid": oid, "headRepositoryOwner": user(head_owner),
        "headRepository": {
            "id": format!("R_{head_owner}_{}_0", of.name), "name": of.name,
            "nameWithOwner": format!("{head_owner}/{}", of.name),
        },
        "isCrossRepository": head_owner != of.owner, "maintainerCanModify": true,
        "mergeable": match status {
            "UNKNOWN" => "UNKNOWN",
            _ if has_conflict(of, stored) => "CONFLICTING",
            _ => "MERGEABLE",
        },
        "mergeStateStatus": status, "reviewDecision": decision(of, stored),
    });
    let related = json!({
        "isMergeQueueEnabled": of.flag("queue"), "isInMergeQueue": stored["inQueue"],
        "mergeQueueEntry": (stored["inQueue"] == true).then(|| json!({
            "id": "MQE_1", "state": "QUEUED", "position": 1,
        })),
        "baseRef": branch(of, text(stored, "baseRefName")),
        "baseRefOid": git::tip(&of.folder, text(stored, "baseRefName")),
        "commits": connection(vec![commit.clone()]),
        "statusCheckRollup": connection(vec![commit]), "labels": labels(stored),
        "reviews": reviews.clone(), "latestReviews": reviews.clone(),
        "latestOpinionatedReviews": reviews,
        "comments": all("comments", &|said| comment("IssueComment", &url, said)),
        "reviewThreads": all("threads", &|said| thread(&url, said)),
        "assignees": connection(vec![]), "assignedActors": connection(vec![]),
        "reviewRequests": connection(vec![]), "projectCards": connection(vec![]),
        "projectItems": connection(vec![]), "milestone": null, "files": connection(vec![]),
        "additions": 1, "deletions": 0, "changedFiles": 1, "reactionGroups": [],
        "closingIssuesReferences": connection(vec![]), "potentialMergeCommit": null,
    });
    found.extend(computed.as_object().cloned().unwrap_or_default());
    found.extend(related.as_object().cloned().unwrap_or_default());
    // Such as `"mergeable": "UNKNOWN"`, while GitHub is still thinking.
    found.extend(stored["override"].as_object().cloned().unwrap_or_default());
    Value::Object(found)
}

fn short_issue(of: &Repository, number: &Value) -> Value {
    let Some(issue) = number.as_u64().and_then(|number| of.issues.get(&number)) else {
        return Value::Null;
    };
    json!({
        "__typename": "Issue", "id": format!("I_{}_{}_{number}", of.owner, of.name),
        "number": number, "title": issue["title"], "state": issue["state"],
        "url": format!("{}/issues/{number}", of.url()),
        "repository": {
            "nameWithOwner": of.full_name(), "name": of.name, "owner": user(&of.owner),
        },
    })
}

pub(crate) fn issue(of: &Repository, number: u64) -> Value {
    let Some(stored) = of.issues.get(&number) else { return Value::Null };
    let url = format!("{}/issues/{number}", of.url());
    let others = |key: &str| {
        let numbers = list(stored, key).iter();
        connection(numbers.map(|number| short_issue(of, number)).collect())
    };
    let children = list(stored, "subIssues").len();
    let mut found = stored.clone();
    let comments =
        list(stored, "comments").iter().map(|said| comment("IssueComment", &url, said)).collect();
    let computed = json!({
        "__typename": "Issue", "id": format!("I_{}_{}_{number}", of.owner, of.name),
        "databaseId": number,
        "fullDatabaseId": number.to_string(), "url": url, "author": user(text(stored, "author")),
        "authorAssociation": stored["association"], "closed": stored["state"] != "OPEN",
        "isPinned": false, "locked": false, "activeLockReason": null, "labels": labels(stored),
        "assignees": users(stored, "assignees"), "assignedActors": users(stored, "assignees"),
        "comments": connection(comments), "milestone": null, "projectCards": connection(vec![]),
        "projectItems": connection(vec![]), "reactionGroups": [],
        "closedByPullRequestsReferences": connection(vec![]),
        "issueType": stored.get("type").map(|name| json!({
            "id": "IT_1", "name": name, "description": "", "color": "GRAY",
        })),
        "parent": short_issue(of, stored.get("parent").unwrap_or(&Value::Null)),
        "subIssues": others("subIssues"), "blockedBy": others("blockedBy"),
        "blocking": others("blocking"),
        "subIssuesSummary": { "total": children, "completed": 0, "percentCompleted": 0 },
        "issueDependenciesSummary": {
            "blockedBy": list(stored, "blockedBy").len(), "blocking": 0,
            "totalBlockedBy": list(stored, "blockedBy").len(), "totalBlocking": 0,
        },
    });
    found.extend(computed.as_object().cloned().unwrap_or_default());
    Value::Object(found)
}
