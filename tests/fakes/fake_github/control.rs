//! The deeds of people and machines at GitHub, as a test says: a JSON object a request, with the
//! verb under `do`.
//!
//! ```text
//! {"do": "state"}                        all that there is
//! {"do": "set", "queue": true, …}        settings: queue, no_auto_merge, no_drafts, methods,
//!                                        permission, private, strict, signed (by a ruleset),
//!                                        signed_branch, required_checks, required_reviews,
//!                                        checks, labels, template, log,
//!                                        delete_branch_on_merge, protected, base_checks
//! {"do": "issue", "number": 1, …}        writes these values over those of an issue
//! {"do": "pull", "number": 1, …}         the same of a pull request
//! {"do": "merge", "number": 1, "method": "SQUASH"}
//! {"do": "review", "number": 1, "state": "CHANGES_REQUESTED", "author": …, "body": …}
//! {"do": "thread", "number": 1, "path": …, "line": 3, "author": …, "body": …}
//! {"do": "comment", "number": 1, "author": …, "association": …, "body": …}
//! {"do": "check", "number": 1, "name": "test", "conclusion": "FAILURE"}   of the present head
//! {"do": "delete_issue", "number": 1}   {"do": "delete_pull", "number": 1}
//! {"do": "rename", "name": "acme/store"}   the repository, which keeps its old name too
//! {"do": "delete_branch", "branch": …}   {"do": "rename_default", "branch": …}
//! {"do": "repository", "name": "ada/shop", "fork_of": "acme/shop"}
//! {"do": "viewer", "login": …}           who is signed in
//! {"do": "rule", "when": …, "act": "fail" | "drop" | "hold" | "hold_after", …}
//! ```
//! Each may name a `repository`; `acme/shop` otherwise.

use serde_json::{Map, Value, json};

use crate::git;
use crate::mutations::add_comment;
use crate::state::{Repository, State, list, now, text};

pub(crate) fn control(state: &mut State, order: &Map<String, Value>) -> Result<Value, String> {
    let named = text(order, "repository");
    let name = state.name_now(if named.is_empty() { "acme/shop" } else { named });
    let number = order.get("number").and_then(Value::as_u64).unwrap_or(0);
    let verb = text(order, "do");
    match verb {
        "rule" => {
            let rule = serde_json::from_value(Value::Object(order.clone()));
            state.rules.push(rule.map_err(|error| error.to_string())?);
        }
        "rename" => {
            state.rename_repository(&name, text(order, "name"))?;
            return Ok(json!({}));
        }
        "viewer" => state.viewer = text(order, "login").to_owned(),
        "repository" => {
            let fork_of = order.get("fork_of").and_then(Value::as_str);
            state.add_repository(text(order, "name"), fork_of)?;
        }
        "merge" => {
            state.settle();
            let method = order.get("method").and_then(Value::as_str).unwrap_or("SQUASH");
            state.merge(&name, number, method, None).map_err(|refusal| refusal.message)?;
        }
        "state" => {}
        _ => {
            let of = state.repositories.get_mut(&name).ok_or("there is no such repository")?;
            in_repository(of, verb, number, order)?;
        }
    }
    state.settle();
    let of = state.repositories.get(&name).ok_or("there is no such repository")?;
    let issues: Map<String, Value> =
        of.issues.iter().map(|(n, it)| (n.to_string(), Value::Object(it.clone()))).collect();
    let pulls: Map<String, Value> =
        of.pulls.iter().map(|(n, it)| (n.to_string(), Value::Object(it.clone()))).collect();
    Ok(json!({ "pulls": pulls, "issues": issues, "folder": of.folder }))
}

fn in_repository(
    of: &mut Repository,
    verb: &str,
    number: u64,
    order: &Map<String, Value>,
) -> Result<(), String> {
    let mut values = order.clone();
    for key in ["do", "repository", "number"] {
        values.shift_remove(key);
    }
    let branch = text(order, "branch");
    match verb {
        "set" => {
            of.settings.extend(values);
            let protected = of.list("protected");
            let protected = protected.iter().filter_map(Value::as_str).map(str::to_owned);
            git::protect(&of.folder, &protected.collect::<Vec<_>>());
        }
        "issue" => of.patch_issue(number, &values),
        "delete_issue" => drop(of.issues.remove(&number)),
        "delete_pull" => drop(of.pulls.remove(&number)),
        "delete_branch" => {
            git::git(&of.folder, &["update-ref", "-d", &format!("refs/heads/{branch}")])
                .ok_or("git cannot delete it")?;
        }
        "rename_default" => {
            let old = of.default_branch();
            git::git(&of.folder, &["branch", "-m", &old, branch]).ok_or("git cannot rename it")?;
            for pull in of.pulls.values_mut() {
                if text(pull, "baseRefName") == old {
                    pull.insert("baseRefName".to_owned(), json!(branch));
                }
            }
        }
        "comment" => {
            let item = of.pulls.get_mut(&number).or_else(|| of.issues.get_mut(&number));
            let role = order.get("association").and_then(Value::as_str).unwrap_or("MEMBER");
            let item = item.ok_or("there is no such issue")?;
            add_comment(item, text(order, "author"), role, text(order, "body"));
        }
        _ => {
            let pull = of.pulls.get_mut(&number).ok_or("there is no such pull request")?;
            in_pull(pull, verb, values)?;
        }
    }
    Ok(())
}

fn in_pull(
    pull: &mut Map<String, Value>,
    verb: &str,
    mut values: Map<String, Value>,
) -> Result<(), String> {
    let head = pull["headRefOid"].clone();
    let number = pull["number"].clone();
    let (key, sign) = match verb {
        "pull" => {
            pull.extend(values);
            return Ok(());
        }
        "check" => ("checks", "CR"),
        "review" => ("reviews", "PRR"),
        "thread" => ("threads", "PRRT"),
        _ => return Err(format!("nobody can {verb} here")),
    };
    let mut all = list(pull, key).to_vec();
    let id = format!("{sign}_{number}_{}", all.len() + 1);
    if verb == "thread" {
        let said = json!({
            "id": format!("PRRC_{number}_{}", all.len() + 1), "author": values.get("author"),
            "association": values.get("association").unwrap_or(&json!("MEMBER")),
            "body": values.get("body"), "at": values.get("at").unwrap_or(&json!(now())),
        });
        values.insert("comments".to_owned(), json!([said]));
    }
    if verb == "check" {
        all.retain(|check| check["name"] != values["name"] || check["oid"] != head);
    }
    values.insert("id".to_owned(), json!(id));
    values.insert("oid".to_owned(), head);
    // One that a test dates is older than what is said now.
    values.entry("at").or_insert(json!(now()));
    all.push(Value::Object(values));
    pull.insert(key.to_owned(), Value::Array(all));
    pull.insert("updatedAt".to_owned(), json!(now()));
    Ok(())
}
