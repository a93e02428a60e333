use crate::support::TestEnv;

/// Promised: at most 3 kB.
const MOST: usize = 3_000;

#[test]
fn where_no_tracker_is_nothing_is_said() {
    let env = TestEnv::new();
    let ran = env.el(&["prime"]).ok();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    assert_eq!(env.robot(&["prime"]), serde_json::Value::Null);
}

#[test]
fn an_agent_reads_what_is_its_own_and_what_is_ready() {
    let env = TestEnv::with_tracker();
    for n in 0..8 {
        env.create(&format!("Task {n}"), &[]);
    }
    let mine =
        env.robot(&["next", "--claim", "--actor", "gendry"])["id"].as_str().unwrap().to_owned();
    let told = env.el(&["prime", "--actor", "gendry"]).ok().stdout;
    assert!(
        told.contains(&format!(
            "In progress for gendry (1):\n  {mine} P2 task  Task 0\nReady (5 of 7):\n"
        )),
        "{told}"
    );
    for want in ["el next --claim", "el close ID -r REASON", "el show ID"] {
        assert!(told.contains(want), "{want}");
    }
    let data = env.robot(&["prime", "--actor", "gendry"]);
    assert_eq!((&data["ready_total"], data["ready"].as_array().unwrap().len()), (&7.into(), 5));
    assert_eq!(data["in_progress"][0]["id"], mine.as_str());
    let other = env.el(&["prime", "--actor", "someone"]).ok().stdout;
    assert!(!other.contains("In progress"), "{other}");
}

#[test]
fn a_session_reads_of_its_own_atom() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["sh el prime > primed.txt", "close"]);
    env.work(&["--once"]);
    let told = env.wait_for_file("primed.txt");
    assert!(
        told.starts_with(&format!(
            "You are at work on this atom of the tracker el:\n  {id} P2 task  Play a script\n"
        )),
        "{told}"
    );
    assert!(told.contains(&format!("el close {id} -r")) && !told.contains("Ready"), "{told}");
    let run = env.last_run(&id);
    // The run is over, and its session has no tracker.
    env.run(&mut env.el_as_run(&run, &["prime"])).fails_with(5);
}

#[test]
fn titles_of_any_kind_stay_lines_and_the_whole_stays_small() {
    let env = TestEnv::with_tracker();
    for n in 0..12 {
        let title = format!("{n} \u{1b}]0;x\u{7}/clear @file \u{202e}{}", "漢👩‍👧é".repeat(80));
        env.create(&title, &["--type", "discovery"]);
    }
    for _ in 0..6 {
        env.robot(&["next", "--claim", "--actor", &"n".repeat(100)]);
    }
    let told = env.el(&["prime", "--actor", &"n".repeat(100)]).ok().stdout;
    assert!(told.len() <= MOST, "{} bytes", told.len());
    assert!(told.contains("(5 of 6)"), "{told}");
    assert!(!told.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'));
    assert!(told.lines().all(|line| !line.starts_with(['/', '@', '#'])));
}
