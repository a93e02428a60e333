//! The artifacts of a run, for every kind of end.

use std::fs;

use serde_json::json;

use super::{results, sent, write_summary};
use crate::support::{Process, SOON, TestEnv, wait_until};

#[test]
fn a_run_hands_back_its_summary_and_its_key_files_as_they_were() {
    let env = TestEnv::with_tracker();
    let summary = write_summary(
        &["hello.txt", "doc/hello.md", "/etc/passwd", "../x", "gone.txt"],
        "✅ COMPLETED",
    );
    let steps = [
        "write hello.txt hello",
        "sh mkdir doc",
        "write doc/hello.md # Hello",
        &summary,
        "close said hello",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--once"]);
    fs::write(env.project("hello.txt"), "changed afterwards").unwrap();
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], &run["artifacts"], &run["summary"]["status"]),
        (&json!("closed"), &json!(3), &json!("completed"))
    );
    let answer = env.robot(&["artifacts", "show", &id]);
    assert_eq!((&answer["run_id"], &answer["count"]), (&run["id"], &json!(3)));
    assert_eq!(
        sent(&answer),
        [
            format!(".eluent/summaries/{id}.md copied"),
            "hello.txt copied".into(),
            "doc/hello.md copied".into()
        ]
    );
    let hello = &answer["items"][1];
    assert_eq!((&hello["size"], &hello["description"]), (&json!(5), &json!("About hello.txt")));
    assert_eq!(hello["sha256"], "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    assert_eq!(env.read_run_file(&run, hello["file"].as_str().unwrap()), "hello");
    let reasons: Vec<_> = answer["not_sent"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["absolute", "outside", "missing"]);
    let results = results(&env, &run);
    assert_eq!((&results["schema"], &results["version"]), (&json!("el.results"), &json!(1)));
    assert_eq!(
        (&results["run"]["outcome"], &results["atom"]["status"]),
        (&json!("closed"), &json!("closed"))
    );
    assert_eq!(
        (&results["artifacts"][1]["sha256"], &results["not_sent"][0]["path"]),
        (&hello["sha256"], &json!("/etc/passwd"))
    );
    assert_eq!(results["summary"], run["summary"]);
    assert!(!env.run_file(&run, "ERRORS.md").exists());
    let status = env.read_run_file(&run, "STATUS.txt");
    assert!(
        status.contains("status: ended as closed\n") && status.contains("artifacts: 3\n"),
        "{status}"
    );
}

