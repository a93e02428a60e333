//! `el top` shows the details of the chosen row, however long and however slow they are.

use std::fmt::Write as _;
use std::fs;

use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn a_log_follows_its_agent_and_stays_where_it_is_scrolled_to() {
    let env = TestEnv::with_tracker();
    let mut steps: Vec<String> = (0..60).map(|n| format!("say Part {n} is done.")).collect();
    steps.push("wait-file go".to_owned());
    steps.push("say The end is near.".to_owned());
    steps.push("wait-file over".to_owned());
    let id = env.script_atom(&steps.iter().map(String::as_str).collect::<Vec<_>>());
    let _worker = env.start_work(&[]);
    let screen = env.screen(80, 24, "el top");
    screen.wait_for(&format!("◐ {id}"));
    screen.press("2");
    screen.press("l");
    let text = screen.wait_for("Part 59 is done.");
    assert!(text.contains("follows"), "{text}");
    for _ in 0..3 {
        screen.press("PageUp");
    }
    screen.wait_for("Part 3 is done.");
    fs::write(env.project("go"), "").unwrap();
    wait_until("the agent goes on", SOON, || {
        env.run_file_says(&env.last_run(&id), "transcript.jsonl", "The end is near").then_some(())
    });
    screen.press("k");
    let text = screen.wait_for("Part 2 is done.");
    assert!(!text.contains("The end is near"), "it stays where it is:\n{text}");
    screen.press("G");
    screen.wait_for("The end is near.");
    screen.press("q");
    screen.wait_for("1 Needs you");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

/// An atom in review whose branch adds a file of so many lines.
fn long_branch(env: &TestEnv, lines: usize) -> String {
    let mut text = String::new();
    for n in 0..lines {
        writeln!(text, "line {n} of the file").unwrap();
    }
    fs::write(env.path("tmp/long.txt"), text).unwrap();
    let copy = format!("sh cp {} long.txt", env.path("tmp/long.txt").display());
    let id = env.script_atom(&[
        &copy,
        "sh git add -A && git commit -q -m 'Write it all'",
        "update review",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "review");
    id
}

#[test]
fn a_diff_of_twenty_thousand_lines_is_there_to_its_end() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    long_branch(&env, 20_000);
    let screen = env.screen(80, 24, "el top");
    screen.wait_for("r reject");
    screen.press("d");
    screen.wait_for("+line 1 of the file");
    screen.press("G");
    screen.wait_for("+line 19999 of the file");
    let text = screen.wait_for("of 20006");
    assert!(!screen.is_wrapped(), "{text}");
    screen.press("Home");
    screen.wait_for("+line 1 of the file");
    screen.resize(60, 15);
    screen.press("G");
    screen.wait_for("+line 19999 of the file");
    screen.press("q");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn a_transcript_of_fifty_megabytes_shows_its_end() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say Hello.", "close done"]);
    env.work(&["--once"]);
    let path = env.run_file(&env.last_run(&id), "transcript.jsonl");
    let said = |n: usize, text: &str| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{n}\",\"content\":[{{\"type\":\
             \"text\",\"text\":\"Part {n} {text}\"}}]}}}}\n"
        )
    };
    let long = "x".repeat(900);
    let mut text = String::new();
    for n in 0..56_000 {
        text.push_str(&said(n, &long));
    }
    text.push_str(&said(56_000, "is the last."));
    assert!(text.len() > 50 << 20);
    fs::write(&path, text).unwrap();
    env.el(&["reopen", &id]).ok();
    let screen = env.screen(80, 24, "el top");
    screen.wait_for(&id);
    screen.press("3");
    screen.press("l");
    screen.wait_for("Part 56000 is the last.");
    // It scrolls back, and no further than what was read.
    screen.press("Home");
    let text = screen.wait_for("1–");
    assert!(!text.contains("Part 0 "), "{text}");
    screen.press("q");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn nothing_that_hangs_holds_up_a_key() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    let id = long_branch(&env, 3);
    // A git that never answers, and a folder whose disk never does.
    env.program("git", "#!/bin/sh\nexec sleep 600");
    let screen = env.screen(80, 24, "el top");
    screen.wait_for("r reject");
    screen.press("d");
    screen.wait_for("[d diff]");
    screen.press("?");
    screen.wait_for("these keys");
    screen.press("?");
    screen.press("i");
    screen.wait_for("Description");
    let config = env.project(".eluent/config.toml");
    let kept = fs::read(&config).unwrap();
    fs::remove_file(&config).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &config,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    screen.press("w");
    screen.press("q");
    screen.wait_for("1 Needs you");
    screen.press("a");
    screen.wait_for(&format!("Approve {id}? (y/N)"));
    screen.press("n");
    screen.press("q");
    screen.wait_for("[exit 0]");
    fs::remove_file(&config).unwrap();
    fs::write(&config, kept).unwrap();
}

#[test]
fn a_row_without_an_atom_has_a_detail_of_its_own() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["close done"]);
    env.work(&["--once"]);
    let ready = env.create("Sing", &["-d", "All the songs."]);
    let screen = env.screen(80, 24, "el top");
    let text = screen.wait_for("no worker takes them");
    assert!(text.contains("el work --background"), "the command is told:\n{text}");
    screen.press("3");
    screen.press("i");
    screen.wait_for("All the songs.");
    screen.press("q");
    screen.press("1");
    let text = screen.wait_for("el work --background");
    assert!(!text.contains("All the songs."), "{text}");
    assert!(!text.contains(&id) && text.contains(&ready), "{text}");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn the_graph_tells_what_an_atom_waits_for_and_what_waits_for_it() {
    let env = TestEnv::with_tracker();
    let first = env.create("Dig", &[]);
    let second = env.create("Plant", &["--blocked-by", &first]);
    let third = env.create("Water", &["--blocked-by", &second]);
    let screen = env.screen(80, 24, "el top");
    screen.wait_for(&format!("‖ {second}"));
    screen.press("3");
    screen.press("j");
    screen.press("g");
    let text = screen.wait_for(&format!("{third} Water"));
    let place = |part: &str| text.rfind(part).unwrap_or_else(|| panic!("{part}:\n{text}"));
    assert!(place("It waits for:") < place(&format!("{first} Dig")), "{text}");
    assert!(place(&format!("{first} Dig")) < place("Atoms that wait for it:"), "{text}");
    screen.press("q");
    screen.press("q");
    screen.wait_for("[exit 0]");
}
