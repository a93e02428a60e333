//! The rights of an agent's session with `el`, whose permission rules allow any call of `el`.

use std::process::Command;

use serde_json::Value;

use crate::support::{Running, SOON, TestEnv};

/// A live run of the scripted agent, which ends as soon as `go` exists.
fn at_work(env: &TestEnv) -> (Running, String, Value) {
    let id = env.script_atom(&["touch begun", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    (worker, id, run)
}

fn ended(env: &TestEnv, worker: Running) {
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
}

#[test]
fn what_starts_configures_or_writes_elsewhere_is_refused_and_changes_nothing() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    let outside = env.path("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, env.project("link")).unwrap();
    std::os::unix::fs::symlink(outside.join("new"), env.project("leads-out")).unwrap();
    std::fs::create_dir(env.project(".git")).unwrap();
    let config = std::fs::read(env.project(".eluent/config.toml")).unwrap();
    let out = outside.join("x").display().to_string();
    let elsewhere = outside.display().to_string();
    let refused: &[&[&str]] = &[
        &["config", "set", "notify", "[\"sh\", \"-c\", \"touch pwned\"]"],
        &["config", "set", "notify", "x", "--user"],
        &["config", "unset", "max_attempts"],
        &["setup", "claude"],
        &["setup", "agents", "--print"],
        &["init"],
        &["work", "--once"],
        &["work", "--stop"],
        &["run", "A task", "--verify", "touch pwned"],
        &["run", "A task", "--workdir", &elsewhere],
        &["export", "-o", &out],
        &["export", "-o", "../x"],
        &["export", "-o", "link/x"],
        &["export", "-o", "leads-out"],
        &["export", "-o", ".eluent/config.toml"],
        &["export", "-o", ".git/config"],
        &["man", "--dir", &elsewhere],
        &["man", "--dir", "pages"],
        &["merge-driver", "--install", "issues.jsonl"],
        &["merge-driver", "/dev/null", &out, "/dev/null"],
        &["discard", "prune", "--days", "0"],
        &["doctor", "--fix"],
        &["attach", &id],
        &["mailbox", "sync"],
        &["hook", "notify", "--timeout-ms", "1000", "--", "touch", "pwned"],
        &["supervise", run["id"].as_str().unwrap()],
    ];
    for arguments in refused {
        let ran =
            env.run(&mut env.el_as_run(&run, &[&["--robot"], *arguments].concat())).fails_with(8);
        assert_eq!(ran.json()["error"]["code"], "in_session", "{arguments:?}");
    }
    // Nor through another tracker, where the session has no run.
    let other = TestEnv::with_tracker();
    let database = other.project(".eluent/el.db").display().to_string();
    for arguments in [
        &["config", "set", "model", "x"][..],
        &["work", "--once"],
        &["run", "do it", "--verify", "true"],
    ] {
        env.run(&mut env.el_as_run(&run, &[&["--db", &database], arguments].concat()))
            .fails_with(8);
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!env.project("pwned").exists() && !env.project(".git/config").exists());
    assert_eq!(std::fs::read(env.project(".eluent/config.toml")).unwrap(), config);
    assert_eq!(env.robot(&["tasks"])["count"], 0);
    ended(&env, worker);
}

#[test]
fn what_an_agent_needs_is_not() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    std::fs::create_dir(env.project("side")).unwrap();
    let file = env.project("whole.jsonl").display().to_string();
    let fine: &[&[&str]] = &[
        &["show", &id],
        &["work", "--dry-run"],
        &["config", "get", "model"],
        &["doctor"],
        &["create", "Found on the way", "--discovered-from", &id],
        &["run", "A task", "--workdir", "side"],
        &["export", "-o", "issues.jsonl"],
        &["export", "-o", &file],
        &["export", "-o", "-"],
        &["import", "issues.jsonl"],
        &["mailbox", "post", "to-developer", "note.json"],
    ];
    std::fs::write(env.project("note.json"), "{\"type\":\"note\"}").unwrap();
    for arguments in fine {
        env.run(&mut env.el_as_run(&run, arguments)).ok();
    }
    ended(&env, worker);
}

/// `el` in the session, through a shell.
fn in_session(env: &TestEnv, run: &Value, line: &str) -> Command {
    let mut shell = env.in_session(run, "sh");
    shell.args(["-c", line]);
    shell
}

#[test]
fn what_asks_for_a_review_is_not_taken_away_by_whoever_is_to_be_reviewed() {
    let env = TestEnv::with_tracker();
    env.configure("review = true\n");
    for more in [&["--label", "review"][..], &["--metadata", "{\"review\": true}"], &[]] {
        let id = env.create(
            "To be reviewed",
            &[&["-d", &TestEnv::script(&["touch begun", "wait-file go", "update wont_do"])], more]
                .concat(),
        );
        let worker = env.start_work(&["--once"]);
        env.wait_for_file("begun");
        let run = env.last_run(&id);
        let attempts = [
            "el update $EL_ATOM --remove-label review && el close $EL_ATOM",
            "el update $EL_ATOM --metadata '{\"review\": null}' && el close $EL_ATOM",
            "el update $EL_ATOM --metadata '{\"review\": false}' && el close $EL_ATOM",
            "el config set review false; el close $EL_ATOM",
            "el close $EL_ATOM --actor somebody",
            "EL_REVIEW=false el close $EL_ATOM",
            "el update $EL_ATOM --status closed --actor somebody",
            // Files that the agent can write, like any file of the project.
            "printf 'review = false\\n' > .eluent/config.toml; el close $EL_ATOM",
            "printf 'review = [\\n' > .eluent/config.toml; el close $EL_ATOM",
        ];
        for line in attempts {
            let before = std::fs::read(env.project(".eluent/config.toml")).unwrap();
            env.run(&mut in_session(&env, &run, line)).fails_with(8);
            assert_eq!(env.status(&id), "in_progress", "{more:?}: {line}");
            std::fs::write(env.project(".eluent/config.toml"), before).unwrap();
        }
        ended(&env, worker);
        for file in ["begun", "go"] {
            std::fs::remove_file(env.project(file)).unwrap();
        }
    }
    // A person may.
    let id = env.create("To be reviewed", &["--label", "review"]);
    env.el(&["update", &id, "--remove-label", "review"]).ok();
}
