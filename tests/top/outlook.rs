//! `el top` also shows how long a person may leave, the news, conflicts between runs, and the atoms
//! that people hold.

use serde_json::json;

use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn how_long_a_person_may_go_is_told_at_the_head() {
    let env = TestEnv::with_tracker();
    let done: Vec<String> = (0..3).map(|_| env.script_atom(&["close done"])).collect();
    let _worker = env.start_work(&["--concurrency", "1"]);
    for id in &done {
        env.wait_for_end(id, 1);
    }
    let screen = env.screen(120, 30, "el top");
    screen.wait_for("nothing needs you");
    let hangs = env.script_atom(&["hang"]);
    screen.wait_for(&format!("◐ {hangs}"));
    let text = screen.wait_for("You may go for about");
    assert!(text.lines().nth(1).unwrap().contains("You may go for about"), "{text}");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn runs_that_change_the_same_files_are_told_while_they_work() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\nconcurrency = 2\n");
    let script = ["write shared.txt Mine\\n", "sh git add -A && git commit -q -m 'Mine'", "hang"];
    let ids = [env.script_atom(&script), env.script_atom(&script)];
    let _worker = env.start_work(&[]);
    let told = || env.robot(&["status"])["needs"]["items"][0]["kind"] == "same_files";
    wait_until("both files", SOON, || told().then_some(()));
    let screen = env.screen(120, 30, "el top");
    let text = screen.wait_for("changes the same files: shared.txt");
    assert!(ids.iter().any(|id| text.contains(&format!("! {id}"))), "{text}");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn what_is_new_is_marked_until_it_is_seen_here_or_anywhere() {
    let env = TestEnv::with_tracker();
    let blocked = env.create("Choose a port", &[]);
    env.el(&["update", &blocked, "--status", "blocked"]).ok();
    // A first look, so that there is something to compare with.
    let screen = env.screen(100, 30, "el top");
    screen.wait_for(&format!("✗ {blocked}"));
    screen.press("q");
    screen.wait_for("[exit 0]");
    let seen = env.robot(&["status"]);
    assert_eq!((&seen["looked"], &seen["fresh"]), (&seen["seq"], &json!([])));

    env.el(&["--actor", "bob", "comment", "add", &blocked, "it is under the mat"]).ok();
    let screen = env.screen(100, 30, "el top");
    let text = screen.wait_for("1 atom new since you looked");
    assert!(text.contains("new Choose a port"), "{text}");
    screen.press("m");
    wait_until("nothing is new", SOON, || {
        (!screen.text().contains("new since you looked")).then_some(())
    });
    assert_eq!(env.robot(&["status"])["fresh"], json!([]));
    // Atoms seen on another board are seen here.
    env.el(&["--actor", "bob", "comment", "add", &blocked, "or in the pot"]).ok();
    screen.wait_for("1 atom new since you looked");
    env.screen(100, 30, "el status").wait_for("[exit 0]");
    wait_until("nothing is new here either", SOON, || {
        (!screen.text().contains("new since you looked")).then_some(())
    });
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn what_a_person_holds_is_on_the_terminal_too() {
    let env = TestEnv::with_tracker();
    let begun = env.create("Sing", &[]);
    let put_off = env.create("Dance", &[]);
    env.el(&["claim", &begun]).ok();
    env.el(&["update", &put_off, "--status", "deferred"]).ok();
    let screen = env.screen(100, 30, "el top");
    screen.wait_for(&format!("◌ {put_off}"));
    let text = screen.wait_for(&format!("◇ {begun}"));
    assert!(text.contains("begun by") && text.contains("put off"), "{text}");
    assert!(text.contains("2 held"), "{text}");
    screen.press("q");
    screen.wait_for("[exit 0]");
    let told = env.el(&["status"]).ok().stdout;
    for part in ["Held by people", "begun by", "put off", "2 held"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}
