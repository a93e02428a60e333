//! The one query for what reviewers and checks want of all pull requests of a repository.

use serde_json::Value;

use super::super::{ForgeRemark, RemarkKind, text_of, time_of};
use super::{pulls_of, pulls_query};

/// The query for these numbers.
pub(super) fn remarks_query(numbers: &[u64]) -> String {
    let author = "author { login __typename } authorAssociation body createdAt";
    let checks = |of_run: &str, of_status: &str| {
        format!(
            "statusCheckRollup {{ contexts(first: 100) {{ nodes {{ __typename \
             ... on CheckRun {{ name conclusion {of_run} }} \
             ... on StatusContext {{ context state {of_status} }} }} }} }}"
        )
    };
    let base = checks("", "");
    pulls_query(numbers, |n| {
        let required = format!("isRequired(pullRequestNumber: {n})");
        let head = checks(
            &format!("detailsUrl completedAt {required}"),
            &format!("targetUrl createdAt {required}"),
        );
        format!(
            "headRefOid \
             latestReviews(last: 50) {{ nodes {{ id state commit {{ oid }} {author} }} }} \
             reviewThreads(first: 100) {{ nodes {{ id isResolved path line \
             comments(first: 30) {{ nodes {{ id {author} }} }} }} }} \
             baseRef {{ target {{ ... on Commit {{ {base} }} }} }} \
             commits(last: 1) {{ nodes {{ commit {{ oid {head} }} }} }}"
        )
    })
}

/// The answer, in the order of the numbers.
pub(super) fn read_remarks(answer: &Value, numbers: &[u64]) -> Vec<Vec<ForgeRemark>> {
    pulls_of(answer, numbers).map(|(_, one)| read_one(one)).collect()
}

fn nodes(of: &Value) -> impl Iterator<Item = &Value> {
    of["nodes"].as_array().into_iter().flatten()
}

fn remark(kind: RemarkKind, head: &str, id: String, said: &Value) -> ForgeRemark {
    ForgeRemark {
        kind,
        head: head.to_owned(),
        id,
        author: text_of(&said["author"]["login"]),
        is_bot: said["author"]["__typename"] == "Bot",
        role: text_of(&said["authorAssociation"]),
        text: text_of(&said["body"]),
        place: None,
        run: None,
        at: time_of(&said["createdAt"]),
    }
}

fn read_one(one: &Value) -> Vec<ForgeRemark> {
    let head = text_of(&one["headRefOid"]);
    let mut found = Vec::new();
    for review in nodes(&one["latestReviews"]).filter(|it| it["state"] == "CHANGES_REQUESTED") {
        let of = review["commit"]["oid"].as_str().unwrap_or(&head);
        found.push(remark(RemarkKind::Review, of, text_of(&review["id"]), review));
    }
    for thread in nodes(&one["reviewThreads"]).filter(|it| it["isResolved"] == false) {
        let path = text_of(&thread["path"]);
        let place = match thread["line"].as_u64() {
            Some(line) => format!("{path}:{line}"),
            None => path,
        };
        for comment in nodes(&thread["comments"]) {
            // Each comment is asked once, whatever head the branch has by then.
            let id = format!("{}/{}", text_of(&thread["id"]), text_of(&comment["id"]));
            let said = remark(RemarkKind::Thread, "", id, comment);
            found.push(ForgeRemark { place: Some(place.clone()), ..said });
        }
    }
    let commit = &one["commits"]["nodes"][0]["commit"];
    if commit["oid"] == head.as_str() {
        // A check that fails on the base too is nobody's fault here.
        let base = &one["baseRef"]["target"]["statusCheckRollup"]["contexts"];
        let of_base: Vec<&str> = nodes(base).filter_map(failed_name).collect();
        for check in nodes(&commit["statusCheckRollup"]["contexts"]) {
            if failed_name(check).is_some_and(|name| !of_base.contains(&name)) {
                found.extend(required_check(check, &head));
            }
        }
    }
    found
}

/// The name of a check that failed.
fn failed_name(check: &Value) -> Option<&str> {
    let result = check["conclusion"].as_str().or(check["state"].as_str())?;
    let has_failed = matches!(result, "FAILURE" | "ERROR" | "TIMED_OUT" | "STARTUP_FAILURE");
    check["name"].as_str().or(check["context"].as_str()).filter(|_| has_failed)
}

fn required_check(check: &Value, head: &str) -> Option<ForgeRemark> {
    let name = failed_name(check).filter(|_| check["isRequired"] == true)?;
    let url = check["detailsUrl"].as_str().or(check["targetUrl"].as_str()).unwrap_or_default();
    let run = url.split("/runs/").nth(1).and_then(|rest| rest.split('/').next());
    Some(ForgeRemark {
        text: format!("the check {name} fails"),
        run: run.and_then(|run| run.parse().ok()),
        at: time_of(&check["completedAt"]).or_else(|| time_of(&check["createdAt"])),
        ..remark(RemarkKind::Check, head, format!("check {name}"), &Value::Null)
    })
}
