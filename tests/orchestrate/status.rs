//! A person's view of a plan: at any size, on any terminal, and with the reason for each
//! standstill.

use serde_json::Value;

use super::{Task, plain};
use crate::support::{SOON, TestEnv, wait_until};

impl TestEnv {
    /// Files a plan of so many tasks in layers of five, without beginning work. Returns its epic.
    fn filed(&self, tasks: usize) -> String {
        let list: Vec<Value> = (0..tasks)
            .map(|n| {
                let title = format!(
                    "Describe what the endpoint number {n} takes, gives and \
                    refuses, with examples"
                );
                let before: Vec<String> =
                    n.checked_sub(5).map(|before| format!("t{before}")).into_iter().collect();
                serde_json::json!({ "id": format!("t{n}"), "title": title, "description": "d",
                    "dependencies": before })
            })
            .collect();
        std::fs::write(
            self.path("tmp/answers/tasks.json"),
            serde_json::json!({ "tasks": list }).to_string(),
        )
        .unwrap();
        let ran = self
            .el(&["orchestrate", "--robot", "Write the manual", "--plan-only", "--isolate", "none"])
            .ok();
        let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
        last["data"]["epic_id"].as_str().unwrap().to_owned()
    }

    /// Returns a command's output on a terminal of this width; no line may be too long.
    #[track_caller]
    fn on_terminal(&self, columns: u16, line: &str) -> String {
        let screen = self.screen(columns, 120, line);
        let seen = screen.wait_for("\n[exit 0]");
        assert!(!screen.is_wrapped(), "{columns} columns\n{seen}");
        seen.split("\n[exit 0]").next().unwrap().to_owned()
    }
}

#[test]
fn a_large_plan_is_one_screen_and_never_wraps() {
    let env = TestEnv::with_plan(&[]);
    let epic = env.filed(40);
    let tasks = env.plan_of(&epic)["tasks"].take();
    let atom = |n: usize| tasks[n]["atom_id"].as_str().unwrap();
    for n in 0..10 {
        env.el(&["close", atom(n), "--reason", "done"]).ok();
    }
    env.el(&["update", atom(10), "--status", "deferred"]).ok();
    env.el(&["discard", atom(11), "--reason", "another team does it"]).ok();
    env.el(&["update", atom(12), "--status", "wont_do"]).ok();

    for columns in [60, 80, 120] {
        let seen = env.on_terminal(columns, &format!("el orchestrate show {epic}"));
        assert!(seen.lines().count() < 40, "{seen}");
        let words = seen.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "10 of 39 done, 4 ready, 18 waiting, 1 deferred, 1 won't do, 5 held",
            "Layer 2 · 6 tasks: 5 done, 1 waiting",
            "Layers 5–8 · 17 tasks: 13 waiting, 4 held",
            "holds 5 tasks: ",
            "Discarded",
            "34 of 39 tasks not shown one by one; --all shows all",
        ] {
            assert!(words.contains(part), "{columns} columns, without {part:?}\n{seen}");
        }
    }
    let wide = env.on_terminal(200, &format!("el orchestrate show {epic}"));
    let freed = format!("another team does it; {} went on without it", atom(16));
    assert!(wide.contains(&freed), "{wide}");
    let dropped = &env.plan_of(&epic)["dropped"][0];
    assert_eq!(
        (&dropped["task_id"], &dropped["freed"][0]),
        (&"t11".into(), &atom(16).into()),
        "{dropped:#}"
    );

    let all = env.el(&["orchestrate", "status", &epic, "--all"]).ok().stdout;
    assert!((0..40).all(|n| all.contains(atom(n))) && !all.contains("--all"), "{all}");
    env.el(&["orchestrate", "status", "--all"]).fails_with(2);

    let listed = env.on_terminal(100, &format!("el list --parent {epic}"));
    assert!(
        listed.contains(&format!(
            "more are over; --all shows them\nel orchestrate show {epic} draws the plan"
        )),
        "{listed}"
    );
}

#[test]
fn what_failed_and_is_tried_again_says_when_and_why() {
    let env = TestEnv::with_plan(&[
        Task("bad", &[], vec!["exit 3".to_owned()]),
        plain("after", &["bad"]),
        plain("fine", &[]),
    ]);
    env.configure("retry_backoff = \"20m\"\n");
    let _plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    let bad = wait_until("the back-off", SOON, || {
        let plan = env.plan_of(&epic);
        let bad = plan["tasks"].as_array()?.iter().find(|task| task["task_id"] == "bad")?.clone();
        let fine = plan["tasks"].as_array()?.iter().find(|task| task["task_id"] == "fine")?.clone();
        (bad["retry_at"].is_string() && fine["standing"] == "done").then_some(bad)
    });
    assert_eq!(
        (&bad["failures"], &bad["outcome"], &bad["attempts"]),
        (&1.into(), &"failed".into(), &1.into()),
        "{bad:#}"
    );
    let drawn = env.el(&["orchestrate", "status", &epic]).ok().stdout;
    for part in [
        "1 of 3 done, 1 to try again, 1 waiting",
        "again at ",
        "(in ",
        "attempt 1 of 3 failed: ",
        "code 3",
        "driven just now",
    ] {
        assert!(drawn.contains(part), "without {part:?}\n{drawn}");
    }
}

#[test]
fn a_question_that_fails_says_when_it_is_tried_again_and_in_the_end_why_it_stopped() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of("analysis", &["exit 3"]);
    env.configure("retry_backoff = \"20m\"\n");
    let plan = env.start_plan(&["--isolate", "none"]);
    let epic = env.epic();
    let analysis = || env.plan_of(&epic)["phases"][0].clone();
    let seen = wait_until("the back-off", SOON, || {
        Some(analysis()).filter(|phase| phase["retry_at"].is_string())
    });
    assert_eq!(
        (&seen["failures"], &seen["outcome"], &seen["state"]),
        (&1.into(), &"failed".into(), &"asked".into()),
        "{seen:#}"
    );
    let drawn = env.el(&["orchestrate", "status", &epic]).ok().stdout;
    assert!(
        drawn.contains("tries again at ") && drawn.contains("attempt 1 of 3 failed: "),
        "{drawn}"
    );
    drop(plan);

    let atom = seen["atom_id"].as_str().unwrap();
    env.configure("max_attempts = 1\n");
    env.el(&["retry", atom]).ok();
    env.el(&["orchestrate", "resume", &epic, "--isolate", "none"]).fails_with(4);
    let drawn = env.el(&["orchestrate", "status", &epic]).ok().stdout;
    assert!(
        drawn.contains("stopped\n")
            && drawn.contains("is blocked")
            && drawn.contains("attempt 1 of 1 failed: "),
        "{drawn}"
    );
}
