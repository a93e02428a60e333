//! The view of GitLab's interface: the same repositories and requests, in GitLab's words.

use serde_json::{Map, Value, json};

use crate::git;
use crate::gitlab::people;
use crate::state::{Repository, State, list, text};
use crate::view::{
    checks, conclusion, connection, decision, has_conflict, is_required, merge_state,
};

type Pull = Map<String, Value>;

/// The pipeline of the base, beside those of the requests.
const BASE_PIPELINE: u64 = 990_000;

/// A text of an address.
pub(crate) fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let code = (byte == b'%').then(|| {
            let digits = [bytes.next().unwrap_or(b'0'), bytes.next().unwrap_or(b'0')];
            u8::from_str_radix(std::str::from_utf8(&digits).unwrap_or("3f"), 16).unwrap_or(b'?')
        });
        out.push(code.unwrap_or(byte));
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The query of a call.
pub(crate) struct Asked(Vec<(String, String)>);

impl Asked {
    pub(crate) fn parse(query: &str) -> Asked {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        Asked(pairs.map(|(key, value)| (decode(key), decode(value))).collect())
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    fn takes(&self, name: &str, value: &str) -> bool {
        self.all(name).next().is_none() || self.all(name).any(|wanted| wanted == value)
    }
}

/// A number for a name, the same each time.
fn id_of(name: &str) -> u64 {
    name.bytes().fold(7, |sum: u64, byte| (sum * 31 + u64::from(byte)) % 1_000_003)
}

pub(crate) fn find_project<'a>(state: &'a State, name: &str) -> Option<&'a Repository> {
    let is_it = |of: &&Repository| {
        of.full_name().eq_ignore_ascii_case(name) || id_of(&of.full_name()).to_string() == name
    };
    state.repositories.values().find(is_it)
}

pub(crate) fn user(login: &str) -> Value {
    json!({
        "id": id_of(login), "username": login.trim_end_matches("[bot]"), "name": login,
        "state": "active", "bot": login.ends_with("[bot]"),
    })
}

/// A user as remarks name it: without a word on bots.
fn author(login: &str) -> Value {
    let mut user = user(login);
    user.as_object_mut().map(|user| user.shift_remove("bot"));
    user
}

pub(crate) fn find_user(state: &State, id: &str) -> Option<Value> {
    let mut all = state.repositories.values().flat_map(people);
    all.find(|(login, _)| id_of(login).to_string() == id).map(|(login, _)| user(&login))
}

pub(crate) fn project(state: &State, of: &Repository) -> Value {
    let level = if of.settings.get("permission") == Some(&json!("READ")) { 20 } else { 30 };
    let methods = of.methods();
    let allows = |method: &str| methods.contains(&json!(method));
    let tip = git::tip(&of.folder, &of.default_branch());
    let parent = of.fork_of.as_deref().and_then(|name| state.repositories.get(name));
    json!({
        "id": id_of(&of.full_name()), "path_with_namespace": of.full_name(),
        "namespace": { "full_path": of.owner },
        "default_branch": tip.map(|_| of.default_branch()),
        "permissions": {
            "project_access": null, "group_access": { "access_level": level },
        },
        "merge_method": if allows("MERGE") { "merge" } else { "ff" },
        "squash_option": match (allows("SQUASH"), methods.len()) {
            (false, _) => "never", (true, 1) => "always", _ => "default_on",
        },
        "merge_trains_enabled": of.flag("queue"),
        "only_allow_merge_if_pipeline_succeeds": !of.list("required_checks").is_empty(),
        "forked_from_project": parent.map(|parent| json!({
            "id": id_of(&parent.full_name()), "path_with_namespace": parent.full_name(),
        })),
    })
}

pub(crate) fn members(of: &Repository, asked: &Asked) -> Value {
    let mut found = Map::new();
    for (login, role) in people(of) {
        let level = match role.as_str() {
            "OWNER" => 50,
            "COLLABORATOR" => 40,
            "MEMBER" => 30,
            _ => continue,
        };
        let mut member = author(&login);
        member["access_level"] = json!(level);
        if asked.takes("user_ids[]", &member["id"].to_string()) {
            found.insert(login, member);
        }
    }
    Value::Array(found.into_iter().map(|(_, member)| member).collect())
}

