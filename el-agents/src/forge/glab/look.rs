//! The state of all merge requests of a project, by two calls.

use serde_json::Value;

use crate::forge::{
    Checks, Conflict, RepoName, RequestFacts, RequestState, Review, state_of, text_of,
};

/// The fields of open requests that the list lacks.
pub(super) const QUERY: &str = "query OpenRequests($path: ID!, $numbers: [String!]) { \
    project(fullPath: $path) { mergeRequests(iids: $numbers, first: 100) { nodes { iid \
    sourceBranchExists headPipeline { status } resolvableDiscussionsCount resolvedDiscussionsCount \
    reviewers(first: 20) { nodes { mergeRequestInteraction { reviewState } } } } } } }";

/// The path of the list of these.
pub(super) fn list_path(numbers: &[u64]) -> String {
    let each: String = numbers.iter().map(|number| format!("&iids%5B%5D={number}")).collect();
    format!("/merge_requests?scope=all&state=all&with_merge_status_recheck=true&per_page=100{each}")
}

fn items(listed: &Value) -> impl Iterator<Item = &Value> {
    listed.as_array().into_iter().flatten()
}

/// The path that the project has now.
pub(super) fn path_of(listed: &Value) -> Option<String> {
    let page = items(listed).find_map(|one| one["web_url"].as_str())?;
    RepoName::of_page(page).map(|name| name.short())
}

/// The numbers of those that are open, as GraphQL wants them.
pub(super) fn open_numbers(listed: &Value) -> Vec<String> {
    let open = items(listed).filter(|one| state_of(&one["state"]) == RequestState::Open);
    open.map(|one| one["iid"].to_string()).collect()
}

/// Returns true if GitLab will merge a request later, which then may be in a train.
pub(super) fn has_armed(listed: &Value) -> bool {
    items(listed).any(|one| one["state"] == "opened" && is_armed(one))
}

fn is_armed(one: &Value) -> bool {
    one["merge_when_pipeline_succeeds"] == true
}

/// The answers, in the order of the numbers. `more`: what GraphQL says. `trains`: those of the
/// project.
pub(super) fn read_facts(
    listed: &Value,
    (more, trains): (&Value, &Value),
    numbers: &[u64],
) -> Vec<Option<RequestFacts>> {
    let more = &more["data"]["project"]["mergeRequests"]["nodes"];
    let read = |number: &u64| {
        let one = items(listed).find(|one| one["iid"].as_u64() == Some(*number))?;
        let name = number.to_string();
        let more = items(more).find(|more| more["iid"].as_str() == Some(&name));
        let is_queued =
            items(trains).any(|car| car["merge_request"]["iid"].as_u64() == Some(*number));
        let facts = read_one(one, more.unwrap_or(&Value::Null), *number);
        Some(RequestFacts { is_queued, ..facts })
    };
    numbers.iter().map(read).collect()
}

fn read_one(one: &Value, more: &Value, number: u64) -> RequestFacts {
    let status = one["detailed_merge_status"].as_str().unwrap_or_default();
    let checks = match more["headPipeline"]["status"].as_str() {
        None | Some("SKIPPED") => Checks::None,
        Some("SUCCESS") => Checks::Passed,
        Some("FAILED" | "CANCELED") => Checks::Failed,
        Some(_) => Checks::Pending,
    };
    let reviewers = items(&more["reviewers"]["nodes"]);
    let states: Vec<&str> = reviewers
        .filter_map(|one| one["mergeRequestInteraction"]["reviewState"].as_str())
        .collect();
    let review = if status == "requested_changes" || states.contains(&"REQUESTED_CHANGES") {
        Review::ChangesRequested
    } else if status == "not_approved" {
        Review::Required
    } else if states.contains(&"APPROVED") {
        Review::Approved
    } else {
        Review::None
    };
    let count = |key: &str| more[key].as_u64().unwrap_or(0);
    let open =
        count("resolvableDiscussionsCount").saturating_sub(count("resolvedDiscussionsCount"));
    let head = text_of(&one["sha"]);
    let is_merged = one["state"] == "merged";
    // Without a squash and a merge commit, the head itself came to the branch.
    let commits = [&one["merge_commit_sha"], &one["squash_commit_sha"]];
    let commit = commits.into_iter().find_map(Value::as_str).unwrap_or(&head);
    RequestFacts {
        number,
        url: text_of(&one["web_url"]),
        state: state_of(&one["state"]),
        is_draft: one["draft"] == true,
        base_ref: text_of(&one["target_branch"]),
        merge_commit: is_merged.then(|| commit.to_owned()),
        head,
        is_queued: false,
        // The call for a merge finds out whether there is a train.
        has_queue: false,
        is_armed: is_armed(one),
        checks,
        review,
        conflict: match status {
            "conflict" => Conflict::Yes,
            "unchecked" | "checking" | "preparing" => Conflict::Unknown,
            _ if one["has_conflicts"] == true => Conflict::Yes,
            _ => Conflict::No,
        },
        is_branch_gone: more["sourceBranchExists"] == false,
        is_behind: status == "need_rebase",
        is_blocked: is_blocked(status),
        open_threads: usize::try_from(open).unwrap_or(usize::MAX),
    }
}

