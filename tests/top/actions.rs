//! Each action of `el top` by its key, with a real worker and what the action leaves behind.

use std::fs;

use crate::support::{SOON, Screen, TestEnv, wait_until};

/// A project in a repository whose agents work in worktrees.
fn repository() -> TestEnv {
    TestEnv::with_repository("isolate = \"worktree\"\n")
}

fn leave(screen: &Screen<'_>) {
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn a_person_starts_a_worker_watches_joins_reviews_and_lands_by_keys() {
    let env = repository();
    let go = env.path("tmp/go");
    let id = env.script_atom(&[
        "say I begin with the greeting.",
        &format!("wait-file {}", go.display()),
        "write greeting.txt Hello\\n",
        "sh git add -A && git commit -q -m 'Say hello'",
        "update review",
    ]);
    let screen = env.screen(100, 30, "el top");
    screen.wait_for(&format!("○ {id}"));
    screen.press("s");
    screen.wait_for(&format!("◐ {id}"));
    screen.press("2");
    screen.press("l");
    screen.wait_for("I begin with the greeting.");
    screen.press("o");
    screen.wait_for("detach with C-b d");
    screen.press("C-b");
    screen.press("d");
    screen.wait_for("Esc back");

    fs::write(&go, "").unwrap();
    // The detail stays with its atom, which is now something to review.
    screen.wait_for("a approve");
    screen.press("d");
    screen.wait_for("+Hello");
    screen.press("a");
    screen.wait_for(&format!("Approve {id}? (y/N)"));
    screen.press("y");
    env.wait_for_status(&id, "closed");
    screen.press("q");
    screen.wait_for("can be landed");
    screen.press("1");
    screen.press("L");
    screen.wait_for(&format!("el land {id}? (y/N)"));
    screen.press("y");
    screen.wait_for("Enter goes back");
    screen.press("Enter");
    assert_eq!(env.git(&["show", "main:greeting.txt"]), "Hello");
    screen.wait_for("nothing needs you");
    screen.press("S");
    screen.wait_for("Stop every worker");
    screen.press("y");
    wait_until("no worker", SOON, || {
        let workers = env.robot(&["work", "--status"]);
        (workers["workers"]["items"].as_array().is_none_or(Vec::is_empty)).then_some(())
    });
    leave(&screen);
}

#[test]
fn a_question_is_answered_and_the_next_attempt_is_told() {
    let mut env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "el comment add $EL_ATOM 'Which port?'",
        "update deferred",
        "on-attempt 2",
        "record second.json",
        "close done",
    ]);
    // As a person writes: above what is there.
    let write =
        "cp \"$1\" seen; { echo 'Take port 8080'; cat seen; } > \"$1\"; echo \"$1\" > edited";
    env.program("answer", write);
    env.set("GIT_EDITOR", "answer");
    let _worker = env.start_work(&[]);
    env.wait_for_status(&id, "deferred");
    let screen = env.screen(100, 30, "el top");
    let text = screen.wait_for("Which port?");
    assert!(text.contains("c answer"), "{text}");
    screen.press("c");
    env.wait_for_status(&id, "closed");
    let prompt = env.recorded("second.json")["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.contains("Take port 8080"), "{prompt}");
    assert_eq!(env.comments(&id), ["Which port?", "Take port 8080"]);
    // The editor shows what is asked, and nothing of the draft stays.
    let edited = env.wait_for_file("edited");
    assert!(edited.ends_with(&format!("answer-{id}.md")), "{edited}");
    assert!(env.wait_for_file("seen").contains("claude: Which port?"));
    assert!(!std::path::Path::new(&edited).exists());
    leave(&screen);
}

#[test]
fn a_run_is_cancelled_and_what_was_decided_is_taken_back() {
    let env = TestEnv::with_tracker();
    let running = env.script_atom(&["hang"]);
    let _worker = env.start_work(&["--concurrency", "1"]);
    env.wait_for_status(&running, "in_progress");
    let other = env.create("Sing", &["--blocked-by", &running]);
    let screen = env.screen(100, 30, "el top");
    screen.wait_for(&format!("◐ {running}"));
    screen.press("2");
    screen.press("x");
    screen.wait_for(&format!("End the run of {running}? (y/N)"));
    screen.press("y");
    env.wait_for_end(&running, 1);
    assert_eq!(env.outcomes(&running), ["cancelled"]);

    screen.press("3");
    screen.wait_for(&format!("▸‖ {other}"));
    screen.press("z");
    screen.wait_for("Put");
    screen.press("2d");
    screen.press("Enter");
    env.wait_for_status(&other, "deferred");
    screen.press("u");
    screen.wait_for("Take back");
    screen.press("y");
    env.wait_for_status(&other, "open");
    screen.wait_for(&format!("▸‖ {other}"));
    screen.press("x");
    screen.wait_for(&format!("Close {other} as won't do? (y/N)"));
    screen.press("y");
    env.wait_for_status(&other, "wont_do");
    screen.press("u");
    screen.wait_for("wont_do");
    screen.press("y");
    env.wait_for_status(&other, "open");
    // The cursor may have gone on to the next row while this one was away.
    screen.wait_for(&format!("‖ {other}"));
    screen.press("k");
    screen.wait_for(&format!("▸‖ {other}"));
    screen.press("X");
    screen.wait_for(&format!("Discard {other}?"));
    screen.press("y");
    env.wait_for_status(&other, "discard");
    leave(&screen);
}

#[test]
fn a_reason_that_is_refused_is_kept() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Retry the upload", &[]);
    env.el(&["update", &id, "--status", "review"]).ok();
    // Somebody else approves while the reason is written.
    env.program(
        "slow-editor",
        &format!("echo 'Tests are missing' > \"$1\"; el approve {id} --actor ann"),
    );
    env.set("GIT_EDITOR", "slow-editor");
    let screen = env.screen(100, 30, "el top");
    screen.wait_for("r reject");
    screen.press("r");
    let text = screen.wait_for("your text is in");
    let kept = wait_until("the draft", SOON, || {
        let folder = fs::read_dir(env.path("tmp")).ok()?;
        let drafts =
            folder.flatten().filter(|one| one.file_name().to_string_lossy().starts_with("el-edit"));
        drafts.map(|one| one.path().join(format!("reject-{id}.md"))).find(|file| file.exists())
    });
    assert!(fs::read_to_string(kept).unwrap().contains("Tests are missing"), "{text}");
    assert_eq!(env.status(&id), "closed");
    leave(&screen);
}

#[test]
fn a_key_that_does_not_fit_the_row_says_so_and_does_nothing() {
    let env = TestEnv::with_tracker();
    let id = env.create("Sing", &[]);
    let screen = env.screen(100, 30, "el top");
    screen.wait_for(&format!("○ {id}"));
    screen.press("3");
    for (key, told) in [
        ("a", "does not wait for a review"),
        ("r", "does not wait for a review"),
        ("o", "has no session now"),
        ("y", "? lists the keys"),
    ] {
        screen.press(key);
        screen.wait_for(told);
    }
    assert_eq!(env.status(&id), "open");
    leave(&screen);
}
