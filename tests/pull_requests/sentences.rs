//! The sentences where something goes wrong: the cause, and what to do next.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::Shop;
use crate::support::forge_clients;

#[test]
fn a_program_that_fails_without_a_word_is_named() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let name = client.name();
        let version = client.pick("gh version 2.50.0 (2026-01-01)", "Current glab version: 1.60.0");
        let script =
            format!("#!/bin/sh\ncase \"$*\" in *version*) echo '{version}' ;; *) exit 1 ;; esac\n");
        shop.env.program(name, &script);
        let ran = shop.env.el(&["pr", &id]).fails_with(6);
        assert!(ran.stderr.contains(&format!("{name} failed without a word why")), "{ran:#?}");
        assert!(ran.stderr.contains(&format!("{name} auth status by hand")), "{ran:#?}");
    }
}

#[test]
fn a_hook_that_stops_the_push_is_quoted() {
    let Some(client) = forge_clients().into_iter().next() else { return };
    let shop = Shop::open(&client);
    let id = shop.finished("a.txt", "one");
    let hook = shop.env.project(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    for on in ["1", "2"] {
        std::fs::write(&hook, format!("#!/bin/sh\necho 'no test, no push' >&{on}\nexit 1\n"))
            .unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ran = shop.env.el(&["pr", &id]).fails_with(4);
        assert!(ran.stdout.contains("no test, no push"), "{ran:#?}");
    }
    std::fs::remove_file(&hook).unwrap();
    shop.env.el(&["pr", &id]).ok();
}

#[test]
fn one_that_is_closed_is_not_merged_and_said_to_be_closed() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.github.control(json!({ "do": "pull", "number": 1, "state": "CLOSED" }));
        for _ in 0..2 {
            let held = shop.env.el(&["pr", "merge", &id]).fails_with(4);
            assert!(held.stderr.contains("is not merged: it is closed;"), "{held:#?}");
        }
    }
}

#[test]
fn work_without_a_branch_names_the_setting_that_makes_one() {
    let Some(client) = forge_clients().into_iter().next() else { return };
    let shop = Shop::open(&client);
    let hint = "agents make branches in worktrees: el config set isolate worktree";
    let id = shop.env.create("Work in the folder", &[]);
    shop.env.el(&["close", &id]).ok();
    let named = shop.env.el(&["pr", &id]).fails_with(4);
    assert!(named.stdout.contains(hint), "{named:#?}");
    let all = shop.env.el(&["pr", "--all"]).ok().stdout;
    assert!(all.contains("nothing to open") && all.contains(hint), "{all}");
    shop.env.configure("isolate = \"worktree\"\n");
    let all = shop.env.el(&["pr", "--all"]).ok().stdout;
    assert!(all.contains("nothing to open") && !all.contains("isolate"), "{all}");
}

#[test]
fn a_name_that_is_no_repository_is_refused_when_it_is_set() {
    let Some(client) = forge_clients().into_iter().next() else { return };
    let shop = Shop::open(&client);
    for bad in ["acme/shop/../x", "acme", "acme/..", "a b/c", "-x/shop"] {
        let ran = shop.env.el(&["config", "set", "pr_repo", "--", bad]).fails_with(2);
        assert!(ran.stderr.contains(&format!("'{bad}' names no repository")), "{ran:#?}");
        assert!(ran.stderr.contains("OWNER/NAME"), "{ran:#?}");
    }
    for good in ["acme/shop", "acme/tools/shop", "git.acme.org/acme/tools/shop"] {
        shop.env.el(&["config", "set", "pr_repo", good]).ok();
    }
}
