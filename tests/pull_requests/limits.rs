//! A forge that takes no more calls is left alone for as long as it says, by all projects.

use std::time::Duration;

use el_core::model::Timestamp;
use serde_json::{Value, json};

use super::Shop;
use crate::support::{ForgeClient, SOON, forge_clients, github_client, wait_until};

/// The file in which all projects of this person find that the forge is not to be asked.
pub(super) fn wait_file(shop: &Shop) -> std::path::PathBuf {
    let name = format!("{}.json", shop.github.client.host());
    shop.env.home().join(".local/state/el/forges").join(name)
}

pub(super) fn is_wait(client: &ForgeClient, told: &Value) -> bool {
    let message = told["message"].as_str().unwrap_or_default();
    let words = format!("{} takes no more calls for now", client.host());
    told["event"] == "warning" && message.contains(&words)
}

fn noted_wait(shop: &Shop) -> Value {
    let file = wait_until("the wait", SOON, || std::fs::read(wait_file(shop)).ok());
    serde_json::from_slice(&file).unwrap()
}

/// The seconds of the wait that is noted, counted from `began`: a bit more than it was to last.
fn seconds_noted(shop: &Shop, began: Timestamp) -> u64 {
    Timestamp::parse(noted_wait(shop)["until"].as_str().unwrap()).unwrap().since(began).as_secs()
}

/// The next call is refused.
fn refuse_calls(shop: &Shop, when: &str, code: u16, message: &str, headers: Value) {
    shop.github.control(json!({
        "do": "rule", "when": when, "act": "fail", "code": code, "message": message,
        "headers": headers,
    }));
}

#[test]
fn each_kind_of_limit_is_waited_for_as_long_as_the_forge_says() {
    for client in forge_clients() {
        let reset = (jiff::Timestamp::now().as_second() + 900).to_string();
        let kind = client.pick("x-ratelimit", "ratelimit");
        let mut used_up = json!({});
        used_up[format!("{kind}-remaining")] = json!("0");
        used_up[format!("{kind}-reset")] = json!(reset);
        let secondary = "You have exceeded a secondary rate limit.";
        for (code, message, headers, at_least, at_most) in [
            (403, "API rate limit exceeded for user ID 1.", used_up, 600, 900 + SOON.as_secs()),
            (403, secondary, json!({ "retry-after": "600" }), 600, 600 + SOON.as_secs()),
            (429, "Too many requests", json!({ "retry-after": "300" }), 300, 300 + SOON.as_secs()),
            (403, secondary, json!({}), 60, 60 + SOON.as_secs()),
        ] {
            let shop = Shop::open(&client);
            shop.opened("a.txt");
            let began = Timestamp::parse(&jiff::Timestamp::now().to_string()).unwrap();
            let when = if client.is_gitlab { "/api/" } else { "query" };
            refuse_calls(&shop, when, code, message, headers.clone());
            let worker = shop.env.start_work(&[]);
            worker.wait_for_event(|told| is_wait(&client, told));
            let seconds = seconds_noted(&shop, began);
            assert!((at_least..=at_most).contains(&seconds), "{message} {headers}: {seconds}");
            drop(worker);
        }
    }
}

#[test]
fn an_answer_that_is_no_json_is_an_outage() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let id = shop.opened("a.txt");
        for body in ["", "<html><title>Sign in to WiFi</title></html>", "{\"data\":{\"repo"] {
            let when = if client.is_gitlab { "/api/" } else { "query" };
            let garble = |times: u64| {
                shop.github.control(json!({
                    "do": "rule", "when": when, "act": "fail", "code": 200, "body": body,
                    "times": times,
                }))
            };
            for verb in [&["pr", "watch", "--once"][..], &["pr", "merge", &id]] {
                garble(1);
                let lost = shop.env.el(verb).fails_with(7).stderr;
                assert!(lost.contains("answered with something that is not JSON"), "{lost}");
                assert!(lost.contains("try again"), "{lost}");
            }
            let _ = std::fs::remove_file(wait_file(&shop));
            shop.env.database().execute("UPDATE pull_requests SET seen_at = 1", []).unwrap();
            garble(1);
            // Without --once, the watch goes on.
            let watch = shop.env.start_el(&["pr", "watch"]);
            wait_until("the next look", SOON, || {
                watch.stderr().contains("not JSON").then_some(())?;
                watch.stderr().contains("the next look is").then_some(())
            });
            drop(watch);
            let _ = std::fs::remove_file(wait_file(&shop));
        }
        assert_eq!(shop.env.robot(&["pr", "merge", &id])["state"], "merged");
    }
}