fn jobs(of: &Repository, checks: &[Value]) -> Vec<Value> {
    let failed = checks.iter().filter(|check| conclusion(check) == "FAILURE");
    let job = |check: &Value| {
        json!({
            "id": check.get("run").and_then(Value::as_u64).unwrap_or(7), "name": check["name"],
            "status": "failed", "finished_at": check["at"],
            "allow_failure": !of.list("required_checks").is_empty() && !is_required(of, check),
        })
    };
    failed.map(job).collect()
}

pub(crate) fn base_pipelines(of: &Repository) -> Value {
    let checks = of.list("base_checks");
    let status = if jobs(of, &checks).is_empty() { "success" } else { "failed" };
    json!([{ "id": BASE_PIPELINE, "status": status, "ref": of.default_branch() }])
}

pub(crate) fn failed_jobs(of: &Repository, pipeline: &str) -> Value {
    let number = pipeline.parse::<u64>().unwrap_or(0);
    if number == BASE_PIPELINE {
        return json!(jobs(of, &of.list("base_checks")));
    }
    json!(of.pulls.get(&(number / 100)).map(|pull| jobs(of, &checks(of, pull))))
}

/// How the pipeline of the head ended; `None`: there is none.
pub(crate) fn pipeline_status(of: &Repository, pull: &Pull) -> Option<&'static str> {
    let checks = checks(of, pull);
    if checks.is_empty() {
        None
    } else if jobs(of, &checks).iter().any(|job| job["allow_failure"] == false) {
        Some("failed")
    } else if checks.iter().any(|check| conclusion(check).is_null()) {
        Some("running")
    } else {
        Some("success")
    }
}

fn detailed_status(of: &Repository, pull: &Pull) -> &'static str {
    if pull["override"]["mergeable"] == "UNKNOWN" {
        return "checking";
    }
    match merge_state(of, pull) {
        "UNKNOWN" => "not_open",
        "DRAFT" => "draft_status",
        "DIRTY" => "conflict",
        "BEHIND" => "need_rebase",
        "BLOCKED" if decision(of, pull) == "CHANGES_REQUESTED" => "requested_changes",
        "BLOCKED" if decision(of, pull) == "REVIEW_REQUIRED" => "not_approved",
        "BLOCKED" if pipeline_status(of, pull) == Some("running") => "ci_still_running",
        "BLOCKED" => "ci_must_pass",
        _ => "mergeable",
    }
}

/// A merge request. `is_whole`: as it is shown alone, and not in a list.
pub(crate) fn request(of: &Repository, number: u64, is_whole: bool) -> Value {
    let Some(pull) = of.pulls.get(&number) else { return Value::Null };
    let is_merged = pull["state"] == "MERGED";
    let draft = if pull["isDraft"] == true { "Draft: " } else { "" };
    let status = detailed_status(of, pull);
    let is_squash = pull.get("squashCommit") == Some(&pull["mergeCommit"]);
    let is_moved = pull["mergeCommit"] == pull["headRefOid"];
    let source = format!("{}/{}", text(pull, "headOwner"), of.name);
    let mut found = json!({
        "id": number + 1000, "iid": number, "title": format!("{draft}{}", text(pull, "title")),
        "description": pull["body"], "draft": pull["isDraft"],
        "state": match text(pull, "state") {
            "MERGED" => "merged", "CLOSED" => "closed", _ => "opened",
        },
        "source_branch": pull["headRefName"], "target_branch": pull["baseRefName"],
        "source_project_id": id_of(&source), "target_project_id": id_of(&of.full_name()),
        "sha": pull["headRefOid"], "web_url": format!("{}/-/merge_requests/{number}", of.url()),
        "detailed_merge_status": status, "has_conflicts": has_conflict(of, pull),
        "merge_when_pipeline_succeeds": pull["autoMergeRequest"].is_object(),
        "merge_commit_sha": pull["mergeCommit"].as_str().filter(|_| !is_squash && !is_moved),
        "squash_commit_sha": pull.get("squashCommit").filter(|_| is_merged),
    });
    if is_whole {
        found["head_pipeline"] = json!(pipeline_status(of, pull).map(|status| json!({
            "id": number * 100 + 7, "status": status, "sha": pull["headRefOid"],
        })));
    }
    found
}

pub(crate) fn requests(of: &Repository, asked: &Asked) -> Value {
    let all = of.pulls.keys().rev().map(|number| request(of, *number, false));
    let is_asked = |one: &Value| {
        let word = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
        asked.takes("iids[]", &one["iid"].to_string())
            && (asked.takes("state", "all") || asked.takes("state", &word("state")))
            && asked.takes("source_branch", &word("source_branch"))
            && asked.takes("target_branch", &word("target_branch"))
    };
    Value::Array(all.filter(is_asked).collect())
}

