//! The scripted GitHub: the real `gh` and `git` take it for GitHub.

use serde_json::{Value, json};

use crate::support::{ForgeClient, Github, Ran, SHOP, TestEnv, github_client};

/// A repository at GitHub with a branch `work`, and a clone of it.
fn with_branch(gh: &ForgeClient) -> (TestEnv, Github) {
    let mut env = TestEnv::new();
    let github = Github::start(&mut env, gh);
    env.git(&["init", "--quiet"]);
    commit(&env, "file", "one\n");
    github.publish(&env);
    env.git(&["checkout", "--quiet", "-b", "work"]);
    commit(&env, "file", "two\n");
    commit(&env, "file", "three\n");
    env.git(&["push", "--quiet", "origin", "work"]);
    (env, github)
}

fn commit(env: &TestEnv, file: &str, text: &str) {
    std::fs::write(env.project(file), text).unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "-m", text.trim()]);
}

/// Opens a pull request of the branch.
const CREATE: [&str; 10] =
    ["pr", "create", "--head", "work", "--base", "main", "--title", "T", "--body", "B"];

fn run_gh(env: &TestEnv, words: &[&str]) -> Ran {
    env.run(env.command("gh").args(words).args(["-R", "github.localhost/acme/shop"]))
}

fn gh(env: &TestEnv, words: &[&str]) -> String {
    run_gh(env, words).ok().stdout
}

fn open(env: &TestEnv) -> String {
    gh(env, &CREATE)
}

fn view(env: &TestEnv, fields: &str) -> Value {
    serde_json::from_str(&gh(env, &["pr", "view", "1", "--json", fields])).unwrap()
}

#[test]
fn a_pull_request_is_opened_reviewed_checked_and_merged_by_each_method() {
    let Some(program) = github_client() else { return };
    for (method, parents) in [("squash", 1), ("merge", 2), ("rebase", 1)] {
        let (env, github) = with_branch(&program);
        assert_eq!(open(&env).trim(), "http://github.localhost/acme/shop/pull/1");
        let again = run_gh(&env, &CREATE);
        assert!(again.fails_with(1).stderr.contains("already exists"));

        github.control(json!({ "do": "set", "required_checks": ["test"] }));
        let check = |conclusion: &str| {
            github.control(json!({
                "do": "check", "number": 1, "name": "test", "conclusion": conclusion,
            }));
        };
        check("FAILURE");
        github.control(json!({
            "do": "review", "number": 1, "state": "CHANGES_REQUESTED", "author": "bob",
            "body": "No.",
        }));
        let seen = view(&env, "state,mergeStateStatus,reviewDecision,reviews");
        assert_eq!(seen["state"], "OPEN");
        assert_eq!(seen["mergeStateStatus"], "BLOCKED");
        assert_eq!(seen["reviewDecision"], "CHANGES_REQUESTED");
        assert_eq!(seen["reviews"][0]["author"]["login"], "bob");
        check("SUCCESS");
        github.control(json!({
            "do": "review", "number": 1, "state": "APPROVED", "author": "bob", "body": "",
        }));
        assert_eq!(view(&env, "mergeStateStatus")["mergeStateStatus"], "CLEAN");

        gh(&env, &["pr", "merge", "1", &format!("--{method}")]);
        let merged = view(&env, "state,mergeCommit");
        assert_eq!(merged["state"], "MERGED");
        env.git(&["fetch", "--quiet", "origin"]);
        let commit = env.git(&["rev-list", "--parents", "-1", "origin/main"]);
        assert_eq!(commit.split(' ').count(), 1 + parents, "{method}");
        assert_eq!(env.git(&["rev-parse", "origin/main"]), merged["mergeCommit"]["oid"]);
        assert_eq!(env.git(&["show", "origin/main:file"]), "three");
        let unknown: Vec<Value> =
            github.calls().into_iter().filter(|call| call.get("missing").is_some()).collect();
        assert!(unknown.is_empty(), "{unknown:#?}");
        let writes = github.writes();
        assert!(writes.last().unwrap().starts_with("mutation PullRequestMerge"), "{writes:?}");
    }
}

