//! Faults of the API, the real client's reaction, and el's reading of it.

use serde_json::{Value, json};

use super::{assert_run, project};
use crate::support::{RealClaude, SOON, TestEnv};

#[test]
fn a_refusal_that_passes_is_no_failure() {
    let steps = json!({"steps": [
        {"status": 429, "type": "rate_limit_error", "message": "slow down",
            "headers": {"retry-after": "1"}},
        {"bash": "el close ${ID} --reason done"},
        {"text": "Closed."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    let id = env.create("Busy API", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert!(env.read_run_file(&run, "transcript.jsonl").contains("api_retry"));
    assert_eq!(env.robot(&["why", &id])["pause"], Value::Null);
}

#[test]
fn a_key_that_is_refused_stops_the_queue_within_seconds_and_blocks_nothing() {
    let steps = json!({"steps": [{"status": 401, "type": "authentication_error",
                                  "message": "invalid x-api-key", "repeat": 0}]});
    let Some((env, api)) = project(&steps) else { return };
    env.configure("max_attempts = 1\n");
    let ids: Vec<String> = (0..6).map(|_| env.create("Bad key", &[])).collect();
    let ran = env.el(&["work", "--drain", "--concurrency", "3"]).fails_with(6);
    assert!(ran.stderr.contains("401") && ran.stderr.contains("el work --resume"), "{ran:#?}");
    let runs = env.robot(&["runs"])["items"].take();
    let runs = runs.as_array().unwrap();
    assert!((1..=3).contains(&runs.len()), "{runs:#?}");
    for run in runs {
        assert_run(&env, run, "account_error");
    }
    assert!(api.messages().len() <= 9, "the client is ended at its second retry");
    for id in &ids {
        assert_eq!(env.status(id), "open");
    }
}

#[test]
fn what_is_refused_for_the_account_is_told_with_its_remedy() {
    for (step, words) in [
        (json!({"status": 403, "type": "permission_error", "message": "no"}), "has access"),
        (json!({"status": 402, "type": "billing_error", "message": "pay"}), "add credit"),
        (
            json!({"status": 400, "type": "invalid_request_error",
                   "message": "Your credit balance is too low to access the Anthropic API."}),
            "add credit",
        ),
        (
            json!({"status": 400, "type": "invalid_request_error",
                   "message": "This organization has been disabled."}),
            "has access",
        ),
        (
            json!({"status": 404, "type": "not_found_error", "message": "model: x"}),
            "el config set model",
        ),
    ] {
        let Some((env, _api)) = project(&json!({"steps": [], "after": step})) else { return };
        env.configure("max_attempts = 1\n");
        let id = env.create("Refused", &[]);
        let ran = env.el(&["work", "--once"]).fails_with(6);
        assert!(ran.stderr.contains(words), "{words}: {ran:#?}");
        assert_run(&env, &env.last_run(&id), "account_error");
        assert_eq!(env.status(&id), "open");
    }
}

#[test]
fn a_client_that_nobody_has_logged_in_blocks_nothing() {
    let mut env = TestEnv::with_tracker();
    let Some(_api) = RealClaude::start(&mut env, &json!({"steps": [{"text": "hello"}]})) else {
        return;
    };
    env.set("ANTHROPIC_API_KEY", "");
    env.configure("max_attempts = 1\n");
    let id = env.create("Nobody", &[]);
    let ran = env.el(&["work", "--drain"]).fails_with(6);
    assert!(ran.stderr.contains("Not logged in") && ran.stderr.contains("/login"), "{ran:#?}");
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("open", vec!["account_error".to_owned()])
    );
}

#[test]
fn an_api_that_fails_is_waited_for_and_charges_nothing() {
    let steps = json!({"steps": [{"status": 500, "message": "the model has melted", "repeat": 0}]});
    let Some((env, api)) = project(&steps) else { return };
    env.configure("api_max_retries = 1\nmax_attempts = 1\nretry_backoff = \"1h\"\n");
    let id = env.create("Broken API", &[]);
    let other = env.create("Another", &[]);
    for _ in 0..2 {
        env.el(&["work", "--once"]).fails_with(10);
    }
    let run = env.last_run(&id);
    assert_run(&env, &run, "outage");
    assert!(run["detail"].as_str().unwrap().contains("API Error: 500"), "{run}");
    assert_eq!([env.status(&id), env.status(&other)], ["open", "open"]);
    assert!(env.outcomes(&other).is_empty());
    assert_eq!(api.messages().len(), 2, "it asks once and once again");
    assert_eq!(env.robot(&["why", &id])["pause"]["kind"], "outage");
}

#[test]
fn an_api_that_nobody_serves_is_waited_for_and_charges_nothing() {
    let Some((mut env, api)) = project(&json!({"steps": []})) else { return };
    // The port of no service.
    env.set("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    env.configure("api_max_retries = 1\nmax_attempts = 1\nretry_backoff = \"1h\"\n");
    let id = env.create("Unreachable API", &[]);
    env.el(&["work", "--once"]).fails_with(10);
    assert_run(&env, &env.last_run(&id), "outage");
    assert_eq!((env.status(&id).as_str(), api.messages().len()), ("open", 0));
    assert_eq!(env.robot(&["why", &id])["pause"]["kind"], "outage");
}

#[test]
fn a_request_that_is_refused_is_not_made_again() {
    for (step, words) in [
        (json!({"text": "I cannot", "stop_reason": "refusal"}), "API Error"),
        (json!({"text": "and on", "stop_reason": "max_tokens"}), "output token maximum"),
        (json!({"status": 413, "type": "request_too_large", "message": "big"}), "too large"),
        (
            json!({"status": 400, "type": "invalid_request_error",
                   "message": "prompt is too long: 250000 tokens > 200000 maximum"}),
            "Prompt is too long",
        ),
    ] {
        let Some((env, _api)) = project(&json!({"steps": [], "after": step})) else { return };
        let id = env.create("Hopeless", &[]);
        env.el(&["work", "--drain"]).fails_with(9);
        assert_eq!((env.status(&id).as_str(), env.outcomes(&id).len()), ("blocked", 1));
        assert!(env.comments(&id)[0].contains(words), "{words}: {:?}", env.comments(&id));
    }
}

#[test]
fn a_connection_that_breaks_off_is_taken_up_again() {
    let steps = json!({"steps": [{"drop": "mid"}, {"bash": "el close ${ID} --reason done"},
        {"text": "Closed."}]});
    let Some((env, _api)) = project(&steps) else { return };
    let id = env.create("Shaky network", &[]);
    env.work(&["--once"]);
    assert_run(&env, &env.last_run(&id), "closed");
}

#[test]
fn an_api_that_never_answers_costs_the_run_its_time_and_the_atom_nothing() {
    let Some((env, _api)) = project(&json!({"steps": [{"hang": "silent", "repeat": 0}]})) else {
        return;
    };
    env.configure("execution_timeout = \"30s\"\nmax_attempts = 1\n");
    let id = env.create("Silent API", &[]);
    env.el(&["work", "--once"]).fails_with(10);
    let run = env.last_run(&id);
    assert_run(&env, &run, "outage");
    assert_eq!(env.status(&id), "open");
}

/// Once an answer has begun, the client that is ended says a result, which is no answer.
#[test]
fn an_answer_that_stops_or_breaks_off_again_and_again_is_no_stall_of_the_agent() {
    for step in [json!({"hang": "headers", "repeat": 0}), json!({"drop": "mid", "repeat": 0})] {
        let Some((env, _api)) = project(&json!({"steps": [step]})) else { return };
        env.configure("stall_timeout = \"4s\"\nmax_attempts = 1\n");
        let id = env.create("Half an answer", &[]);
        env.el(&["work", "--once"]).fails_with(10);
        let run = env.last_run(&id);
        assert_run(&env, &run, "outage");
        assert_eq!(env.status(&id), "open");
    }
}

/// As a subscriber's client is told; a key gets no such event.
#[test]
fn a_usage_limit_pauses_the_work_until_it_resets() {
    let resets_at =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
            + 3600;
    let headers = json!({"retry-after": "3600", "anthropic-ratelimit-unified-status": "rejected",
                         "anthropic-ratelimit-unified-reset": resets_at.to_string(),
                         "anthropic-ratelimit-unified-representative-claim": "five_hour"});
    let steps = json!({"steps": [{"status": 429, "type": "rate_limit_error", "headers": headers,
        "repeat": 0}]});
    let mut env = TestEnv::with_tracker();
    let Some(_api) = RealClaude::start(&mut env, &steps) else { return };
    env.set("ANTHROPIC_API_KEY", "")
        .set("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-dummy-dummy-dummy");
    let id = env.create("Over the limit", &[]);
    let worker = env.start_work(&["--drain"]);
    let paused = worker.wait_for("paused");
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("open", vec!["usage_limit".to_owned()])
    );
    let until = env.robot(&["why", &id])["pause"]["until"].take();
    let until = el_core::model::Timestamp::parse(until.as_str().unwrap()).unwrap();
    assert!(until.as_secs() >= i64::try_from(resets_at).unwrap(), "{paused}");
    env.assert_settled(&env.last_run(&id));
    worker.signal(rustix::process::Signal::INT);
    worker.wait(SOON).ok();
}
