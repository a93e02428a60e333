//! `el sync github`, with the real `gh` against the scripted GitHub.

use serde_json::{Value, json};

use crate::support::{ForgeClient, Github, TestEnv, github_client};

mod push;
mod refusals;
mod strangers;

/// A `gh` whose GitHub has no issues.
pub(crate) const EMPTY_GH: &str = "#!/bin/sh
case \"$1 $2\" in
  --version*) echo 'gh version 2.103.3' ;;
  'repo view') echo '{\"isPrivate\":true}' ;;
  *) echo '[]' ;;
esac
";

const REPO: &str = "github.localhost/acme/shop";

/// A project, and a private repository at GitHub.
fn with_github(gh: &ForgeClient) -> (TestEnv, Github) {
    let mut env = TestEnv::with_tracker();
    let github = Github::start(&mut env, gh);
    github.control(json!({ "do": "set", "private": true }));
    (env, github)
}

fn sync(env: &TestEnv, more: &[&str]) -> Value {
    env.robot(&[&["sync", "github", "-R", REPO], more].concat())
}

fn atom(env: &TestEnv, number: u64) -> Value {
    env.show(&format!("acme/shop#{number}"))
}

/// The notes of a sync, in words.
fn notes(synced: &Value) -> String {
    synced["notes"].to_string()
}

#[test]
fn issues_become_atoms_and_later_syncs_take_what_changed() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.issue(1, json!({ "title": "Whole", "labels": ["bug", "P1"], "subIssues": [2] }));
    github.issue(
        2,
        json!({
            "title": "Part", "parent": 1, "body": "As it was", "assignees": ["bob"],
        }),
    );
    github.issue(3, json!({ "title": "Later", "blockedBy": [2] }));
    github.control(json!({ "do": "comment", "number": 2, "author": "bob", "body": "Why?" }));

    let rehearsed = sync(&env, &["--dry-run"]);
    assert_eq!((&rehearsed["created"], &rehearsed["dry_run"]), (&json!(3), &json!(true)));
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    let first = sync(&env, &[]);
    assert_eq!((&first["created"], &first["since"]), (&json!(3), &Value::Null));
    assert_eq!(atom(&env, 1)["issue_type"], "bug");
    assert_eq!(atom(&env, 2)["assignee"], "bob");
    assert_eq!(env.comments("acme/shop#2"), ["Why?"]);
    // The version of Debian 12 knows none of the relations, and the answer says so.
    if first["lacks_relations"] == true {
        assert_eq!(atom(&env, 2)["parent_id"], Value::Null);
    } else {
        assert_eq!(atom(&env, 2)["parent_id"], atom(&env, 1)["id"]);
        let waits = atom(&env, 3)["dependencies"]["incoming"].take();
        assert_eq!(waits[0]["source_id"], atom(&env, 2)["id"]);
    }

    // A comment that is edited stays one, and what was done here stands.
    let edited = github.state()["issues"]["2"]["comments"].take();
    let mut edited = edited.as_array().unwrap().clone();
    edited[0]["body"] = json!("Why not?");
    github.issue(2, json!({ "comments": edited, "title": "Piece", "body": "New" }));
    env.el(&["update", "acme/shop#2", "-d", "Ours"]).ok();
    let again = sync(&env, &[]);
    assert_ne!(again["since"], Value::Null, "only what changed was asked for");
    assert_eq!((&again["updated"], &again["comments_edited"]), (&json!(1), &json!(1)));
    assert!(notes(&again).contains("description changed here and at GitHub"));
    let named = format!("acme/shop#2 ({})", atom(&env, 2)["id"].as_str().unwrap());
    assert!(notes(&again).contains(&named), "{again}");
    assert!(!notes(&again).contains("line "), "there is no file: {again}");
    assert_eq!(env.comments("acme/shop#2"), ["Why not?"]);
    let two = atom(&env, 2);
    assert_eq!((&two["title"], &two["description"]), (&json!("Piece"), &json!("Ours")));
    assert_eq!(sync(&env, &[])["updated"], 0);

    // An issue that is gone is told by a whole sync, and its atom stays.
    github.control(json!({ "do": "delete_issue", "number": 3 }));
    assert_eq!(notes(&sync(&env, &[])), "[]");
    assert!(notes(&sync(&env, &["--full"])).contains("acme/shop#3"));
    assert_eq!(env.status("acme/shop#3"), "open");
    sync(&env, &["--theirs", "acme/shop#2"]);
    assert_eq!(atom(&env, 2)["description"], "New");
    assert_eq!(github.writes(), Vec::<String>::new(), "nothing was written");
}

#[test]
fn what_agents_closed_stays_closed_and_what_is_closed_there_is_closed_here() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.issue(1, json!({ "title": "Play", "body": TestEnv::script(&["close done"]) }));
    github.issue(2, json!({ "title": "Other" }));
    sync(&env, &[]);
    github.issue(2, json!({ "state": "CLOSED", "stateReason": "NOT_PLANNED" }));
    sync(&env, &[]);
    assert_eq!(env.status("acme/shop#2"), "wont_do");
    env.work(&["--drain"]);
    assert_eq!(env.status("acme/shop#1"), "closed");
    // The pull request of the work closes the issue.
    github.issue(1, json!({ "state": "CLOSED", "stateReason": "COMPLETED" }));
    assert_eq!(notes(&sync(&env, &[])), "[]");
    assert_eq!(env.status("acme/shop#1"), "closed");
    github.issue(2, json!({ "state": "OPEN", "stateReason": "REOPENED" }));
    sync(&env, &[]);
    assert_eq!(env.status("acme/shop#2"), "open");
}
