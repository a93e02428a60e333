//! `kill -9` at each step, lost answers, and two at once: there is one pull request, and it is
//! recorded.

use std::path::Path;

use serde_json::json;

use super::Shop;
use crate::support::forge_clients;

/// Puts a program on PATH that kills its parent before or after a call with this word, once.
fn kill_at(shop: &Shop, name: &str, real: &Path, word: &str, is_after: bool) {
    let mark = shop.env.path(format!("killed-{name}"));
    let _ = std::fs::remove_file(&mark);
    let (mark, real) = (mark.display(), real.display());
    let kill = format!("[ -e {mark} ] || {{ : >{mark}; kill -9 $PPID; }}");
    let (before, after) = if is_after { (":", kill.as_str()) } else { (kill.as_str(), ":") };
    let script = format!(
        "#!/bin/sh\ncase \" $* \" in\n*' {word}'*) {before}; {real} \"$@\"; code=$?; {after}; \
         exit $code ;;\nesac\nexec {real} \"$@\"\n"
    );
    shop.env.program(name, &script);
}

pub(super) fn real_git() -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join("git")).find(|at| at.is_file()).unwrap()
}

#[track_caller]
fn has_one(shop: &Shop, id: &str, step: &str) {
    let again = shop.env.robot(&["pr", id]);
    let pulls = shop.pulls();
    assert_eq!(pulls.len(), 1, "{step}: {again}");
    let record = shop.record();
    assert_eq!(record["number"], pulls[0]["number"], "{step}");
    assert_eq!(record["state"], "open", "{step}");
    assert_eq!(record["pushed"], json!(shop.tip(id)), "{step}");
    assert_eq!(record["pushing"], json!(null), "{step}");
}

#[test]
fn a_kill_at_any_step_of_opening_ends_with_one_pull_request() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let name = client.name();
        let look = client.pick("repo view", "api projects/acme%2Fshop ");
        let list = client.pick("pr list", "api projects/acme%2Fshop/merge_requests?");
        let create = client.pick("pr create", "--method POST");
        let steps = [
            (name, look, false),
            ("git", "fetch", false),
            ("git", "push", false),
            ("git", "push", true),
            (name, list, false),
            (name, list, true),
            (name, create, false),
            (name, create, true),
        ];
        // Git's steps are the same with every client.
        let steps = steps.into_iter().filter(|step| step.0 == name || !client.is_gitlab);
        for (at, (name, word, is_after)) in steps.enumerate() {
            let shop = if at == 0 { &shop } else { &Shop::open(&client) };
            let id = shop.finished("a.txt", "one");
            let real = if name == "git" { real_git() } else { client.program.clone() };
            kill_at(shop, name, &real, word, is_after);
            let killed = shop.env.el(&["pr", &id]);
            assert_ne!(killed.status, 0, "{name} {word}: {killed:#?}");
            shop.env.link(name, &real);
            // A further commit after the crash is no other person's push.
            if is_after {
                shop.commit(&id, "b.txt", "further");
            }
            has_one(shop, &id, &format!("{name} {word} {is_after}"));
        }
    }
}

#[test]
fn a_kill_at_any_step_of_merging_ends_with_one_merge_that_is_recorded() {
    for client in forge_clients() {
        let name = client.name();
        let look = client.pick("repo view", "api projects/acme%2Fshop ");
        let merge = client.pick("pr merge", "--method PUT");
        let steps = [
            (name, "api graphql", false),
            (name, "api graphql", true),
            (name, look, true),
            (name, merge, false),
            (name, merge, true),
            ("git", "fetch", false),
            ("git", "push", false),
            ("git", "push", true),
        ];
        let steps = steps.into_iter().filter(|step| step.0 == name || !client.is_gitlab);
        for (name, word, is_after) in steps {
            let shop = Shop::open(&client);
            let id = shop.opened("a.txt");
            let real = if name == "git" { real_git() } else { client.program.clone() };
            kill_at(&shop, name, &real, word, is_after);
            let killed = shop.env.el(&["pr", "merge", &id]);
            let step = format!("{name} {word} {is_after}");
            assert_ne!(killed.status, 0, "{step}: {killed:#?}");
            shop.env.link(name, &real);
            assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "merged", "{step}");
            let pulls = shop.pulls();
            assert_eq!((pulls.len(), &pulls[0]["state"]), (1, &json!("MERGED")), "{step}");
            assert_eq!(shop.record()["merge_commit"], pulls[0]["mergeCommit"], "{step}");
            assert_eq!(shop.branch_there(&format!("el/{id}")), "", "{step}");
            let listed = shop.env.robot(&["pr", "--all"]);
            assert_eq!(listed["count"], 0, "{step}: {listed}");
        }
    }
}

#[test]
fn a_merge_that_another_call_made_meanwhile_is_recorded_as_one() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        let (real, merge) = (client.program.display(), client.pick("pr merge", "--method PUT"));
        // The first call stands for one of another machine.
        let twice = format!(
            "#!/bin/sh\ncase \" $* \" in\n*' {merge}'*)\n  input=$(cat)\n  \
             printf %s \"$input\" | {real} \"$@\" >/dev/null 2>&1\n  \
             printf %s \"$input\" | {real} \"$@\"\n  exit ;;\nesac\nexec {real} \"$@\"\n"
        );
        shop.env.program(client.name(), &twice);
        let merged = shop.env.robot(&["pr", "merge", &id]);
        assert_eq!(merged["state"], "merged", "{merged}");
    }
}

#[test]
fn a_lost_answer_makes_no_second_pull_request() {
    for client in forge_clients() {
        let create = client.pick("mutation PullRequestCreate", "POST /api/v4/projects/acme");
        for call in [create, "git-receive-pack"] {
            let shop = Shop::open(&client);
            let id = shop.finished("a.txt", "one");
            shop.github.control(json!({ "do": "rule", "when": call, "act": "drop" }));
            shop.env.el(&["pr", &id]);
            has_one(&shop, &id, call);
        }
    }
}

#[test]
fn two_at_once_open_one() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let both = [shop.env.start_el(&["pr", &id]), shop.env.start_el(&["pr", &id])];
        let ended = both.map(|one| one.wait(std::time::Duration::from_secs(120)));
        assert!(ended.iter().any(|ran| ran.status == 0), "{ended:#?}");
        has_one(&shop, &id, "two at once");
    }
}
