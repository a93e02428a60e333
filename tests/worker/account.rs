//! Errors of the account, the service and the machine: they hold the queue with a message, and
//! charge no atom.

use serde_json::{Value, json};

use crate::support::{SOON, TestEnv, wait_until};

fn outcomes_of_all(env: &TestEnv) -> Vec<String> {
    let runs = env.robot(&["runs"])["items"].take();
    let words = runs.as_array().unwrap().iter().map(|run| run["outcome"].as_str().unwrap_or("?"));
    words.map(str::to_owned).collect()
}

fn last_line(stdout: &str) -> Value {
    serde_json::from_str(stdout.lines().last().unwrap()).unwrap()
}

#[test]
fn a_refused_account_stops_its_claims_until_a_person_resumes() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let script =
        ["wait-file go", "api-retry 401", "api-retry 401", "hang", "on-attempt 2", "close"];
    let ids: Vec<String> = (0..3).map(|_| env.script_atom(&script)).collect();
    let more: Vec<String> = (0..3).map(|_| env.script_atom(&["close done"])).collect();
    let ran = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let drain = ["--robot", "work", "--drain", "--concurrency", "3"];
            env.run(env.command("el").args(drain)).fails_with(6)
        });
        // All three are at work before the account is refused.
        wait_until("three runs", SOON, || (outcomes_of_all(&env).len() == 3).then_some(()));
        std::fs::write(env.project("go"), "").unwrap();
        worker.join().expect("the worker ends")
    });
    let error = last_line(&ran.stdout)["error"].take();
    assert_eq!((&error["code"], &error["retryable"]), (&json!("account"), &json!(false)));
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("401") && message.contains("el work --resume"), "{message}");
    for id in ids.iter().chain(&more) {
        assert_ne!(env.status(id), "blocked");
    }
    let tried = env.outcomes(&ids[0]);
    assert_eq!(tried, ["account_error"]);
    let why = env.el(&["why", &ids[0]]).ok().stdout;
    assert!(why.contains("401") && why.contains("el work --resume"), "{why}");
    let pause = env.robot(&["why", &ids[0]])["pause"].take();
    assert_eq!((&pause["kind"], &pause["until"]), (&json!("account"), &Value::Null));
    // No attempt is made meanwhile, even if asked again.
    let made = outcomes_of_all(&env).len();
    for words in [&["work", "--once"][..], &["work", "--drain"], &["work", "--max", "2"]] {
        env.el(words).fails_with(6);
    }
    assert_eq!(outcomes_of_all(&env).len(), made);
    let ran = env.run(env.command("el").args(["work", "--resume", "--drain"])).ok();
    assert!(ran.stderr.is_empty() || !ran.stderr.contains("error"), "{ran:#?}");
    for id in ids.iter().chain(&more) {
        assert_eq!(env.status(id), "closed");
    }
}

#[test]
fn a_model_or_key_that_only_one_atom_has_holds_up_no_other() {
    let env = TestEnv::with_tracker();
    let own = |says: &str, option: [&str; 2]| {
        let script = TestEnv::script(&[&format!("api-error {says}")]);
        env.create("Own", &["--priority", "0", option[0], option[1], "-d", &script])
    };
    let refused = [
        own("404 There's an issue with the selected model (x).", ["--model", "x"]),
        own("401 Invalid API key", ["--env", "ANTHROPIC_API_KEY=bad"]),
    ];
    let other = env.script_atom(&["close done"]);
    env.el(&["work", "--drain"]).fails_with(9);
    for id in &refused {
        assert_eq!((env.status(id).as_str(), env.outcomes(id).len()), ("blocked", 1));
        assert!(env.comments(id)[0].contains("el update"), "{:?}", env.comments(id));
    }
    assert_eq!(env.status(&other), "closed");
}

#[test]
fn a_refused_key_is_the_accounts_where_an_atom_has_a_model_of_its_own() {
    let env = TestEnv::with_tracker();
    let script = TestEnv::script(&["api-error 401 Invalid API key"]);
    let own = ["--model", "x", "--env", "ANTHROPIC_SMALL_FAST_MODEL=y"];
    let id = env.create("Own", &[&own[..], &["-d", &script]].concat());
    env.el(&["work", "--drain"]).fails_with(6);
    assert_eq!(env.status(&id), "open");
}

#[test]
fn agents_without_the_refused_account_go_on() {
    let env = TestEnv::with_tracker();
    env.program("worker", "#!/bin/sh\nel close \"$EL_ATOM\" --reason done\n");
    env.configure("[agents.plain]\nexecutor = \"command\"\ncommand = [\"worker\"]\n");
    let refused = env.create(
        "Refused",
        &["--assignee", "claude", "-d", &TestEnv::script(&["api-error 403 no access"])],
    );
    let plain: Vec<String> =
        (0..2).map(|_| env.create("Plain", &["--assignee", "plain"])).collect();
    env.el(&["work", "--drain", "--agent", "claude,plain"]).fails_with(6);
    assert_eq!(env.outcomes(&refused), ["account_error"]);
    assert_eq!(env.status(&refused), "open");
    for id in plain {
        assert_eq!(env.status(&id), "closed");
    }
}

