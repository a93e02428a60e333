//! `el sync github --push`.

use serde_json::{Value, json};

use super::{REPO, atom, sync, with_github};
use crate::support::github_client;

#[test]
fn only_what_is_there_as_last_seen_is_written_and_nothing_is_closed() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.control(json!({ "do": "set", "labels": ["two words", "new"] }));
    github.issue(1, json!({ "title": "One", "body": "Text", "labels": ["bug", "two words"] }));
    sync(&env, &[]);
    let push = |more: &[&str]| {
        let words = [&["sync", "github", "-R", REPO, "--push", "acme/shop#1"], more].concat();
        env.run(env.command("el").arg("--robot").args(words))
    };
    let data = |ran: crate::support::Ran| -> Value { ran.json()["data"].take() };
    assert_eq!(data(push(&["--yes"]).ok())["items"][0]["fields"], json!([]));
    env.el(&["update", "acme/shop#1", "--title=-Ours-", "-d", "New\ntext"]).ok();
    env.el(&["update", "acme/shop#1", "--label", "new", "--remove-label", "bug"]).ok();
    env.el(&["close", "acme/shop#1", "--reason", "done"]).ok();
    // Nobody can be asked, and a rehearsal writes nothing.
    assert_eq!(push(&[]).fails_with(2).json()["status"], "error");
    let shown = data(push(&["--dry-run"]).ok());
    assert_eq!(shown["items"][0]["fields"].as_array().unwrap().len(), 3);
    assert_eq!(github.writes(), Vec::<String>::new());

    // The body changed there: it is left, and the others are written.
    github.issue(1, json!({ "body": "Theirs" }));
    let pushed = data(push(&["--yes"]).fails_with(4));
    assert_eq!(pushed["count"], 1);
    let issue = github.state()["issues"]["1"].take();
    assert_eq!((&issue["title"], &issue["body"]), (&json!("-Ours-"), &json!("Theirs")));
    assert_eq!(issue["labels"], json!(["two words", "new"]));
    assert_eq!(issue["state"], "OPEN");
    // The sync takes their word over, and ours stands: from then on it may be written.
    let told = super::notes(&sync(&env, &[]));
    assert!(told.contains("description changed here and at GitHub"), "{told}");
    push(&["--yes"]).ok();
    assert_eq!(github.state()["issues"]["1"]["body"], "New\ntext");
    assert!(!super::notes(&sync(&env, &[])).contains("changed here"));
}

#[test]
fn what_el_wrote_is_no_change_of_others_at_the_next_push() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.control(json!({ "do": "set", "labels": ["bug", "new"] }));
    github.issue(1, json!({ "title": "One", "body": "Text", "labels": ["bug"] }));
    sync(&env, &[]);
    let push = || {
        let words = ["sync", "github", "-R", REPO, "--push", "acme/shop#1", "--yes"];
        env.run(env.command("el").arg("--robot").args(words))
    };
    for words in [["First", "first\ntext", "--label"], ["Second", "second", "--remove-label"]] {
        let [title, text, label] = words;
        let all = ["update", "acme/shop#1", "--title", title, "-d", text, label, "new"];
        env.el(&all).ok();
        push().ok();
        let issue = github.state()["issues"]["1"].take();
        assert_eq!((&issue["title"], &issue["body"]), (&json!(title), &json!(text)));
    }
    assert_eq!(github.state()["issues"]["1"]["labels"], json!(["bug"]));
    assert_eq!(super::notes(&sync(&env, &[])), "[]", "nobody else has changed it");
    assert_eq!(atom(&env, 1)["title"], "Second");

    // Changes of others after a push are theirs as before.
    env.el(&["update", "acme/shop#1", "--title", "Third"]).ok();
    github.issue(1, json!({ "title": "Theirs" }));
    push().fails_with(4);
    assert_eq!(github.state()["issues"]["1"]["title"], "Theirs");
}

#[test]
fn a_key_is_not_written_and_its_field_is_named() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.issue(1, json!({ "title": "One", "body": "Text" }));
    github.issue(2, json!({ "title": "Two" }));
    sync(&env, &[]);
    let id = atom(&env, 1)["id"].as_str().unwrap().to_owned();
    let key = format!("ghp_{}", "a1".repeat(18));
    env.el(&["update", "acme/shop#2", "--title", "Ours"]).ok();
    for (word, field, value) in
        [("--title", "title", "One"), ("--description", "description", "Text")]
    {
        env.el(&["update", &id, word, &format!("use {key}")]).ok();
        for more in ["--yes", "--dry-run"] {
            let words = ["sync", "github", "-R", REPO, "--push", "acme/shop#2", &id, more];
            let ran = env.el(&words).fails_with(4);
            let told = format!("the {field} of {id} contains something that looks like a key");
            assert!(ran.stderr.contains(&told), "{ran:#?}");
            assert!(!ran.stderr.contains(&key) && !ran.stdout.contains(&key), "{ran:#?}");
        }
        env.el(&["update", &id, word, value]).ok();
    }
    assert_eq!(github.writes(), Vec::<String>::new());
}

#[test]
fn what_changes_there_while_a_person_thinks_is_left() {
    let Some(gh) = github_client() else { return };
    let (env, github) = with_github(&gh);
    github.issue(1, json!({ "title": "One" }));
    sync(&env, &[]);
    env.el(&["update", "acme/shop#1", "--title", "Ours"]).ok();
    // Of the two looks, the one before writing is held.
    github.control(json!({ "do": "rule", "when": "query Issue", "act": "hold_after" }));
    let words = ["--robot", "sync", "github", "-R", REPO, "--push", "acme/shop#1", "--yes"];
    let pushing = env.start(env.command("el").args(words));
    github.wait_held("query Issue");
    github.issue(1, json!({ "title": "Theirs" }));
    github.control(json!({ "do": "release" }));
    pushing.wait(crate::support::SOON).fails_with(4);
    assert_eq!(github.state()["issues"]["1"]["title"], "Theirs");
}

#[test]
fn an_atom_without_an_issue_is_named() {
    let Some(gh) = github_client() else { return };
    let (env, _github) = with_github(&gh);
    let id = env.create("Ours alone", &[]);
    let ran = env.el(&["sync", "github", "-R", REPO, "--push", &id, "--yes"]).fails_with(3);
    assert!(ran.stderr.contains("has no issue"), "{ran:#?}");
}
