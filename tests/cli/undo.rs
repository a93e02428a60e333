//! `el undo`: a person's changes, one call at a time.

use crate::support::TestEnv;

#[test]
fn each_undo_takes_one_call_back_and_the_next_the_one_before() {
    let env = TestEnv::with_tracker();
    let (one, two) = (env.create("One", &[]), env.create("Two", &[]));
    env.el(&["update", &one, "--title", "Other", "--description", "Text"]).ok();
    env.el(&["close", &one, &two, "--reason", "done"]).ok();
    let would = env.robot(&["undo", "--dry-run"]);
    assert_eq!(would["changes"].as_array().unwrap().len(), 2);
    assert_eq!(env.status(&two), "closed");
    let said = env.el(&["undo"]).ok().stdout;
    assert!(said.contains("Took back") && said.contains("open → closed"), "{said}");
    assert_eq!((env.status(&one), env.status(&two)), ("open".into(), "open".into()));
    assert_eq!(env.show(&one)["title"], "Other");
    env.el(&["undo"]).ok();
    assert_eq!(
        (env.show(&one)["title"].clone(), env.show(&one)["description"].clone()),
        ("One".into(), "".into())
    );
    env.el(&["undo"]).ok();
    env.el(&["show", &two]).fails_with(3);
    let listed = env.robot(&["undo", "--list"]);
    assert_eq!(listed["count"], 1);
    env.el(&["undo", &listed["items"][0]["step"].to_string()]).ok();
    env.el(&["show", &one]).fails_with(3);
    env.el(&["undo"]).fails_with(4);
    env.el(&["undo", "1"]).fails_with(3);
}

#[test]
fn what_cannot_be_taken_back_names_the_way() {
    let env = TestEnv::with_tracker();
    env.create("One", &[]);
    env.el(&["export", "-o", "all.jsonl"]).ok();
    let text = std::fs::read_to_string(env.project("all.jsonl")).unwrap();
    std::fs::write(env.project("all.jsonl"), text.replace("One", "Another")).unwrap();
    env.el(&["import", "all.jsonl"]).ok();
    let ran = env.run(env.command("el").args(["--robot", "undo"])).fails_with(4);
    let error = ran.json()["error"].take();
    assert_eq!(error["code"], "cannot_undo");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("el restore"), "{message}");
    assert!(message.contains("takes back the step before it"), "{message}");
    // Nothing is proposed that would be refused: the step before was changed since.
    let theirs = env.robot(&["list"])["items"][0]["id"].as_str().unwrap().to_owned();
    env.el(&["update", &theirs, "--title", "Theirs", "--actor", "carol"]).ok();
    let refused = env.el(&["undo"]).fails_with(4).stderr;
    assert!(refused.contains("el restore") && !refused.contains("the step before"), "{refused}");
    let refused = env.el(&["undo", "99999"]).fails_with(3).stderr;
    assert!(refused.contains("el undo --list"), "{refused}");
    // A person cannot undo another person's change.
    env.el(&["undo", "--actor", "bob"]).fails_with(4);
}

#[test]
fn an_agents_session_undoes_nothing() {
    let env = TestEnv::with_tracker();
    let kept = env.create("Kept", &["--assignee", "nobody-else"]);
    let id = env.script_atom(&["sh el undo; el undo --list; true", "close done"]);
    env.work(&["--once"]);
    assert_eq!((env.status(&id), env.status(&kept)), ("closed".into(), "open".into()));
}
