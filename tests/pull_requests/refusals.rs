use serde_json::json;

use super::Shop;
use crate::support::{forge_clients, github_client};

/// Asserts exit code 6 with these words, and that nothing was pushed.
#[track_caller]
fn is_refused(shop: &Shop, arguments: &[&str], words: &str) {
    let before = shop.github.writes();
    let ran = shop.env.el(arguments).fails_with(6);
    assert!(ran.stderr.contains(words), "{ran:#?}");
    assert_eq!(shop.github.writes(), before, "nothing is pushed or made");
    assert_eq!(shop.env.robot(&["pr", "list"])["count"], 0);
}

/// The verbs that ask the forge about the first pull request, which is this atom's.
fn verbs_that_ask(id: &str) -> [Vec<&str>; 4] {
    [
        vec!["pr", "watch", "--once"],
        vec!["pr", "merge", id],
        vec!["pr", "adopt", id, "1"],
        vec!["pr", id],
    ]
}

#[test]
fn bad_surroundings_are_told_in_a_sentence_and_nothing_is_pushed() {
    for client in forge_clients() {
        let mut shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");

        let (name, host) = (client.name(), client.host());
        let old = client.pick("gh version 2.4.0 (2022-01-01)", "Current glab version: 1.9.0");
        shop.env.program(name, &format!("#!/bin/sh\necho '{old}'\n"));
        is_refused(&shop, &["pr", &id], client.pick("this is gh 2.4.0", "this is glab 1.9.0"));
        std::fs::remove_file(shop.env.path(format!("bin/{name}"))).unwrap();
        shop.env.link(name, format!("/nowhere/{name}"));
        let path = shop.env.path("bin").display().to_string();
        let git = shop.env.git(&["--exec-path"]);
        assert!(!git.is_empty());
        shop.env.link("git", which("git"));
        shop.env.link("sh", which("sh"));
        shop.env.set("PATH", &path);
        is_refused(&shop, &["pr", &id], &format!("{name} is not installed"));
        shop.env.unset("PATH");
        shop.env.link(name, &client.program);

        shop.github.fail_any(401, "Bad credentials");
        is_refused(&shop, &["pr", &id], &format!("nobody is signed in to {host}"));

        shop.set(json!({ "permission": "READ" }));
        is_refused(&shop, &["pr", &id], "your rights there do not allow a push");
        shop.set(json!({ "permission": "WRITE" }));

        shop.env.git(&["remote", "add", "fork", &shop.github.url("ada/shop")]);
        is_refused(&shop, &["pr", &id], "this repository has 2 remotes");
        shop.env.git(&["remote", "remove", "fork"]);
        shop.env.git(&["remote", "set-url", "origin", &shop.github.url("acme/gone")]);
        is_refused(&shop, &["pr", &id], &format!("{host}/acme/gone is not there"));
        let folder = shop.env.path("shop.git").display().to_string();
        for (url, why) in [
            (folder.as_str(), "the address of the remote origin is a folder, or names no OWNER"),
            ("https://ann:secret@git.acme.org/shop", "git remote set-url origin https://HOST/"),
        ] {
            shop.env.git(&["remote", "set-url", "origin", url]);
            is_refused(&shop, &["pr", &id], why);
            shop.env.configure("pr_remote = \"origin\"\n");
            is_refused(&shop, &["pr", &id], why);
            shop.env.configure("pr_remote = \"other\"\n");
            is_refused(&shop, &["pr", &id], "there is no such remote");
            shop.env.configure("");
        }
        shop.env.git(&["remote", "remove", "origin"]);
        is_refused(&shop, &["pr", &id], "this repository has no remote\n");
    }
}

#[test]
fn a_host_of_no_known_kind_names_both_programs_and_the_setting() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.git(&["remote", "set-url", "origin", "http://unknown.localhost/acme/shop.git"]);
        is_refused(&shop, &["pr", &id], "it is not clear which forge unknown.localhost is");
        is_refused(&shop, &["pr", &id], "pr_forge gitlab, or github");
        is_refused(&shop, &["pr", &id], "glab, or gh, auth login --hostname unknown.localhost");
        // Whoever says which one it is hears of that one's program alone.
        for (forge, name) in [("github", "gh"), ("gitlab", "glab")] {
            if name == client.name() {
                shop.env.configure(&format!("pr_forge = \"{forge}\"\n"));
                let words = format!("{name} auth login --hostname unknown.localhost");
                is_refused(&shop, &["pr", &id], &words);
            }
        }
    }
}

