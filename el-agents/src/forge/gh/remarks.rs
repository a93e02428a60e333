//! The one query for what reviewers and checks want of all pull requests of a repository.

use serde_json::Value;

use super::super::{ForgeRemark, RemarkKind};
use super::text;

/// The query for these numbers, an alias each.
pub(super) fn query(numbers: &[u64]) -> String {
    let author = "author { login __typename } authorAssociation body";
    let each: Vec<String> = numbers
        .iter()
        .map(|n| {
            format!(
                "p{n}: pullRequest(number: {n}) {{ headRefOid \
                 latestReviews(last: 50) {{ nodes {{ id state commit {{ oid }} {author} }} }} \
                 reviewThreads(first: 100) {{ nodes {{ id isResolved path line \
                 comments(first: 30) {{ nodes {{ id {author} }} }} }} }} \
                 commits(last: 1) {{ nodes {{ commit {{ oid statusCheckRollup {{ \
                 contexts(first: 100) {{ nodes {{ __typename \
                 ... on CheckRun {{ name conclusion detailsUrl isRequired(pullRequestNumber: {n}) \
                 }} ... on StatusContext {{ context state targetUrl \
                 isRequired(pullRequestNumber: {n}) }} }} }} }} }} }} }} }}"
            )
        })
        .collect();
    format!(
        "query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) \
         {{ {} }} }}",
        each.join(" ")
    )
}

/// The answer, in the order of the numbers.
pub(super) fn read(answer: &Value, numbers: &[u64]) -> Vec<Vec<ForgeRemark>> {
    let all = &answer["data"]["repository"];
    numbers.iter().map(|number| read_one(&all[format!("p{number}")])).collect()
}

fn nodes(of: &Value) -> impl Iterator<Item = &Value> {
    of["nodes"].as_array().into_iter().flatten()
}

fn remark(kind: RemarkKind, head: &str, id: String, said: &Value) -> ForgeRemark {
    ForgeRemark {
        kind,
        head: head.to_owned(),
        id,
        author: text(&said["author"]["login"]),
        is_bot: said["author"]["__typename"] == "Bot",
        role: text(&said["authorAssociation"]),
        text: text(&said["body"]),
        place: None,
        run: None,
    }
}

fn read_one(one: &Value) -> Vec<ForgeRemark> {
    let head = text(&one["headRefOid"]);
    let mut found = Vec::new();
    for review in nodes(&one["latestReviews"]).filter(|it| it["state"] == "CHANGES_REQUESTED") {
        let of = review["commit"]["oid"].as_str().unwrap_or(&head);
        found.push(remark(RemarkKind::Review, of, text(&review["id"]), review));
    }
    for thread in nodes(&one["reviewThreads"]).filter(|it| it["isResolved"] == false) {
        let path = text(&thread["path"]);
        let place = match thread["line"].as_u64() {
            Some(line) => format!("{path}:{line}"),
            None => path,
        };
        for comment in nodes(&thread["comments"]) {
            // Each comment is asked once, whatever head the branch has by then.
            let id = format!("{}/{}", text(&thread["id"]), text(&comment["id"]));
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