#[test]
fn issues_are_listed_with_their_relations_and_changed() {
    let Some(program) = github_client() else { return };
    let (env, github) = with_branch(&program);
    github.issue(1, json!({ "title": "Whole", "labels": ["bug"], "subIssues": [2] }));
    github.issue(2, json!({ "title": "Part", "parent": 1, "blockedBy": [1] }));
    github.control(json!({ "do": "comment", "number": 2, "author": "bob", "body": "Why?" }));
    let listed =
        gh(&env, &["issue", "list", "--state", "all", "--json", "number,title,labels,comments"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["title"], "Part");
    assert_eq!(listed[0]["comments"][0]["body"], "Why?");
    assert_eq!(listed[1]["labels"][0]["name"], "bug");
    let fields = "number,parent,subIssues,blockedBy,blocking,issueType";
    let related = env.run(env.command("gh").args([
        "issue",
        "list",
        "-R",
        "github.localhost/acme/shop",
        "--json",
        fields,
    ]));
    // The version of Debian 12 knows none of these.
    if related.status == 0 {
        let related: Value = serde_json::from_str(&related.stdout).unwrap();
        assert_eq!(related[0]["parent"]["number"], 1);
        assert_eq!(related[0]["blockedBy"]["nodes"][0]["number"], 1);
    } else {
        assert!(related.stderr.contains("Unknown JSON field"), "{related:#?}");
    }
    gh(&env, &["issue", "edit", "2", "--title", "Piece", "--add-label", "bug"]);
    gh(&env, &["issue", "close", "1"]);
    let issues = github.state()["issues"].take();
    assert_eq!(issues["2"]["title"], "Piece");
    assert_eq!(issues["2"]["labels"], json!(["bug"]));
    assert_eq!(issues["1"]["state"], "CLOSED");
}

#[test]
fn it_fails_loses_answers_protects_branches_and_forks() {
    let Some(program) = github_client() else { return };
    let (env, github) = with_branch(&program);
    for (code, message) in
        [(401, "Bad credentials"), (403, "API rate limit exceeded"), (502, "Bad gateway")]
    {
        github.fail("query", code, message);
        let words = ["pr", "list", "-R", "github.localhost/acme/shop"];
        let ran = env.run(env.command("gh").args(words));
        assert!(ran.status != 0 && ran.stderr.contains(&code.to_string()), "{ran:#?}");
    }
    github.control(json!({ "do": "rule", "when": "mutation", "act": "drop" }));
    let lost = run_gh(&env, &CREATE);
    assert!(lost.fails_with(1).stderr.contains("EOF"));
    assert_eq!(github.state()["pulls"]["1"]["state"], "OPEN", "it had happened");

    github.control(json!({ "do": "set", "protected": ["main"] }));
    let push = env.run(env.command("git").args(["push", "origin", "work:main"]));
    assert!(push.fails_with(1).stderr.contains("GH006"));

    github.control(json!({ "do": "repository", "name": "ada/shop", "fork_of": "acme/shop" }));
    env.git(&["push", "--quiet", "http://github.localhost/ada/shop.git", "work:mine"]);
    let words =
        ["pr", "create", "--head", "ada:mine", "--base", "main", "--title", "F", "--body", ""];
    gh(&env, &words);
    let fork: Value = serde_json::from_str(&gh(
        &env,
        &["pr", "view", "2", "--json", "isCrossRepository,headRefOid,headRepositoryOwner"],
    ))
    .unwrap();
    assert_eq!(fork["isCrossRepository"], true);
    assert_eq!(fork["headRefOid"], env.git(&["rev-parse", "work"]));
    assert_eq!(fork["headRepositoryOwner"]["login"], "ada");

    // A branch that is deleted closes its pull request, and the head stays known.
    env.git(&["push", "--quiet", "origin", "--delete", "work"]);
    assert_eq!(github.state()["pulls"]["1"]["state"], "CLOSED");
    env.git(&["clone", "--quiet", SHOP, "../clone"]);
    env.git(&["fetch", "--quiet", "origin", "refs/pull/1/head"]);
    github.control(json!({ "do": "rename_default", "branch": "trunk" }));
    let shown = gh(&env, &["pr", "view", "2", "--json", "baseRefName"]);
    assert!(shown.contains("trunk"), "{shown}");

    // A call is held until the test has done what it wants.
    github.control(json!({ "do": "rule", "when": "query", "act": "hold" }));
    let words = ["pr", "list", "-R", "github.localhost/acme/shop"];
    let held = env.start(env.command("gh").args(words));
    github.wait_held("query");
    github.control(json!({ "do": "release" }));
    held.wait(crate::support::SOON).ok();
}
