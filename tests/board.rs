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

#[test]
fn a_series_is_told_to_people_and_to_programs() {
    let env = TestEnv::with_tracker();
    let id = env.create("Boil water", &[]);
    env.create("Drink it", &[]);
    env.el(&["close", &id]).ok();
    let done = env.robot(&["stats", "--series", "done", "--days", "3"]);
    assert_eq!(
        (&done["series"], &done["by"], &done["total"]),
        (&"done".into(), &"day".into(), &3.into())
    );
    assert_eq!(done["items"][2]["values"]["closed"], 1, "{done:#}");
    assert_eq!(done["measures"][0]["unit"], "count");
    for series in done["items"].as_array().unwrap() {
        assert_eq!(series["key"].as_str().map(str::len), Some("2026-11-29".len()), "{done:#}");
    }
    let told = env.el(&["stats", "--series", "done"]).ok().stdout;
    let day = done["items"][2]["key"].as_str().unwrap();
    assert!(told.contains(day) && told.contains("CLOSED"), "{told}");
    assert_eq!(told.lines().count(), 3, "days without anything are left out:\n{told}");
    let told = env.el(&["stats", "--series", "queue-age"]).ok().stdout;
    assert!(told.contains("under 1 hour"), "{told}");
    let told = env.el(&["stats", "--series", "cost"]).ok().stdout;
    assert!(told.contains("nothing to tell"), "{told}");
    let refused = env.el(&["stats", "--series", "moods"]).fails_with(2).stderr;
    assert!(refused.contains("cost_by_agent"), "{refused}");
    env.el(&["stats", "--days", "3"]).fails_with(2);
    env.el(&["stats", "--series", "done", "--days", "0"]).fails_with(2);
}

#[test]
fn what_others_changed_since_a_look_at_the_terminal_is_marked_as_new() {
    let (env, [_, blocked, _]) = project();
    assert_eq!(env.robot(&["status"])["looked"], serde_json::Value::Null);
    let look = || env.screen(80, 24, "el status").wait_for("[exit 0]");
    assert!(!look().contains("new"), "who never looked is not told that all is new");
    env.el(&["--actor", "bob", "comment", "add", &blocked, "it is under the mat"]).ok();
    let board = env.robot(&["status"]);
    assert_eq!(board["fresh"], serde_json::json!([blocked]), "{board:#}");
    let told = env.el(&["status"]).ok().stdout;
    assert!(told.contains("1 atom new since you looked"), "{told}");
    let row = told.lines().find(|line| line.contains(&blocked)).unwrap();
    assert!(row.contains("! new blocked") || row.contains("!  new  blocked"), "{row}");
    // A pipe is no look.
    assert_eq!(env.robot(&["status"])["fresh"], board["fresh"]);
    assert!(look().contains("1 atom new"));
    assert_eq!(env.robot(&["status"])["fresh"], serde_json::json!([]));
}
