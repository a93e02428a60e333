//! `pr_gate = "merged"`: what builds on a closed atom waits for the merge of its branch.

use serde_json::json;

use super::Shop;
use crate::support::{forge_clients, github_client};

#[test]
fn what_builds_on_a_branch_begins_after_its_merge() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let env = &shop.env;
        env.configure("pr_gate = \"merged\"\nisolate = \"worktree\"\n");
        let (below, idle) = (env.writer("a.txt", "one"), env.script_atom(&["close done"]));
        let (above, free) = (env.writer("b.txt", "two"), env.script_atom(&["close done"]));
        env.el(&["dep", "add", &below, &above]).ok();
        env.el(&["dep", "add", &idle, &free]).ok();
        env.work(&["--drain"]);
        let statuses = [&below, &idle, &above, &free].map(|id| env.status(id));
        assert_eq!(
            statuses,
            ["closed", "closed", "open", "closed"],
            "a branch without commits holds nothing"
        );
        assert_eq!(env.robot(&["ready"])["count"], 0);
        let why = env.robot(&["why", &above]);
        assert_eq!(
            (&why["ready"], &why["holds"][0]["hold"], &why["holds"][0]["of"]),
            (&json!(false), &json!("unmerged"), &json!(below))
        );
        assert!(env.el(&["list"]).ok().stdout.contains(&format!("the merge of {below}")));

        env.el(&["pr", &below, "--ready"]).ok();
        let listed = env.el(&["list", "--all"]).ok().stdout;
        assert!(listed.contains("#1 open"), "{listed}");
        assert_eq!(env.robot(&["ready"])["count"], 0, "it is open, and not merged");
        shop.merge(1, "SQUASH");
        // The worker itself looks, and goes on.
        let worker = env.start_work(&[]);
        env.wait_for_status(&above, "closed");
        let told = worker.wait_for("pull_request");
        assert_eq!(told["pull_request"]["state"], "merged", "{told}");
        drop(worker);
    }
}

#[test]
fn work_that_landed_here_or_is_on_the_base_already_holds_nothing() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let env = &shop.env;
    env.configure("pr_gate = \"merged\"\nisolate = \"worktree\"\n");
    let ids = ["a.txt", "b.txt"].map(|file| env.writer(file, "one"));
    let next = ids.each_ref().map(|id| {
        let next = env.create("Next", &["--type", "epic"]);
        let child = env.create("Child", &["--parent", &next]);
        env.el(&["dep", "add", id, &next]).ok();
        child
    });
    env.el(&["work", &ids[0], &ids[1]]).ok();
    assert_eq!(env.robot(&["ready"])["count"], 0);
    env.el(&["land", &ids[0]]).ok();
    let ready = env.robot(&["ready"]);
    assert_eq!((&ready["count"], &ready["items"][0]["id"]), (&json!(1), &json!(next[0])));
    // Brought in by hand.
    env.git(&["push", "--quiet", "origin", &format!("el/{}:main", ids[1])]);
    let found = env.robot(&["pr", &ids[1]]);
    assert_eq!(found["items"][0]["fate"], "already", "{found}");
    assert_eq!(env.robot(&["ready"])["count"], 2);
}
