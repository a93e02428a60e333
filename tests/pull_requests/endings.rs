//! The ends of pull requests while nobody watches: lost, moved, merged later, thrown out.

use serde_json::{Value, json};

use super::Shop;
use crate::support::{forge_clients, github_client};

/// Every command that tells of pull requests says these words.
#[track_caller]
fn all_say(shop: &Shop, id: &str, words: &str) {
    let all: [&[&str]; 5] =
        [&["pr", "list"], &["why", id], &["show", id], &["worktrees"], &["list", "--all"]];
    // A list names no pull request that is merged.
    let most = if words.starts_with("merged") { 4 } else { 5 };
    for arguments in &all[..most] {
        let said = shop.env.el(arguments).ok().stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{arguments:?}: {words} is missing: {said}");
    }
}

/// The hour between two looks that find nothing is over.
fn an_hour_later(shop: &Shop) {
    shop.env.database().execute("UPDATE pull_requests SET next_look = 1", []).unwrap();
}

#[test]
fn one_that_is_gone_counts_as_lost_after_three_looks() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.github.control(json!({ "do": "delete_pull", "number": 1 }));
        for _ in 0..2 {
            assert_eq!(shop.watch()["items"][0]["state"], "open");
            all_say(&shop, &id, "not found there");
            let told = shop.env.el(&["pr", &id]).fails_with(4).stdout;
            let words = "does not show #1; after three such looks, an hour apart, it counts as";
            assert!(told.contains(words), "{told}");
            // Within the hour, a further look does not count.
            assert_eq!(shop.watch()["items"][0]["state"], "open");
            an_hour_later(&shop);
        }
        assert_eq!(shop.watch()["items"][0]["state"], "lost");
        all_say(&shop, &id, "lost: the forge knows it no more");
        let why = shop.env.el(&["why", &id]).ok().stdout;
        assert!(why.contains(&format!("el pr {id} opens a new one")), "{why}");
        assert_eq!(shop.env.status(&id), "closed");
        let opened = shop.env.robot(&["pr", &id])["items"][0].take();
        assert_eq!(opened["fate"], "opened", "{opened}");
        assert_eq!(opened["pull_request"]["seq"], 2);
    }
}

#[test]
fn a_repository_that_is_not_shown_for_a_while_loses_nothing() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        for _ in 0..2 {
            shop.github.fail_any(404, "Not Found");
            assert_eq!(shop.watch()["items"][0]["state"], "open");
            all_say(&shop, &id, "not found there");
            an_hour_later(&shop);
        }
        let seen = shop.watch()["items"][0].take();
        assert_eq!((&seen["state"], &seen["failures"]), (&json!("open"), &json!(0)));
    }
}

#[test]
fn a_repository_that_is_renamed_or_given_away_keeps_its_pull_requests() {
    for client in forge_clients() {
        for new in ["acme/store", "globex/shop"] {
            let shop = Shop::open(&client);
            let [id, other] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "one"));
            shop.env.el(&["pr", &id, "--ready"]).ok();
            shop.set(json!({ "required_checks": ["test"] }));
            shop.check("test", "FAILURE");
            shop.github.control(json!({ "do": "rename", "name": new }));
            let seen = shop.watch()["items"][0].take();
            let repo = format!("{}/{new}", client.host());
            assert_eq!((&seen["state"], &seen["repo"]), (&json!("open"), &json!(repo)), "{seen}");
            assert_eq!(seen["detail"], "failing", "{seen}");
            assert!(shop.record()["url"].as_str().unwrap().contains(&repo), "{seen}");
            // The remote has the old name, and serves.
            shop.commit(&id, "a.txt", "two");
            let updated = shop.env.robot(&["pr", &id])["items"][0].take();
            assert_eq!(updated["fate"], "updated", "{updated}");
            assert_eq!(shop.env.robot(&["pr", &other])["items"][0]["fate"], "opened");
            shop.check("test", "SUCCESS");
            shop.merge(1, "SQUASH");
            let seen = shop.watch();
            assert_eq!(seen["items"][0]["state"], "merged", "{seen}");
            let pruned = shop.env.robot(&["worktrees", "prune"]);
            assert_eq!(pruned["pruned"][0]["atom_id"], json!(id), "{pruned}");
        }
    }
}

#[test]
fn one_that_was_opened_before_a_rename_is_updated_by_the_next_call() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.github.control(json!({ "do": "rename", "name": "acme/store" }));
        shop.env.git(&["remote", "set-url", "origin", &shop.github.url("acme/store")]);
        shop.commit(&id, "a.txt", "two");
        let updated = shop.env.robot(&["pr", &id])["items"][0].take();
        assert_eq!(updated["fate"], "updated", "{updated}");
        assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "merged");
        assert_eq!(shop.pulls().len(), 1);
    }
}

#[test]
fn one_that_merges_by_itself_while_nobody_watches_is_found_merged() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.set(json!({ "required_checks": ["test"] }));
        let id = shop.opened("a.txt");
        let asked = shop.env.robot(&["pr", "merge", &id, "--when-ready"]);
        assert_eq!((&asked["state"], &asked["is_asked"]), (&json!("open"), &json!(true)));
        shop.check("test", "SUCCESS");
        assert_eq!(shop.pulls()[0]["state"], "MERGED");
        let seen = shop.watch();
        assert_eq!(seen["items"][0]["state"], "merged", "{seen}");
        all_say(&shop, &id, "merged into main");
        assert_eq!(shop.branch_there(&format!("el/{id}")), "");
        let pruned = shop.env.robot(&["worktrees", "prune"]);
        assert_eq!(pruned["pruned"][0]["atom_id"], json!(id), "{pruned}");
    }
}

