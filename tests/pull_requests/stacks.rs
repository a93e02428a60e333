//! `pr_stack = "base"`: the open pull request below is the base.

use serde_json::{Value, json};

use super::Shop;
use crate::support::{forge_clients, github_client};

/// Two finished atoms, the second upon the first.
fn two_finished(shop: &Shop) -> [String; 2] {
    shop.env.configure("pr_stack = \"base\"\n");
    let below = shop.finished("a.txt", "one");
    let above = shop.finished_on(&below, "b.txt", "two");
    [below, above]
}

fn bases(shop: &Shop) -> Vec<Value> {
    shop.pulls().iter().map(|pull| pull["baseRefName"].clone()).collect()
}

#[test]
fn the_branch_below_is_the_base_and_children_are_retargeted_before_it_is_merged() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [below, above] = two_finished(&shop);
        shop.env.el(&["pr", "--all", "--ready"]).ok();
        assert_eq!(bases(&shop), [json!("main"), json!(format!("el/{below}"))]);

        let held = shop.env.el(&["pr", "merge", &above]).fails_with(4);
        assert!(held.stderr.contains(&format!("el pr merge {below} comes first")), "{held:#?}");
        let merged = shop.env.robot(&["pr", "merge", &below]);
        assert_eq!(merged["state"], "merged", "{merged}");
        assert_eq!(bases(&shop)[1], "main");
        let gone = shop.env.git(&["ls-remote", "origin", &format!("refs/heads/el/{below}")]);
        assert_eq!(gone, "", "it is deleted, since nothing builds on it any more");
        assert_eq!(shop.pulls()[1]["state"], "OPEN", "the one above lives on");

        // The squash is stepped over, so that its difference is its own.
        shop.env.el(&["pr", &above]).ok();
        shop.env.git(&["fetch", "--quiet", "origin"]);
        let own = shop.env.git(&["diff", "--name-only", "origin/main", &shop.tip(&above)]);
        assert_eq!(own, "b.txt");
        assert_eq!(shop.env.robot(&["pr", "merge", &above])["state"], "merged");
    }
}

#[test]
fn three_in_a_row_are_merged_one_by_one_and_each_shows_its_own_difference() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let [first, second] = two_finished(&shop);
    let third = shop.finished_on(&second, "c.txt", "three");
    for (id, file) in [(&first, "a.txt"), (&second, "b.txt"), (&third, "c.txt")] {
        shop.env.el(&["pr", "--all", "--ready"]).ok();
        shop.env.git(&["fetch", "--quiet", "origin"]);
        // As GitHub shows it: from where the branch left main.
        let range = format!("origin/main...el/{id}");
        assert_eq!(shop.env.git(&["diff", "--name-only", &range]), file);
        assert_eq!(shop.env.robot(&["pr", "merge", id])["state"], "merged");
    }
}

#[test]
fn after_a_merge_by_others_the_next_call_retargets_it() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [below, above] = two_finished(&shop);
        shop.env.el(&["pr", &below, "--ready"]).ok();
        shop.env.el(&["pr", &above, "--ready"]).ok();
        shop.merge(1, "SQUASH");
        shop.env.el(&["pr", "watch", "--once"]).ok();
        assert_eq!(bases(&shop)[1], json!(format!("el/{below}")), "its branch is kept for it");
        shop.env.el(&["pr", &above]).ok();
        assert_eq!(bases(&shop)[1], "main");
    }
}

#[test]
fn without_an_open_one_below_it_waits() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let [_, above] = two_finished(&shop);
    let waits = shop.env.robot(&["pr", &above]);
    assert_eq!(waits["items"][0]["fate"], "waits", "{waits}");
    assert_eq!(shop.pulls().len(), 0);
}

#[test]
fn with_several_open_ones_below_it_waits_for_the_last_of_them() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    shop.env.configure("pr_stack = \"base\"\n");
    let [left, right] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "one"));
    let above = shop.env.create("Above", &[]);
    for below in [&left, &right] {
        shop.env.el(&["dep", "add", below, &above]).ok();
    }
    shop.env.git(&["branch", "--quiet", &format!("el/{above}"), &format!("el/{left}")]);
    shop.commit(&above, "c.txt", "three");
    let tree = shop.env.project(format!(".eluent/worktrees/{above}"));
    let at = tree.to_str().unwrap();
    shop.env.git(&["-C", at, "merge", "--quiet", "--no-edit", &format!("el/{right}")]);
    shop.env.el(&["close", &above]).ok();

    let opened = shop.env.robot(&["pr", "--all", "--ready"]);
    let waits = &opened["items"][2];
    assert_eq!((&waits["atom_id"], &waits["fate"]), (&json!(above), &json!("waits")));
    let told = waits["detail"].as_str().unwrap();
    assert!(told.contains(&left) && told.contains(&right), "{told}");
    // Once one of them is merged, the other is the one below.
    shop.merge(1, "SQUASH");
    shop.env.el(&["pr", "--all", "--ready"]).ok();
    assert_eq!(bases(&shop)[2], json!(format!("el/{right}")));
}

#[test]
fn work_that_is_not_closed_is_opened_with_no_other_atom_unless_a_person_names_both() {
    let Some(gh) = github_client() else { return };
    for stacks in ["wait", "base"] {
        let shop = Shop::open(&gh);
        shop.env.configure(&format!("pr_stack = \"{stacks}\"\n"));
        let risky = shop.finished("r.txt", "risky");
        let based = shop.finished_on(&risky, "b.txt", "based");
        let merged = shop.finished("m.txt", "merged");
        let at = shop.env.project(format!(".eluent/worktrees/{merged}")).display().to_string();
        shop.env.git(&["-C", &at, "merge", "--quiet", "--no-edit", &format!("el/{risky}")]);
        shop.env.el(&["reopen", &risky]).ok();

        let said = shop.env.robot(&["pr", "--all"]);
        for id in [&based, &merged] {
            let items = said["items"].as_array().unwrap();
            let item = items.iter().find(|item| item["atom_id"] == **id).unwrap();
            assert_eq!(item["fate"], "waits", "{stacks}: {said}");
            let detail = item["detail"].as_str().unwrap();
            let way = format!("{risky}, whose status is open; el pr {risky} {id} brings");
            assert!(detail.contains(&way), "{stacks}: {detail}");
        }
        assert_eq!(shop.pulls().len(), 0, "{stacks}");

        shop.env.el(&["pr", &risky, &merged, "--ready"]);
        let heads: Vec<Value> = shop.pulls().iter().map(|one| one["headRefName"].clone()).collect();
        assert_eq!(heads, [json!(format!("el/{merged}"))], "{stacks}");
        // Merging brings the work to others for good.
        let held = shop.env.el(&["pr", "merge", &merged]).fails_with(4);
        let words = format!("it has work of {risky}, whose status is open; el close {risky}");
        assert!(held.stderr.contains(&words), "{held:#?}");
        assert_eq!(shop.pulls()[0]["state"], "OPEN");
        shop.env.el(&["close", &risky]).ok();
        shop.env.el(&["pr", "merge", &merged]).ok();
    }
}
