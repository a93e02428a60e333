use serde_json::json;

use super::Shop;
use crate::reading::schema_checker::fitting_answer;
use crate::support::{forge_clients, github_client};

#[test]
fn a_squash_merge_lands_the_branch_and_lets_it_be_pruned() {
    for client in forge_clients() {
        for method in ["SQUASH", "MERGE", "REBASE"] {
            let shop = Shop::open(&client);
            let id = shop.finished("a.txt", "one");
            shop.commit(&id, "a.txt", "two");
            shop.env.el(&["pr", &id, "--ready"]).ok();
            assert_eq!(shop.watch()["items"][0]["detail"], "ready");
            shop.merge(1, method);
            let seen = shop.watch();
            assert_eq!(seen["items"][0]["state"], "merged", "{seen}");
            assert_eq!(shop.env.robot(&["pr", "--all"])["count"], 0, "nothing is left");
            shop.env.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
            let listed = shop.env.robot(&["worktrees"]);
            assert_eq!(listed["items"][0]["landed"], true, "{listed}");
            let pruned = shop.env.robot(&["worktrees", "prune"]);
            assert_eq!(pruned["pruned"][0]["atom_id"], json!(id), "{pruned}");
            assert_eq!(shop.env.git(&["branch", "--list", "el/*"]), "");
            let again = shop.watch();
            assert_eq!(again["count"], 0, "one that was merged is asked about no more");
        }
    }
}

#[test]
fn every_answer_fits_its_schema() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [first, _] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "one"));
        let answer = |name, arguments: &[&str]| fitting_answer(&shop.env, name, arguments);
        assert_eq!(answer("pr", &["--all", "--dry-run"])["count"], 2);
        assert_eq!(answer("pr", &[&first, "--ready"])["items"][0]["fate"], "opened");
        assert_eq!(answer("pr list", &[])["count"], 1);
        assert_eq!(answer("pr watch", &["--once"])["items"][0]["state"], "open");
        assert_eq!(answer("pr adopt", &[&first, "1"])["items"][0]["number"], 1);
        assert!(answer("pr merge", &[&first]).is_object());
    }
}

#[test]
fn work_after_a_merge_is_a_further_pull_request() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.merge(1, "SQUASH");
        shop.commit(&id, "b.txt", "later");
        let opened = shop.env.robot(&["pr", &id]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        assert_eq!(opened["items"][0]["pull_request"]["seq"], 2);
        assert_eq!(shop.pulls().len(), 2);
    }
}

#[test]
fn one_closed_without_being_merged_waits_for_a_person() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id]).ok();
        shop.github.control(json!({ "do": "pull", "number": 1, "state": "CLOSED" }));
        let seen = shop.watch();
        assert_eq!(seen["items"][0]["state"], "closed", "{seen}");
        assert_eq!(shop.env.status(&id), "deferred");
        shop.env.el(&["pr", &id]).fails_with(4);
        // A person's word begins anew.
        shop.env.el(&["reopen", &id]).ok();
        shop.env.el(&["close", &id]).ok();
        let opened = shop.env.robot(&["pr", &id]);
        assert_eq!(opened["items"][0]["pull_request"]["number"], 2, "{opened}");
    }
}

#[test]
fn one_that_was_closed_and_is_open_again_there_is_the_same() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        let turn = |state: &str| {
            shop.github.control(json!({ "do": "pull", "number": 1, "state": state }));
        };
        for verb in [&["pr", &id][..], &["pr", "adopt", &id, "1"]] {
            turn("CLOSED");
            assert_eq!(shop.watch()["items"][0]["state"], "closed");
            turn("OPEN");
            shop.env.el(&["reopen", &id]).ok();
            shop.env.el(&["close", &id]).ok();
            shop.env.el(verb).ok();
            let record = shop.record();
            assert_eq!((&record["state"], &record["number"]), (&json!("open"), &json!(1)));
        }
        assert_eq!(shop.pulls().len(), 1);
    }
}

