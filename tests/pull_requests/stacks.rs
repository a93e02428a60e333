//! `pr_stack = "base"`: the open pull request below is the base.

use serde_json::{Value, json};

use super::Shop;
use crate::support::gh_versions;

/// Two finished atoms, the second upon the first.
fn stacked(shop: &Shop) -> [String; 2] {
    shop.env.configure("pr_stack = \"base\"\n");
    let below = shop.finished("a.txt", "one");
    let above = shop.env.create("Above", &[]);
    shop.env.el(&["dep", "add", &below, &above]).ok();
    shop.env.git(&["branch", "--quiet", &format!("el/{above}"), &format!("el/{below}")]);
    shop.commit(&above, "b.txt", "two");
    shop.env.el(&["close", &above]).ok();
    [below, above]
}

fn bases(shop: &Shop) -> Vec<Value> {
    shop.pulls().iter().map(|pull| pull["baseRefName"].clone()).collect()
}

#[test]
fn the_branch_below_is_the_base_and_children_are_retargeted_before_it_is_merged() {
    for gh in gh_versions() {
        let shop = Shop::open(&gh);
        let [below, above] = stacked(&shop);
        shop.env.el(&["pr", "--all", "--ready"]).ok();
        assert_eq!(bases(&shop), [json!("main"), json!(format!("el/{below}"))]);

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
fn after_a_merge_by_others_the_next_call_retargets_it() {
    for gh in gh_versions() {
        let shop = Shop::open(&gh);
        let [below, above] = stacked(&shop);
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
    for gh in gh_versions().into_iter().take(1) {
        let shop = Shop::open(&gh);
        let [_, above] = stacked(&shop);
        let waits = shop.env.robot(&["pr", &above]);
        assert_eq!(waits["items"][0]["fate"], "waits", "{waits}");
        assert_eq!(shop.pulls().len(), 0);
    }
}