#[test]
fn a_limit_says_when_to_try_again() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        shop.opened("a.txt");
        let when = if client.is_gitlab { "/api/" } else { "query" };
        refuse_calls(&shop, when, 403, "A secondary rate limit.", json!({ "retry-after": "600" }));
        let ran = shop.env.el(&["pr", "watch", "--once"]).fails_with(10);
        assert!(ran.stderr.contains("do it again in 10 minutes"), "{ran:#?}");
    }
}

#[test]
fn a_limit_of_graphql_alone_is_one_too() {
    let Some(gh) = github_client() else { return };
    let shop = Shop::open(&gh);
    shop.opened("a.txt");
    let error = json!({
        "type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1.",
    });
    shop.github.control(json!({
        "do": "rule", "when": "query", "act": "fail", "code": 200,
        "body": { "errors": [error] },
    }));
    let ran = shop.env.el(&["pr", "watch", "--once"]).fails_with(10);
    assert!(ran.stderr.contains("takes no more calls for now"), "{ran:#?}");
}

#[test]
fn a_limit_that_a_push_meets_holds_the_watches_of_all_projects() {
    for client in forge_clients() {
        let shop = Shop::open(&client);
        let [first, second] = ["a.txt", "b.txt"].map(|file| shop.finished(file, "one"));
        shop.env.el(&["pr", &first, "--ready"]).ok();
        let create = client.pick("mutation PullRequestCreate", "POST /api/v4/projects");
        refuse_calls(&shop, create, 403, "You have exceeded a secondary rate limit.", json!({}));
        let ran = shop.env.el(&["pr", &second]).fails_with(4);
        assert!(ran.stdout.contains("takes no more calls for now"), "{ran:#?}");
        noted_wait(&shop);
        let before = shop.github.calls().len();
        let worker = shop.env.start_work(&[]);
        worker.wait_for_event(|told| is_wait(&client, told));
        assert_eq!(shop.github.calls().len(), before);
        drop(worker);
        // Another call goes on, and opens one.
        shop.env.el(&["pr", &second]).ok();
        assert_eq!(shop.pulls().len(), 2);
    }
}

#[test]
fn an_answer_waits_for_the_end_of_a_limit_and_is_told() {
    for client in forge_clients() {
        let (shop, id) = Shop::with_review(&client, "");
        shop.answer(&id, "a.txt", "two");
        let later = jiff::Timestamp::now() + Duration::from_secs(600);
        let wait = json!({ "until": later.to_string(), "why": "it is full", "failures": 1 });
        std::fs::create_dir_all(wait_file(&shop).parent().unwrap()).unwrap();
        std::fs::write(wait_file(&shop), wait.to_string()).unwrap();
        shop.env.script_atom(&["close done"]);
        let told = shop.env.work(&["--drain"]);
        let told: Vec<&Value> = told.iter().filter(|told| told["event"] == "answered").collect();
        assert_eq!((told.len(), &told[0]["detail"]), (1, &json!("it is full")), "{told:?}");
        let held = shop.record()["held"].take();
        assert_eq!(held["why"], "it is full", "{held}");
        // A person's word asks, and ends the wait.
        shop.request_changes("MEMBER", "Not two.", json!({}));
        let seen = shop.watch();
        assert_eq!(
            (&seen["answers"][0]["fate"], &seen["reopened"]),
            (&json!("updated"), &json!([id]))
        );
        assert!(!wait_file(&shop).exists());
    }
}
