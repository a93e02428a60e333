//! Things that only GitLab has.

use serde_json::json;

use super::Shop;
use crate::support::forge_clients;

#[test]
fn a_host_whose_name_tells_nothing_is_gitlabs_if_glab_is_signed_in_to_it() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        let id = shop.finished("a.txt", "one");
        let url = "http://code.localhost/acme/shop.git";
        shop.env.git(&["remote", "set-url", "origin", url]);
        shop.env.configure("land_via = \"pr\"\n");
        let opened = shop.env.robot(&["pr", &id]);
        assert_eq!(opened["repo"], "code.localhost/acme/shop", "{opened}");
        assert_eq!(shop.record()["forge"], "gitlab");
        let facts = shop.env.robot(&["doctor"])["facts"].take();
        let told = json!({ "name": "pull requests", "value": "code.localhost/acme/shop (gitlab)" });
        assert!(facts.as_array().unwrap().contains(&told), "{facts:#}");
        // A request that was opened there is asked about there, whatever is set later.
        shop.env.configure("pr_forge = \"github\"\n");
        assert_eq!(shop.watch()["items"][0]["state"], "open");
        let other = shop.env.el(&["pr", &id]);
        assert!(other.status != 0 && !other.stderr.contains("glab"), "{other:#?}");
    }
}

#[test]
fn no_text_is_an_argument_of_glab() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        let log = shop.env.path("glab.log");
        let (at, real) = (log.display(), client.program.display());
        let script = format!("#!/bin/sh\necho \"$*\" >>{at}\nexec {real} \"$@\"\n");
        shop.env.program("glab", &script);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["update", &id, "--title", "A secret title"]).ok();
        shop.env.el(&["pr", &id]).ok();
        shop.commit(&id, "b.txt", "two");
        shop.env.el(&["pr", &id, "--ready"]).ok();
        let pull = shop.pulls()[0].clone();
        assert_eq!((&pull["title"], &pull["isDraft"]), (&json!("A secret title"), &json!(false)));
        let said = std::fs::read_to_string(&log).unwrap();
        assert!(said.contains("--method POST") && !said.contains("secret"), "{said}");
    }
}

#[test]
fn a_title_that_begins_with_draft_opens_ready_if_that_is_wanted() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        let titles = ["Draft: Bake", "[draft] Bake", "(DRAFT)Bake", "draft: [Draft] Draft:Bake"];
        for (at, title) in titles.into_iter().enumerate() {
            let id = shop.finished(&format!("{at}.txt"), "one");
            shop.env.el(&["update", &id, "--title", title]).ok();
            shop.env.el(&["pr", &id, "--ready"]).ok();
            let pull = shop.pulls()[at].clone();
            assert_eq!((&pull["title"], &pull["isDraft"]), (&json!("Bake"), &json!(false)));
            if at + 1 == titles.len() {
                for (flag, is_draft) in [("--draft", true), ("--ready", false)] {
                    shop.env.el(&["pr", &id, flag]).ok();
                    let pull = shop.pulls()[at].clone();
                    assert_eq!(pull["title"], "Bake");
                    assert_eq!(pull["isDraft"], is_draft);
                }
            }
        }
    }
}

#[test]
fn a_branch_that_was_deleted_there_is_told_with_the_way_back() {
    for client in forge_clients().into_iter().filter(|client| client.is_gitlab) {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        let branch = format!("el/{id}");
        shop.github.control(json!({ "do": "delete_branch", "branch": branch }));
        assert_eq!(shop.watch()["items"][0]["detail"], "branch_deleted");
        let held = shop.env.el(&["pr", &id]).fails_with(4).stdout;
        let words = format!(
            "{branch} was deleted at origin, and #1 is open; git push origin {branch} brings it \
             back, or close #1 there"
        );
        assert!(held.contains(&words), "{held}");
        shop.env.git(&["push", "--quiet", "origin", &branch]);
        shop.env.el(&["pr", &id]).ok();
        assert_eq!(shop.watch()["items"][0]["detail"], "ready");
    }
}
