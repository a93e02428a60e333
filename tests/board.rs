//! The board: `el`, `el status`, and `--watch`.

use std::fs;

use rustix::process::Signal;

use crate::support::{SOON, TestEnv, wait_until};

/// A project with something in review, something blocked, and something that waits for both.
fn project() -> (TestEnv, [String; 3]) {
    let env = TestEnv::with_tracker();
    let review = env.create("Retry the upload", &["-p", "high"]);
    let blocked = env.create("Choose a port", &[]);
    let after = env.create("Write the manual", &[]);
    env.el(&["update", &review, "--status", "review"]).ok();
    env.el(&["update", &blocked, "--status", "blocked"]).ok();
    env.el(&["comment", "add", &blocked, "the key is missing"]).ok();
    env.el(&["dep", "add", &review, &after]).ok();
    (env, [review, blocked, after])
}

#[test]
fn bare_el_is_the_board_in_a_project_and_says_how_to_begin_elsewhere() {
    let (env, [review, blocked, after]) = project();
    let told = env.el(&[]).ok().stdout;
    let line = |part: &str| {
        told.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{told}"))
    };
    assert!(line(&format!("el approve {review}")) < line(&format!("el retry {blocked}")), "{told}");
    assert!(told.contains("the key is missing") && told.contains("frees 1"), "{told}");
    assert!(line("Waiting") < line(&after), "{told}");
    assert!(told.lines().next().unwrap().contains("2 need you · 0 run · 0 ready · 1 wait"));
    assert_eq!(env.el(&["status"]).ok().stdout, told);
    assert_eq!(env.el(&["-q"]).ok().stdout, format!("{review}\n{blocked}\n"));

    let outside = env.path("elsewhere");
    fs::create_dir(&outside).unwrap();
    let told = env.run(env.command("el").current_dir(&outside)).ok().stdout;
    assert!(told.contains("el init") && told.contains("no tracker"), "{told}");
    let told = env.run(env.command("el").arg("--robot").current_dir(&outside)).fails_with(3);
    assert_eq!(told.json()["error"]["code"], "no_database");
}

#[test]
fn robots_get_the_same_rows_with_the_ways_to_settle_them() {
    let (env, [review, blocked, after]) = project();
    let board = env.robot(&["status"]);
    assert_eq!(board, {
        let mut bare = env.robot(&[]);
        bare["now"] = board["now"].clone();
        bare
    });
    let needs = board["needs"]["items"].as_array().unwrap();
    let ids: Vec<&str> = needs.iter().filter_map(|need| need["atom_id"].as_str()).collect();
    assert_eq!(ids, [&review, &blocked]);
    assert_eq!(needs[0]["ways"][0]["command"], format!("el approve {review}"));
    assert_eq!(board["waiting"]["items"][0]["id"], after);
    assert_eq!(board["waiting"]["items"][0]["holds"][0]["by"], review);
    let few = env.robot(&["status", "--limit", "1"]);
    assert_eq!((&few["needs"]["count"], &few["needs"]["total"]), (&1.into(), &2.into()));
    assert_eq!(few["needs"]["truncated"], true);
}

#[test]
fn the_first_way_of_every_need_settles_it() {
    let (env, [review, blocked, _]) = project();
    for id in [review, blocked] {
        let board = env.robot(&["status"]);
        let need = &board["needs"]["items"][0];
        assert_eq!(need["atom_id"], id);
        let command = need["ways"][0]["command"].as_str().unwrap();
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        env.el(&words).ok();
    }
    assert_eq!(env.robot(&["status"])["needs"]["total"], 0);
}

#[test]
fn a_watched_board_is_drawn_again_when_something_changes_and_fits_the_window() {
    let (env, [review, ..]) = project();
    let screen = env.screen(80, 24, "el status --watch");
    screen.wait_for("2 need you");
    env.el(&["approve", &review]).ok();
    let text = screen.wait_for("1 needs you");
    assert!(!text.contains("2 need you"), "the old screen is gone:\n{text}");
    screen.resize(40, 8);
    let text = screen.wait_for("more lines");
    assert!(text.trim_end().ends_with("more lines"), "nothing scrolls:\n{text}");
    screen.press("C-c");
    screen.wait_for("[exit 130]");
}

#[test]
fn every_watched_list_goes_on_with_the_next_change() {
    let env = TestEnv::with_tracker();
    for words in
        [&["list"][..], &["queue"], &["tasks"], &["runs"], &["orchestrate", "status"], &["status"]]
    {
        let mut watched = env.command("el");
        watched.args(["--robot"]).args(words).arg("--watch");
        let running = env.start(&mut watched);
        let lines = |count| {
            wait_until("an answer", SOON, || {
                (running.stdout().lines().count() >= count).then_some(())
            });
        };
        lines(1);
        env.create("something new", &[]);
        if ["list", "status"].contains(&words[0]) {
            lines(2);
        }
        running.signal(Signal::KILL);
    }
}

#[test]
fn a_watch_ends_when_the_database_is_gone() {
    let (env, _) = project();
    let screen = env.screen(80, 24, "el status --watch");
    screen.wait_for("2 need you");
    fs::rename(env.project(".eluent"), env.project("elsewhere")).unwrap();
    screen.wait_for("[exit 3]");
}
