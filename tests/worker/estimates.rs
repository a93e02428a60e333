//! A run that ended before its agent reported a cost gets an estimate from its tokens.

use rustix::process::Signal;

use crate::support::{SOON, TestEnv, wait_until};

/// 100,000 tokens in and 1 out, at 3 and 15 dollars for a million.
const MESSAGE: i64 = 300_015;

#[test]
fn a_run_without_a_result_costs_what_its_tokens_cost() {
    let env = TestEnv::with_tracker();
    env.configure("model = \"claude-sonnet-5\"\nbudget_per_day = 0.5\nretry_backoff = \"0s\"\n");
    let steps = ["usage 100000 20 9", "say one", "say two", "exit 3", "on-attempt 2", "close done"];
    let id = env.script_atom(&steps);
    env.el(&["work", "--drain"]).fails_with(10);
    let run = env.last_run(&id);
    assert_eq!(env.outcomes(&id), ["failed"], "the day's money is spent");
    let known = |value: &serde_json::Value| {
        ["cost_micros", "estimated_micros"].map(|name| value[name].as_i64().unwrap())
    };
    assert_eq!(known(&run), [2 * MESSAGE; 2]);
    assert_eq!(known(&env.robot(&["stats"])["runs"]), [2 * MESSAGE; 2]);
    let results = env.read_run_file(&run, "RESULTS.json");
    let results: serde_json::Value = serde_json::from_str(&results).unwrap();
    assert_eq!(known(&results["run"]), [2 * MESSAGE; 2]);
    assert!(env.read_run_file(&run, "STATUS.txt").contains("(estimated)"));
    let run_id = run["id"].as_str().unwrap();
    for words in [&["runs"][..], &["runs", "show", run_id], &["why", &id], &["stats"]] {
        let shown = env.el(words).ok().stdout;
        assert!(shown.contains("~$0.60"), "{words:?}: {shown}");
    }
    env.robot(&["work", "--resume"]);
    env.work(&["--drain"]);
    // The second attempt told its cost.
    assert_eq!(known(&env.last_run(&id))[1], 0);
    let both = known(&env.robot(&["stats"])["runs"]);
    assert!(both[0] > both[1] && both[1] == 2 * MESSAGE, "{both:?}");
}

#[test]
fn a_run_whose_supervisor_is_killed_keeps_its_estimate() {
    let env = TestEnv::with_tracker();
    env.configure("model = \"claude-sonnet-5\"\nretry_backoff = \"0s\"\n");
    let steps = ["usage 100000 20 9", "say one", "hang", "on-attempt 2", "close done"];
    let id = env.script_atom(&steps);
    let worker = env.start_work(&["--drain"]);
    wait_until("the estimate", SOON, || {
        let runs = env.robot(&["runs"]);
        runs["items"][0]["estimated_micros"].as_i64().filter(|micros| *micros == MESSAGE)
    });
    let run = env.last_run(&id);
    let pid = run["supervisor"]["pid"].as_u64().unwrap();
    let found = env.processes().into_iter().find(|process| u64::from(process.pid) == pid);
    found.unwrap().signal(Signal::KILL);
    let _ = worker.wait(SOON);
    assert_eq!(env.outcomes(&id), ["lost", "closed"]);
    let runs = env.robot(&["show", &id])["runs"].take();
    let lost = runs.as_array().unwrap().iter().find(|run| run["outcome"] == "lost").unwrap();
    assert_eq!(lost["estimated_micros"], MESSAGE);
}
