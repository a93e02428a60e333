//! A running agent's reports about itself.

use super::Task;
use crate::support::{SOON, TestEnv, wait_until};

#[test]
fn progress_shows_in_the_run_the_status_and_the_status_file() {
    let steps = [
        "answer progress {\"task_id\": \"one\", \"status\": \"in_progress\", \"progress_percent\": \
         40, \"current_action\": \"Writing the index\", \"files_processed\": 2, \"files_total\": \
         5}",
        "wait-file go",
        "close done",
    ];
    let env = TestEnv::with_plan(&[Task("one", &[], steps.map(str::to_owned).into())]);
    let plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    let task = || env.plan_of(&epic)["tasks"][0].clone();
    let seen =
        wait_until("the percent", SOON, || Some(task()).filter(|task| task["percent"] == 40));
    assert_eq!(
        (seen["standing"].as_str(), seen["action"].as_str()),
        (Some("running"), Some("Writing the index")),
        "{seen}"
    );
    let run = env.last_run(seen["atom_id"].as_str().unwrap());
    assert_eq!((&run["percent"], &run["files_total"]), (&40.into(), &5.into()), "{run:#}");
    wait_until("the status file", SOON, || {
        let text = std::fs::read_to_string(env.run_file(&run, "STATUS.txt")).ok()?;
        (text.contains("percent: 40\n")
            && text.contains("files: 2 of 5\n")
            && text.contains("doing: Writing the index\n"))
        .then_some(())
    });
    let shown = env.el(&["orchestrate", "status", &epic]).ok().stdout;
    assert!(shown.contains("40") && shown.contains("Writing the index"), "{shown}");
    std::fs::write(env.project("go"), "").unwrap();
    plan.wait(SOON).ok();
    assert_eq!(env.status(&epic), "closed");
}
