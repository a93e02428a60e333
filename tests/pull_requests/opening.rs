use serde_json::json;

use super::Shop;
use super::crashes::real_git;
use crate::support::{forge_clients, github_client};

#[test]
fn a_branch_becomes_one_pull_request_and_is_updated() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let planned = shop.env.robot(&["pr", &id, "--dry-run"]);
        assert_eq!(planned["items"][0]["fate"], "to_open", "{planned}");
        assert_eq!(planned["repo"], format!("{}/acme/shop", client.host()));
        assert_eq!(shop.pulls().len(), 0);

        let opened = shop.env.robot(&["pr", &id]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        let pulls = shop.pulls();
        assert_eq!(pulls.len(), 1);
        assert_eq!(pulls[0]["title"], "Write a.txt");
        assert_eq!(pulls[0]["isDraft"], true);
        assert!(pulls[0]["body"].as_str().unwrap().contains(&id), "{}", pulls[0]);
        let record = shop.record();
        assert_eq!(record["number"], 1);
        assert_eq!(record["state"], "open");
        assert_eq!(record["pushed"], json!(shop.tip(&id)));

        let again = shop.env.robot(&["pr", "--all"]);
        assert_eq!(again["items"][0]["fate"], "unchanged", "{again}");

        shop.commit(&id, "b.txt", "two");
        let updated = shop.env.robot(&["pr", &id, "--ready"]);
        assert_eq!(updated["items"][0]["fate"], "updated", "{updated}");
        assert_eq!(shop.record()["pushed"], json!(shop.tip(&id)));
        let pulls = shop.pulls();
        assert_eq!((pulls.len(), &pulls[0]["isDraft"]), (1, &json!(false)));
        // The tracker knows it at once, so the next call turns it back.
        assert_eq!(updated["items"][0]["pull_request"]["detail"], "waiting", "{updated}");
        assert_eq!(shop.record()["detail"], "waiting");
        shop.env.robot(&["pr", &id, "--draft"]);
        assert_eq!(shop.pulls()[0]["isDraft"], true);
        assert_eq!(shop.record()["detail"], "draft");

        // Nothing but the atom's own branch was ever pushed.
        for call in shop.github.calls() {
            for name in call["pushed"].as_array().into_iter().flatten() {
                let name = name.to_string();
                let is_first = name.contains("refs/heads/main");
                assert!(name.contains(&format!("refs/heads/el/{id}")) || is_first, "{call}");
            }
        }
    }
}

#[test]
fn the_template_stays_and_only_the_text_between_the_marks_is_replaced() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let folder = client.pick(".github", ".gitlab/merge_request_templates");
        std::fs::create_dir_all(shop.env.project(folder)).unwrap();
        let name = client.pick("PULL_REQUEST_TEMPLATE.md", "Default.md");
        let template = shop.env.project(format!("{folder}/{name}"));
        std::fs::write(template, "## Why\n\n- [ ] tested\n").unwrap();
        shop.env.git(&["add", folder]);
        shop.env.git(&["commit", "--quiet", "-m", "template"]);
        shop.env.git(&["push", "--quiet", "origin", "main"]);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id]).ok();
        let body = shop.pulls()[0]["body"].as_str().unwrap().to_owned();
        assert!(body.starts_with("## Why\n\n- [ ] tested\n\n<!-- el:begin -->"), "{body}");

        let edited = body.replace("[ ]", "[x]").replace(&id, "gone") + "\nA person's words.\n";
        shop.github.control(json!({ "do": "pull", "number": 1, "body": edited }));
        shop.env.el(&["pr", &id]).ok();
        let body = shop.pulls()[0]["body"].as_str().unwrap().to_owned();
        assert_eq!(body.trim(), edited.replace("gone", &id).trim());

        let unmarked = edited.replace("<!-- el:end -->", "");
        shop.github.control(json!({ "do": "pull", "number": 1, "body": unmarked }));
        shop.env.el(&["pr", &id]).ok();
        assert_eq!(shop.pulls()[0]["body"].as_str().unwrap().trim(), unmarked.trim());
    }
}

