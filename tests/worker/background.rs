//! Chosen atoms, workers in the background, and messages to a person before and during the work.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Process, SOON, TestEnv, wait_until};

#[test]
fn only_the_atoms_that_are_named_are_worked_on() {
    let env = TestEnv::with_tracker();
    let [one, two, other] = ["1", "2", "3"].map(|_| env.script_atom(&["close done"]));
    let held = env.create("Held", &["--blocked-by", &other]);
    let ran = env.el(&["work", &one, &two, &held]).fails_with(9);
    assert_eq!([&one, &two, &other].map(|id| env.status(id)), ["closed", "closed", "open"]);
    assert!(ran.stderr.contains(&format!("{held} is not ready")), "{ran:#?}");
    assert!(ran.stderr.contains(&format!("1 of 3 atoms was not worked on: {held}")), "{ran:#?}");

    let refused = env.el(&["work", "stauts"]).fails_with(2).stderr;
    assert!(refused.contains("el work --status"), "{refused}");
    env.el(&["work", "zzzz"]).fails_with(3);
    assert_eq!(env.status(&other), "open");
}

#[test]
fn a_named_atom_that_cannot_be_worked_on_is_no_success() {
    let env = TestEnv::with_tracker();
    for status in ["blocked", "deferred", "review", "testing", "wont_do", "discard"] {
        let id = env.script_atom(&["close done"]);
        env.el(&["update", &id, "--status", status]).ok();
        let ran = env.el(&["work", &id]).fails_with(9).stderr;
        assert!(ran.contains(&format!("1 of 1 atom was not worked on: {id}")), "{status}: {ran}");
        assert_eq!(env.status(&id), status);
    }
    let epic = env.create("Large", &["--type", "epic"]);
    env.el(&["work", &epic, "--once"]).fails_with(9);

    // A closed atom needs no work, and a bound leaves the rest on purpose.
    let [one, two] = ["1", "2"].map(|_| env.script_atom(&["close done"]));
    env.el(&["work", &one, &two, "--once"]).ok();
    env.el(&["work", &one, &two]).ok();
    let again = env.el(&["work", &one, &two]).ok().stderr;
    assert!(again.contains(&format!("{one} is closed already: el reopen {one}")), "{again}");
    env.el(&["work", "--drain"]).ok();
}

#[test]
fn a_worker_in_the_background_is_seen_and_stopped_until_it_is_gone() {
    let env = TestEnv::with_tracker();
    let nobody = env.robot(&["work", "--status"]);
    assert_eq!(nobody["workers"], json!([]), "{nobody}");
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let started = env.robot(&["work", "--background"]);
    let pid = u32::try_from(started["pid"].as_u64().unwrap()).unwrap();
    env.wait_for_file("started");

    let status = env.robot(&["work", "--status"]);
    let worker = &status["workers"][0];
    assert_eq!(worker["process"]["pid"], started["pid"], "{status}");
    assert_eq!(
        (&worker["agents"], &worker["runs"][0]["atom_id"]),
        (&json!(["claude"]), &json!(id))
    );
    let began = worker["started_at"].as_str().unwrap();
    assert!(el_core::model::Timestamp::parse(began).is_ok(), "{began}");
    let said = env.el(&["work", "--status"]).ok().stdout;
    let (id, pid_text) = (&id, format!("pid {pid}"));
    for words in [&pid_text, id, "works for claude", "started now"] {
        assert!(said.contains(words), "{words} is missing: {said}");
    }
    let log = std::fs::read_to_string(started["log"].as_str().unwrap()).unwrap();
    assert!(log.contains(id), "it says what it does: {log}");

    // A second one is told of the first, as at a terminal.
    let second = env.el(&["work", "--background"]).ok();
    assert!(second.stderr.contains(&format!("another worker is at it: pid {pid}")), "{second:#?}");

    let stopped = env.robot(&["work", "--stop"]);
    assert!(stopped["workers"].as_array().unwrap().contains(&json!(pid)), "{stopped}");
    assert!(!Process::runs(pid), "it is gone once --stop has returned");
    assert_eq!(env.status(id), "open");
}

