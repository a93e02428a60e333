//! Answers a query: walks its selections over the objects, and asks for those that a field's
//! arguments choose.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::query::{Document, Field, Selection};
use crate::state::{Refusal, Repository, State, not_found};
use crate::{gitlab_view, mutations, search, view};

/// The things that an answer needs besides the objects.
struct Asked<'a> {
    state: &'a State,
    document: &'a Document,
    errors: Vec<Value>,
    missing: BTreeSet<String>,
}

/// An answer, and the fields that this GitHub does not know.
pub(crate) struct Answer {
    pub(crate) body: Value,
    pub(crate) missing: BTreeSet<String>,
}

pub(crate) fn answer(state: &mut State, document: &Document) -> Answer {
    let mut root = Map::new();
    let mut refused = Vec::new();
    if document.kind == "mutation" {
        for selection in &document.selections {
            let Selection::Field(field) = selection else { continue };
            let input = field.arguments.get("input").and_then(Value::as_object);
            match mutations::change(state, &field.name, input.unwrap_or(&field.arguments)) {
                Ok(value) => root.insert(field.name.clone(), value),
                Err(refusal) => {
                    refused.push(error(&refusal, std::slice::from_ref(&field.alias)));
                    root.insert(field.name.clone(), Value::Null)
                }
            };
        }
        state.settle();
    } else {
        root.insert("__typename".to_owned(), json!("Query"));
    }
    let mut asked = Asked { state, document, errors: refused, missing: BTreeSet::new() };
    let data = asked.select(&Value::Object(root), &document.selections, &[]);
    let mut body = json!({ "data": data });
    if !asked.errors.is_empty() {
        body["errors"] = json!(asked.errors);
    }
    Answer { body, missing: asked.missing }
}

fn error(refusal: &Refusal, path: &[String]) -> Value {
    json!({ "type": refusal.kind, "path": path, "message": refusal.message })
}