/// The requests in merge trains.
pub(crate) fn merge_trains(of: &Repository) -> Value {
    let all = of
        .pulls
        .iter()
        .filter(|(_, pull)| pull["state"] == "OPEN" && pull.get("inQueue") == Some(&json!(true)));
    all.map(|(number, _)| json!({ "merge_request": { "iid": number }, "status": "fresh" }))
        .collect()
}

/// The last word of each reviewer.
fn review_states(pull: &Pull) -> Vec<(String, &'static str)> {
    let mut found: Vec<(String, &'static str)> = Vec::new();
    for review in list(pull, "reviews") {
        let login = review["author"].as_str().unwrap_or_default();
        let state = match review["state"].as_str() {
            Some("CHANGES_REQUESTED") => "requested_changes",
            Some("APPROVED") => "approved",
            _ => "reviewed",
        };
        found.retain(|(other, _)| other != login);
        found.push((login.to_owned(), state));
    }
    found
}

pub(crate) fn reviewers(of: &Repository, number: u64) -> Value {
    let states = review_states(&of.pulls[&number]);
    states.iter().map(|(login, state)| json!({ "user": author(login), "state": state })).collect()
}

pub(crate) fn discussions(of: &Repository, number: u64) -> Value {
    let pull = &of.pulls[&number];
    let mut found = Vec::new();
    let note = |id: usize, said: &Value, body: &Value, is_system: bool| {
        json!({
            "id": id, "body": body, "system": is_system, "resolvable": false,
            "author": author(said["author"].as_str().unwrap_or_default()),
            "created_at": said["at"],
        })
    };
    for (at, review) in list(pull, "reviews").iter().enumerate() {
        let id = at * 10 + 1;
        let mut notes = vec![note(id, review, &review["body"], false)];
        if review["state"] == "CHANGES_REQUESTED" {
            notes.push(note(id + 1, review, &json!("requested changes"), true));
        }
        notes.retain(|note| note["body"] != "");
        found.extend(notes.into_iter().map(|note| {
            json!({ "id": format!("d{}", note["id"]), "individual_note": true, "notes": [note] })
        }));
    }
    for (at, thread) in list(pull, "threads").iter().enumerate() {
        let said = thread["comments"].as_array().cloned().unwrap_or_default();
        let notes = said.iter().enumerate().map(|(nth, said)| {
            let mut note = note(5_000 + at * 100 + nth, said, &said["body"], false);
            note["resolvable"] = json!(true);
            note["resolved"] = json!(thread["resolved"] == true);
            note["position"] = json!({ "new_path": thread["path"], "new_line": thread["line"] });
            note
        });
        found.push(json!({ "id": thread["id"], "notes": notes.collect::<Vec<_>>() }));
    }
    Value::Array(found)
}

/// Returns GraphQL's answer about all requests of a project.
pub(crate) fn project_requests(state: &State, path: &str) -> Value {
    let Some(of) = find_project(state, path) else { return Value::Null };
    // False, too, once the fork is gone.
    let has_branch = |pull: &Pull| {
        let from = format!("{}/{}", text(pull, "headOwner"), of.name);
        let from = state.repositories.get(&from);
        from.is_some_and(|from| git::tip(&from.folder, text(pull, "headRefName")).is_some())
    };
    let show = |(number, pull): (&u64, &Pull)| {
        let status = pipeline_status(of, pull).map(str::to_uppercase);
        let threads = list(pull, "threads");
        let resolved = threads.iter().filter(|thread| thread["resolved"] == true).count();
        let states = review_states(pull);
        let reviewers = states.iter().map(|(_, state)| {
            json!({ "mergeRequestInteraction": { "reviewState": state.to_uppercase() } })
        });
        json!({
            "__typename": "MergeRequest", "iid": number.to_string(),
            "sourceBranchExists": has_branch(pull),
            "headPipeline": status.map(|status| json!({ "status": status })),
            "resolvableDiscussionsCount": threads.len(), "resolvedDiscussionsCount": resolved,
            "reviewers": connection(reviewers.collect()),
        })
    };
    let all = connection(of.pulls.iter().map(show).collect());
    json!({ "__typename": "Project", "mergeRequests": all })
}
