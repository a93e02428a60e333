//! The demands of a repository, and the fates of branches there.

use serde_json::{Value, json};

use super::Shop;
use crate::support::{forge_clients, github_client};

#[test]
fn a_protected_branch_is_told_in_the_words_of_the_forge() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.set(json!({ "protected": [format!("el/{id}")] }));
        let held = shop.env.el(&["pr", &id]).fails_with(4);
        let said = client.pick("GH006", "not allowed to push code to protected branches");
        assert!(held.stdout.contains(said), "{held:#?}");
        assert_eq!(shop.pulls().len(), 0);
        // Once it is allowed, the same call goes on.
        shop.set(json!({ "protected": [] }));
        assert_eq!(shop.env.robot(&["pr", &id])["items"][0]["fate"], "opened");
    }
}

#[test]
fn required_signatures_are_told_before_anything_is_pushed() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        // By a ruleset, and by the protection of the branch.
        for by in ["signed", "signed_branch"] {
            shop.set(json!({ by: true }));
            let held = shop.env.el(&["pr", &id]).fails_with(4);
            let told = "takes only signed commits, and 1 commit is";
            assert!(held.stdout.contains(told), "{held:#?}");
            assert_eq!(shop.branch_there(&format!("el/{id}")), "");
            shop.set(json!({ by: false }));
        }
        shop.env.el(&["pr", &id]).ok();
    }
}

#[test]
fn a_branch_that_was_deleted_there_closes_its_pull_request_and_a_person_decides() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let id = shop.finished("a.txt", "one");
    shop.env.el(&["pr", &id]).ok();
    shop.github.control(json!({ "do": "delete_branch", "branch": format!("el/{id}") }));
    let seen = shop.watch();
    assert_eq!(seen["items"][0]["state"], "closed", "{seen}");
    assert_eq!(shop.env.status(&id), "deferred");
    let listed = shop.env.el(&["list"]).ok().stdout;
    assert!(listed.contains("#1 closed without being merged"), "{listed}");
    assert_eq!(shop.env.robot(&["why", &id])["pull_request"]["state"], "closed");
    shop.env.el(&["reopen", &id]).ok();
    shop.env.el(&["close", &id]).ok();
    shop.env.el(&["pr", &id]).ok();
    assert!(shop.branch_there(&format!("el/{id}")).starts_with(&shop.tip(&id)));
    assert_eq!(shop.pulls().len(), 2);
}

#[test]
fn gitlab_leaves_one_open_whose_branch_was_deleted_and_el_says_so() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id]).ok();
        shop.github.control(json!({ "do": "delete_branch", "branch": format!("el/{id}") }));
        assert_eq!(shop.watch()["items"][0]["state"], "open");
        let held = shop.env.el(&["pr", &id]).fails_with(4);
        assert!(held.stdout.contains("was deleted at origin"), "{held:#?}");
    }
}

#[test]
fn a_renamed_default_branch_is_found_by_the_next_call() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let first = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &first]).ok();
        shop.github.control(json!({ "do": "rename_default", "branch": "trunk" }));
        let second = shop.finished("b.txt", "two");
        let opened = shop.env.robot(&["pr", "--all"]);
        assert_eq!(opened["base"], "trunk", "{opened}");
        let bases: Vec<Value> =
            shop.pulls().iter().map(|pull| pull["baseRefName"].clone()).collect();
        assert_eq!(bases, ["trunk", "trunk"]);
        assert_eq!(opened["items"].as_array().unwrap().len(), 2, "{second}: {opened}");

        let told = shop.env.el(&["pr", "--all"]).ok().stderr;
        let words = "main follows origin/main, which is gone, and origin/trunk is the default";
        let advice = "git branch --set-upstream-to origin/trunk main";
        assert!(told.contains(words) && told.contains(advice), "{told}");
        let advice: Vec<&str> = advice.split(' ').skip(1).collect();
        shop.env.git(&advice);
        shop.env.git(&["remote", "set-head", "origin", "trunk"]);
        assert_eq!(shop.env.el(&["pr", "--all"]).ok().stderr, "");
    }
}

