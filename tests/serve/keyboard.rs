//! Every action of the web board, by keyboard alone.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::browser::{find_browser, serve, start_person};
use crate::support::TestEnv;

#[test]
fn every_action_is_done_by_keyboard_alone() {
    let Some(browser) = find_browser() else { return };
    let env = TestEnv::with_tracker();
    let script = |steps: &[&str]| TestEnv::script(steps);
    let at_work = |title: &str, steps: &[&str]| {
        env.create(title, &["-d", &script(steps), "--assignee", "claude"])
    };
    let running = at_work("Runs", &["say I go on", "hang"]);
    let asks = ["el comment add $EL_ATOM 'Which one?'", "update deferred"];
    let question = at_work("Asks", &asks);
    let open = env.create("Is open", &["-p", "low"]);
    let [reject, approve, retry, drop] =
        [("reject", "review"), ("approve", "review"), ("retry", "blocked"), ("drop", "blocked")]
            .map(|(title, status)| {
                let id = env.create(title, &[]);
                env.el(&["update", &id, "--status", status]).ok();
                id
            });
    let _worker = env.start_work(&["--assignee", "claude", "--concurrency", "2"]);
    env.wait_for_status(&question, "deferred");
    env.wait_for_status(&running, "in_progress");
    let atoms = json!({
        "open": open, "reject": reject, "approve": approve, "retry": retry, "drop": drop,
        "running": running, "question": question,
    });
    fs::write(env.project("atoms.json"), atoms.to_string()).unwrap();
    let (_server, link) = serve(&env, "0");
    let person = start_person(&env, "actions.mjs", &browser, &link);
    let seen = person.wait(Duration::from_secs(180)).ok().json();
    for part in ["wrong", "outside", "barriers"] {
        assert_eq!(seen[part], json!([]), "{seen:#}");
    }
    assert_eq!((&seen["failed"], &seen["done"]), (&Value::Null, &json!(true)), "{seen:#}");
    assert_eq!(env.status(&drop), "wont_do");
    assert_eq!(env.show(&open)["priority"], 1);
    assert_eq!(env.comments(&open), ["By key", "Port 80"]);
    assert!(env.comments(&reject).concat().contains("Not yet"), "{:?}", env.comments(&reject));
    let said = |id: &Value, text: &str| {
        let all = env.comments(id.as_str().unwrap());
        assert!(all.iter().any(|comment| comment == text), "{text} is not in {all:?}");
    };
    said(&seen["first"], "Both");
    said(&seen["card"], "From the board");
}