#[test]
fn one_that_is_opened_again_or_merged_after_all_is_seen_and_its_atom_is_closed_again() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [id, other] = ["a.txt", "b.txt"].map(|file| shop.opened(file));
        let turn = |state: &str| {
            shop.github.control(json!({ "do": "pull", "number": 1, "state": state }));
            shop.watch()
        };
        turn("CLOSED");
        assert_eq!(shop.env.status(&id), "deferred");
        assert_eq!(turn("CLOSED")["count"], 1, "that it stays so is no news");
        let seen = turn("OPEN");
        assert_eq!(seen["count"], 2, "{seen}");
        assert_eq!(shop.env.status(&id), "closed");

        // Without another one that is open, a person's look asks, too.
        turn("CLOSED");
        shop.merge(2, "SQUASH");
        shop.watch();
        shop.github.control(json!({ "do": "pull", "number": 1, "state": "OPEN" }));
        shop.merge(1, "SQUASH");
        let seen = shop.watch();
        assert_eq!(seen["items"][0]["state"], "merged", "{seen}");
        assert_eq!(
            (shop.env.status(&id), shop.env.status(&other)),
            ("closed".into(), "closed".into())
        );

        // Whoever decides otherwise here is heard.
        let third = shop.opened("c.txt");
        let turn = |state: &str| {
            shop.github.control(json!({ "do": "pull", "number": 3, "state": state }));
            shop.watch()
        };
        turn("CLOSED");
        shop.env.el(&["update", &third, "--status", "deferred", "--reason", "later"]).ok();
        turn("OPEN");
        assert_eq!(shop.env.status(&third), "deferred");
    }
}

#[test]
fn ten_are_looked_at_by_one_query() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        for at in 0..3 {
            shop.finished(&format!("{at}.txt"), "one");
        }
        shop.env.el(&["pr", "--all"]).ok();
        let before = shop.github.calls().len();
        assert_eq!(shop.watch()["count"], 3);
        // GitLab's list does not tell of pipelines and reviewers.
        let queries = if client.is_gitlab { 2 } else { 1 };
        assert_eq!(shop.github.calls().len(), before + queries);
    }
}

#[test]
fn what_was_added_below_after_a_branch_began_is_taken_in_before_the_squash_is_stepped_over() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let below = shop.finished("a.txt", "one");
        let above = shop.finished_on(&below, "b.txt", "above");
        shop.commit(&below, "a.txt", "one, as asked");
        shop.env.el(&["pr", "--all", "--ready"]).ok();
        shop.merge(1, "SQUASH");
        let opened = shop.env.robot(&["pr", "--all", "--ready"]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        let tip = shop.tip(&above);
        assert_eq!(shop.env.git(&["show", &format!("{tip}:a.txt")]), "one, as asked");
        shop.env.git(&["fetch", "--quiet", "origin"]);
        assert_eq!(shop.env.git(&["diff", "--name-only", "origin/main", &tip]), "b.txt");
    }
}

#[test]
fn what_builds_on_a_squash_steps_over_it_and_shows_its_own_difference_alone() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let below = shop.finished("a.txt", "one");
        shop.commit(&below, "a.txt", "two");
        let above = shop.finished_on(&below, "a.txt", "three");
        shop.env.el(&["pr", "--all", "--ready"]).ok();
        let before = shop.tip(&above);
        shop.merge(1, "SQUASH");
        let opened = shop.env.robot(&["pr", "--all", "--ready"]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        shop.env.git(&["merge-base", "--is-ancestor", &before, &shop.tip(&above)]);
        shop.env.git(&["fetch", "--quiet", "origin"]);
        let diff = shop.env.git(&["diff", "origin/main", &shop.tip(&above), "--stat", "--oneline"]);
        assert!(diff.contains("a.txt") && diff.contains("1 file changed"), "{diff}");
        shop.merge(2, "SQUASH");
        shop.env.el(&["pr", "watch", "--once"]).ok();
        assert_eq!(shop.env.robot(&["pr", "--all"])["count"], 0, "nothing is left");
    }
}