#[test]
fn a_program_that_cannot_read_its_configuration_is_told_with_the_cause() {
    use std::os::unix::fs::PermissionsExt as _;

    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        let name = client.name();
        let folder = shop.env.path(format!("home/{name}"));
        let file = folder.join("config.yml");
        std::fs::create_dir_all(&folder).unwrap();
        let good = std::fs::read_to_string(&file).unwrap_or_default();
        let mut broken = vec![("a: [\n", 0o600, "yaml")];
        if client.is_gitlab {
            broken.push((good.as_str(), 0o644, "glab requires 600"));
        }
        for (text, mode, why) in broken {
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            for arguments in verbs_that_ask(&id) {
                let ran = shop.env.el(&arguments).fails_with(6);
                let words = format!("{name} cannot read its configuration: ");
                assert!(ran.stderr.contains(&words) && ran.stderr.contains(why), "{ran:#?}");
            }
            // It may be what keeps glab from knowing a host.
            if client.is_gitlab {
                let url = "http://code.localhost/acme/shop.git";
                shop.env.git(&["remote", "set-url", "origin", url]);
                let ran = shop.env.el(&["pr", &id]).fails_with(6);
                assert!(ran.stderr.contains("glab cannot read its configuration"), "{ran:#?}");
                let url = shop.github.url("acme/shop");
                shop.env.git(&["remote", "set-url", "origin", &url]);
            }
        }
        if client.is_gitlab {
            std::fs::remove_file(&file).unwrap();
            std::fs::create_dir(&file).unwrap();
            let ran = shop.env.el(&["pr", &id]).fails_with(6);
            assert!(ran.stderr.contains("config.yml is a folder\n"), "{ran:#?}");
        }
    }
}

#[test]
fn without_any_configuration_of_glab_nobody_is_signed_in() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        std::fs::remove_dir_all(shop.env.path("home/glab")).unwrap();
        for arguments in verbs_that_ask(&id) {
            let ran = shop.env.el(&arguments).fails_with(6);
            let words = "glab auth login --hostname gitlab.localhost";
            assert!(ran.stderr.contains(words), "{ran:#?}");
        }
    }
}

#[test]
fn every_verb_that_asks_the_forge_says_so_if_it_cannot() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        let (name, host) = (client.name(), client.host());
        let mut all = verbs_that_ask(&id).to_vec();
        if !client.is_gitlab {
            all.push(vec!["sync", "github"]);
        }
        for arguments in all {
            shop.github.fail_any(401, "Bad credentials");
            let ran = shop.env.el(&arguments).fails_with(6);
            assert!(ran.stderr.contains(&format!("nobody is signed in to {host}")), "{ran:#?}");
            let hint = format!("{name} auth login --hostname {host}");
            assert!(ran.stderr.contains(&hint), "{ran:#?}");
        }
        let other = shop.env.el(&["pr", "adopt", &id, "7"]).fails_with(6);
        assert!(other.stderr.contains("those of that branch: #1"), "{other:#?}");
    }
}

#[test]
fn a_git_without_a_sign_in_and_a_repository_without_drafts_are_told_with_a_way_out() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.github.fail("info/refs", 401, "Bad credentials");
        is_refused(&shop, &["pr", &id], client.pick("gh auth setup-git", "glab auth login"));
        let drop = json!({ "do": "rule", "when": "info/refs", "act": "drop" });
        shop.github.control(drop);
        let lost = shop.env.el(&["pr", &id]).fails_with(7);
        assert!(lost.stderr.contains("git fetch reached nobody"), "{lost:#?}");
        // At GitLab a draft is only a title.
        if !client.is_gitlab {
            shop.set(json!({ "no_drafts": true }));
            let failed = shop.env.el(&["pr", &id]).fails_with(4);
            assert!(failed.stdout.contains("el pr --ready"), "{failed:#?}");
        }
        let opened = shop.env.robot(&["pr", &id, "--ready"]);
        assert_eq!(opened["items"][0]["fate"], "opened", "{opened}");
        assert_eq!(shop.pulls().len(), 1);
    }
}

#[test]
fn a_name_that_ssh_knows_is_the_host_behind_it() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    let id = shop.finished("a.txt", "one");
    shop.env.git(&["remote", "set-url", "--push", "origin", "git@work:acme/shop.git"]);
    shop.env
        .program("ssh", "#!/bin/sh\n[ \"$*\" = '-G work' ] && echo hostname github.localhost\n");
    let planned = shop.env.robot(&["pr", &id, "--dry-run"]);
    assert_eq!(planned["repo"], "github.localhost/acme/shop", "{planned}");
}

fn which(name: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|at| at.is_file()).unwrap()
}

