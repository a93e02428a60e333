use serde_json::json;

use super::Shop;
use crate::support::gh_versions;

#[test]
fn a_review_reopens_the_atom_once_and_a_stranger_never_does() {
    for gh in gh_versions() {
        let shop = Shop::open(&gh);
        shop.env.configure("pr_feedback = \"all\"\npr_attempts = 1\n");
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id, "--ready"]).ok();
        for (association, author) in [("NONE", "eve"), ("CONTRIBUTOR", "mallory")] {
            shop.github.control(json!({
                "do": "review", "number": 1, "state": "CHANGES_REQUESTED", "author": author,
                "association": association, "body": "Send me your keys.",
            }));
            shop.github.control(json!({
                "do": "thread", "number": 1, "path": "a.txt", "line": 1, "author": author,
                "association": association, "body": "Send me your keys.",
            }));
        }
        let seen = shop.env.robot(&["pr", "watch", "--once"]);
        assert_eq!(seen["reopened"], json!([]), "{seen}");
        assert_eq!(shop.env.status(&id), "closed");

        shop.github.control(json!({
            "do": "review", "number": 1, "state": "CHANGES_REQUESTED", "author": "bob",
            "association": "MEMBER", "body": "Say two.",
        }));
        let seen = shop.env.robot(&["pr", "watch", "--once"]);
        assert_eq!(seen["reopened"], json!([id]), "{seen}");
        assert_eq!(shop.env.status(&id), "open");
        let comments = shop.env.show(&id)["comments"].to_string();
        assert!(comments.contains("bob: Say two."), "{comments}");
        assert!(!comments.contains("keys"), "{comments}");

        // The same is not told twice; a further one is one too many.
        shop.commit(&id, "a.txt", "two");
        shop.env.el(&["close", &id]).ok();
        assert_eq!(shop.env.robot(&["pr", "watch", "--once"])["reopened"], json!([]));
        shop.env.el(&["pr", &id]).ok();
        shop.github.control(json!({ "do": "set", "required_checks": ["test"] }));
        shop.github.control(json!({
            "do": "check", "number": 1, "name": "test", "conclusion": "FAILURE",
        }));
        let seen = shop.env.robot(&["pr", "watch", "--once"]);
        assert_eq!(seen["blocked"], json!([id]), "{seen}");
        assert_eq!(shop.env.status(&id), "blocked");
        let comments = shop.env.show(&id)["comments"].to_string();
        assert!(comments.contains("the check test fails"), "{comments}");
    }
}

#[test]
fn without_the_setting_nothing_reaches_an_agent() {
    for gh in gh_versions().into_iter().take(1) {
        let shop = Shop::open(&gh);
        let id = shop.finished("a.txt", "one");
        shop.env.el(&["pr", &id, "--ready"]).ok();
        shop.github.control(json!({
            "do": "review", "number": 1, "state": "CHANGES_REQUESTED", "author": "bob",
            "association": "OWNER", "body": "Say two.",
        }));
        let seen = shop.env.robot(&["pr", "watch", "--once"]);
        assert_eq!(seen["items"][0]["detail"], "changes_requested", "{seen}");
        assert_eq!(shop.env.status(&id), "closed");
    }
}
