//! The words that go out: foreseen by `--dry-run`, and without keys and closing words.

use serde_json::{Value, json};

use super::Shop;
use crate::support::forge_clients;

#[track_caller]
fn planned(shop: &Shop, arguments: &[&str]) -> Value {
    let before = shop.github.writes();
    let mut all = vec!["pr", "--dry-run"];
    all.extend(arguments);
    let told = shop.env.robot(&all);
    assert_eq!(shop.github.writes(), before, "nothing is pushed or made");
    told
}

#[test]
fn a_dry_run_shows_all_that_is_done_afterwards() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let (tip, branch) = (shop.tip(&id), format!("el/{id}"));
        let told = planned(&shop, &[&id]);
        let repo = format!("{}/acme/shop", client.host());
        for (key, value) in [("remote", "origin"), ("head_repo", &repo), ("repo", &repo)] {
            assert_eq!(told[key], value, "{told}");
        }
        let item = &told["items"][0];
        assert_eq!((&item["fate"], &item["branch"]), (&json!("to_open"), &json!(branch)));
        let plan = item["plan"].clone();
        assert_eq!((&plan["push"], &plan["base"]), (&json!(tip), &json!("main")), "{plan}");
        assert_eq!((&plan["title"], &plan["draft"]), (&json!("Write a.txt"), &json!(true)));
        let shown = shop.env.el(&["pr", "--dry-run", &id, "--ready"]).ok().stdout;
        for words in [
            &format!("to origin ({repo}), for pull requests into main of {repo}"),
            &format!("{id}  would be opened"),
            &format!("push: {branch} at {tip} to origin"),
            &format!("into: main of {repo}"),
            "title: Write a.txt",
            "as: ready for review",
            "body:",
            "<!-- el:begin -->",
        ] {
            assert!(shown.contains(words), "{words} is missing: {shown}");
        }

        shop.env.el(&["pr", &id]).ok();
        let pull = shop.pulls()[0].clone();
        let body = plan["body"].as_str().unwrap().trim();
        assert_eq!(pull["body"].as_str().unwrap().trim(), body);
        assert_eq!((&pull["title"], &pull["isDraft"]), (&plan["title"], &plan["draft"]));

        // Now it is only updated, and only if there is something to update.
        let told = planned(&shop, &[&id]);
        assert_eq!(told["items"][0]["fate"], "unchanged", "{told}");
        let fate = |arguments: &[&str]| {
            let item = planned(&shop, arguments)["items"][0].take();
            (item["fate"].clone(), item["plan"].clone())
        };
        let (word, plan) = fate(&[&id, "--ready"]);
        assert_eq!((&word, &plan["draft"]), (&json!("to_update"), &json!(false)), "{plan}");
        assert_eq!((&plan["push"], &plan["body"]), (&json!(null), &json!(null)), "{plan}");
        shop.commit(&id, "b.txt", "two");
        let (word, plan) = fate(&[&id]);
        assert_eq!((&word, &plan["push"]), (&json!("to_update"), &json!(shop.tip(&id))), "{plan}");
        shop.env.git(&["push", "--quiet", "origin", "main:release"]);
        let (word, plan) = fate(&[&id, "--base", "release"]);
        assert_eq!((&word, &plan["base"]), (&json!("to_update"), &json!("release")), "{plan}");
        let shown = shop.env.el(&["pr", "--dry-run", &id]).ok().stdout;
        assert!(shown.contains(&format!("{id}  #1 would be updated")), "{shown}");

        // An atom that would be left alone is told so, and not as if it had been tried.
        let tree = shop.env.project(format!(".eluent/worktrees/{id}")).display().to_string();
        shop.env.git(&["-C", &tree, "reset", "--quiet", "--hard", "origin/main"]);
        shop.commit(&id, "c.txt", "other");
        let held = shop.env.el(&["pr", "--dry-run", &id]).fails_with(4);
        assert!(held.stdout.contains("would be left as it is"), "{held:#?}");
        assert!(held.stdout.contains("its branch was rewritten here"), "{held:#?}");
        shop.env.el(&["update", &id, "--title", &format!("Use ghp_{}", "a1".repeat(18))]).ok();
        let held = shop.env.el(&["pr", "--dry-run", &id]).fails_with(4);
        assert!(held.stdout.contains("would not be pushed"), "{held:#?}");
    }
}

