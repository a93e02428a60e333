//! Work that is handed over for review, sent back with a reason, and approved.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::TestEnv;

/// A step that writes a report about the agent's own atom.
fn write_report(summary: &str, files: &[&str]) -> String {
    let report = json!({
        "type": "completion_report", "taskId": "$EL_ATOM", "platform": "custom",
            "status": "awaiting_review",
        "summary": summary, "filesCreated": files, "filesModified": [],
        "buildResult": { "status": "failed", "command": "make", "errors": 1,
            "output": "a.c:1: error: expected ';'" },
        "timestamp": "2026-11-28T09:00:00.000Z"
    });
    format!("write report.json {report}")
}

fn git(env: &TestEnv, arguments: &[&str]) {
    env.run(env.command("git").args(arguments)).ok();
}

#[test]
fn a_hand_over_is_shown_rejected_seen_by_the_next_attempt_and_approved() {
    let env = TestEnv::with_tracker();
    git(&env, &["init", "-q"]);
    let first = write_report("Made the parser", &["parser.c"]);
    let second = write_report("Made the parser with tests", &["parser.c", "test.c"]);
    let id = env.create(
        "Write a parser",
        &[
            "--label",
            "review",
            "-d",
            &TestEnv::script(&[
                "write parser.c one\\ntwo\\n",
                &first,
                "close I would rather close it",
                "el submit $EL_ATOM --report report.json",
                "on-attempt 2",
                "record second.json",
                "write test.c three\\n",
                &second,
                "el submit $EL_ATOM --report report.json",
            ]),
        ],
    );
    env.work(&["--once"]);
    assert_eq!(
        (env.status(&id), env.outcomes(&id)),
        ("review".to_owned(), vec!["review".to_owned()])
    );
    let run = env.last_run(&id);
    assert!(
        env.read_run_file(&run, "prompt.md").contains(&format!("el submit {id} --report FILE"))
    );
    assert!(
        env.read_run_file(&run, "transcript.jsonl")
            .contains("is to be reviewed before it is closed")
    );

    let waiting = env.robot(&["review"]);
    let row = &waiting["items"][0];
    assert_eq!((waiting["count"].as_i64(), row["id"].as_str()), (Some(1), Some(id.as_str())));
    assert_eq!(row["review"]["report"]["buildResult"]["errors"], 1);
    assert_eq!(row["run"]["id"], run["id"]);
    assert_eq!(
        row["diff"],
        json!({"added": 2, "removed": 0, "truncated": false, "files": [{"path": "parser.c",
            "added": 2, "removed": 0}]})
    );
    let shown = env.el(&["review"]).ok().stdout;
    for part in [
        "Made the parser",
        "Build: failed · make",
        "expected ';'",
        "Changes: 1 file, +2 -0",
        "parser.c +2 -0",
        "attempt 1",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }

    env.el(&["reject", &id, "--reason", ""]).fails_with(2);
    env.el(&["reject", &id, "--reason", "There is no test"]).ok();
    assert_eq!(env.status(&id), "open");
    env.work(&["--once"]);
    let prompt = env.recorded("second.json")["prompt"].as_str().unwrap().to_owned();
    let rejected = prompt.split("## Rejected").nth(1).expect("the reason has its own place");
    assert!(rejected.split("##").next().unwrap().contains("There is no test"), "{rejected}");
    assert_eq!(env.outcomes(&id), ["review", "review"]);
    assert_eq!(env.robot(&["review"])["items"][0]["diff"]["files"].as_array().unwrap().len(), 2);

    env.el(&["approve", &id]).ok();
    let atom = env.show(&id);
    assert_eq!(
        (atom["status"].as_str(), atom["close_reason"].as_str()),
        (Some("closed"), Some("Approved: Made the parser with tests"))
    );
    assert_eq!(env.robot(&["review"])["count"], 0);
    env.el(&["approve", &id]).fails_with(4);
    let verdicts: Vec<&Value> =
        atom["reviews"].as_array().unwrap().iter().map(|r| &r["verdict"]).collect();
    assert_eq!(verdicts, ["rejected", "approved"]);
}

