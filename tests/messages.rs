//! Messages in channels, and reports of a run's end: in the channel of the requester, and to a
//! program.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{SOON, TestEnv, wait_until};

/// A program that writes down its notification under this name.
fn recorder(env: &TestEnv, name: &str) {
    env.program(
        name,
        "#!/bin/sh\ncat > event.$1.tmp && env > env.$1 && mv event.$1.tmp event.$1\n",
    );
}

fn event(env: &TestEnv, name: &str) -> Value {
    serde_json::from_str(&env.wait_for_file(format!("event.{name}"))).unwrap()
}

#[test]
fn a_mention_is_found_read_and_marked() {
    let mut env = TestEnv::with_tracker();
    env.set("EL_ACTOR", "ann");
    assert_eq!(env.el(&["chat", "list"]).ok().stdout.trim(), "nothing was said yet");
    let said = env.robot(&["chat", "post", "#General", "@gendry: \u{1b}[31mthe forge\nis lit"]);
    assert_eq!((said["channel"].as_str(), said["author"].as_str()), (Some("general"), Some("ann")));
    assert_eq!(said["mentions"], serde_json::json!(["gendry"]));
    env.el(&["chat", "post", "general", "nobody"]).ok();
    let unread = env.robot(&["inbox", "--agent", "Gendry", "--unread"]);
    assert_eq!((unread["reader"].as_str(), unread["count"].as_i64()), (Some("gendry"), Some(1)));
    assert!(unread["items"][0]["read_at"].is_null());
    let shown = env.el(&["inbox", "--agent", "gendry", "--unread", "--mark-read"]).ok().stdout;
    assert!(
        shown.contains("ann in #general") && shown.contains("  @gendry: the forge\n  is lit"),
        "{shown:?}"
    );
    assert_eq!(env.robot(&["inbox", "--agent", "gendry", "--unread"])["count"], 0);
    assert_eq!(env.robot(&["inbox", "--agent", "gendry"])["count"], 1);
    let channels = env.robot(&["chat", "list"]);
    assert_eq!(
        (channels["items"][0]["name"].as_str(), channels["items"][0]["messages"].as_i64()),
        (Some("general"), Some(2))
    );
    let viewed = env.robot(&["chat", "show", "general", "-n", "1"]);
    assert_eq!(
        (
            viewed["items"][0]["content"].as_str(),
            viewed["total"].as_i64(),
            viewed["truncated"].as_bool()
        ),
        (Some("nobody"), Some(2), Some(true))
    );
    let missing = env.el(&["--robot", "chat", "show", "nowhere"]).fails_with(3).json();
    assert_eq!(missing["error"]["code"], "not_found");
}