#[test]
fn a_dry_run_of_a_stack_names_the_branch_below() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.env.configure("pr_stack = \"base\"\n");
        let below = shop.finished("a.txt", "one");
        shop.finished_on(&below, "b.txt", "two");
        let told = planned(&shop, &["--all"]);
        let bases = [0, 1].map(|at| told["items"][at]["plan"]["base"].clone());
        assert_eq!(bases, [json!("main"), json!(format!("el/{below}"))], "{told}");
    }
}

#[test]
fn somebody_elses_pull_request_of_the_branch_is_foreseen() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let other = shop.finished("a.txt", "one");
        let branch = format!("el/{other}");
        shop.env.git(&["push", "--quiet", "origin", &branch]);
        // Somebody opens it by hand.
        let words = match client.is_gitlab {
            true => vec![
                "api",
                "projects/acme%2Fshop/merge_requests",
                "--hostname",
                client.host(),
                "-f",
                "title=Mine",
                "-f",
                "target_branch=main",
            ],
            false => vec!["pr", "create", "-R", "github.localhost/acme/shop", "--base", "main"],
        };
        let source = format!("source_branch={branch}");
        let more = match client.is_gitlab {
            true => ["-f", &source].to_vec(),
            false => ["--head", &branch, "--title", "Mine", "--body", ""].to_vec(),
        };
        shop.env.run(shop.env.command(client.name()).args(words).args(more)).ok();
        shop.commit(&other, "b.txt", "two");
        let told = planned(&shop, &[&other])["items"][0].take();
        let number = &told["pull_request"]["number"];
        assert_eq!((&told["fate"], number), (&json!("to_update"), &json!(1)), "{told}");
        let taken = shop.env.robot(&["pr", &other])["items"][0].take();
        assert_eq!(taken["fate"], "adopted", "{taken}");
        assert_eq!((shop.pulls().len(), &shop.record()["number"]), (1, &json!(1)));
    }
}

#[test]
fn a_key_in_a_commits_message_is_never_pushed() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.commit(&id, "b.txt", &format!("Use ghp_{}", "a1".repeat(18)));
        let bad = shop.tip(&id);
        shop.commit(&id, "c.txt", "three");
        for arguments in [&["pr", "--dry-run", &id][..], &["pr", &id]] {
            let held = shop.env.el(arguments).fails_with(4);
            let words = format!(
                "the message of its commit {} has something that looks like a key of GitHub; take \
                 it out in its worktree (git rebase -i origin/main, reword)",
                &bad[..10]
            );
            assert!(held.stdout.contains(&words), "{held:#?}");
            assert_eq!(shop.branch_there(&format!("el/{id}")), "");
        }
        assert_eq!(shop.pulls().len(), 0);
        // Once it is reworded, all goes out.
        let tree = shop.env.project(format!(".eluent/worktrees/{id}")).display().to_string();
        shop.env.git(&["-C", &tree, "reset", "--quiet", "--soft", "origin/main"]);
        shop.env.git(&["-C", &tree, "commit", "--quiet", "-m", "Use it"]);
        assert_eq!(shop.env.robot(&["pr", &id])["items"][0]["fate"], "opened");
    }
}

#[test]
fn closing_words_in_messages_are_told_once_with_their_commit() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "Bake.\n\nFixes #12");
        shop.commit(&id, "b.txt", "Closes PROJ-7, and no more");
        let commit = shop.tip(&id)[..10].to_owned();
        let told = planned(&shop, &[&id])["items"][0].take();
        let closes = told["closes"].as_array().unwrap();
        assert_eq!(closes.len(), 2, "{told}");
        assert_eq!(closes[0], format!("Closes PROJ-7 ({commit})"));
        let opened = shop.env.el(&["pr", &id]).ok().stdout;
        let words = "messages of its commits close issues once they are merged: Closes PROJ-7 (";
        assert!(opened.contains(words) && opened.contains("Fixes #12 ("), "{opened}");
        let again = shop.env.robot(&["pr", &id])["items"][0].take();
        assert_eq!((&again["fate"], &again["closes"]), (&json!("unchanged"), &json!([])));
    }
}