#[test]
fn a_merged_branch_is_deleted_there_unless_something_builds_on_it() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let [first, second, third] = ["a.txt", "b.txt", "c.txt"].map(|file| shop.finished(file, "one"));
    for id in [&first, &second, &third] {
        shop.env.el(&["pr", id, "--ready"]).ok();
    }
    // Somebody's own pull request has the second as its base.
    shop.env.git(&["checkout", "--quiet", "-b", "mine", &format!("el/{second}")]);
    shop.env.git(&["commit", "--quiet", "--allow-empty", "-m", "mine"]);
    shop.env.git(&["push", "--quiet", "origin", "mine"]);
    shop.env.git(&["checkout", "--quiet", "main"]);
    let base = format!("el/{second}");
    let words = ["pr", "create", "-R", "github.localhost/acme/shop", "--head", "mine"];
    let more = ["--base", base.as_str(), "--title", "Mine", "--body", ""];
    shop.env.run(shop.env.command("gh").args(words).args(more)).ok();
    for number in [1, 2] {
        shop.merge(number, "SQUASH");
    }
    shop.env.el(&["pr", "merge", &third]).ok();
    shop.env.el(&["pr", "watch", "--once"]).ok();
    assert_eq!(shop.branch_there(&format!("el/{first}")), "");
    let kept = shop.branch_there(&format!("el/{second}"));
    assert_ne!(kept, "", "a pull request has it as its base");
    assert_eq!(shop.pulls()[3]["state"], "OPEN");
    assert!(shop.github.calls().iter().all(|call| !call.to_string().contains("DELETE")));
}

#[test]
fn a_draft_hides_no_trouble() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.env.configure("pr_feedback = \"reviews\"\npr_attempts = 1\n");
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id]).ok();
        let detail = || shop.watch()["items"][0]["detail"].as_str().unwrap().to_owned();
        assert_eq!(detail(), "draft");
        shop.set(json!({ "required_checks": ["test"] }));
        shop.check("test", "FAILURE");
        assert_eq!(detail(), "draft_failing");
        let main = shop.env.project("a.txt");
        std::fs::write(&main, "theirs\n").unwrap();
        shop.env.git(&["add", "a.txt"]);
        shop.env.git(&["commit", "--quiet", "-m", "theirs"]);
        shop.env.git(&["push", "--quiet", "origin", "main"]);
        assert_eq!(detail(), "draft_conflict");
        shop.request_changes("OWNER", "Say two.", json!({}));
        assert_eq!(detail(), "draft_changes_requested");
        // All that tell of it say both, and its review reaches the agent.
        assert_eq!(shop.env.status(&id), "open");
        for arguments in [&["pr", "list"][..], &["why", &id], &["show", &id], &["list", "--all"]] {
            let said = shop.env.el(arguments).ok().stdout;
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("open: draft, changes requested"), "{arguments:?}: {said}");
        }
        let needs = shop.env.robot(&["status"])["needs"]["items"].to_string();
        assert!(needs.contains("is asked for changes"), "{needs}");
        // It is still known for a draft.
        shop.env.git(&["-C", tree(&shop, &id).as_str(), "merge", "-q", "-X", "ours", "main"]);
        shop.env.el(&["close", &id]).ok();
        shop.env.el(&["pr", &id, "--ready"]).ok();
        assert_eq!(detail(), "changes_requested");
        assert_eq!(shop.pulls()[0]["isDraft"], false);
    }
}

fn tree(shop: &Shop, id: &str) -> String {
    shop.env.project(format!(".eluent/worktrees/{id}")).display().to_string()
}

#[test]
fn a_check_that_fails_on_the_base_too_blames_nobody() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.env.configure("pr_feedback = \"checks\"\n");
        let id = shop.opened("a.txt");
        let broken = json!([{ "name": "test", "conclusion": "FAILURE" }]);
        shop.set(json!({ "required_checks": ["test", "lint"], "base_checks": broken }));
        shop.check("test", "FAILURE");
        let seen = shop.watch();
        assert_eq!(
            (&seen["reopened"], &seen["items"][0]["detail"]),
            (&json!([]), &json!("failing"))
        );
        shop.check("lint", "FAILURE");
        let seen = shop.watch();
        assert_eq!(seen["reopened"], json!([id]), "{seen}");
        let comments = shop.env.show(&id)["comments"].to_string();
        assert!(comments.contains("the check lint fails") && !comments.contains("check test"));
    }
}

