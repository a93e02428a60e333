//! The bits of GitLab's interface that `el` asks for by `glab api`.

use serde_json::{Map, Value, json};

use crate::git;
use crate::gitlab_view as view;
use crate::http::Request;
use crate::mutations;
use crate::rest::{Answer, json_answer};
use crate::state::{State, list, now, text};
use crate::view::merge_state;

/// An answer, or the code and the words of a refusal.
type Told = Result<Value, (u16, Value)>;

pub(crate) fn answer(state: &mut State, request: &Request, at: (&str, &str)) -> Answer {
    let (path, query) = at;
    let parts: Vec<String> =
        path.trim_start_matches("/api/v4/").split('/').map(view::decode).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let body: Map<String, Value> = serde_json::from_slice(&request.body).unwrap_or_default();
    state.settle();
    if let ["projects", name, "jobs", _, "trace"] = parts[..] {
        let of = view::find_project(state, name);
        let log = of.and_then(|of| of.settings.get("log")).and_then(Value::as_str);
        let log = log.unwrap_or("expected 2, got 3\n");
        return (200, "text/plain", log.as_bytes().to_vec());
    }
    let told = match parts[..] {
        ["user"] => Ok(view::user(&state.viewer)),
        ["users", id] => view::find_user(state, id).ok_or_else(not_found),
        ["projects", name, ref rest @ ..] => {
            in_project(state, (&request.method, name, rest), query, &body)
        }
        _ => Err(not_found()),
    };
    state.settle();
    match told {
        Ok(told) => json_answer(if request.method == "POST" { 201 } else { 200 }, &told),
        Err((code, message)) => json_answer(code, &json!({ "message": message })),
    }
}

fn not_found() -> (u16, Value) {
    (404, json!("404 Not Found"))
}

fn in_project(
    state: &mut State,
    (method, name, path): (&str, &str, &[&str]),
    query: &str,
    body: &Map<String, Value>,
) -> Told {
    let project = (404, json!("404 Project Not Found"));
    // GraphQL does not follow old names.
    let name = state.name_now(name);
    let of = view::find_project(state, &name).ok_or(project)?;
    let full_name = of.full_name();
    let asked = view::Asked::parse(query);
    match (method, path) {
        ("GET", []) => Ok(view::project(state, of)),
        ("GET", ["push_rule"]) => Ok(json!({ "reject_unsigned_commits": of.wants_signatures() })),
        ("GET", ["members", "all"]) => Ok(view::members(of, &asked)),
        ("GET", ["pipelines"]) => Ok(view::base_pipelines(of)),
        ("GET", ["pipelines", id, "jobs"]) => Ok(view::failed_jobs(of, id)),
        ("GET", ["merge_requests"]) => Ok(view::requests(of, &asked)),
        ("POST", ["merge_requests"]) => create(state, &full_name, body),
        ("POST", ["merge_trains", "merge_requests", number]) => {
            let number = number.parse().map_err(|_| not_found())?;
            arm(state, &full_name, number, "MERGE")?;
            let pulls = state.repositories.get_mut(&full_name).map(|of| &mut of.pulls);
            let pull = pulls.and_then(|pulls| pulls.get_mut(&number)).ok_or_else(not_found)?;
            pull.insert("inQueue".to_owned(), json!(true));
            Ok(json!([]))
        }
        ("GET", ["merge_trains"]) if !of.flag("queue") => Err((403, json!("403 Forbidden"))),
        ("GET", ["merge_trains"]) => Ok(view::merge_trains(of)),
        (_, ["merge_requests", number, rest @ ..]) => {
            let number: u64 = number.parse().map_err(|_| not_found())?;
            if !of.pulls.contains_key(&number) {
                return Err(not_found());
            }
            match (method, rest) {
                ("GET", []) => Ok(view::request(of, number, true)),
                ("GET", ["discussions"]) => Ok(view::discussions(of, number)),
                ("GET", ["reviewers"]) => Ok(view::reviewers(of, number)),
                ("PUT", []) => change(state, &full_name, number, body),
                ("PUT", ["merge"]) => merge(state, &full_name, number, body),
                _ => Err(not_found()),
            }
        }
        _ => Err(not_found()),
    }
}

/// The title without the word that makes it a draft.
fn title_of(title: &str) -> (bool, &str) {
    let lower = title.to_ascii_lowercase();
    let mark = ["draft:", "[draft]", "(draft)"].into_iter().find(|mark| lower.starts_with(mark));
    mark.map_or((false, title), |mark| (true, title[mark.len()..].trim_start()))
}

