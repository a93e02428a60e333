//! `el artifacts`, and the artifacts in other views.

use std::fs;

use serde_json::json;

use super::write_summary;
use crate::support::TestEnv;

/// A run that handed back a summary, a text, and a picture; and the atom's id.
fn handed_back() -> (TestEnv, String) {
    let env = TestEnv::with_tracker();
    let summary = write_summary(&["src/hello.txt", "logo.png", "/etc/passwd"], "✅ COMPLETED");
    let steps = [
        "sh mkdir src && printf 'a\\0b' > logo.png",
        "write src/hello.txt hello",
        &summary,
        "close done",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--once"]);
    (env, id)
}

#[test]
fn a_person_sees_what_was_handed_back_and_what_was_not() {
    let (env, id) = handed_back();
    let text = env.el(&["artifacts", "show", &id]).ok().stdout;
    for part in [
        "✓ completed · tests passed",
        "Said it",
        "src/hello.txt",
        "5 B",
        "copied",
        "logo.png",
        "reference",
        "binary",
        "Not handed over (1)",
        "/etc/passwd is an absolute path outside of the working folder",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let paths = env.el(&["artifacts", "show", &id, "-q"]).ok().stdout;
    assert_eq!(paths, format!(".eluent/summaries/{id}.md\nsrc/hello.txt\nlogo.png\n"));
    let shown = env.el(&["show", &id]).ok().stdout;
    assert!(
        shown.contains("Handed back (run-")
            && shown.contains("✓ completed")
            && shown.contains("About src/hello.txt"),
        "{shown}"
    );
    assert!(shown.contains("2 of 3 files handed over; el artifacts show run-"), "{shown}");
    let why = env.el(&["why", &id]).ok().stdout;
    assert!(why.contains("summary completed, 2 files"), "{why}");
    let run = env.el(&["runs", "show", &id]).ok().stdout;
    assert!(run.contains("summary completed, 2 files") && run.contains("Said it"), "{run}");
}

#[test]
fn one_file_is_got_by_number_name_path_or_word() {
    let (env, id) = handed_back();
    for wanted in ["2", "hello.txt", "src/hello.txt"] {
        assert_eq!(env.el(&["artifacts", "get", &id, wanted]).ok().stdout, "hello", "{wanted}");
    }
    assert!(
        env.el(&["artifacts", "get", &id, "summary"])
            .ok()
            .stdout
            .starts_with("# Task Completion Summary\n")
    );
    let got = env.robot(&["artifacts", "get", &id, "2"]);
    assert_eq!(
        (&got["content"], &got["path"], &got["written_to"]),
        (&json!("hello"), &json!("src/hello.txt"), &json!(null))
    );
    let picture = env.robot(&["artifacts", "get", &id, "logo.png"]);
    assert_eq!((&picture["state"], picture["sha256"].is_string()), (&json!("reference"), true));
    env.el(&["artifacts", "get", &id, "nothing"]).fails_with(3);
    let refused = env.el(&["artifacts", "get", &id, "/etc/passwd", "--robot"]).fails_with(4);
    assert_eq!(refused.json()["error"]["code"], "not_sent");
}

#[test]
fn a_file_is_written_where_it_is_wanted_and_nothing_is_written_over() {
    let (env, id) = handed_back();
    env.el(&["artifacts", "get", &id, "2", "-o", "out.txt"]).ok();
    assert_eq!(fs::read_to_string(env.project("out.txt")).unwrap(), "hello");
    let refused = env.el(&["artifacts", "get", &id, "summary", "-o", "out.txt"]).fails_with(4);
    assert!(refused.stderr.contains("--force"), "{refused:#?}");
    env.el(&["artifacts", "get", &id, "logo.png", "-o", "out.txt", "--force"]).ok();
    assert_eq!(fs::read(env.project("out.txt")).unwrap(), b"a\0b");
}

#[test]
fn what_was_referred_to_is_refused_once_it_has_changed() {
    let (env, id) = handed_back();
    let read = env
        .run(env.command("sh").args(["-c", &format!("el artifacts get {id} logo.png | wc -c")]))
        .ok();
    assert_eq!(read.stdout.trim(), "3");
    fs::write(env.project("logo.png"), b"a\0c").unwrap();
    let changed = env.el(&["artifacts", "get", &id, "logo.png", "--robot"]).fails_with(4);
    assert_eq!(changed.json()["error"]["code"], "changed");
    fs::remove_file(env.project("logo.png")).unwrap();
    env.el(&["artifacts", "get", &id, "logo.png"]).fails_with(3);
}

#[test]
fn an_atom_that_was_never_worked_on_has_nothing() {
    let env = TestEnv::with_tracker();
    let id = env.create("Wait", &[]);
    let ran = env.el(&["artifacts", "show", &id, "--robot"]).fails_with(4);
    assert_eq!(ran.json()["error"]["code"], "no_run");
    env.el(&["artifacts", "show", "t-nope"]).fails_with(3);
    assert_eq!(env.robot(&["artifacts"])["count"], 0);
}