#[test]
fn a_run_without_a_summary_hands_back_what_is_known_of_it() {
    let env = TestEnv::with_tracker();
    env.run(env.command("git").args(["init", "-q"])).ok();
    fs::write(env.project("before.txt"), "was there before").unwrap();
    let id =
        env.script_atom(&["write made.txt made", "say my last words", "close done in silence"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    let summary = &run["summary"];
    assert_eq!((&summary["status"], &summary["is_fallback"]), (&json!("partial"), &json!(true)));
    let answer = env.robot(&["artifacts", "show", run["id"].as_str().unwrap()]);
    assert_eq!(sent(&answer)[1..], ["made.txt copied"]);
    let text = env.el(&["artifacts", "get", &id, "summary"]).ok().stdout;
    assert!(text.contains("⚠️ PARTIAL - Summary not created by the agent"), "{text}");
    assert!(
        text.contains("my last words")
            && text.contains("done in silence")
            && text.contains("by git"),
        "{text}"
    );
    assert!(!text.contains("before.txt"), "{text}");
    assert!(
        !env.project(format!(".eluent/summaries/{id}.md")).exists(),
        "the agent's own file is the agent's"
    );
}

#[test]
fn a_run_that_fails_leaves_its_errors_and_what_it_made() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1");
    let id = env.script_atom(&["write half.txt half", "stderr the disk is on fire", "exit 3"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    let errors = env.read_run_file(&run, "ERRORS.md");
    assert!(
        errors.contains("Outcome: failed")
            && errors.contains("code 3")
            && errors.contains("the disk is on fire"),
        "{errors}"
    );
    assert!(errors.contains("The work item is now: blocked"), "{errors}");
    let results = results(&env, &run);
    assert_eq!(
        (&results["run"]["outcome"], &results["run"]["succeeded"]),
        (&json!("failed"), &json!(false))
    );
    assert_eq!(
        (&results["atom"]["status"], &results["run"]["exit_code"]),
        (&json!("blocked"), &json!(3))
    );
    assert_eq!(sent(&env.robot(&["artifacts", "show", &id]))[1..], ["half.txt copied"]);
}

#[test]
fn a_run_whose_agent_calls_its_work_failed_leaves_errors_too() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[&write_summary(&[], "❌ FAILED"), "close it cannot be done"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["summary"]["status"]), (&json!("closed"), &json!("failed")));
    assert!(env.read_run_file(&run, "ERRORS.md").contains("## What the agent says"));
}

#[test]
fn a_run_that_wrote_its_summary_but_forgot_to_close_is_sent_back() {
    let env = TestEnv::with_tracker();
    let summary = write_summary(&["a.txt"], "✅ COMPLETED");
    let id = env.script_atom(&[
        "write a.txt a",
        &summary,
        "say that was all",
        "on-block",
        "close reminded",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["stop_blocks"]), (&json!("closed"), &json!(1)));
    assert_eq!((env.status(&id), &run["artifacts"]), ("closed".to_owned(), &json!(2)));
}

#[test]
fn a_second_attempt_does_not_hand_back_the_first_ones_summary() {
    let env = TestEnv::with_tracker();
    let summary = write_summary(&[], "⚠️ PARTIAL");
    let id = env.script_atom(&[&summary, "exit 3", "on-attempt 2", "close without a word"]);
    env.work(&["--drain"]);
    let runs = env.runs(&id);
    let fallbacks: Vec<_> =
        runs.iter().map(|run| run["summary"]["is_fallback"].as_bool().unwrap()).collect();
    assert_eq!(fallbacks, [false, true]);
    let warnings = runs[1]["summary"]["warnings"].to_string();
    assert!(warnings.contains("earlier attempt"), "{warnings}");
}

#[test]
fn the_status_file_is_kept_while_the_run_goes_on() {
    let env = TestEnv::with_tracker();
    let go = env.path("tmp/go");
    let id = env.script_atom(&[
        "say I look around",
        "touch here",
        &format!("wait-file {}", go.display()),
        "close done",
    ]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("here");
    let run = env.last_run(&id);
    let read = || fs::read_to_string(env.run_file(&run, "STATUS.txt")).unwrap_or_default();
    let status = wait_until("the agent's turn in STATUS.txt", SOON, || {
        Some(read()).filter(|text| text.contains("turns: 1\n"))
    });
    assert!(
        status.contains("status: running\n") && status.contains(&format!("atom: {id}\n")),
        "{status}"
    );
    let updated =
        |text: &str| text.lines().find(|line| line.starts_with("updated: ")).map(str::to_owned);
    assert!(updated(&status).is_some());
    fs::write(&go, "").unwrap();
    worker.wait(SOON).ok();
    assert!(read().contains("status: ended as closed\n"), "{}", read());
}

#[test]
fn a_run_whose_supervisor_was_killed_still_hands_back_what_it_made() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1");
    let summary = write_summary(&["a.txt"], "⚠️ PARTIAL");
    let id = env.script_atom(&["write a.txt a", &summary, "touch here", "hang"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("here");
    let run = env.last_run(&id);
    let supervisor = env.last_run(&id)["supervisor"]["pid"].as_u64().unwrap();
    Process { pid: supervisor.try_into().unwrap(), words: Vec::new() }.kill();
    let run = env.wait_for_end(run["atom_id"].as_str().unwrap(), 1);
    // The only attempt was lost.
    worker.wait(SOON).fails_with(9);
    assert_eq!(
        (&run["outcome"], &run["artifacts"], &run["summary"]["status"]),
        (&json!("lost"), &json!(2), &json!("partial"))
    );
    assert_eq!(results(&env, &run)["run"]["outcome"], "lost");
    assert!(env.run_file(&run, "ERRORS.md").exists());
}

#[test]
fn a_folder_of_ones_own_for_the_summaries_is_named_in_the_context() {
    let env = TestEnv::with_tracker();
    env.configure("summaries_directory = \"summaries\"");
    let steps =
        ["record seen.json", "write summaries/$EL_ATOM.md ## Status\\nCOMPLETED", "close done"];
    let id = env.script_atom(&steps);
    env.work(&["--once"]);
    let prompt = env.recorded("seen.json")["prompt"].as_str().unwrap().to_owned();
    assert!(prompt.contains(&format!("to the file `summaries/{id}.md`")), "{prompt}");
    assert!(prompt.find("## Summary").unwrap() < prompt.find("## Instructions").unwrap());
    assert_eq!(env.last_run(&id)["summary"]["status"], "completed");
}

#[test]
fn a_working_folder_elsewhere_gets_the_whole_path_of_the_summary() {
    let env = TestEnv::with_tracker();
    let elsewhere = env.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let folder = env.project(".eluent/summaries");
    let steps = [
        "record seen.json",
        "write b.txt b",
        &format!("write {}/$EL_ATOM.md ## Key Deliverables\\n- `b.txt`", folder.display()),
        "close done",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--once", "--workdir", elsewhere.to_str().unwrap()]);
    let seen: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(elsewhere.join("seen.json")).unwrap()).unwrap();
    let real = folder.canonicalize().unwrap().join(format!("{id}.md"));
    assert!(
        seen["prompt"].as_str().unwrap().contains(&format!("`{}/{id}.md`", folder.display())),
        "{}",
        seen["prompt"]
    );
    let argv = seen["argv"].to_string();
    assert!(
        argv.contains(&format!("--add-dir={}", folder.display()))
            && argv.contains(&format!("Edit(/{})", real.display())),
        "{argv}"
    );
    assert_eq!(sent(&env.robot(&["artifacts", "show", &id]))[1..], ["b.txt copied"]);
}
