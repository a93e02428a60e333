//! An answer to a review counts once the forge has it.

use serde_json::{Value, json};

use super::Shop;
use crate::reading::schema_checker::fitting_answer;
use crate::support::{ForgeClient, forge_clients};

/// An atom that a review has reopened, and whose answer is committed and closed here.
fn answered(client: &ForgeClient) -> (Shop, String) {
    let (shop, id) = Shop::with_review(client, "pr_attempts = 1\n");
    shop.answer(&id, "a.txt", "two");
    (shop, id)
}

/// Nothing more is asked while the answer is not at the forge; once it is, what was said meanwhile
/// is handed on, and is no attempt more.
#[track_caller]
fn goes_on(shop: &Shop, id: &str) {
    assert_eq!(shop.record()["held"], Value::Null);
    let there = shop.branch_there(&format!("el/{id}"));
    assert!(there.starts_with(&shop.tip(id)), "{there}");
    assert_eq!(shop.env.status(id), "open");
}

#[test]
fn an_answer_that_the_forge_refuses_is_tried_again_and_charges_nobody() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        shop.set(json!({ "protected": [format!("el/{id}")] }));
        let said = client.pick("GH006", "not allowed to push code to protected branches");
        for tries in 1..=2 {
            shop.request_changes("MEMBER", &format!("Not two ({tries})."), json!({}));
            let seen = fitting_answer(&shop.env, "pr watch", &["--once"]);
            assert_eq!((&seen["reopened"], &seen["blocked"]), (&json!([]), &json!([])), "{seen}");
            assert_eq!(seen["answers"][0]["fate"], "held", "{seen}");
            let held = &shop.record()["held"];
            assert_eq!(&seen["items"][0]["held"], held, "it is told as this try left it");
            assert_eq!((&held["tip"], &held["tries"]), (&json!(shop.tip(&id)), &json!(tries)));
            assert!(held["why"].as_str().unwrap().contains(said), "{held}");
            assert_eq!(shop.env.status(&id), "closed");
        }
        let words = format!("{} is not pushed", &shop.tip(&id)[..10]);
        for arguments in [&["pr", "list"][..], &["why", &id]] {
            let told = shop.env.el(arguments).ok().stdout;
            let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(told.contains(&words) && told.contains(said), "{told}");
            assert!(told.contains("tried twice"), "{told}");
        }
        for arguments in [&["list", "--all"][..], &["show", &id], &["worktrees"]] {
            let told = shop.env.el(arguments).ok().stdout;
            assert!(told.contains("not pushed"), "{arguments:?}: {told}");
        }
        let needs = shop.env.robot(&["status"])["needs"]["items"].to_string();
        assert!(needs.contains("has commits that could not be pushed"), "{needs}");

        shop.set(json!({ "protected": [] }));
        let seen = shop.watch();
        assert_eq!(seen["answers"][0]["fate"], "updated", "{seen}");
        assert_eq!(seen["reopened"], json!([id]), "pr_attempts is not charged: {seen}");
        goes_on(&shop, &id);
        // A later remark is charged.
        shop.answer(&id, "a.txt", "three");
        let later = json!({ "at": "2099-01-01T00:00:00Z" });
        shop.request_changes("MEMBER", "Not three.", later);
        assert_eq!(shop.watch()["blocked"], json!([id]));
    }
}

#[test]
fn a_worker_tells_of_a_refusal_once_and_waits_longer_each_time() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        shop.set(json!({ "protected": [format!("el/{id}")] }));
        let due = || {
            let sql = "UPDATE pull_requests SET held = json_set(held, '$.until', ?1)";
            shop.env.database().execute(sql, ["2026-01-01T00:00:00Z"]).unwrap();
        };
        let warned = std::cell::Cell::new(0);
        let work = || -> Vec<Value> {
            shop.env.script_atom(&["close done"]);
            let told = shop.env.work(&["--drain"]);
            let words = format!("commits of {id} wait to be pushed: ");
            let is_warning = |told: &&Value| told.to_string().contains(&words);
            warned.set(told.iter().filter(is_warning).count());
            told.into_iter().filter(|told| told["event"] == "answered").collect()
        };
        let told = work();
        assert_eq!((told.len(), &told[0]["fate"]), (1, &json!("held")), "{told:?}");
        assert_eq!(warned.get(), 0);
        assert_eq!(work(), Vec::<Value>::new(), "the next try is not due");
        assert_eq!(warned.get(), 1, "a worker that begins tells of it");
        assert_eq!(shop.record()["held"]["tries"], 1);
        due();
        assert_eq!(work(), Vec::<Value>::new(), "it is known");
        let held = shop.record()["held"].take();
        assert_eq!(held["tries"], 2);
        // Another reason is news.
        shop.set(json!({ "protected": [], "permission": "READ" }));
        due();
        let told = work();
        let detail = told[0]["detail"].as_str().unwrap();
        assert!(detail.contains("do not allow a push"), "{detail}");
        shop.set(json!({ "permission": "WRITE" }));
        due();
        assert_eq!(work()[0]["fate"], "updated");
        assert_eq!(shop.record()["held"], Value::Null);
        assert_eq!((work(), warned.get()), (Vec::new(), 0));
    }
}