#[test]
fn a_watched_inbox_shows_what_comes() {
    let env = TestEnv::with_tracker();
    env.el(&["chat", "post", "general", "@gendry one"]).ok();
    let watching = env.start_el(&[
        "--robot",
        "inbox",
        "--agent",
        "gendry",
        "--unread",
        "--watch",
        "--mark-read",
    ]);
    let told = |n: usize| {
        wait_until("the message", SOON, || Some(watching.told()).filter(|told| told.len() == n))
    };
    told(1);
    env.el(&["chat", "post", "elsewhere", "@gendry two"]).ok();
    let texts: Vec<String> =
        told(2).iter().map(|m| m["content"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, ["@gendry one", "@gendry two"]);
    wait_until("both marked", SOON, || {
        (env.robot(&["inbox", "--agent", "gendry", "--unread"])["count"] == 0).then_some(())
    });
}

#[test]
fn the_end_of_a_run_reaches_the_channel_the_inbox_and_the_program() {
    let env = TestEnv::with_tracker();
    recorder(&env, "tell");
    env.configure("notify = [\"tell\", \"one\"]");
    let id = env.create(
        "Forge a sword",
        &["--actor", "Gendry", "-d", &TestEnv::script(&["close It is sharp"])],
    );
    env.work(&["--once"]);
    let run = env.last_run(&id);
    let text = format!("@gendry Task {id} completed (exit 0).\n\nOutput:\nIt is sharp");
    let viewed = env.robot(&["chat", "show", "claude-code-gendry"]);
    assert_eq!(viewed["items"][0]["content"], text);
    assert_eq!(viewed["items"][0]["run_id"], run["id"]);
    assert_eq!(env.robot(&["inbox", "--agent", "gendry", "--unread"])["count"], 1);

    let event = event(&env, "one");
    assert_eq!(
        (event["event"].as_str(), event["outcome"].as_str()),
        (Some("run_ended"), Some("closed"))
    );
    assert_eq!(event["message"]["content"], text);
    assert_eq!((&event["run"]["id"], &event["atom"]["id"]), (&run["id"], &Value::from(id)));
    assert!(!event.to_string().contains(&env.token(&run)), "the token is told to nobody");
    let environment = env.wait_for_file("env.one");
    for variable in ["EL_SESSION=", "EL_ATOM=", "EL_ACTOR="] {
        assert!(!environment.lines().any(|line| line.starts_with(variable)), "{variable}");
    }
    assert!(environment.lines().any(|line| line.starts_with("EL_DB=")));
    env.assert_settled(&run);
    wait_until("its note", SOON, || {
        env.run_file_says(&run, "notify.log", "it ended with code 0").then_some(())
    });
}

#[test]
fn a_slow_a_broken_and_a_missing_program_hold_up_nobody() {
    let env = TestEnv::with_tracker();
    // The program ignores signals, and leaves a process that holds the output.
    env.program(
        "slow",
        "#!/bin/sh\ntrap '' TERM INT HUP\n: > slow.started\nsleep 300 & sleep 300\n",
    );
    let went_on = |notify: &str| {
        env.configure(&format!("notify = {notify}\nnotify_timeout = \"2s\""));
        let id = env.script_atom(&["close done"]);
        let began = Instant::now();
        env.work(&["--once"]);
        assert!(began.elapsed() < Duration::from_secs(60));
        assert_eq!(env.status(&id), "closed");
        env.last_run(&id)
    };
    let run = went_on("[\"slow\"]");
    env.wait_for_file("slow.started");
    let noted = |run: &Value, what: &str| {
        wait_until(what, SOON, || env.run_file_says(run, "notify.log", what).then_some(()));
    };
    noted(&run, "its time was up, so it was killed");
    wait_until("its end", SOON, || {
        env.processes().iter().all(|p| !p.words.iter().any(|w| w == "300")).then_some(())
    });
    noted(&went_on("[\"sh\", \"-c\", \"exit 7\"]"), "it ended with code 7");
    noted(&went_on("[\"./not-there; touch hacked\"]"), "it could not be run");
    assert!(!env.project("hacked").exists(), "no shell is between");
}

#[test]
fn a_program_that_prints_without_end_fills_no_disk() {
    let env = TestEnv::with_tracker();
    env.configure("notify = [\"sh\", \"-c\", \"echo begin; yes flood\"]\nnotify_timeout = \"2s\"");
    let id = env.script_atom(&["close done"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    wait_until("its end", SOON, || {
        env.run_file_says(&run, "notify.log", "its time was up").then_some(())
    });
    let log = env.read_run_file(&run, "notify.log");
    assert!(log.starts_with("begin\nflood\n") && log.len() < 70_000, "{} bytes", log.len());
    assert!(log.contains("more bytes of its output"), "{}", &log[log.len() - 300..]);
    wait_until("it to be gone", SOON, || {
        env.processes().iter().all(|p| !p.words.contains(&"flood".to_owned())).then_some(())
    });
}

#[test]
fn an_attempt_that_is_tried_again_is_not_told_and_the_last_one_is() {
    let env = TestEnv::with_tracker();
    recorder(&env, "tell");
    env.configure("notify = [\"tell\", \"end\"]\nmax_attempts = 2");
    let id = env.create("Fails", &["--actor", "gendry", "-d", &TestEnv::script(&["exit 3"])]);
    env.work(&["--drain"]);
    assert_eq!(env.outcomes(&id), ["failed", "failed"]);
    let viewed = env.robot(&["chat", "show", "claude-code-gendry"]);
    assert_eq!(viewed["count"], 1);
    let text = viewed["items"][0]["content"].as_str().unwrap();
    assert!(
        text.starts_with(&format!(
            "@gendry Task {id} completed (exit 3).\n\nOutput:\nThe run ended as failed: "
        )),
        "{text}"
    );
    assert_eq!(event(&env, "end")["atom"]["status"], "blocked");
}