#[test]
fn a_report_that_does_not_fit_is_refused_field_by_field() {
    let env = TestEnv::with_tracker();
    let id = env.create("One", &[]);
    let submit = |report: &str| -> Command {
        let mut command = env.command("sh");
        command.args([
            "-c",
            "printf '%s' \"$2\" | el --robot submit \"$1\" --report -",
            "sh",
            &id,
            report,
        ]);
        command
    };
    let template = env.robot(&["submit", &id, "--template"]);
    assert_eq!(template["taskId"], id.as_str());
    let refused = env.run(&mut submit(&template.to_string())).fails_with(2).json();
    assert_eq!(refused["error"]["code"], "invalid_report");
    assert_eq!(refused["error"]["details"]["fields"][0]["field"], "summary");
    assert_eq!(
        env.run(&mut submit(
            "no \
            json"
        ))
        .fails_with(2)
        .json()["error"]["details"]["fields"][0]["field"],
        "report"
    );
    let told = env.el(&["submit", &id, "--report", "/dev/null"]).fails_with(2).stderr;
    assert!(told.contains("report: it is not JSON"), "{told}");
    assert_eq!(env.status(&id), "open");
    let mut filled = template;
    filled["summary"] = json!("done");
    let submitted = env.run(&mut submit(&filled.to_string())).ok().json();
    assert_eq!(
        (submitted["data"]["status"].as_str(), submitted["data"]["review"]["verdict"].is_null()),
        (Some("review"), true)
    );
}

#[test]
fn a_setting_asks_every_run_for_a_review_and_a_stale_run_submits_nothing() {
    let env = TestEnv::with_tracker();
    env.configure("review = true\nmax_attempts = 1");
    let id = env.script_atom(&["close done", "touch tried", "hang"]);
    let worker = env.start_work(&[]);
    env.wait_for_file("tried");
    let run = env.last_run(&id);
    assert!(
        env.read_run_file(&run, "transcript.jsonl")
            .contains("is to be reviewed before it is closed")
    );
    let refused = env.run(&mut env.el_as_run(&run, &["close", &id])).fails_with(8);
    assert!(refused.stderr.contains("el submit"), "{refused:?}");
    let mut report = env.robot(&["submit", &id, "--template"]);
    report["summary"] = json!("by the session");
    std::fs::write(env.project("report.json"), report.to_string()).unwrap();
    env.run(&mut env.el_as_run(&run, &["submit", &id, "--report", "report.json"])).ok();
    let ended = env.wait_for_end(&id, 1);
    assert_eq!(ended["outcome"], "review");
    env.run(&mut env.el_as_run(&run, &["submit", &id, "--report", "report.json"])).fails_with(5);
    env.run(&mut env.el_as_run(&run, &["approve", &id])).fails_with(5);
    env.el(&["approve", &id, "--reason", "fine"]).ok();
    assert_eq!(env.show(&id)["close_reason"], "Approved: fine");
    drop(worker);
}