#[test]
fn what_the_base_is_to_blame_for_hides_no_other_request() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        let other = shop.opened("b.txt");
        shop.env.configure("pr_feedback = \"reviews\"\nland_check = [\"false\"]\n");
        let seen = fitting_answer(&shop.env, "pr watch", &["--once"]);
        assert_eq!(seen["count"], 2, "{seen}");
        let answer = &seen["answers"][0];
        assert_eq!((&answer["atom_id"], &answer["fate"]), (&json!(id), &json!("failed")));
        assert!(answer["detail"].as_str().unwrap().contains("the check fails on"), "{answer}");
        let told = shop.env.el(&["pr", "watch", "--once"]).ok();
        assert!(told.stdout.contains(&other) && told.stdout.contains("tried twice"), "{told:#?}");
        assert!(told.stderr.contains(&format!("the answer of {id} to its review")), "{told:#?}");
    }
}

#[test]
fn an_answer_that_is_not_committed_is_told() {
    for client in forge_clients() {
        let (shop, id) = Shop::with_review(&client, "");
        let file = shop.env.project(format!(".eluent/worktrees/{id}/a.txt"));
        std::fs::write(file, "two\n").unwrap();
        shop.env.el(&["close", &id]).ok();
        for command in ["pr list", "pr watch"] {
            let once: &[&str] = if command == "pr list" { &[] } else { &["--once"] };
            let seen = fitting_answer(&shop.env, command, once);
            assert_eq!(seen["uncommitted"], json!([id]), "{seen}");
            let all: Vec<&str> = command.split(' ').chain(once.iter().copied()).collect();
            let told = shop.env.el(&all).ok().stdout;
            let words = format!("{id}  has an answer to its review that is not committed");
            assert!(told.contains(&words), "{told}");
        }
        shop.commit(&id, "a.txt", "two, committed");
        assert_eq!(shop.watch()["answers"][0]["fate"], "updated");
        assert_eq!(shop.env.robot(&["pr", "list"])["uncommitted"], json!([]));
    }
}

#[test]
fn an_answer_without_the_right_to_push_is_kept_and_told() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        shop.set(json!({ "permission": "READ" }));
        shop.request_changes("MEMBER", "Not two.", json!({}));
        let ran = shop.env.el(&["pr", "watch", "--once"]).ok();
        assert!(ran.stderr.contains("do not allow a push"), "{ran:#?}");
        assert!(shop.record()["held"]["why"].as_str().unwrap().contains("do not allow a push"));
        assert_eq!(shop.env.status(&id), "closed");
        shop.set(json!({ "permission": "WRITE" }));
        assert_eq!(shop.watch()["reopened"], json!([id]));
        goes_on(&shop, &id);
    }
}

#[test]
fn an_answer_that_went_apart_from_anothers_commit_waits_for_a_person() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        let branch = format!("el/{id}");
        push_on_top(&shop, &id, "c.txt");
        shop.request_changes("MEMBER", "Not two.", json!({}));
        let seen = shop.watch();
        assert_eq!((&seen["reopened"], &seen["answers"][0]["fate"]), (&json!([]), &json!("held")));
        let why = shop.record()["held"]["why"].as_str().unwrap().to_owned();
        assert!(why.contains("somebody else has pushed there"), "{why}");
        // A person merges it in, as it says.
        let tree = shop.env.project(format!(".eluent/worktrees/{id}")).display().to_string();
        shop.env.git(&["-C", &tree, "fetch", "--quiet", "origin", &branch]);
        shop.env.git(&["-C", &tree, "merge", "--quiet", "-m", "theirs", "FETCH_HEAD"]);
        assert_eq!(shop.watch()["reopened"], json!([id]));
        goes_on(&shop, &id);
    }
}

