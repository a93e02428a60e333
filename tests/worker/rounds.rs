//! An agent that puts its atom back is not started again and again.

use crate::support::{SOON, TestEnv};

/// The agent tries this first, then ends its atom.
fn tried(env: &TestEnv, command: &str) -> (String, String) {
    let id = env.script_atom(&[&format!("sh {command} 2> said; echo $? > code"), "close done"]);
    env.work(&["--once"]);
    let (code, said) = (env.wait_for_file("code"), env.wait_for_file("said"));
    assert_eq!(env.outcomes(&id), ["closed"], "{command}: {said}");
    for file in ["code", "said"] {
        std::fs::remove_file(env.project(file)).unwrap();
    }
    (code, said)
}

#[test]
fn an_agent_does_not_put_its_own_atom_back_into_the_queue() {
    let env = TestEnv::with_tracker();
    let refused = [
        "el update $EL_ATOM --status open",
        "el retry $EL_ATOM",
        "el cancel $EL_ATOM --requeue",
        "el close $EL_ATOM && el reopen $EL_ATOM",
        "el update $EL_ATOM --status deferred && el reopen $EL_ATOM",
        "el update $EL_ATOM --status deferred && el retry $EL_ATOM",
        "el discard $EL_ATOM && el discard restore $EL_ATOM",
    ];
    for command in refused {
        // The first part ends the run: the rest comes within the grace time.
        let id =
            env.script_atom(&[&format!("sh ({command}) 2> said; echo $? > code"), "close done"]);
        env.work(&["--once"]);
        let (code, said) = (env.wait_for_file("code"), env.wait_for_file("said"));
        assert_eq!(code, "8", "{command}: {said}");
        assert!(said.contains("el close"), "{command}: {said}");
        assert_eq!(env.outcomes(&id).len(), 1, "{command}");
        assert_ne!(env.status(&id), "open", "{command}");
        for file in ["code", "said"] {
            std::fs::remove_file(env.project(file)).unwrap();
        }
    }
}

#[test]
fn nothing_is_put_off_until_a_time_that_has_passed() {
    let env = TestEnv::with_tracker();
    for date in ["today", "0d", "yesterday", "now", "2020-01-01"] {
        let (code, said) =
            tried(&env, &format!("el update $EL_ATOM --status deferred --defer-until {date}"));
        assert_eq!(code, "2", "{date}: {said}");
        env.el(&["create", "Too late", "--defer-until", date]).fails_with(2);
    }
    let (code, said) = tried(&env, "el update $EL_ATOM --status deferred --defer-until 5s");
    assert!(code == "2" && said.contains("--defer-until 1m"), "{code}: {said}");
    let minute = env.script_atom(&["sh el update $EL_ATOM --status deferred --defer-until 1m"]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&minute), ["deferred"], "a minute is a minute");
    let id = env.create("Soon enough", &[]);
    env.el(&["update", &id, "--defer-until", "5s"]).ok();
}

#[test]
fn agents_that_open_each_others_atoms_meet_the_back_off_and_the_number_of_attempts() {
    let env = TestEnv::with_tracker();
    env.configure("retry_backoff = \"200ms\"\nmax_attempts = 3\n");
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..2 {
        // Each agent opens the other atom and closes its own.
        let steps = "sh for id in $(cat pair); do [ $id = $EL_ATOM ] || el reopen $id; done";
        ids.push(env.script_atom(&[steps, "close done"]));
    }
    std::fs::write(env.project("pair"), ids.join("\n")).unwrap();
    env.start_work(&["--drain"]).wait(SOON).ok();
    let runs: usize = ids.iter().map(|id| env.outcomes(id).len()).sum();
    assert!((3..=6).contains(&runs), "{runs} runs");
    let blocked: Vec<&String> = ids.iter().filter(|id| env.status(id) == "blocked").collect();
    assert!(!blocked.is_empty(), "one of them is given up");
    let why = env.el(&["why", blocked[0]]).ok();
    assert!(why.stdout.contains("Given up after 3 attempt"), "{why:#?}");
    // A person's word gives fresh attempts.
    env.el(&["retry", blocked[0]]).ok();
    env.work(&["--once"]);
    assert!(env.outcomes(blocked[0]).len() > 3);
}
