//! The run options of an atom: model, effort, base branch and environment.

use serde_json::{Value, json};

use crate::support::TestEnv;

fn has(seen: &Value, words: &[&str]) -> bool {
    let argv: Vec<&str> =
        seen["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    argv.windows(words.len()).any(|window| window == words)
}

#[test]
fn an_atom_outranks_the_settings_of_its_agent() {
    let env = TestEnv::with_tracker();
    env.configure("model = \"haiku\"\neffort = \"low\"\nenv = [\"A=agent\", \"B=agent\"]\n");
    env.script_atom(&["record plain.json", "close done"]);
    let own = env.script_atom(&["record own.json", "close done"]);
    let set = ["--model", "opus", "--effort", "max", "--env", "A=it=1", "--env", "PATH=/usr/bin"];
    let updated = env.robot(&[&["update", own.as_str()], &set[..]].concat());
    assert_eq!(updated["run_options"]["env"]["A"], "it=1");
    env.work(&["--drain"]);
    let (plain, own) = (env.recorded("plain.json"), env.recorded("own.json"));
    assert!(has(&plain, &["--model", "haiku"]) && has(&plain, &["--effort", "low"]), "{plain}");
    assert!(has(&own, &["--model", "opus"]) && has(&own, &["--effort", "max"]), "{own}");
    assert_eq!((&plain["env"]["A"], &plain["env"]["B"]), (&json!("agent"), &json!("agent")));
    assert_eq!((&own["env"]["A"], &own["env"]["B"]), (&json!("it=1"), &json!("agent")));
    let path = own["env"]["PATH"].as_str().unwrap();
    assert!(
        path.ends_with(":/usr/bin") && path.len() > ":/usr/bin".len(),
        "el comes first: {path}"
    );
}

#[test]
fn a_branch_begins_at_the_base_of_its_atom() {
    let env = TestEnv::with_tracker();
    env.configure("isolate = \"worktree\"\n");
    env.git(&["init", "-q"]);
    for (branch, file) in [("main", "base.txt"), ("release", "release.txt"), ("topic", "topic.txt")]
    {
        if branch != "main" {
            env.git(&["switch", "-q", "-c", branch]);
        }
        std::fs::write(env.project(file), file).unwrap();
        env.git(&["add", file]);
        env.git(&["commit", "-q", "-m", file]);
    }
    env.git(&["switch", "-q", "main"]);
    let parent = env.script_atom(&["sh test ! -e release.txt", "close done"]);
    let id = env.script_atom(&["sh test -e release.txt && test ! -e topic.txt", "close done"]);
    env.el(&["update", &id, "--base", "release"]).ok();
    env.work(&["--drain"]);
    assert_eq!((env.status(&parent), env.status(&id)), ("closed".into(), "closed".into()));
    // It outranks the branch of the parent, too.
    let child = env.script_atom(&["sh test -e topic.txt", "close done"]);
    env.el(&["update", &child, "--base", "topic", "--parent", &parent]).ok();
    env.work(&["--drain"]);
    assert_eq!(
        env.git(&["merge-base", &format!("el/{child}"), "topic"]),
        env.git(&["rev-parse", "topic"])
    );
}

#[test]
fn options_are_checked_when_they_are_set_and_shown() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &["--model", "opus", "--env", "A=1"]);
    for bad in [
        ["--effort", "huge"],
        ["--model", "--bare"],
        ["--base", "-x"],
        ["--env", "1A=x"],
        ["--env", "EL_TOKEN=x"],
        ["--env", "=x"],
    ] {
        let flag = format!("{}={}", bad[0], bad[1]);
        env.el(&["update", &id, &flag]).fails_with(2);
        env.el(&["create", "Other", &flag]).fails_with(2);
    }
    let shown = env.el(&["show", &id]).ok().stdout;
    assert!(shown.contains("Model") && shown.contains("opus") && shown.contains("A=1"), "{shown}");
    let updated = env.robot(&["update", &id, "--model", "", "--env", "A", "--effort", "low"]);
    let want = json!({"model": null, "effort": "low", "base": null, "env": {}});
    assert_eq!(updated["run_options"], want);
    assert_eq!(updated["changes"]["run_options"]["from"]["model"], "opus");
    assert_eq!(env.robot(&["update", &id, "--effort", ""])["run_options"], Value::Null);
    for (key, value) in [("effort", "huge"), ("env", "A"), ("env", "EL_RUN=x"), ("env", "A B=x")] {
        env.el(&["config", "set", key, value]).fails_with(2);
    }
}

