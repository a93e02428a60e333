//! What the API does to the real client, and what `el` makes of it.

use serde_json::{Value, json};

use super::{assert_run, project};
use crate::support::{RealClaude, SOON, TestEnv};

#[test]
fn a_refusal_that_passes_is_no_failure() {
    let steps = json!({"steps": [
        {"status": 429, "type": "rate_limit_error", "message": "slow down", "headers": {"retry-after": "1"}},
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
fn an_api_that_always_fails_fails_the_attempts() {
    let steps = json!({"steps": [{"status": 500, "message": "the model has melted", "repeat": 0}]});
    let Some((env, api)) = project(&steps) else { return };
    env.configure("api_max_retries = 1\nmax_attempts = 2\n");
    let id = env.create("Broken API", &[]);
    env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("blocked", vec!["failed".to_owned(), "failed".to_owned()])
    );
    for run in env.runs(&id) {
        assert_run(&env, &run, "failed");
        assert_eq!(
            (&run["exit_code"], &run["stop_blocks"], &run["resumes"]),
            (&json!(1), &json!(0), &json!(0))
        );
        assert!(run["detail"].as_str().unwrap().contains("API Error: 500"), "{run}");
    }
    assert!(env.comments(&id)[0].contains("2 attempts"), "{:?}", env.comments(&id));
    assert_eq!(api.messages().len(), 4, "each attempt asks once and once again");
    let one = ["status in_progress", "run_started", "run_ended failed"];
    assert_eq!(
        env.events(&id),
        [&["created"][..], &one, &["status open"], &one, &["status blocked", "commented"]].concat()
    );
}

#[test]
fn a_connection_that_breaks_off_is_taken_up_again() {
    let steps = json!({"steps": [{"drop": "mid"}, {"bash": "el close ${ID} --reason done"}, {"text": "Closed."}]});
    let Some((env, _api)) = project(&steps) else { return };
    let id = env.create("Shaky network", &[]);
    env.work(&["--once"]);
    assert_run(&env, &env.last_run(&id), "closed");
}

#[test]
fn an_api_that_never_answers_costs_the_run_its_time() {
    let Some((env, _api)) = project(&json!({"steps": [{"hang": "silent", "repeat": 0}]})) else {
        return;
    };
    env.configure("execution_timeout = \"6s\"\nmax_attempts = 1\n");
    let id = env.create("Silent API", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "timed_out");
    assert_eq!(env.status(&id), "blocked");
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
    let steps = json!({"steps": [{"status": 429, "type": "rate_limit_error", "headers": headers, "repeat": 0}]});
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
    let until: i64 = env
        .database()
        .query_row("SELECT value FROM meta WHERE key = 'paused_until'", [], |row| {
            row.get::<_, String>(0)
        })
        .unwrap()
        .parse()
        .unwrap();
    assert!(until / 1_000_000 >= i64::try_from(resets_at).unwrap(), "{paused}");
    env.assert_settled(&env.last_run(&id));
    worker.signal(rustix::process::Signal::INT);
    worker.wait(SOON).ok();
}
