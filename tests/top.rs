//! `el top` at terminals of several sizes, driven by keys.

mod actions;
mod detail;
mod outlook;
mod terminal;

use std::fs;

use rustix::process::Signal;

use crate::support::{SOON, TestEnv, wait_until};

/// A project with something in review and something blocked.
fn project() -> (TestEnv, [String; 2]) {
    let env = TestEnv::with_tracker();
    let review = env.create("Retry the upload", &["-p", "high", "-d", "The whole story."]);
    let blocked = env.create("Choose a port", &[]);
    env.create("Write the manual", &[]);
    env.el(&["update", &review, "--status", "review"]).ok();
    env.el(&["update", &blocked, "--status", "blocked"]).ok();
    env.el(&["comment", "add", &blocked, "the key is missing"]).ok();
    (env, [review, blocked])
}

#[test]
fn the_board_fits_every_size_and_follows_a_resize() {
    let (env, [review, blocked]) = project();
    for (columns, rows) in [(80, 24), (60, 15), (200, 50)] {
        let screen = env.screen(columns, rows, "el top");
        for part in ["1 Needs you", "2 Running", "3 Ready", &review, &blocked, "a approve"] {
            screen.wait_for(part);
        }
        let text = screen.wait_for("somebody asks for a look");
        assert!(!screen.is_wrapped(), "{text}");
        screen.resize(100, 30);
        wait_until("the new size", SOON, || {
            (screen.text().lines().next()?.len() < 100 && screen.text().lines().count() == 30)
                .then_some(())
        });
        screen.press("q");
        screen.wait_for("[exit 0]");
    }
}

#[test]
fn keys_move_filter_and_act_and_nothing_happens_without_a_yes() {
    let (env, [review, blocked]) = project();
    let screen = env.screen(100, 30, "el top");
    screen.wait_for("somebody asks for a look");
    screen.press("a");
    screen.wait_for(&format!("Approve {review}? (y/N)"));
    screen.press("n");
    screen.wait_for("a approve");
    assert_eq!(env.status(&review), "review");
    screen.press("a");
    screen.wait_for("(y/N)");
    screen.press("y");
    env.wait_for_status(&review, "closed");
    // The row in its place is chosen.
    screen.wait_for("▸✗");
    screen.press("R");
    env.wait_for_status(&blocked, "open");
    screen.wait_for("nothing needs you");

    screen.press("3");
    screen.press("/");
    screen.press("manual");
    screen.press("Enter");
    screen.wait_for("1 of 2: /manual");
    screen.press("p");
    screen.wait_for("Priority of");
    screen.press("0");
    screen.press("Enter");
    screen.wait_for("P0");
    screen.press("Escape");
    screen.press("+");
    screen.wait_for("Title of the new atom");
    screen.press("Sing");
    screen.press("Enter");
    wait_until("the new atom", SOON, || {
        env.el(&["list"]).ok().stdout.contains("Sing").then_some(())
    });
    screen.press("?");
    screen.wait_for("these keys");
    screen.press("q");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn a_reason_is_written_in_the_editor_and_the_screen_comes_back() {
    let (mut env, [review, _]) = project();
    env.program("write-reason", "echo 'Tests are missing' > \"$1\"");
    env.set("EDITOR", "write-reason");
    env.set("GIT_EDITOR", "write-reason");
    let screen = env.screen(100, 30, "el top");
    screen.wait_for("somebody asks for a look");
    screen.press("r");
    env.wait_for_status(&review, "open");
    screen.wait_for("1 Needs you");
    assert!(env.el(&["show", &review]).ok().stdout.contains("Tests are missing"));
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn the_terminal_is_given_back_when_a_signal_ends_the_board() {
    let (env, _) = project();
    let line = "sh -c 'echo $$ > pid; exec el top'; stty -a | grep -o '.icanon'";
    let screen = env.screen(80, 24, line);
    screen.wait_for("1 Needs you");
    let pid = env.wait_for_file(env.project("pid")).trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let text = screen.wait_for("[exit 0]");
    assert!(text.contains(" icanon"), "keys are read by lines again:\n{text}");
    assert!(!text.contains("1 Needs you"), "the screen is the shell's again:\n{text}");
}

#[test]
fn a_tracker_that_is_moved_away_is_told_and_taken_up_again() {
    let (env, _) = project();
    let screen = env.screen(100, 30, "el top");
    screen.wait_for("somebody asks for a look");
    fs::rename(env.project(".eluent"), env.project("away")).unwrap();
    screen.wait_for("the tracker cannot be read");
    fs::rename(env.project("away"), env.project(".eluent")).unwrap();
    screen.wait_for("the tracker is back");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn the_board_needs_a_terminal_and_is_not_an_agents() {
    let (env, _) = project();
    let refused = env.el(&["top"]).fails_with(2);
    assert!(refused.stderr.contains("el status"), "{refused:#?}");
}

#[test]
fn keys_are_answered_while_a_thousand_events_a_second_come() {
    let (env, _) = project();
    let screen = env.screen(100, 30, "el top");
    screen.wait_for("somebody asks for a look");
    let writer = env.database();
    writer.busy_timeout(SOON).unwrap();
    let insert = "INSERT INTO events (at, actor, kind, atom_id)
        SELECT 1, 'ann', 'updated', id FROM atoms LIMIT 1";
    for round in 0..20 {
        for _ in 0..100 {
            writer.execute(insert, []).unwrap();
        }
        if round == 10 {
            screen.press("?");
        }
        std::thread::sleep(std::time::Duration::from_millis(80));
    }
    screen.wait_for("these keys");
    screen.press("q");
    screen.press("q");
    screen.wait_for("[exit 0]");
}

#[test]
fn a_worker_that_is_killed_beneath_the_board_is_told_and_the_board_goes_on() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["wait-file go", "close done"]);
    env.create("Comes next", &[]);
    let screen = env.screen(100, 30, "el top");
    let worker = env.start_work(&["--concurrency", "1"]);
    screen.wait_for(&format!("◐ {id}"));
    // A claim whose session was not started yet waits for another worker.
    worker.wait_for("launched");
    worker.signal(Signal::KILL);
    drop(worker.wait(SOON));
    screen.wait_for("No worker runs");
    // The supervisor goes on, and the board with it.
    fs::write(env.project("go"), "").unwrap();
    env.wait_for_status(&id, "closed");
    screen.wait_for("nothing runs");
    screen.press("q");
    screen.wait_for("[exit 0]");
}