#[test]
fn no_session_raises_what_its_own_atom_may_use_and_none_names_a_variable() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["wait-file go", "close done"]);
    let other = env.create("Other", &["-a", "ada"]);
    let worker = env.start_work(&["--once"]);
    worker.wait_for("launched");
    let run = env.last_run(&id);
    let mut exported = env.el(&["export"]).ok().stdout;
    exported = exported.replace("\"run_options\":null", "\"run_options\":{\"model\":\"opus\"}");
    exported = exported.replace("\"updated_at\":\"20", "\"updated_at\":\"21");
    std::fs::write(env.project("own.jsonl"), exported).unwrap();
    for words in [
        &["update", &id, "--model", "opus"][..],
        &["update", &id, "--effort", "max"],
        &["update", &id, "--base", "main"],
        &["update", &id, "--env", "LD_PRELOAD=/tmp/x.so"],
        &["update", &other, "--env", "LD_PRELOAD=/tmp/x.so"],
        &["create", "New", "--env", "LD_PRELOAD=/tmp/x.so"],
        &["import", "own.jsonl"],
    ] {
        env.run(&mut env.el_as_run(&run, words)).fails_with(8);
    }
    // An agent may choose a model for a new atom, which others will work on.
    env.run(&mut env.el_as_run(&run, &["create", "Small", "--model", "haiku"])).ok();
    assert_eq!(env.show(&id)["run_options"], Value::Null);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(crate::support::SOON).ok();
}

#[test]
fn an_export_brings_in_a_model_and_never_a_variable() {
    let env = TestEnv::with_tracker();
    let id = env.create("It", &["--model", "opus", "--base", "main", "--env", "SECRET=s3cret"]);
    let only_env = env.create("Other", &["--env", "SECRET=s3cret"]);
    let text = env.el(&["export"]).ok().stdout;
    assert!(text.contains("\"model\":\"opus\"") && !text.contains("s3cret"), "{text}");
    let forged =
        text.replace("\"effort\":null", "\"effort\":\"high\",\"env\":{\"LD_PRELOAD\":\"x\"}");
    std::fs::write(env.project("in.jsonl"), &forged).unwrap();
    let other = TestEnv::with_tracker();
    other.robot(&["import", env.project("in.jsonl").to_str().unwrap()]);
    let want = json!({"model": "opus", "effort": "high", "base": "main", "env": {}});
    assert_eq!(other.show(&id)["run_options"], want);
    assert_eq!(other.show(&only_env)["run_options"], Value::Null);
    // Importing again changes the model, and keeps the variables here.
    other.el(&["update", &id, "--env", "HERE=1"]).ok();
    std::fs::write(env.project("in.jsonl"), forged.replace("\"opus\"", "\"sonnet\"")).unwrap();
    other.robot(&["import", env.project("in.jsonl").to_str().unwrap()]);
    let options = other.show(&id)["run_options"].take();
    assert_eq!((&options["model"], &options["env"]["HERE"]), (&json!("sonnet"), &json!("1")));
    // A value that cannot be used is left out, and told.
    let bad = forged.replace("\"opus\"", "\"--bare\"");
    std::fs::write(env.project("bad.jsonl"), bad).unwrap();
    let third = TestEnv::with_tracker();
    let report = third.robot(&["import", env.project("bad.jsonl").to_str().unwrap()]);
    assert!(report["notes"].to_string().contains("cannot be used"), "{report}");
    assert_eq!(third.show(&id)["run_options"], Value::Null);
}