#[test]
fn an_outage_is_waited_for_by_all_and_charges_nothing() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\nretry_backoff = \"1h\"\n");
    let ids: Vec<String> = (0..4).map(|_| env.script_atom(&["api-error 529 overloaded"])).collect();
    for _ in 0..4 {
        let ran = env.run(env.command("el").args(["--robot", "work", "--once"])).fails_with(10);
        let error = last_line(&ran.stdout)["error"].take();
        assert_eq!((&error["code"], &error["retryable"]), (&json!("paused"), &json!(true)));
        assert_eq!(error["details"]["pause"]["kind"], "outage");
    }
    assert_eq!(outcomes_of_all(&env), ["outage"], "one found it out, and the others wait");
    for id in &ids {
        assert_eq!(env.status(id), "open");
    }
    let worker = env.start_work(&["--once", "--wait"]);
    worker.wait_for("paused");
    env.robot(&["work", "--resume"]);
    assert_eq!(worker.wait_for("settled")["outcome"], "outage");
    worker.wait(SOON).fails_with(10);
}

#[test]
fn after_an_outage_another_atom_finds_out_whether_the_service_is_back() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let down = ["api-error 500 broken", "on-attempt 2", "close done"];
    let ids = [env.script_atom(&down), env.script_atom(&down)];
    let told = env.work(&["--drain"]);
    for id in &ids {
        assert_eq!(
            (env.status(id), env.outcomes(id)),
            ("closed".to_owned(), vec!["outage".to_owned(), "closed".to_owned()])
        );
    }
    let launched: Vec<&str> = told
        .iter()
        .filter(|event| event["event"] == "launched")
        .map(|event| event["atom"].as_str().unwrap())
        .collect();
    assert_eq!(launched[..2], [ids[0].as_str(), ids[1].as_str()], "not always the same");
}

#[test]
fn a_service_that_does_not_answer_is_no_stall_of_the_agent() {
    let env = TestEnv::with_tracker();
    env.configure("stall_timeout = \"1s\"\nmax_attempts = 1\n");
    let id = env.script_atom(&["hang"]);
    env.el(&["work", "--once"]).fails_with(10);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], env.status(&id).as_str()), (&json!("outage"), "open"));
    assert!(run["detail"].as_str().unwrap().contains("did not answer"), "{run}");
}

#[test]
fn a_request_that_will_be_refused_again_blocks_its_atom_at_once() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["api-error 413 Request too large (max 32MB)"]);
    env.el(&["work", "--drain"]).fails_with(9);
    assert_eq!((env.status(&id).as_str(), env.outcomes(&id).len()), ("blocked", 1));
    assert!(env.comments(&id)[0].contains("Request too large"), "{:?}", env.comments(&id));
}

#[test]
fn an_answer_that_is_too_long_again_and_again_blocks_its_atom_at_once() {
    let env = TestEnv::with_tracker();
    let result = json!({
        "type": "result", "subtype": "success", "is_error": true, "num_turns": 4,
        "stop_reason": "max_tokens", "terminal_reason": "completed",
        "result": "API Error: Claude's response exceeded the 64000 output token maximum. To \
            configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.",
    });
    let id = env.script_atom(&["say and on and on", &format!("raw {result}"), "exit 1"]);
    env.el(&["work", "--drain"]).fails_with(9);
    assert_eq!((env.status(&id).as_str(), env.outcomes(&id).len()), ("blocked", 1));
    let comment = &env.comments(&id)[0];
    for words in ["output token maximum", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "el retry"] {
        assert!(comment.contains(words), "{words}: {comment}");
    }
}

#[test]
fn the_end_of_the_tmux_server_charges_nothing_and_holds_nothing_up() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let script = |n: usize| {
        let touch = format!("touch started-{n}");
        env.script_atom(&["say on it", &touch, "hang", "on-attempt 2", "close done"])
    };
    let ids: Vec<String> = (0..4).map(script).collect();
    let worker = env.start_work(&["--drain", "--concurrency", "4"]);
    (0..4).for_each(|n| drop(env.wait_for_file(format!("started-{n}"))));
    env.tmux(&["kill-server"]).unwrap();
    let ran = worker.wait(SOON).ok();
    assert!(!ran.stdout.contains("in a row"), "{ran:#?}");
    for id in &ids {
        assert_eq!(env.outcomes(id), ["interrupted", "closed"]);
    }
}

#[test]
fn the_exit_code_of_a_worker_that_ends_tells_how_the_work_ended() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    env.el(&["work", "--drain"]).ok();
    let bad = env.script_atom(&["say no", "exit 3"]);
    env.script_atom(&["close done"]);
    let ran = env.run(env.command("el").args(["--robot", "work", "--drain"])).fails_with(9);
    let error = last_line(&ran.stdout)["error"].take();
    assert_eq!(error["code"], "unfinished");
    assert_eq!(error["details"]["atoms"], json!([bad]));
    assert!(error["message"].as_str().unwrap().starts_with("1 of 2 atoms"), "{error}");
    // A run that fails and then succeeds is done.
    env.configure("max_attempts = 2\n");
    env.script_atom(&["exit 3", "on-attempt 2", "close second"]);
    env.el(&["work", "--drain"]).ok();
    let blocked = env.script_atom(&["update blocked"]);
    env.el(&["work", "--once"]).fails_with(9);
    assert_eq!(env.outcomes(&blocked), ["blocked"]);
    env.el(&["work", "--once", "--wait"]).ok();
    env.el(&["work", "--drain", "--wait"]).fails_with(2);
}

#[test]
fn paused_is_not_nothing_was_ready() {
    let env = TestEnv::with_tracker();
    env.script_atom(&["rate-limit 4000000000"]);
    env.el(&["work", "--once"]).fails_with(10);
    let ran = env.el(&["work", "--once"]).fails_with(10);
    assert!(!ran.stdout.contains("Nothing was ready"), "{ran:#?}");
    assert!(ran.stdout.contains("Nothing is claimed until"), "{ran:#?}");
}