#[test]
fn all_closing_words_of_a_message_are_told() {
    let Some(client) = forge_clients().into_iter().next() else { return };
    let shop = Shop::open(&client);
    let message = "This closes PROJ-12 and resolves acme/shop#3\n\nCloses: #5, #6";
    let id = shop.finished("a.txt", message);
    let commit = shop.tip(&id)[..10].to_owned();
    let closes = planned(&shop, &[&id])["items"][0]["closes"].take();
    let all = ["closes PROJ-12", "resolves acme/shop#3", "Closes #5", "Closes #6"];
    assert_eq!(closes, json!(all.map(|it| format!("{it} ({commit})"))));
    let many: Vec<String> = (1..=30).map(|number| format!("fixes #{number}")).collect();
    shop.commit(&id, "b.txt", &many.join("; "));
    let told = shop.env.el(&["pr", "--dry-run", &id]).ok().stdout;
    assert!(told.contains("fixes #20 (") && told.contains("), and 14 more"), "{told}");
}

#[test]
fn a_dry_run_says_of_the_check_that_it_would_be_run() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.configure("land_check = [\"true\"]\n");
        let body = |told: &Value| told["items"][0]["plan"]["body"].as_str().unwrap().to_owned();
        let told = body(&planned(&shop, &[&id]));
        assert!(told.contains("- true: would be run"), "{told}");
        assert!(!told.contains("passed"), "{told}");
        shop.env.el(&["pr", &id]).ok();
        let written = shop.pulls()[0]["body"].as_str().unwrap().to_owned();
        assert!(written.contains("- true: passed"), "{written}");
        // A report is not repeated.
        assert_eq!(planned(&shop, &[&id])["items"][0]["fate"], "unchanged");
        shop.env.configure("land_check = [\"sh\", \"-c\", \"true\"]\n");
        let told = planned(&shop, &[&id]);
        assert_eq!(told["items"][0]["fate"], "to_update", "{told}");
        assert!(body(&told).contains("- sh -c true: would be run"), "{told}");
    }
}

#[test]
fn the_answer_to_a_review_that_is_held_back_or_closes_an_issue_is_told() {
    for client in forge_clients() {
        let (shop, id) = Shop::with_review(&client, "");
        shop.answer(&id, "b.txt", "Resolves GH-9");
        let told = shop.env.el(&["pr", "watch", "--once"]).ok().stderr;
        assert!(told.contains("close issues once they are merged: Resolves GH-9 ("), "{told}");
        shop.commit(&id, "c.txt", &format!("Use ghp_{}", "a1".repeat(18)));
        let told = shop.env.el(&["pr", "watch", "--once"]).ok().stderr;
        let words = format!("the answer of {id} to its review: the message of its commit");
        assert!(told.contains(&words), "{told}");
        assert_ne!(shop.record()["pushed"], json!(shop.tip(&id)));
    }
}

#[test]
fn nothing_that_an_atom_is_called_closes_an_issue() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let title = "Closes #1, PROJ-12, GL-3, [issue:4], acme/shop#5 and %6 ~bug !7 @ann";
        shop.env.el(&["update", &id, "--title", title]).ok();
        shop.env.el(&["pr", &id]).ok();
        let shown = shop.pulls()[0]["title"].as_str().unwrap().to_owned();
        assert_ne!(shown, title);
        assert_eq!(shown.replace('\u{200b}', ""), title, "it looks as it did");
        let is_joined = |at: &str| shown.contains(at);
        for joined in ["#1", "-12", "-3", ":4", "#5", "%6", "~bug", "!7", "@ann"] {
            assert!(!is_joined(joined), "{joined} is left in {shown}");
        }
    }
}