impl Asked<'_> {
    fn select(&mut self, of: &Value, selections: &[Selection], path: &[String]) -> Value {
        match of {
            Value::Array(items) => {
                items.iter().map(|item| self.select(item, selections, path)).collect()
            }
            Value::Object(object) => {
                let mut found = Map::new();
                self.select_into(&mut found, object, selections, path);
                Value::Object(found)
            }
            simple => simple.clone(),
        }
    }

    fn select_into(
        &mut self,
        found: &mut Map<String, Value>,
        object: &Map<String, Value>,
        selections: &[Selection],
        path: &[String],
    ) {
        let document = self.document;
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    let mut path = path.to_vec();
                    path.push(field.alias.clone());
                    let value = match self.value(object, field) {
                        Ok(value) => value,
                        Err(refusal) => {
                            self.errors.push(error(&refusal, &path));
                            Value::Null
                        }
                    };
                    let value = if field.selections.is_empty() {
                        value
                    } else {
                        self.select(&value, &field.selections, &path)
                    };
                    merge(found, &field.alias, value);
                }
                Selection::On(kind, inner) => {
                    let own = object.get("__typename").and_then(Value::as_str);
                    let is_it =
                        kind.as_deref().is_none_or(|kind| own.is_none_or(|own| own == kind));
                    if is_it {
                        self.select_into(found, object, inner, path);
                    }
                }
                Selection::Spread(name) => {
                    if let Some(inner) = document.fragments.get(name) {
                        self.select_into(found, object, inner, path);
                    }
                }
            }
        }
    }

    fn value(&mut self, object: &Map<String, Value>, field: &Field) -> Result<Value, Refusal> {
        let arguments = &field.arguments;
        match object.get("__typename").and_then(Value::as_str) {
            Some("Query") => return self.at_root(field),
            Some("Repository") => {
                let name = object["nameWithOwner"].as_str().unwrap_or_default();
                if let Some(of) = self.state.repositories.get(name)
                    && let Some(value) = self.in_repository(of, &field.name, arguments)?
                {
                    return Ok(value);
                }
            }
            _ => {}
        }
        Ok(object.get(&field.name).cloned().unwrap_or_else(|| {
            self.missing.insert(field.name.clone());
            Value::Null
        }))
    }

    fn at_root(&mut self, field: &Field) -> Result<Value, Refusal> {
        let arguments = &field.arguments;
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        Ok(match field.name.as_str() {
            "project" => gitlab_view::project_requests(self.state, text("fullPath")),
            "viewer" => {
                let mut viewer = view::user(&self.state.viewer);
                viewer["organizations"] = view::connection(vec![]);
                viewer
            }
            "repository" => {
                let of = self.state.repository(text("owner"), text("name"))?;
                view::repository(self.state, of)
            }
            "node" => self.node(text("id"))?,
            "nodes" => {
                let ids = arguments.get("ids").and_then(Value::as_array).cloned();
                let ids = ids.unwrap_or_default();
                let ids = ids.iter().filter_map(Value::as_str);
                Value::Array(ids.map(|id| self.node(id)).collect::<Result<_, _>>()?)
            }
            "user" => view::user(text("login")),
            "organization" => json!({
                "__typename": "Organization", "id": "O_1", "login": text("login"),
                "teams": view::connection(vec![]), "projectsV2": view::connection(vec![]),
                "projects": view::connection(vec![]),
            }),
            "search" => search::search(self.state, text("query")),
            "rateLimit" => json!({
                "remaining": 4999, "limit": 5000, "cost": 1, "used": 1,
                "resetAt": "2100-01-01T00:00:00Z",
            }),
            // By these, `gh` finds out what a server can do.
            "__type" => json!({
                "name": text("name"), "enumValues": [], "inputFields": [],
                "fields": known_fields(text("name")),
            }),
            "__schema" => json!({ "mutationType": { "fields": [] } }),
            name => {
                self.missing.insert(name.to_owned());
                Value::Null
            }
        })
    }

    fn node(&self, id: &str) -> Result<Value, Refusal> {
        let parts: Vec<&str> = id.split('_').collect();
        let [kind, owner, name, number] = parts[..] else {
            return not_found(format!("Could not resolve to a node with the global id of '{id}'"));
        };
        let of = self.state.repository(owner, name)?;
        let number = number.parse().unwrap_or(0);
        Ok(match kind {
            "PR" => view::pull(of, number),
            "I" => view::issue(of, number),
            _ => view::repository(self.state, of),
        })
    }

    fn in_repository(
        &self,
        of: &Repository,
        field: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Option<Value>, Refusal> {
        let number = arguments.get("number").and_then(Value::as_u64).unwrap_or(0);
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let found = match field {
            "pullRequest" => view::pull(of, number),
            "issue" => view::issue(of, number),
            "issueOrPullRequest" if of.issues.contains_key(&number) => view::issue(of, number),
            "issueOrPullRequest" => view::pull(of, number),
            "pullRequests" => search::pulls(of, arguments),
            "issues" => search::issues(of, arguments),
            "ref" => view::branch(of, text("qualifiedName")),
            "labels" => {
                let mut names = vec![json!("bug"), json!("enhancement")];
                names.extend(of.list("labels"));
                let names = names.iter().filter_map(Value::as_str);
                view::connection(names.map(view::label).collect())
            }
            "assignableUsers" | "suggestedActors" => {
                view::connection(["ada", "bob"].map(view::user).to_vec())
            }
            "milestones" | "projects" | "projectsV2" | "issueTypes" => view::connection(vec![]),
            _ => return Ok(None),
        };
        let kind = match field {
            "pullRequest" => "a PullRequest",
            "issue" => "an Issue",
            "issueOrPullRequest" => "an issue or pull request",
            _ => return Ok(Some(found)),
        };
        if found.is_null() {
            return not_found(format!("Could not resolve to {kind} with the number of {number}."));
        }
        Ok(Some(found))
    }
}

/// A field may be asked for twice, with other parts each time.
fn merge(found: &mut Map<String, Value>, name: &str, value: Value) {
    match (found.get_mut(name), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (name, value) in new {
                merge(old, &name, value);
            }
        }
        (Some(Value::Array(old)), Value::Array(new)) if old.len() == new.len() => {
            for (old, new) in old.iter_mut().zip(new) {
                match (old, new) {
                    (Value::Object(old), Value::Object(new)) => {
                        new.into_iter().for_each(|(name, value)| merge(old, &name, value));
                    }
                    (old, new) => *old = new,
                }
            }
        }
        (_, value) => {
            found.insert(name.to_owned(), value);
        }
    }
}

fn known_fields(of: &str) -> Vec<Value> {
    let names: &[&str] = match of {
        "PullRequest" => {
            &["isInMergeQueue", "isMergeQueueEnabled", "statusCheckRollup", "reviewDecision"]
        }
        "Repository" => {
            &["pullRequestTemplates", "mergeQueue", "autoMergeAllowed", "visibility", "issueTypes"]
        }
        "Issue" => &[
            "stateReason",
            "parent",
            "subIssues",
            "blockedBy",
            "blocking",
            "issueType",
            "issueDependenciesSummary",
        ],
        "StatusCheckRollupContextConnection" => &[
            "checkRunCount",
            "checkRunCountsByState",
            "statusContextCount",
            "statusContextCountsByState",
        ],
        "WorkflowRun" => &["event"],
        _ => &[],
    };
    names.iter().map(|name| json!({ "name": name })).collect()
}