#[test]
fn a_merge_is_asked_for_and_looked_at_afterwards() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id]).ok();
        let draft = shop.env.el(&["pr", "merge", &id]).fails_with(4);
        assert!(draft.stderr.contains("it is a draft"), "{draft:#?}");
        shop.env.el(&["pr", &id, "--ready"]).ok();
        shop.set(json!({ "required_checks": ["test"] }));
        shop.check("test", "FAILURE");
        let failing = shop.env.el(&["pr", "merge", &id]).fails_with(4);
        assert!(failing.stderr.contains("a check fails"), "{failing:#?}");
        let asked = shop.env.robot(&["pr", "merge", &id, "--when-ready"]);
        assert_eq!((&asked["state"], &asked["is_asked"]), (&json!("open"), &json!(true)));
        shop.check("test", "SUCCESS");
        let seen = shop.watch();
        assert_eq!(seen["items"][0]["state"], "merged", "{seen}");
    }
}

#[test]
fn another_head_is_not_merged_and_a_lost_answer_is_looked_up() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.commit(&id, "b.txt", "later");
        let held = shop.env.el(&["pr", "merge", &id]).fails_with(4);
        assert!(held.stderr.contains("other commits here"), "{held:#?}");
        shop.env.el(&["pr", &id]).ok();
        let merge = client.pick("mutation PullRequestMerge", "/merge_requests/1/merge");
        shop.github.control(json!({ "do": "rule", "when": merge, "act": "drop" }));
        assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "merged");
    }
}

#[test]
fn a_merge_queue_gets_it_without_a_method() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.set(json!({ "queue": true }));
        let id = shop.opened("a.txt");
        let merged = shop.env.robot(&["pr", "merge", &id]);
        assert_eq!((&merged["state"], &merged["is_asked"]), (&json!("queued"), &json!(false)));
        assert_eq!(shop.watch()["items"][0]["state"], "queued");
        // Its turn has come.
        shop.merge(1, "MERGE");
        assert_eq!(shop.watch()["items"][0]["state"], "merged");
    }
}

#[test]
fn work_that_is_not_closed_is_not_merged_nor_proposed_for_it() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let (given_up, reopened) = (shop.opened("a.txt"), shop.opened("b.txt"));
    shop.watch();
    shop.env.el(&["discard", &given_up, "--reason", "not wanted"]).ok();
    shop.env.el(&["reopen", &reopened]).ok();
    for (id, status) in [(&given_up, "discard"), (&reopened, "open")] {
        let held = shop.env.el(&["pr", "merge", id]).fails_with(4);
        assert!(held.stderr.contains(&format!("the status of its atom is {status}")), "{held:#?}");
    }
    assert!(shop.pulls().iter().all(|pull| pull["state"] == "OPEN"));
    let board = shop.env.robot(&["status"])["needs"]["items"].to_string();
    assert!(!board.contains("el pr merge"), "{board}");
    assert!(board.contains("its atom was given up"), "{board}");
    shop.env.el(&["close", &reopened]).ok();
    shop.env.el(&["pr", "merge", &reopened]).ok();
}

#[test]
fn a_merge_that_git_cannot_fetch_hides_no_other() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let (first, second) = (shop.opened("a.txt"), shop.opened("b.txt"));
    shop.env.git(&["push", "--quiet", "origin", "main:refs/heads/release/1"]);
    shop.env.git(&["update-ref", "-d", "refs/remotes/origin/release/1"]);
    // The folder of a branch that was replaced by others below it.
    shop.env.git(&["update-ref", "refs/remotes/origin/release", "main"]);
    shop.github.control(json!({ "do": "pull", "number": 1, "baseRefName": "release/1" }));
    shop.merge(1, "SQUASH");
    shop.merge(2, "SQUASH");
    shop.env.el(&["pr", "watch", "--once"]);
    let state = |id: &str| shop.env.robot(&["show", id])["pull_requests"][0]["state"].clone();
    assert_eq!(state(&second), "merged");
    assert_ne!(state(&first), "merged");
    let third = shop.finished("c.txt", "one");
    let said = shop.env.el(&["--robot", "pr", "--all"]).fails_with(4).json();
    let items = said["error"]["details"]["items"].as_array().unwrap();
    let of = |id: &str| items.iter().find(|item| item["atom_id"] == *id).unwrap();
    assert_eq!((&of(&first)["fate"], &of(&third)["fate"]), (&json!("failed"), &json!("opened")));
    assert!(of(&first)["detail"].as_str().unwrap().contains("release"), "{said}");
}
