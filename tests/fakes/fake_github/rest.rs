//! The bits of the REST interface that `gh` needs.

use serde_json::{Value, json};

use crate::git;
use crate::http::Request;
use crate::state::{Repository, State, now};
use crate::zip::archive;

/// An answer: the code, the kind of the content, and the content.
pub(crate) type Answer = (u16, &'static str, Vec<u8>);

pub(crate) fn json_answer(code: u16, body: &Value) -> Answer {
    (code, "application/json; charset=utf-8", body.to_string().into_bytes())
}

pub(crate) fn answer(state: &mut State, request: &Request, path: &str) -> Answer {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let gone = || json_answer(404, &json!({ "message": "Not Found", "path": path }));
    match parts[..] {
        ["user"] | ["users", _] => {
            json_answer(200, &json!({ "login": state.viewer, "id": 1, "type": "User" }))
        }
        ["rate_limit"] => {
            let limit =
                json!({ "limit": 5000, "remaining": 4999, "used": 1, "reset": 4102444800_u64 });
            json_answer(200, &json!({ "resources": { "graphql": limit, "core": limit } }))
        }
        ["repos", owner, name, ref rest @ ..] => {
            let full_name = state.name_now(&format!("{owner}/{name}"));
            let Some(of) = state.repositories.get_mut(&full_name) else { return gone() };
            let found = in_repository(of, request, rest).unwrap_or_else(gone);
            state.settle();
            found
        }
        _ => gone(),
    }
}

fn in_repository(of: &mut Repository, request: &Request, path: &[&str]) -> Option<Answer> {
    let show = |body: Value| Some(json_answer(200, &body));
    match path {
        [] => show(json!({
            "node_id": format!("R_{}_{}_0", of.owner, of.name), "name": of.name,
            "full_name": of.full_name(), "default_branch": of.default_branch(),
        })),
        ["git", "refs", "heads", branch @ ..] if request.method == "DELETE" => {
            let name = format!("refs/heads/{}", branch.join("/").replace("%2F", "/"));
            git::git(&of.folder, &["update-ref", "-d", &name]);
            Some((204, "text/plain", Vec::new()))
        }
        ["rules", "branches", ..] => {
            let signed = of.flag("signed").then(|| json!({ "type": "required_signatures" }));
            show(Value::Array(signed.into_iter().collect()))
        }
        ["pulls", number, "comments"] => {
            let pull = of.pulls.get(&number.parse().ok()?)?;
            let threads = pull["threads"].as_array().cloned().unwrap_or_default();
            let comments = threads.iter().flat_map(|thread| {
                let said = thread["comments"].as_array().cloned().unwrap_or_default();
                said.into_iter().map(|said| json!({
                    "id": 1, "node_id": said["id"], "path": thread["path"], "line": thread["line"],
                    "body": said["body"], "user": { "login": said["author"] },
                    "author_association": said["association"],
                }))
            });
            show(comments.collect())
        }
        ["actions", "runs", run] => show(json!({
            "id": run.parse::<u64>().ok()?, "name": "CI", "status": "completed",
            "conclusion": "failure", "head_branch": "x", "workflow_id": 1,
            "event": "pull_request", "attempt": 1, "run_attempt": 1, "created_at": now(),
            "updated_at": now(), "repository": { "full_name": of.full_name() },
            "jobs_url": format!(
                "http://api.github.localhost/repos/{}/actions/runs/{run}/jobs", of.full_name()
            ),
        })),
        ["actions", "runs", _, .., "jobs"] => show(json!({ "total_count": 1, "jobs": [{
            "id": 9, "name": "test", "status": "completed", "conclusion": "failure",
            "started_at": now(), "completed_at": now(), "html_url": "",
            "steps": [
                { "name": "run", "number": 1, "status": "completed", "conclusion": "failure" },
            ],
        }] })),
        ["actions", "workflows", _] => show(json!({
            "id": 1, "name": "CI", "path": ".github/workflows/ci.yml", "state": "active",
        })),
        ["actions", "jobs", _, "logs"] => Some((200, "text/plain", log_of(of).into_bytes())),
        ["actions", "runs", _, .., "logs"] => {
            Some((200, "application/zip", archive("test/1_run.txt", log_of(of).as_bytes())))
        }
        ["check-runs", _, "annotations"] => show(json!([])),
        _ => None,
    }
}

/// The log of the step that failed.
fn log_of(of: &Repository) -> String {
    let log = of.settings.get("log").and_then(Value::as_str).map(str::to_owned);
    log.unwrap_or_else(|| {
        "2026-01-01T00:00:00.0000000Z test failed: expected 2, got 3\n".to_owned()
    })
}