#[test]
fn a_default_branch_that_is_renamed_while_requests_are_open_receives_them() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [first, second] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "one"));
        shop.env.el(&["pr", "--all", "--ready"]).ok();
        shop.github.control(json!({ "do": "rename_default", "branch": "trunk" }));
        let seen = shop.watch();
        for at in 0..2 {
            let one = &seen["items"][at];
            assert_eq!((&one["state"], &one["base_ref"]), (&json!("open"), &json!("trunk")));
        }
        shop.commit(&second, "b.txt", "two");
        shop.env.el(&["pr", "--all"]).ok();
        shop.merge(1, "SQUASH");
        assert_eq!(shop.env.robot(&["pr", "merge", &second])["state"], "merged");
        shop.env.el(&["pr", "watch", "--once"]).ok();
        for id in [&first, &second] {
            all_say(&shop, id, "merged into trunk");
        }
        assert_eq!(shop.env.robot(&["pr", "--all"])["count"], 0, "nothing is left");
        // As the forge itself says to do after a rename.
        shop.env.git(&["branch", "--move", "main", "trunk"]);
        shop.env.git(&["fetch", "--quiet", "origin"]);
        shop.env.git(&["branch", "--quiet", "--set-upstream-to", "origin/trunk", "trunk"]);
        let pruned = shop.env.robot(&["worktrees", "prune"]);
        assert_eq!(pruned["pruned"].as_array().unwrap().len(), 2, "{pruned}");
    }
}

#[test]
fn one_that_the_merge_queue_throws_out_is_told_so() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    shop.set(json!({ "queue": true }));
    let id = shop.opened("a.txt");
    assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "queued");
    all_say(&shop, &id, "in the merge queue");
    shop.github.control(json!({ "do": "pull", "number": 1, "inQueue": false }));
    for _ in 0..2 {
        let seen = shop.watch()["items"][0].take();
        assert_eq!(
            (&seen["state"], &seen["detail"]),
            (&json!("open"), &json!("unqueued")),
            "it stays told: {seen}"
        );
    }
    all_say(&shop, &id, "open: thrown out of the merge queue");
    let needs = shop.env.robot(&["status"])["needs"]["items"].to_string();
    assert!(needs.contains("was thrown out of the merge queue"), "{needs}");
    // Another commit is another try.
    shop.commit(&id, "a.txt", "two");
    shop.env.el(&["pr", &id]).ok();
    assert_eq!(shop.watch()["items"][0]["detail"], "ready");
    assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "queued");
}

#[test]
fn subgroups_and_forks_in_them_work_at_gitlab() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        shop.env.git(&["remote", "remove", "origin"]);
        let make = |name: &str, fork_of: Value| {
            shop.github.control(json!({ "do": "repository", "name": name, "fork_of": fork_of }));
        };
        make("acme/tools/shop", Value::Null);
        shop.env.git(&["remote", "add", "upstream", &shop.github.url("acme/tools/shop")]);
        shop.env.git(&["push", "--quiet", "--set-upstream", "upstream", "main"]);
        shop.env.git(&["update-ref", "refs/remotes/origin/main", "main"]);
        make("ann/play/shop", json!("acme/tools/shop"));
        let in_group = |mut order: Value| {
            order["repository"] = json!("acme/tools/shop");
            shop.github.control(order)
        };

        // In the project itself, and from a fork of it in another subgroup.
        let own = shop.finished("a.txt", "one");
        assert_eq!(shop.env.robot(&["pr", &own, "--ready"])["items"][0]["fate"], "opened");
        shop.env.git(&["remote", "add", "fork", &shop.github.url("ann/play/shop")]);
        shop.env.configure("pr_remote = \"fork\"\npr_repo = \"acme/tools/shop\"\n");
        let forked = shop.finished("b.txt", "one");
        let opened = shop.env.robot(&["pr", &forked, "--ready"]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        let pull = &opened["items"][0]["pull_request"];
        assert_eq!((&pull["head_owner"], &pull["number"]), (&json!("ann/play"), &json!(2)));
        let seen = shop.watch();
        assert_eq!(seen["items"][1]["detail"], "ready", "{seen}");

        shop.commit(&forked, "b.txt", "two");
        assert_eq!(shop.env.robot(&["pr", &forked])["items"][0]["fate"], "updated");
        assert_eq!(shop.env.robot(&["pr", "merge", &forked])["state"], "merged");
        in_group(json!({ "do": "merge", "number": 1, "method": "SQUASH" }));
        shop.env.el(&["pr", "watch", "--once"]).ok();
        let there = shop.env.git(&["ls-remote", "fork", &format!("refs/heads/el/{forked}")]);
        assert_eq!(there, "", "the branch is deleted in the fork");
        shop.env.git(&["pull", "--quiet", "--ff-only", "upstream", "main"]);
        let pruned = shop.env.robot(&["worktrees", "prune"]);
        assert_eq!(pruned["pruned"].as_array().unwrap().len(), 2, "{pruned}");

        // A branch that is deleted in the fork is told, too.
        let third = shop.finished("c.txt", "one");
        shop.env.el(&["pr", &third]).ok();
        let branch = format!("el/{third}");
        shop.env.git(&["push", "--quiet", "fork", "--delete", &branch]);
        assert_eq!(shop.watch()["items"][0]["detail"], "draft_branch_deleted");
    }
}