#[test]
fn the_end_of_a_terminal_that_nohup_ignores_ends_no_worker() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let mut command = env.command("sh");
    command.args(["-c", "trap '' HUP; exec el --robot work --drain"]);
    let worker = env.start(&mut command);
    env.wait_for_file("started");
    worker.signal(Signal::HUP);
    std::fs::write(env.project("go"), "").unwrap();
    let ran = worker.wait(SOON).ok();
    assert!(!ran.stdout.contains("\"detached\""), "{ran:#?}");
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn a_line_says_where_agents_work_and_what_they_may_cost_before_they_begin() {
    let env = TestEnv::with_tracker();
    let said = env.el(&["work", "--drain"]).ok().stderr;
    let folder = env.project("").display().to_string();
    let folder = folder.trim_end_matches('/');
    assert!(said.contains(&format!("claude: works in {folder}")), "{said}");
    assert!(said.contains("permission mode") && said.contains("no bound on cost"), "{said}");
    let budget = ["--budget-per-run", "2", "--budget-per-day", "20"];
    let said = env.el(&[&["work", "--drain"], &budget[..]].concat()).ok().stderr;
    assert!(said.contains("at most $2.00 a run, $20.00 a day"), "{said}");
    assert_eq!(env.work(&["--drain"]).first().map(|line| &line["event"]), Some(&json!("started")));

    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "init"]);
    let said = env.el(&["work", "--drain", "--concurrency", "2"]).ok().stderr;
    assert!(said.contains("a git worktree for each atom"), "{said}");
}

#[test]
fn the_live_view_counts_what_waits_and_fits_a_terminal_that_shrinks() {
    let env = TestEnv::with_tracker();
    let atoms: Vec<String> = (0..5)
        .map(|_| env.script_atom(&["say a long line of words", "wait-file go", "close done"]))
        .collect();
    let held = env.create("Put off", &[]);
    let now = std::time::SystemTime::now();
    let soon = now + std::time::Duration::from_secs(500);
    let [now, soon] = [now, soon].map(el_core::model::Timestamp::from);
    env.database()
        .execute(
            "UPDATE atoms SET retry_at = ?2, retry_from = ?3 WHERE id = ?1",
            (&held, soon.as_micros(), now.as_micros()),
        )
        .unwrap();
    let screen = env.screen(90, 8, "el work --drain --concurrency 4");
    let text = screen.wait_for("0 of 6 · 1 ready · 1 back off, next in 8m");
    assert!(text.lines().filter(|line| line.starts_with('◐')).count() <= 5, "{text}");
    let redrawn = |marks: &str| -> usize { screen.text().matches(marks).count() };
    screen.resize(50, 8);
    let once = wait_until("a redraw", SOON, || Some(redrawn("0 of 6")).filter(|count| *count == 1));
    assert_eq!(once, 1);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(redrawn("0 of 6"), 1, "nothing floods the scrollback:\n{}", screen.text());
    env.el(&["close", &held]).ok();
    std::fs::write(env.project("go"), "").unwrap();
    screen.wait_for("[exit 0]");
    let over: Vec<Value> = atoms.iter().map(|id| env.show(id)["status"].clone()).collect();
    assert!(over.iter().all(|status| status == "closed"), "{over:?}");
}

#[test]
fn the_live_view_tells_the_cost_in_all_and_how_long_a_pause_lasts() {
    let env = TestEnv::with_tracker();
    env.script_atom(&["usage 10 10 0.25", "say paid", "close done"]);
    env.script_atom(&["usage 10 10 0.5", "say paid", "rate-limit 4000000000"]);
    let screen = env.screen(100, 8, "el work");
    let text = screen.wait_for(" · 1 ready · paused until 20");
    assert!(text.contains("\n1 of 2 · $1.00 · 1 ready"), "{text}");
}

#[test]
fn a_dry_run_has_the_order_of_the_queue_and_says_where_each_run_works() {
    let env = TestEnv::with_tracker();
    let lines: String = (0..6).map(|n| format!("{{\"title\":\"Number {n}\"}}\n")).collect();
    std::fs::write(env.project("many.jsonl"), lines).unwrap();
    env.el(&["create", "--file", "many.jsonl"]).ok();
    let preview = env.robot(&["work", "--dry-run"]);
    let titles = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|atom| atom["title"].to_string()).collect()
    };
    assert_eq!(titles(&preview["would_claim"]), titles(&env.robot(&["ready"])["items"]));
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "init"]);
    let said = env.el(&["work", "--dry-run", "--concurrency", "2"]).ok().stdout;
    assert!(said.contains("a git worktree for each atom"), "{said}");
}

#[test]
fn a_log_that_is_followed_waits_for_a_task_that_has_not_begun() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["say here it is", "close done"]);
    env.el(&["logs", &id]).fails_with(4);
    let follow = env.start_el(&["logs", &id, "-f"]);
    wait_until("that it waits", SOON, || follow.stderr().contains("has not begun").then_some(()));
    env.work(&["--drain"]);
    let ran = follow.wait(SOON).ok();
    assert!(ran.stdout.contains("here it is"), "{ran:#?}");
}