#[test]
fn what_land_refuses_is_refused_before_anything_is_pushed() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.env.configure("land_check = \"test ! -e bad.txt\"\n");
        let open = shop.finished("open.txt", "one");
        shop.env.el(&["reopen", &open]).ok();
        let dirty = shop.finished("dirty.txt", "one");
        let tree = shop.env.project(format!(".eluent/worktrees/{dirty}/dirty.txt"));
        std::fs::write(tree, "not committed\n").unwrap();
        let bad = shop.finished("bad.txt", "one");
        let conflict = shop.finished("base.txt", "theirs");
        std::fs::write(shop.env.project("base.txt"), "ours\n").unwrap();
        shop.env.git(&["commit", "--quiet", "-am", "ours"]);
        shop.env.git(&["push", "--quiet", "origin", "main"]);
        let key = shop.env.create(&format!("Use ghp_{}", "a1".repeat(18)), &[]);
        shop.env.git(&["branch", "--quiet", &format!("el/{key}"), "origin/main"]);
        shop.commit(&key, "key.txt", "one");
        shop.env.el(&["close", &key]).ok();

        let ids = [&open, &dirty, &bad, &conflict, &key];
        let mut arguments = vec!["--robot", "pr"];
        arguments.extend(ids.iter().map(|id| id.as_str()));
        let ran = shop.env.el(&arguments).fails_with(4).json();
        let fate = |id: &str| {
            let items = ran["error"]["details"]["items"].as_array().unwrap();
            items.iter().find(|item| item["atom_id"] == id).unwrap()["fate"].clone()
        };
        assert_eq!(fate(&open), "not_finished");
        assert_eq!(fate(&dirty), "uncommitted");
        assert_eq!(fate(&bad), "check_failed");
        assert_eq!(fate(&conflict), "conflict");
        assert_eq!(fate(&key), "has_key");
        assert_eq!(shop.pulls().len(), 0);
        let pushed: Vec<_> =
            shop.github.writes().into_iter().filter(|name| name.contains("receive-pack")).collect();
        assert_eq!(pushed.len(), 2, "only the test's own pushes of main: {pushed:?}");
    }
}

#[test]
fn a_fork_names_the_repository_that_receives_the_work() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.github
            .control(json!({ "do": "repository", "name": "ada/shop", "fork_of": "acme/shop" }));
        let id = shop.finished("a.txt", "one");
        shop.env.git(&["remote", "rename", "origin", "upstream"]);
        shop.env.git(&["remote", "add", "origin", &shop.github.url("ada/shop")]);
        shop.env.configure("pr_remote = \"origin\"\n");
        is_refused(&shop, &["pr", &id], "ada/shop is a fork of acme/shop");
        shop.env.configure("pr_remote = \"origin\"\npr_repo = \"acme/shop\"\n");
        let planned = shop.env.robot(&["pr", &id, "--dry-run"]);
        assert_eq!(
            (&planned["remote"], &planned["repo"]),
            (&json!("origin"), &json!(format!("{}/acme/shop", client.host())))
        );
        shop.env.el(&["pr", &id]).ok();
        let record = shop.record();
        assert_eq!((&record["head_owner"], &record["number"]), (&json!("ada"), &json!(1)));
    }
}

#[test]
fn on_a_terminal_two_remotes_and_a_fork_are_asked_for_once() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    shop.github.control(json!({ "do": "repository", "name": "ada/shop", "fork_of": "acme/shop" }));
    let id = shop.finished("a.txt", "one");
    shop.env.git(&["remote", "add", "fork", "http://github.localhost/ada/shop.git"]);
    let line = format!("el pr {id}");
    let screen = shop.env.screen(120, 40, &line);
    screen.wait_for("to which remote are branches pushed? [1-2]");
    screen.press("nowhere");
    screen.press("Enter");
    screen.wait_for("that is none of them");
    screen.press("fork");
    screen.press("Enter");
    screen.wait_for("which repository receives the work? [1-2]");
    screen.press("1");
    screen.press("Enter");
    let shown = screen.wait_for("[exit 0]");
    assert!(shown.contains("#1 is open now"), "{shown}");
    let record = shop.record();
    assert_eq!(
        (&record["head_owner"], &record["repo"]),
        (&json!("ada"), &json!("github.localhost/acme/shop"))
    );
    // Kept, and trusted: nobody is asked again.
    shop.env.el(&["pr", &id]).ok();
    let screen = shop.env.screen(120, 40, &line);
    screen.wait_for("[exit 0]");
}

#[test]
fn nothing_is_pushed_without_the_check_that_nobody_has_trusted() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let file = shop.env.project(".eluent/config.toml");
        std::fs::write(file, "land_check = \"false\"\n").unwrap();
        is_refused(&shop, &["pr", &id], "land_check does not count");
        is_refused(&shop, &["pr", "watch", "--once"], "land_check does not count");
        assert_eq!(shop.pulls().len(), 0);
    }
}

#[test]
fn an_untrusted_file_sends_nothing_anywhere() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        shop.env.git(&["remote", "add", "evil", &shop.github.url("eve/shop")]);
        let file = shop.env.project(".eluent/config.toml");
        std::fs::write(file, "pr_remote = \"evil\"\nland_via = \"pr\"\n").unwrap();
        is_refused(&shop, &["pr", &id], "this repository has 2 remotes");
        shop.env.git(&["remote", "remove", "evil"]);
        let refused = shop.env.el(&["land", &id]).fails_with(6);
        assert!(refused.stderr.contains("land_via does not count"), "{refused:#?}");
        let refused = shop.env.el(&["land", &id, "--dry-run"]).fails_with(6);
        assert!(refused.stderr.contains("el trust"), "{refused:#?}");
        shop.env.el(&["land", &id, "--onto", "main"]).ok();
        assert_eq!(shop.pulls().len(), 0, "land_via does not count");
    }
}
