//! The one query that watches all pull requests of a repository.

use serde_json::Value;

use super::super::{Checks, Conflict, RequestFacts, Review, state_of, text_of};
use super::{pulls_of, pulls_query};

const FRAGMENT: &str = "fragment F on PullRequest { number url state isDraft headRefOid \
    baseRefName mergeable mergeStateStatus reviewDecision isInMergeQueue isMergeQueueEnabled \
    autoMergeRequest { enabledAt } mergeCommit { oid } \
    reviewThreads(first: 100) { nodes { isResolved } } \
    commits(last: 1) { nodes { commit { oid statusCheckRollup { state } } } } }";

/// The query for these numbers.
pub(super) fn facts_query(numbers: &[u64]) -> String {
    format!("{} {FRAGMENT}", pulls_query(numbers, |_| "...F".to_owned()))
}

/// The answer, in the order of the numbers.
pub(super) fn read_facts(answer: &Value, numbers: &[u64]) -> Vec<Option<RequestFacts>> {
    pulls_of(answer, numbers).map(|(number, one)| read_one(one, number)).collect()
}

fn read_one(one: &Value, number: u64) -> Option<RequestFacts> {
    one.as_object()?;
    let head = text_of(&one["headRefOid"]);
    let commit = &one["commits"]["nodes"][0]["commit"];
    let checks = match commit["statusCheckRollup"]["state"].as_str() {
        // Checks of an earlier head say nothing of this one.
        _ if commit["oid"].as_str().is_some_and(|oid| oid != head) => Checks::Pending,
        Some("SUCCESS") => Checks::Passed,
        Some("FAILURE" | "ERROR") => Checks::Failed,
        Some(_) => Checks::Pending,
        None => Checks::None,
    };
    Some(RequestFacts {
        number,
        url: text_of(&one["url"]),
        state: state_of(&one["state"]),
        is_draft: one["isDraft"] == true,
        head,
        base_ref: text_of(&one["baseRefName"]),
        merge_commit: one["mergeCommit"]["oid"].as_str().map(str::to_owned),
        is_queued: one["isInMergeQueue"] == true,
        has_queue: one["isMergeQueueEnabled"] == true,
        is_armed: one["autoMergeRequest"].is_object(),
        checks,
        review: match one["reviewDecision"].as_str() {
            Some("APPROVED") => Review::Approved,
            Some("CHANGES_REQUESTED") => Review::ChangesRequested,
            Some("REVIEW_REQUIRED") => Review::Required,
            _ => Review::None,
        },
        conflict: match one["mergeable"].as_str() {
            Some("CONFLICTING") => Conflict::Yes,
            Some("MERGEABLE") => Conflict::No,
            _ => Conflict::Unknown,
        },
        // GitHub closes a pull request whose branch is deleted.
        is_branch_gone: false,
        is_behind: one["mergeStateStatus"] == "BEHIND",
        is_blocked: one["mergeStateStatus"] == "BLOCKED",
        open_threads: one["reviewThreads"]["nodes"]
            .as_array()
            .map_or(0, |all| all.iter().filter(|thread| thread["isResolved"] == false).count()),
    })
}