fn create(state: &mut State, from: &str, body: &Map<String, Value>) -> Told {
    let (owner, _) = from.rsplit_once('/').unwrap_or_default();
    let target = match body.get("target_project_id") {
        Some(id) => view::find_project(state, &id.to_string()).map(|of| of.full_name()),
        None => Some(from.to_owned()),
    };
    let target = target.ok_or_else(not_found)?;
    let branch = text(body, "source_branch");
    let is_same = |pull: &Map<String, Value>| {
        pull["state"] == "OPEN"
            && text(pull, "headRefName") == branch
            && text(pull, "headOwner") == owner
            && text(pull, "baseRefName") == text(body, "target_branch")
    };
    let pulls = &state.repositories[&target].pulls;
    if let Some(other) = pulls.values().find(|pull| is_same(pull)) {
        let number = &other["number"];
        let said = "Another open merge request already exists for this source branch:";
        return Err((409, json!([format!("{said} !{number}")])));
    }
    let (is_draft, title) = title_of(text(body, "title"));
    let (to, project) = target.rsplit_once('/').unwrap_or_default();
    let id = format!("R_{to}_{project}_0");
    let input = json!({
        "repositoryId": id, "title": title,
        "body": text(body, "description"), "draft": is_draft,
        "headRefName": format!("{owner}:{branch}"), "baseRefName": text(body, "target_branch"),
    });
    let input = input.as_object().expect("it is an object");
    let made = mutations::change(state, "createPullRequest", input)
        .map_err(|refusal| (400, json!([refusal.message])))?;
    let number = made["pullRequest"]["number"].as_u64().unwrap_or(0);
    Ok(view::request(&state.repositories[&target], number, true))
}

fn change(state: &mut State, name: &str, number: u64, body: &Map<String, Value>) -> Told {
    let of = state.repositories.get_mut(name).ok_or_else(not_found)?;
    let base = text(body, "target_branch");
    if !base.is_empty() && git::tip(&of.folder, base).is_none() {
        return Err((400, json!({ "target_branch": ["does not exist"] })));
    }
    let pull = of.pulls.get_mut(&number).ok_or_else(not_found)?;
    if let Some(title) = body.get("title").and_then(Value::as_str) {
        let (is_draft, title) = title_of(title);
        pull.insert("title".to_owned(), json!(title));
        pull.insert("isDraft".to_owned(), json!(is_draft));
    }
    for (here, there) in [("body", "description"), ("baseRefName", "target_branch")] {
        if let Some(value) = body.get(there) {
            pull.insert(here.to_owned(), value.clone());
        }
    }
    pull.insert("updatedAt".to_owned(), json!(now()));
    Ok(view::request(&state.repositories[name], number, true))
}

/// It is merged by GitLab later.
fn arm(state: &mut State, name: &str, number: u64, method: &str) -> Result<(), (u16, Value)> {
    let of = state.repositories.get_mut(name).ok_or_else(not_found)?;
    let pull = of.pulls.get_mut(&number).ok_or_else(not_found)?;
    pull.insert(
        "autoMergeRequest".to_owned(),
        json!({ "enabledAt": now(), "mergeMethod": method }),
    );
    Ok(())
}

fn merge(state: &mut State, name: &str, number: u64, body: &Map<String, Value>) -> Told {
    let of = &state.repositories[name];
    let pull = &of.pulls[&number];
    let sha = text(body, "sha");
    if !sha.is_empty() && sha != text(pull, "headRefOid") {
        let said = format!("SHA does not match HEAD of source branch: {}", pull["headRefOid"]);
        return Err((409, json!(said)));
    }
    let refused = (405, json!("405 Method Not Allowed"));
    let own = if of.methods().contains(&json!("MERGE")) { "MERGE" } else { "REBASE" };
    let method = if body.get("squash") == Some(&json!(true)) { "SQUASH" } else { own };
    let status = merge_state(of, pull);
    if body.get("auto_merge") == Some(&json!(true)) {
        let has_passed = view::pipeline_status(of, pull) == Some("success");
        match status {
            "CLEAN" if has_passed => {}
            "BLOCKED" if !of.flag("no_auto_merge") => {
                arm(state, name, number, method)?;
                return Ok(view::request(&state.repositories[name], number, true));
            }
            _ => return Err(refused),
        }
    }
    if status == "DIRTY" {
        return Err((422, json!("Branch cannot be merged")));
    }
    state.merge(name, number, method, None).map_err(|_| refused)?;
    Ok(view::request(&state.repositories[name], number, true))
}

/// The logins of all who said something in a project, with their parts there.
pub(crate) fn people(of: &crate::state::Repository) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for pull in of.pulls.values() {
        let comments = list(pull, "threads")
            .iter()
            .flat_map(|thread| thread["comments"].as_array().map_or(&[][..], Vec::as_slice));
        for said in list(pull, "reviews").iter().chain(comments) {
            let role = said["association"].as_str().unwrap_or("MEMBER");
            let login = said["author"].as_str().unwrap_or_default();
            found.push((login.to_owned(), role.to_owned()));
        }
    }
    found
}