#[test]
fn a_reviewers_commit_is_taken_into_the_worktree_and_never_lost() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id]).ok();
        let branch = format!("el/{id}");
        // A reviewer pushes on top of it, from a clone.
        let clone = shop.env.path("reviewer");
        let at = clone.to_str().unwrap();
        shop.env.git(&["clone", "--quiet", "-b", &branch, &shop.github.url("acme/shop"), at]);
        std::fs::write(clone.join("r.txt"), "review\n").unwrap();
        shop.env.git(&["-C", at, "add", "r.txt"]);
        shop.env.git(&["-C", at, "commit", "--quiet", "-m", "review"]);
        shop.env.git(&["-C", at, "push", "--quiet", "origin", &branch]);
        let theirs = shop.env.git(&["-C", at, "rev-parse", "HEAD"]);

        // The dry run tells of it as the real one does.
        let words = format!("from origin into {branch} here: {} by ", &theirs[..10]);
        let foreseen = shop.env.el(&["pr", &id, "--dry-run"]).ok().stdout;
        assert!(
            foreseen.contains("#1 would be updated") && foreseen.contains(&words),
            "{foreseen}"
        );
        assert_ne!(shop.tip(&id), theirs);
        let told = shop.env.el(&["pr", &id]).ok().stdout;
        assert!(told.contains("#1 is up to date now") && told.contains(&words), "{told}");
        let taken = shop.env.robot(&["pr", &id]);
        assert_eq!(taken["items"][0]["tip"], json!(theirs), "{taken}");
        assert_eq!(taken["items"][0]["taken_in"], json!([]), "it is told once");
        assert_eq!(shop.tip(&id), theirs);
        let tree = shop.env.project(format!(".eluent/worktrees/{id}/r.txt"));
        assert_eq!(std::fs::read_to_string(tree).unwrap(), "review\n");

        // A branch that was rewritten here is not forced over it.
        let tree = shop.env.project(format!(".eluent/worktrees/{id}"));
        let tree = tree.to_str().unwrap();
        shop.env.git(&["-C", tree, "reset", "--quiet", "--hard", "origin/main"]);
        shop.commit(&id, "c.txt", "other");
        let held = shop.env.el(&["pr", &id]).fails_with(4);
        assert!(held.stdout.contains("rewritten"), "{held:#?}");
        let there = shop.env.git(&["ls-remote", "origin", &format!("refs/heads/{branch}")]);
        assert!(there.starts_with(&theirs), "{there}");
    }
}

#[test]
fn what_builds_on_open_work_waits_for_it() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let below = shop.finished("a.txt", "one");
        shop.finished_on(&below, "b.txt", "two");
        let first = shop.env.robot(&["pr", "--all"]);
        let fates: Vec<&str> = first["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["fate"].as_str().unwrap())
            .collect();
        assert_eq!(fates, ["opened", "waits"], "{first}");
        assert_eq!(shop.pulls().len(), 1);
    }
}