#[test]
fn a_branch_that_has_to_be_up_to_date_takes_the_base_in_and_only_then() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [first, second] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "one"));
        for id in [&first, &second] {
            shop.env.el(&["pr", id, "--ready"]).ok();
        }
        shop.merge(1, "SQUASH");
        let before = shop.tip(&second);
        shop.env.el(&["pr", &second]).ok();
        assert_eq!(shop.tip(&second), before, "the base moved, and nobody minds");

        shop.set(json!({ "strict": true }));
        let held = shop.env.el(&["pr", "merge", &second]).fails_with(4);
        assert!(held.stderr.contains("main wants all of it in its branch"), "{held:#?}");
        // A rehearsal says that the base comes in, names no commit that is never pushed, and
        // leaves none behind.
        let objects = || shop.env.git(&["count-objects", "-v"]);
        shop.env.git(&["fetch", "--quiet", "origin"]);
        let had = objects();
        let item = shop.env.robot(&["pr", "--dry-run", &second])["items"][0].take();
        assert_eq!((&item["fate"], &item["tip"]), (&json!("to_update"), &json!(before)));
        let plan = &item["plan"];
        assert_eq!((&plan["push"], &plan["merges"]), (&json!(null), &json!("origin/main")));
        let told = shop.env.el(&["pr", "--dry-run", &second]).ok().stdout;
        let words = format!("push: el/{second} to origin, after origin/main is merged into it");
        assert!(told.contains(&words), "{told}");
        assert_eq!(objects(), had, "nothing is written here");

        shop.env.el(&["pr", &second]).ok();
        shop.env.git(&["merge-base", "--is-ancestor", &before, &shop.tip(&second)]);
        shop.env.git(&["merge-base", "--is-ancestor", "origin/main", &shop.tip(&second)]);
        assert_eq!(shop.env.robot(&["pr", "merge", &second])["state"], "merged");
    }
}

#[test]
fn only_the_ways_to_merge_that_a_repository_allows_are_used() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.set(json!({ "methods": ["REBASE"] }));
        shop.env.configure("pr_method = \"squash\"\n");
        let held = shop.env.el(&["pr", "merge", &id]).fails_with(4);
        let told = format!("pr_method is squash, and {}/acme/shop allows rebase", client.host());
        assert!(held.stderr.contains(&told), "{held:#?}");
        shop.env.configure("");
        assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "merged");
        shop.env.git(&["fetch", "--quiet", "origin"]);
        assert_eq!(shop.env.git(&["log", "-1", "--format=%s", "origin/main"]), "one");
    }
}

#[test]
fn a_required_check_that_has_not_begun_is_waited_for_by_name() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.set(json!({ "required_checks": ["test"] }));
        let id = shop.opened("a.txt");
        assert_eq!(shop.watch()["items"][0]["detail"], "waiting");
        let held = shop.env.el(&["pr", "merge", &id]).fails_with(4);
        let told = format!("el pr merge {id} --when-ready merges it once it may");
        assert!(held.stderr.contains(&told), "{held:#?}");
        let asked = shop.env.robot(&["pr", "merge", &id, "--when-ready"]);
        assert_eq!(asked["is_asked"], true, "{asked}");
        shop.check("test", "SUCCESS");
        assert_eq!(shop.watch()["items"][0]["state"], "merged");
    }
}

#[test]
fn a_check_that_is_not_required_is_told_and_passed_by_at_a_persons_word() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        shop.check("coverage", "FAILURE");
        let held = shop.env.el(&["pr", "merge", &id]).fails_with(4);
        assert!(held.stderr.contains("a check fails"), "{held:#?}");
        assert_eq!(shop.env.robot(&["pr", "merge", &id, "--when-ready"])["state"], "merged");
    }
}

#[test]
fn one_that_is_armed_merges_once_its_checks_pass() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        // All is well already: GitHub refuses to arm it, and it is merged at once.
        let merged = shop.env.robot(&["pr", "merge", &id, "--when-ready"]);
        assert_eq!((&merged["state"], &merged["is_asked"]), (&json!("merged"), &json!(false)));
    }
}