/// Only a person approves, by whatever way a session tries.
#[test]
fn no_session_approves_or_speaks_for_a_person() {
    let env = TestEnv::with_tracker();
    let waits = env.create("Wait for a person", &[]);
    hand_over(&env, &waits);
    env.el(&["chat", "post", "general", "@ann look at this"]).ok();
    let id = env.script_atom(&["touch begun", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    let attempts: &[&[&str]] = &[
        &["approve", &waits],
        &["approve", &waits, "--actor", "ann"],
        &["close", &waits, "-r", "looks fine"],
        &["update", &waits, "--status", "closed", "-r", "fine"],
        &["update", &waits, "--status", "in_progress"],
        &["discard", &waits],
        &["reopen", &waits],
        &["reject", &waits, "--reason", "not as I like it"],
        &["--actor", "ann", "reject", &waits, "--reason", "not as I like it"],
        &["inbox", "--agent", "ann", "--unread", "--mark-read"],
        &["mailbox", "sync", "--approvals"],
    ];
    for arguments in attempts {
        let ran = env.run(&mut env.el_as_run(&run, arguments));
        assert_ne!(ran.status, 0, "{arguments:?}: {ran:#?}");
        assert_eq!(env.status(&waits), "review", "{arguments:?}");
    }
    // A session speaks as its own agent, whatever name it gives.
    env.run(&mut env.el_as_run(&run, &["--actor", "ann", "inbox", "--unread", "--mark-read"]));
    assert_eq!(env.robot(&["inbox", "--agent", "ann", "--unread"])["count"], 1);
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(crate::support::SOON).ok();
    env.el(&["approve", &waits]).ok();
    assert_eq!(env.status(&waits), "closed");
}

/// An atom that asks for a review gets one, with a report, and cannot be dropped instead.
#[test]
fn no_session_drops_what_asks_for_a_review_or_begins_one_without_a_report() {
    let env = TestEnv::with_tracker();
    let labelled = env.create("Look at it", &["--label", "review"]);
    let plain = env.create("Something else", &[]);
    let id = env.create(
        "Mine",
        &["--label", "review", "-d", &TestEnv::script(&["touch begun", "wait-file go"])],
    );
    let worker = env.start_work(&["--once", &id]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    let attempts: &[(&[&str], &str)] = &[
        (&["discard", &labelled], &labelled),
        (&["update", &labelled, "--status", "discard"], &labelled),
        (&["update", &labelled, "--status", "wont_do", "-r", "no"], &labelled),
        (&["update", &plain, &labelled, "--status", "wont_do", "-r", "no"], &labelled),
        (&["update", &labelled, "--status", "review"], &labelled),
        (&["update", &plain, "--status", "review"], &plain),
        (&["discard", &id], &id),
    ];
    for (arguments, atom) in attempts {
        let before = env.status(atom);
        env.run(&mut env.el_as_run(&run, arguments)).fails_with(8);
        assert_eq!(env.status(atom), before, "{arguments:?}");
    }
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(crate::support::SOON);
    // A person may.
    env.el(&["discard", &labelled]).ok();
    env.el(&["update", &plain, "--status", "review"]).ok();
}

/// Any agent can write the mailbox's files.
#[test]
fn the_queue_file_approves_nothing_unless_a_person_lets_it() {
    let env = TestEnv::with_tracker();
    let id = env.create("Wait for a person", &[]);
    // The ready atom becomes a task of the files.
    env.el(&["mailbox", "sync"]).ok();
    hand_over(&env, &id);
    env.el(&["mailbox", "sync"]).ok();
    let queue = walk(&env.project(".claude-orchestrator"), "queue.json");
    let approve = || {
        let text = std::fs::read_to_string(&queue).unwrap();
        assert!(text.contains("\"awaiting_review\""), "{text}");
        std::fs::write(&queue, text.replace("\"awaiting_review\"", "\"completed\"")).unwrap();
    };
    approve();
    let told = env.el(&["mailbox", "sync"]).ok().stdout;
    assert!(told.contains(&format!("el approve {id}")), "{told}");
    assert_eq!(env.status(&id), "review");
    approve();
    env.el(&["mailbox", "sync", "--approvals"]).ok();
    assert_eq!(env.status(&id), "closed");
}

/// The file of this name below a folder.
fn walk(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ends_with(name) {
                return path;
            }
        }
    }
    panic!("no {name}");
}

fn hand_over(env: &TestEnv, id: &str) {
    let report = serde_json::json!({
        "type": "completion_report", "taskId": id, "platform": "custom",
        "status": "awaiting_review", "summary": "Made", "filesCreated": [], "filesModified": [],
        "buildResult": {"status": "not_applicable"}, "timestamp": "2024-01-01T00:00:00Z"
    });
    let file = env.path("report.json");
    std::fs::write(&file, report.to_string()).unwrap();
    env.el(&["submit", id, "--report", file.to_str().unwrap()]).ok();
}

#[test]
fn in_a_worktree_the_changes_of_all_attempts_are_shown() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\nreview = true\n");
    let id = env.script_atom(&[
        &write_report("Made it", &[]),
        "sh test -f one.txt || { echo one > one.txt && git add . && git commit -q -m one; }",
        "el submit $EL_ATOM --report report.json",
    ]);
    env.work(&["--once"]);
    let diff = |env: &TestEnv| env.robot(&["review"])["items"][0]["diff"].clone();
    let first = diff(&env);
    let want = json!({"path": "one.txt", "added": 1, "removed": 0});
    assert_eq!(first["files"][0], want);
    env.el(&["reject", &id, "--reason", "Look again"]).ok();
    env.work(&["--once"]);
    assert_eq!(diff(&env), first, "the second attempt changed nothing, and the branch has it all");
}