#[test]
fn a_branch_with_a_pull_request_lands_here_at_a_persons_word_alone() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let [there, here] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "text"));
    shop.env.el(&["pr", &there]).ok();
    let said = shop.env.el(&["work", "--once", "--isolate", "worktree"]).stdout;
    let last = said.lines().find(|line| line.starts_with("Ready to land")).unwrap_or(&said);
    assert!(last.contains(&here) && !last.contains(&there), "{said}");
    let board = shop.env.robot(&["status"])["needs"]["items"].take();
    assert_eq!((&board[0]["kind"], &board[0]["atom_id"]), (&json!("to_land"), &json!(here)));
    let ids = |arguments: &[&str]| {
        let planned = shop.env.robot(arguments);
        let items = planned["items"].as_array().unwrap().clone();
        items.into_iter().map(|item| item["atom_id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["land", "--all", "--dry-run"]), [json!(here)]);
    assert_eq!(ids(&["land", &there, "--dry-run"]), [json!(there)]);
}

#[test]
fn a_board_asks_git_little_about_a_branch_and_less_about_one_with_a_pull_request() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let (log, real) = (shop.env.path("git.log"), real_git());
    let script =
        format!("#!/bin/sh\necho \"$*\" >>{}\nexec {} \"$@\"\n", log.display(), real.display());
    let calls = || {
        shop.env.program("git", &script);
        std::fs::write(&log, "").unwrap();
        shop.env.robot(&["status"]);
        shop.env.link("git", &real);
        std::fs::read_to_string(&log).unwrap().lines().count()
    };
    shop.finished("a.txt", "one");
    let with_one = calls();
    let second = shop.finished("b.txt", "one");
    let with_two = calls();
    assert!(with_two > with_one && with_two <= with_one + 8, "{with_one}, {with_two}");
    shop.env.el(&["pr", &second]).ok();
    // Asks once if the first branch has commits of a pull request, however many there are.
    let with_request = calls();
    assert!(with_request <= with_one + 2, "{with_one}, {with_request}");
    let third = shop.finished("c.txt", "one");
    shop.env.el(&["pr", &third]).ok();
    assert_eq!(calls(), with_request);
}

#[test]
fn el_land_opens_pull_requests_where_that_is_how_work_lands() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    shop.finished("a.txt", "text");
    let before = shop.env.git(&["rev-parse", "main"]);
    shop.env.el(&["land", "--pr"]).ok();
    assert_eq!(shop.pulls().len(), 1, "without a name, all of them");
    let second = shop.finished("b.txt", "text");
    shop.env.configure("land_via = \"pr\"\n");
    let opened = shop.env.robot(&["land", &second]);
    assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
    assert_eq!(shop.env.git(&["rev-parse", "main"]), before, "no branch is moved");
}

#[test]
fn commits_that_somebody_took_away_are_not_pushed_again() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let first = shop.tip(&id);
        shop.commit(&id, "secret.txt", "secret");
        shop.env.el(&["pr", &id, "--ready"]).ok();
        let branch = format!("refs/heads/el/{id}");
        shop.env.git(&["push", "--quiet", "--force", "origin", &format!("{first}:{branch}")]);
        let held = shop.env.el(&["pr", &id]).fails_with(4);
        assert!(held.stdout.contains("somebody took commits away"), "{held:#?}");
        assert!(shop.branch_there(&format!("el/{id}")).starts_with(&first));
        // As the message says.
        let tree = shop.env.project(format!(".eluent/worktrees/{id}"));
        shop.env.git(&["-C", tree.to_str().unwrap(), "reset", "--keep", &first]);
        shop.env.el(&["pr", &id]).ok();
        shop.commit(&id, "b.txt", "more");
        shop.env.el(&["pr", &id]).ok();
        assert!(shop.branch_there(&format!("el/{id}")).starts_with(&shop.tip(&id)));
    }
}

#[test]
fn a_reviewers_commit_overwrites_no_ignored_file() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let id = shop.opened("a.txt");
    let tree = shop.env.project(format!(".eluent/worktrees/{id}"));
    let clone = shop.env.path("reviewer");
    let at = clone.to_str().unwrap();
    let branch = format!("el/{id}");
    shop.env.git(&["clone", "--quiet", "-b", &branch, &shop.github.url("acme/shop"), at]);
    std::fs::write(clone.join("data.local"), "theirs\n").unwrap();
    shop.env.git(&["-C", at, "add", "data.local"]);
    shop.env.git(&["-C", at, "commit", "--quiet", "-m", "data"]);
    shop.env.git(&["-C", at, "push", "--quiet", "origin", &branch]);
    std::fs::write(shop.env.project(".git/info/exclude"), "*.local\n").unwrap();
    std::fs::write(tree.join("data.local"), "results\n").unwrap();
    let held = shop.env.el(&["pr", &id]);
    assert!(held.status != 0 && held.stdout.contains("data.local"), "{held:#?}");
    assert_eq!(std::fs::read_to_string(tree.join("data.local")).unwrap(), "results\n");
}

