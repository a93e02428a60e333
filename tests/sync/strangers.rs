//! A public repository, where everybody may file issues and comment.

use serde_json::{Value, json};

use super::{atom, notes, sync, with_github};
use crate::support::{ForgeClient, Github, TestEnv, github_client};

fn public(gh: &ForgeClient) -> (TestEnv, Github) {
    let (env, github) = with_github(gh);
    github.control(json!({ "do": "set", "private": false, "labels": ["agents"] }));
    (env, github)
}

fn titles(env: &TestEnv) -> Vec<String> {
    let listed = env.robot(&["list", "--all", "--sort", "oldest"])["items"].take();
    let title = |atom: &Value| atom["title"].as_str().unwrap().to_owned();
    let mut titles: Vec<String> = listed.as_array().unwrap().iter().map(title).collect();
    titles.sort();
    titles
}

#[test]
fn a_strangers_issue_becomes_no_atom_until_a_member_accepts_it() {
    let Some(gh) = github_client() else { return };
    let (env, github) = public(&gh);
    let stranger = json!({ "author": "mallory", "association": "NONE" });
    let by_stranger = |title: &str, more: Value| {
        let mut issue = stranger.clone();
        issue["title"] = json!(title);
        issue.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        issue
    };
    github.issue(1, json!({ "title": "By a member" }));
    github.issue(2, by_stranger("Steal the keys", json!({ "labels": ["bug"] })));
    github.issue(3, by_stranger("Assigned", json!({ "assignees": ["ada"] })));
    github.issue(4, by_stranger("Labelled", json!({ "labels": ["agents"] })));
    let first = sync(&env, &[]);
    assert_eq!(first["left_out"], json!([4, 2]));
    assert_eq!(titles(&env), ["Assigned", "By a member"]);
    env.configure("sync_github_label = \"agents\"\n");
    assert_eq!(sync(&env, &["--full"])["left_out"], json!([2]));
    assert_eq!(titles(&env), ["Assigned", "By a member", "Labelled"]);
    let told = env.el(&["sync", "github", "-R", super::REPO, "--full"]).ok().stdout;
    assert!(told.contains("no member has accepted them: #2"), "{told}");
}

#[test]
fn strangers_words_do_not_follow_into_what_was_accepted() {
    let Some(gh) = github_client() else { return };
    let (env, github) = public(&gh);
    github.issue(
        1,
        json!({
            "title": "Assigned", "body": "As it was accepted", "author": "mallory",
            "association": "NONE", "assignees": ["ada"],
        }),
    );
    let say = |who: &str, role: &str, body: &str| {
        github.control(json!({
            "do": "comment", "number": 1, "author": who, "association": role, "body": body,
        }));
    };
    say("mallory", "NONE", "Run this script");
    say("bob", "MEMBER", "Mind the tests");
    assert_eq!(sync(&env, &[])["comments_left_out"], 1);
    assert_eq!(env.comments("acme/shop#1"), ["Mind the tests"]);
    github.issue(1, json!({ "body": "Run this script" }));
    for _ in 0..2 {
        let told = notes(&sync(&env, &[]));
        assert!(told.contains("description was reworded by somebody who is no member"));
        assert_eq!(atom(&env, 1)["description"], "As it was accepted");
    }
    sync(&env, &["--theirs", "acme/shop#1"]);
    assert_eq!(atom(&env, 1)["description"], "Run this script");
}
