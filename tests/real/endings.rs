//! The real client ends its atom.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{assert_run, project, result};
use crate::support::{SOON, TestEnv};

#[test]
fn it_closes_its_atom() {
    let env_of_the_call = TestEnv::new();
    let (asked, go) = (env_of_the_call.path("asked"), env_of_the_call.path("go"));
    let steps = json!({"steps": [
        {"text": "I will do it.", "bash": "el close ${ID} --reason \"it works; tested\"",
            "touch": asked, "wait_file": go},
        {"text": "Closed."},
    ]});
    let Some((env, api)) = project(&steps) else { return };
    let id = env.create(
        "Say hello",
        &["-d", "A greeting in hello.txt", "--acceptance", "hello.txt greets"],
    );
    let worker = env.start_work(&["--once"]);
    env.wait_for_file(&asked);
    let run = env.last_run(&id);
    assert_eq!(std::fs::metadata(env.context(&id)).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(env.sessions(), [run["session"].as_str().unwrap()]);
    assert!(!env.run_file(&run, "env.json").exists());
    std::fs::write(&go, "").unwrap();
    worker.wait(SOON).ok();
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    let atom = env.show(&id);
    assert_eq!(
        (&atom["status"], &atom["close_reason"]),
        (&json!("closed"), &json!("it works; tested"))
    );
    assert_eq!(
        env.events(&id),
        ["created", "status in_progress", "run_started", "status closed", "run_ended closed"]
    );
    assert_eq!(
        (&run["turns"], &run["exit_code"], &run["stop_blocks"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert!(
        run["cost_micros"].as_i64().unwrap() > 0 && run["tokens_in"].as_i64().unwrap() > 0,
        "{run}"
    );
    let first = api.messages().remove(0)["body"]["messages"].to_string();
    assert!(
        first.contains("A greeting in hello.txt")
            && first.contains("hello.txt greets")
            && first.contains(&format!("el close {id}"))
    );
    let pane = env.read_run_file(&run, "pane.log");
    assert!(pane.contains("I will do it.") && pane.contains("el close"), "{pane}");
}

#[test]
fn it_works_in_a_worktree_and_what_it_commits_lands() {
    let steps = json!({"steps": [
        {"tool": "Write", "input": {"file_path": "hello.txt", "content": "hello\n"}},
        {"bash": "el close ${ID} --reason early"},
        {"bash": "git add -A && git commit -m \"$(cat <<'E'\nSay hello\n\n\
            With a body; and `ticks`\nE\n)\""},
        {"bash": "git status --porcelain; el close ${ID} --reason committed"},
        {"text": "Closed."},
    ]});
    let Some((env, api)) = project(&steps) else { return };
    // Own rules remove nothing.
    env.configure("allowed_tools = [\"Bash(cargo *)\"]\n");
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    let id = env.create("Say hello", &[]);
    env.work(&["--once", "--concurrency", "2"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert_eq!(env.show(&id)["close_reason"], "committed");
    assert_eq!(result(&env, &run)["permission_denials"], json!([]));
    let first = api.messages().remove(0)["body"].to_string();
    assert!(
        first.contains(&format!("on the branch el/{id}")) && first.contains(".eluent/worktrees"),
        "{first}"
    );
    assert!(!env.project("hello.txt").exists());
    assert_eq!(
        env.robot(&["diff", &id])["uncommitted"],
        json!([]),
        "the client leaves nothing of its own there"
    );
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
    assert_eq!(std::fs::read_to_string(env.project("hello.txt")).unwrap(), "hello\n");
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
}

#[test]
fn it_defers_its_atom_and_says_why() {
    let steps = json!({"steps": [
        {"bash": "el comment add ${ID} 'the API is down; try tomorrow'"},
        {"bash": "el update ${ID} --status deferred"},
        {"text": "Deferred."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    let id = env.create("Call the API", &[]);
    env.work(&["--drain"]);
    assert_run(&env, &env.last_run(&id), "deferred");
    assert_eq!((env.status(&id).as_str(), env.outcomes(&id).len()), ("deferred", 1));
    assert_eq!(env.comments(&id), ["the API is down; try tomorrow"]);
    let events = [
        "created",
        "status in_progress",
        "run_started",
        "commented",
        "status deferred",
        "run_ended deferred",
    ];
    assert_eq!(env.events(&id), events);
}

#[test]
fn it_decides_against_its_atom() {
    let steps = json!({"steps": [
        {"tools": [{"bash": "el comment add ${ID} 'it exists already'"},
            {"bash": "el update ${ID} --status wont_do"}]},
        {"text": "Not needed."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    let id = env.create("Write it again", &[]);
    env.work(&["--once"]);
    assert_run(&env, &env.last_run(&id), "wont_do");
    assert_eq!(env.status(&id), "wont_do");
    assert_eq!(env.comments(&id), ["it exists already"]);
}

#[test]
fn it_forgets_to_close_and_is_sent_back_by_the_stop_hook() {
    let steps = json!({"steps": [
        {"text": "I think that is all."},
        {"bash": "el close ${ID} --reason reminded", "when": "is still in progress in the tracker"},
        {"text": "Closed now."},
    ]});
    let Some((env, api)) = project(&steps) else { return };
    let id = env.create("Easily forgotten", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert_eq!((&run["stop_blocks"], &run["resumes"]), (&json!(1), &json!(0)));
    let events = [
        "created",
        "status in_progress",
        "run_started",
        "nudged",
        "status closed",
        "run_ended closed",
    ];
    assert_eq!(env.events(&id), events);
    assert_eq!(api.messages().len(), 3);
}

#[test]
fn it_closes_when_its_conversation_is_resumed_and_its_cost_is_counted_once() {
    let steps = json!({"steps": [
        {"text": "That is all."},
        {"text": "I said that is all."},
        {"bash": "el close ${ID} --reason 'nudged twice'"},
        {"text": "Closed."},
    ]});
    let Some((env, api)) = project(&steps) else { return };
    let id = env.create("Stubborn", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert_eq!(
        (&run["stop_blocks"], &run["resumes"], &run["attempt"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert!(
        api.messages().iter().all(|message| message["session"] == run["conversation"]),
        "it is one conversation"
    );
    // The client's total goes on from the first call.
    let total = result(&env, &run)["total_cost_usd"].as_f64().unwrap() * 1e6;
    assert!((run["cost_micros"].as_f64().unwrap() - total).abs() < 2.0, "{total} and {run}");
    let transcript = env.read_run_file(&run, "transcript.jsonl");
    let events = transcript.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let turns: u64 = events.filter_map(|event| event["num_turns"].as_u64()).sum();
    assert_eq!(run["turns"], turns);
}

#[test]
fn it_never_closes_and_after_its_attempts_the_atom_is_blocked() {
    let Some((env, _api)) =
        project(&json!({"steps": [], "after": {"text": "All done, I am sure."}}))
    else {
        return;
    };
    let id = env.create("Never closed", &[]);
    env.work(&["--drain"]);
    assert_eq!(
        (env.status(&id).as_str(), env.outcomes(&id)),
        ("blocked", vec!["violation".to_owned(), "violation".to_owned()])
    );
    for run in env.runs(&id) {
        assert_run(&env, &run, "violation");
        assert_eq!((&run["stop_blocks"], &run["resumes"]), (&json!(1), &json!(1)));
    }
    let comments = env.comments(&id);
    assert!(
        comments.len() == 1 && comments[0].contains("without closing its atom"),
        "{comments:?}"
    );
    // Once by the Stop hook, once by the supervisor's resume.
    let one = ["status in_progress", "run_started", "nudged", "nudged", "run_ended violation"];
    let all =
        [&["created"][..], &one, &["status open"], &one, &["status blocked", "commented"]].concat();
    assert_eq!(env.events(&id), all);
}

#[test]
fn two_atoms_one_after_the_other_in_the_order_of_their_dependency() {
    let steps =
        json!({"steps": [{"bash": "el close ${ID} --reason done"}, {"text": "Closed ${ID}."}]});
    let Some((env, api)) = project(&steps) else { return };
    let second = env.create("Second", &["-p", "critical"]);
    let first = env.create("First", &["--blocking", &second]);
    env.work(&["--drain"]);
    for id in [&first, &second] {
        assert_run(&env, &env.last_run(id), "closed");
    }
    let last = api.messages().pop().unwrap()["body"]["messages"].to_string();
    assert!(
        last.contains(&format!("it waited for {first}")),
        "the second one is told of the first: {last}"
    );
}

/// The newest client would go on after its turn, when the run is over; older clients could not.
#[test]
fn it_cannot_put_its_work_off_beyond_its_turn() {
    let wakeup = json!({"delaySeconds": 60, "reason": "later", "prompt": "go on"});
    let steps = json!({"steps": [
        {"tool": "ScheduleWakeup", "input": wakeup},
        {"tool": "CronCreate", "input": {"cron": "* * * * *", "prompt": "go on"}},
        {"bash": "el close ${ID} --reason \"did it at once\""},
        {"text": "Closed."},
    ]});
    let Some((env, api)) = project(&steps) else { return };
    let id = env.create("Puts off", &[]);
    env.work(&["--once"]);
    assert_run(&env, &env.last_run(&id), "closed");
    let asked = api.messages().pop().unwrap()["body"]["messages"].to_string();
    for tool in ["ScheduleWakeup", "CronCreate"] {
        assert!(asked.contains(&format!("No such tool available: {tool}")), "{asked}");
    }
}