#[test]
fn a_remote_with_an_address_for_pushes_is_looked_at_there() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    shop.github.control(json!({ "do": "repository", "name": "ada/shop", "fork_of": "acme/shop" }));
    let fork = shop.github.url("ada/shop");
    shop.env.git(&["config", "remote.origin.pushurl", &fork]);
    shop.env.git(&["remote", "add", "upstream", &shop.github.url("acme/shop")]);
    shop.env.configure("pr_remote = \"origin\"\npr_repo = \"acme/shop\"\n");
    let id = shop.opened("a.txt");
    shop.commit(&id, "b.txt", "two");
    assert_eq!(shop.env.robot(&["pr", &id])["items"][0]["fate"], "updated");

    let (branch, clone) = (format!("el/{id}"), shop.env.path("reviewer"));
    let at = clone.to_str().unwrap();
    shop.env.git(&["clone", "--quiet", "-b", &branch, &fork, at]);
    shop.env.git(&["-C", at, "commit", "--quiet", "--allow-empty", "-m", "more"]);
    shop.env.git(&["-C", at, "push", "--quiet", "origin", &branch]);
    let updated = shop.env.robot(&["pr", &id])["items"][0].take();
    assert_eq!(updated["taken_in"].as_array().map(Vec::len), Some(1), "{updated}");
    assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "merged");
    assert_eq!(shop.env.git(&["ls-remote", &fork, &format!("refs/heads/{branch}")]), "");
}

#[test]
fn a_pull_request_in_another_repository_holds_up_no_other() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let there = shop.opened("a.txt");
    let other = shop.finished("b.txt", "two");
    shop.github.control(json!({ "do": "repository", "name": "acme/store" }));
    shop.env.git(&["remote", "add", "store", &shop.github.url("acme/store")]);
    shop.env.git(&["push", "--quiet", "store", "main"]);
    shop.env.configure("pr_remote = \"store\"\n");
    shop.commit(&there, "a.txt", "more");
    for dry in [true, false] {
        let words = ["--robot", "pr", "--all", "--dry-run"];
        let said = shop.env.el(&words[..3 + usize::from(dry)]).fails_with(4).json();
        let items = said["error"]["details"]["items"].as_array().unwrap();
        let of = |id: &str| items.iter().find(|item| item["atom_id"] == *id).unwrap();
        assert_eq!(of(&there)["fate"], "held", "{said}");
        assert_eq!(of(&other)["fate"], if dry { "to_open" } else { "opened" }, "{said}");
    }
}

#[test]
fn a_branch_of_another_machine_is_fetched_from_the_remote_that_they_share() {
    let Some(client) = github_client() else { return };
    for is_named in [true, false] {
        let shop = Shop::open(&client);
        shop.env.configure("isolate = \"worktree\"\nremote = \"origin\"\n");
        let id = shop.finished("a.txt", "one");
        let (branch, tip) = (format!("el/{id}"), shop.tip(&id));
        shop.env.git(&["push", "--quiet", "origin", &branch]);
        let tree = format!(".eluent/worktrees/{id}");
        shop.env.git(&["worktree", "remove", "--force", &tree]);
        shop.env.git(&["branch", "--quiet", "-D", &branch]);
        let opened = shop.env.robot(&["pr", if is_named { &id } else { "--all" }]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        assert_eq!(shop.tip(&id), tip);

        let none = shop.env.create("Without a branch", &[]);
        shop.env.el(&["close", &none]).ok();
        let told = shop.env.el(&["pr", &none]).fails_with(4).stdout;
        assert!(told.contains("has no branch") && !told.contains("isolate"), "{told}");
    }
}
