//! The one query for what reviewers and checks want of all pull requests of a repository.

use serde_json::Value;

use super::super::{ForgeRemark, RemarkKind};
use super::{pulls_of, pulls_query, text_of};

/// The query for these numbers.
pub(super) fn remarks_query(numbers: &[u64]) -> String {
    let author = "author { login __typename } authorAssociation body";
    pulls_query(numbers, |n| {
        format!(
            "headRefOid \
             latestReviews(last: 50) {{ nodes {{ id state commit {{ oid }} {author} }} }} \
             reviewThreads(first: 100) {{ nodes {{ id isResolved path line \
             comments(first: 30) {{ nodes {{ id {author} }} }} }} }} \
             commits(last: 1) {{ nodes {{ commit {{ oid statusCheckRollup {{ \
             contexts(first: 100) {{ nodes {{ __typename \
             ... on CheckRun {{ name conclusion detailsUrl isRequired(pullRequestNumber: {n}) }} \
             ... on StatusContext {{ context state targetUrl isRequired(pullRequestNumber: {n}) }} \
             }} }} }} }} }} }}"
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
        for check in nodes(&commit["statusCheckRollup"]["contexts"]) {
            found.extend(failed_check(check, &head));
        }
    }
    found
}

fn failed_check(check: &Value, head: &str) -> Option<ForgeRemark> {
    let result = check["conclusion"].as_str().or(check["state"].as_str())?;
    let has_failed = matches!(result, "FAILURE" | "ERROR" | "TIMED_OUT" | "STARTUP_FAILURE");
    if !has_failed || check["isRequired"] != true {
        return None;
    }
    let name = check["name"].as_str().or(check["context"].as_str())?;
    let url = check["detailsUrl"].as_str().or(check["targetUrl"].as_str()).unwrap_or_default();
    let run = url.split("/runs/").nth(1).and_then(|rest| rest.split('/').next());
    Some(ForgeRemark {
        text: format!("the check {name} fails"),
        run: run.and_then(|run| run.parse().ok()),
        ..remark(RemarkKind::Check, head, format!("check {name}"), &Value::Null)
    })
}
