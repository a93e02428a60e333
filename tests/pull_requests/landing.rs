//! `el land` and `el worktrees prune` beside pull requests.

use serde_json::{Value, json};

use super::Shop;
use crate::support::forge_clients;

/// The atoms of an answer, with what became of each.
fn fates(answer: &Value) -> Vec<(&str, &str)> {
    let items = answer["items"].as_array().unwrap();
    let told = items.iter().map(|item| (item["atom_id"].as_str(), item["fate"].as_str()));
    told.map(|(id, fate)| (id.unwrap(), fate.unwrap())).collect()
}

#[test]
fn what_builds_on_an_open_one_waits_for_it_unless_both_are_named() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.env.configure("isolate = \"worktree\"\n");
        let below = shop.opened("a.txt");
        let above = shop.finished_on(&below, "b.txt", "two");
        let top = shop.finished_on(&above, "c.txt", "three");
        let free = shop.finished("d.txt", "four");
        shop.request_changes("MEMBER", "No.", json!({}));
        shop.watch();
        // Whoever reopens the one below has not merged it.
        shop.env.el(&["reopen", &below]).ok();

        let worked = shop.env.el(&["work", "--drain"]).ok().stderr;
        assert!(!worked.contains(&above) && !worked.contains("Ready to land: el/"), "{worked}");
        for arguments in [&["land", "--all"][..], &["land", &above]] {
            let held = shop.env.el(arguments).fails_with(4).stdout;
            let words = format!(
                "it builds on {below}, whose pull request #1 is open; el land {below} {above} \
                 brings that in, too"
            );
            assert!(held.contains(&words), "{held}");
            assert_eq!(shop.env.git(&["log", "--format=%s", "--", "a.txt", "b.txt", "c.txt"]), "");
        }
        let why = shop.env.el(&["why", &above]).ok().stdout;
        assert!(!why.contains(&format!("el land {above}")), "{why}");
        let mut told = shop.env.el(&["--robot", "land", "--all", "--dry-run"]).fails_with(4).json();
        let told = told["error"]["details"].take();
        assert_eq!(fates(&told), [(above.as_str(), "waits"), (top.as_str(), "waits")]);
        assert!(shop.env.git(&["show", "main:d.txt"]).contains("four"), "{free} has landed");

        shop.env.el(&["close", &below]).ok();
        let told = shop.env.robot(&["land", &below, &above]);
        assert_eq!(fates(&told), [(above.as_str(), "landed"), (below.as_str(), "landed")]);
        assert_eq!(fates(&shop.env.robot(&["land", "--all"])), [(top.as_str(), "landed")]);
    }
}

#[test]
fn what_the_remote_has_is_pruned_although_main_follows_no_branch_there() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        let follows = || shop.env.git(&["for-each-ref", "--format=%(upstream)", "refs/heads/main"]);
        if !follows().is_empty() {
            shop.env.git(&["branch", "--unset-upstream", "main"]);
        }
        assert_eq!(follows(), "");
        shop.env.el(&["pr", "merge", &id]).ok();
        let listed = shop.env.robot(&["worktrees"])["items"][0].take();
        assert_eq!(
            (&listed["landed"], &listed["pull_request"]["state"]),
            (&json!(true), &json!("merged"))
        );
        let pruned = shop.env.robot(&["worktrees", "prune"]);
        assert_eq!(pruned["pruned"][0]["atom_id"], json!(id), "{pruned}");
    }
}
#[test]
fn one_that_was_merged_lands_by_a_pull_and_not_by_what_builds_on_it() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let below = shop.opened("a.txt");
        let above = shop.finished_on(&below, "b.txt", "two");
        shop.merge(1, "SQUASH");
        // Nobody has looked, so nothing was fetched.
        let held = shop.env.el(&["land", "--all"]).fails_with(4).stdout;
        assert!(held.contains("whose pull request #1 is open"), "{held}");
        shop.watch();
        shop.env.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
        assert_eq!(fates(&shop.env.robot(&["land", "--all"])), [(above.as_str(), "landed")]);
    }
}

#[test]
fn what_builds_on_a_merged_one_lands_with_its_own_difference_alone() {
    for client in forge_clients() {
        // A merge is a merge: git sees no forge.
        let methods =
            if client.is_gitlab { &["SQUASH"][..] } else { &["SQUASH", "MERGE", "REBASE"] };
        for method in methods {
            let shop = Shop::open(&client);
            let below = shop.finished("a.txt", "one");
            shop.commit(&below, "a.txt", "two");
            let above = shop.finished_on(&below, "a.txt", "three");
            let beside = shop.finished_on(&below, "b.txt", "beside");
            shop.env.el(&["pr", &below, "--ready"]).ok();
            shop.merge(1, method);
            shop.watch();
            shop.env.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
            // A later landing needs the branch no more.
            assert_eq!(shop.env.robot(&["worktrees", "prune"])["count"], 1);
            let before = shop.env.git(&["rev-parse", "main"]);
            let told = shop.env.robot(&["land", &above]);
            assert_eq!(fates(&told), [(above.as_str(), "landed")], "{method}");
            assert_eq!(shop.env.git(&["show", "main:a.txt"]), "three");
            assert_eq!(shop.env.git(&["diff", "--name-only", &before, "main"]), "a.txt");

            let opened = shop.env.robot(&["pr", &beside, "--ready"]);
            assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
            let diff = ["diff", "--name-only", "origin/main", &shop.tip(&beside)];
            assert_eq!(shop.env.git(&diff), "b.txt");
            assert_eq!(shop.env.robot(&["ready"])["count"], 0, "no conflict is filed");
        }
    }
}

#[test]
fn what_the_base_took_back_is_left_as_it_is_until_a_revert_of_that() {
    for client in forge_clients() {
        for has_gone_on in [false, true] {
            let shop = Shop::open(&client);
            let (id, git) = (shop.opened("a.txt"), |words: &[&str]| shop.env.git(words));
            // GitLab's is a merge here.
            let revert = || {
                let is_merge = git(&["log", "-1", "--format=%P"]).contains(' ');
                let side: &[&str] = if is_merge { &["-m", "1"] } else { &[] };
                git(&[&["revert", "--no-edit"], side, &["HEAD"]].concat());
            };
            shop.merge(1, "SQUASH");
            shop.watch();
            git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
            revert();
            git(&["push", "--quiet", "origin", "main"]);
            shop.env.el(&["reopen", &id]).ok();
            if has_gone_on {
                shop.commit(&id, "b.txt", "more");
            }
            shop.env.el(&["close", &id]).ok();
            let tip = shop.tip(&id);
            let asked = shop.env.el(&["pr", &id]);
            assert!(asked.stdout.contains("git revert of that on "), "{}", asked.stdout);
            assert_eq!(shop.tip(&id), tip, "the base took the work out, and is not merged in");
            assert_eq!(shop.env.robot(&["worktrees", "prune"])["count"], 0);
            revert();
            git(&["push", "--quiet", "origin", "main"]);
            let opened = shop.env.robot(&["pr", &id]);
            let wanted: &[&str] = if has_gone_on { &["opened"] } else { &["already"] };
            let fates: Vec<&str> = fates(&opened).into_iter().map(|(_, fate)| fate).collect();
            assert_eq!(fates, wanted, "{opened}");
        }
    }
}