#[test]
fn an_answer_is_kept_while_the_network_is_down() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        shop.request_changes("MEMBER", "Not two.", json!({}));
        let down = |when: &str| {
            shop.github.control(json!({
                "do": "rule", "when": when, "act": "fail", "code": 503, "message": "out",
            }));
        };
        down("git-receive-pack");
        let seen = shop.watch();
        assert_eq!(
            (&seen["reopened"], &seen["answers"][0]["fate"]),
            (&json!([]), &json!("failed"))
        );
        assert_eq!(shop.record()["held"]["tries"], 1);
        // The forge itself may be out when the push begins.
        down(client.pick("query RepositoryInfo", "GET /api/v4/projects/acme%2Fshop"));
        let ran = shop.env.el(&["pr", "watch", "--once"]);
        // The look itself meets it at GitLab.
        assert_eq!(ran.status, if client.is_gitlab { 7 } else { 0 }, "{ran:#?}");
        assert_eq!(shop.env.status(&id), "closed");
        assert_eq!(shop.watch()["reopened"], json!([id]));
        goes_on(&shop, &id);
    }
}

/// Somebody else pushes a commit on top of the branch at the forge. Returns it.
fn push_on_top(shop: &Shop, id: &str, file: &str) -> String {
    let (branch, clone) = (format!("el/{id}"), shop.env.path("reviewer"));
    let at = clone.display().to_string();
    let url = shop.github.url("acme/shop");
    shop.env.git(&["clone", "--quiet", "--branch", &branch, &url, &at]);
    std::fs::write(clone.join(file), "theirs\n").unwrap();
    shop.env.git(&["-C", &at, "add", file]);
    shop.env.git(&["-C", &at, "commit", "--quiet", "-m", "theirs"]);
    shop.env.git(&["-C", &at, "push", "--quiet", "origin", &branch]);
    shop.env.git(&["-C", &at, "rev-parse", "HEAD"])
}

#[test]
fn commits_of_reviewers_that_come_to_the_branch_are_named_by_the_watch() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.env.configure("pr_feedback = \"reviews\"\n");
        let id = shop.opened("a.txt");
        // Before the agent begins, so that it does not go apart from them.
        let theirs = push_on_top(&shop, &id, "c.txt");
        shop.request_changes("MEMBER", "Say two.", json!({}));
        let seen = fitting_answer(&shop.env, "pr watch", &["--once"]);
        assert_eq!(seen["reopened"], json!([id]), "{seen}");
        let taken = seen["taken_in"][0].clone();
        assert_eq!(taken["atom_id"], json!(id));
        assert!(taken["commits"][0].as_str().unwrap().starts_with(&theirs[..10]), "{taken}");
        assert_eq!(shop.tip(&id), theirs);
        shop.answer(&id, "a.txt", "two");
        let told = shop.env.el(&["pr", "watch", "--once"]).ok().stdout;
        assert!(told.contains("is pushed: its review has an answer"), "{told}");
        assert!(shop.branch_there(&format!("el/{id}")).starts_with(&shop.tip(&id)));
    }
}

#[test]
fn what_a_reviewer_pushed_a_moment_before_an_agent_begins_is_taken_in() {
    for client in forge_clients() {
        let (shop, id) = Shop::with_review(&client, "isolate = \"worktree\"\n");
        // After the look that reopened the atom.
        let theirs = push_on_top(&shop, &id, "c.txt");
        let steps = "script: sh cat c.txt > a.txt && git commit -qam answer\nscript: close done";
        shop.env.el(&["update", &id, "--description", steps]).ok();
        shop.env.work(&["--drain"]);
        assert_eq!(shop.env.git(&["show", &format!("el/{id}:a.txt")]), "theirs");
        assert_eq!(shop.env.git(&["rev-parse", &format!("el/{id}^")]), theirs);
        let record = shop.record();
        assert_eq!((&record["held"], &record["pushed"]), (&Value::Null, &json!(shop.tip(&id))));
        let pane = shop.env.read_run_file(&shop.env.last_run(&id), "pane.log");
        assert!(pane.contains(&format!("has commits of others now: {}", &theirs[..10])), "{pane}");
    }
}

#[test]
fn commits_of_reviewers_on_top_of_an_answer_are_named_too() {
    for client in forge_clients() {
        let (shop, id) = answered(&client);
        // The answer was pushed by hand, and somebody has pushed on top of it.
        shop.env.git(&["push", "--quiet", "origin", &format!("el/{id}")]);
        let theirs = push_on_top(&shop, &id, "c.txt");
        let told = shop.env.el(&["pr", "watch", "--once"]).ok().stdout;
        let words = format!("{id}  has commits of others on its branch here: {}", &theirs[..10]);
        assert!(told.contains(&words), "{told}");
        assert_eq!(shop.tip(&id), theirs);
    }
}