/// The project wants something that has not come. New versions know further words for that.
fn is_blocked(status: &str) -> bool {
    let others = [
        "",
        "mergeable",
        "unchecked",
        "checking",
        "preparing",
        "not_open",
        "draft_status",
        "conflict",
        "need_rebase",
        "requested_changes",
        "discussions_not_resolved",
    ];
    !others.contains(&status)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts(one: Value, more: Value) -> RequestFacts {
        let mut one = one;
        one["iid"] = json!(3);
        let more = json!({ "data": { "project": { "mergeRequests": { "nodes": [more] } } } });
        let trains = json!([{ "merge_request": { "iid": 4 }, "status": "fresh" }]);
        let found = read_facts(&json!([one]), (&more, &trains), &[3, 4]).remove(0).unwrap();
        assert!(!found.is_queued, "another one is in the train");
        found
    }

    #[test]
    fn each_word_of_gitlab_says_what_is_missing() {
        let of = |status: &str| {
            facts(json!({ "state": "opened", "detailed_merge_status": status }), json!({}))
        };
        assert!(!of("mergeable").is_blocked);
        assert!(of("ci_must_pass").is_blocked && of("some_new_word").is_blocked);
        assert!(of("need_rebase").is_behind);
        assert_eq!(of("conflict").conflict, Conflict::Yes);
        assert_eq!(of("checking").conflict, Conflict::Unknown);
        assert_eq!(of("not_approved").review, Review::Required);
        assert_eq!(of("requested_changes").review, Review::ChangesRequested);
    }

    #[test]
    fn what_only_graphql_tells_is_taken_by_number() {
        let more = json!({
            "iid": "3", "headPipeline": { "status": "RUNNING" },
            "resolvableDiscussionsCount": 3, "resolvedDiscussionsCount": 1,
            "reviewers": { "nodes": [
                { "mergeRequestInteraction": null },
                { "mergeRequestInteraction": { "reviewState": "REQUESTED_CHANGES" } },
            ] },
        });
        let found = facts(json!({ "state": "opened", "detailed_merge_status": "mergeable" }), more);
        assert_eq!((found.checks, found.open_threads), (Checks::Pending, 2));
        assert_eq!(found.review, Review::ChangesRequested);
        assert_eq!(read_facts(&json!([]), (&Value::Null, &Value::Null), &[4]), [None]);
    }

    #[test]
    fn the_commit_of_a_merge_is_the_merge_the_squash_or_the_head() {
        let commit = |merge: Value, squash: Value| {
            let one = json!({
                "state": "merged", "sha": "head", "merge_commit_sha": merge,
                "squash_commit_sha": squash,
            });
            facts(one, Value::Null).merge_commit.unwrap()
        };
        assert_eq!(commit(json!("merge"), json!("squash")), "merge");
        assert_eq!(commit(Value::Null, json!("squash")), "squash");
        assert_eq!(commit(Value::Null, Value::Null), "head");
    }
}
