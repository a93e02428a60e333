//! Unusable answers, and a person's remedies.

use serde_json::json;

use super::{ANALYSIS, Task, list, plain};
use crate::support::{SOON, TestEnv};

#[test]
fn a_faulty_answer_is_asked_for_again_in_the_same_conversation() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of(
        "analysis",
        &[
            r#"answer analysis {"summary": "How many splits?"}"#,
            "on-resume",
            "record first.json",
            "answer analysis {this is not JSON at all",
            "on-resume",
            "record second.json",
            ANALYSIS,
        ],
    );
    env.start_plan(&[]).wait(SOON).ok();
    let epic = env.epic();
    assert_eq!(env.status(&epic), "closed");
    let run = env.runs(&env.question(&epic, "analysis"));
    assert_eq!((run.len(), &run[0]["resumes"]), (1, &json!(2)));
    let asked = |file: &str| {
        let record = std::fs::read_to_string(env.project(file)).unwrap();
        serde_json::from_str::<serde_json::Value>(&record).unwrap()
    };
    for file in ["first.json", "second.json"] {
        assert_eq!(
            asked(file)["session_id"],
            run[0]["conversation"],
            "it is the same conversation"
        );
    }
    assert!(asked("first.json")["prompt"].as_str().unwrap().contains("recommended_splits"));
}

#[test]
fn what_is_never_answered_stops_and_a_person_supplies_it() {
    let env = TestEnv::with_plan(&[plain("one", &[]), plain("two", &["one"])]);
    env.script_of("task_list", &["say I would rather not.", "on-resume", "say No."]);
    let ran = env.start_plan(&[]).wait(SOON).fails_with(4);
    let epic = env.epic();
    assert!(ran.stdout.contains(&format!("el phase set {epic} --phase task_list")), "{ran:#?}");
    let question = env.question(&epic, "task_list");
    assert_eq!(env.status(&question), "blocked");
    assert!(
        env.comments(&question).iter().any(|comment| comment.contains("el phase set")),
        "{:?}",
        env.comments(&question)
    );
    // Looking, and resuming without a change, changes nothing.
    env.el(&["orchestrate", "resume", &epic]).fails_with(4);

    std::fs::write(env.project("plan.json"), list(&[plain("mine", &[])]).to_string()).unwrap();
    env.el(&["phase", "set", &epic, "--phase", "task_list", "--file", "plan.json"]).ok();
    env.el(&["orchestrate", "resume", &epic]).ok();
    assert_eq!(
        (env.status(&question), env.status(&epic)),
        ("closed".to_owned(), "closed".to_owned())
    );
    assert_eq!(env.status(&env.task_of(&epic, "mine")), "closed");
}

#[test]
fn an_analysis_in_plain_words_is_carried() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of(
        "analysis",
        &[
            "say The analysis is complete. There are two parts.",
            "on-resume",
            "say The analysis is complete.",
        ],
    );
    env.start_plan(&["--asks-again", "1"]).wait(SOON).ok();
    let epic = env.epic();
    let plan = env.plan_of(&epic);
    assert_eq!(plan["phases"][0]["state"], "in_words", "{plan:#}");
    assert_eq!(env.status(&epic), "closed");
}

#[test]
fn the_agent_of_a_question_cannot_close_it() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of(
        "analysis",
        &["sh el close $EL_ATOM --reason 'so there'; echo $? > code", ANALYSIS],
    );
    env.start_plan(&["--isolate", "none"]).wait(SOON).ok();
    assert_eq!(std::fs::read_to_string(env.project("code")).unwrap().trim(), "8");
    assert_eq!(env.status(&env.epic()), "closed");
}

#[test]
fn an_agent_that_crashes_at_a_question_is_tried_again() {
    let env = TestEnv::with_plan(&[plain("one", &[])]);
    env.script_of("analysis", &["die KILL", "on-attempt 2", ANALYSIS]);
    env.script_of("aggregation", &["api-error 400", "on-attempt 2", super::AGGREGATION]);
    env.start_plan(&[]).wait(SOON).ok();
    let epic = env.epic();
    assert_eq!(env.outcomes(&env.question(&epic, "analysis")), ["failed", "closed"]);
    assert_eq!(env.outcomes(&env.question(&epic, "aggregation")), ["failed", "closed"]);
    assert_eq!(env.status(&epic), "closed");
}

#[test]
fn a_completion_that_contradicts_the_status_is_told() {
    let said = "answer completion {\"task_id\": \"one\", \"status\": \"failed\", \"error\": \"the \
        tests do not pass\"}";
    let contradicts = Task("one", &[], vec!["close done".to_owned(), said.to_owned()]);
    let agrees = "answer completion \
        {\"task_id\": \"two\", \"status\": \"success\", \"summary\": \"wrote \
        two.md\", \"output_files\": [\"two.md\"]}";
    let agrees = Task("two", &[], vec![agrees.to_owned(), "close done".to_owned()]);
    let env = TestEnv::with_plan(&[contradicts, agrees]);
    env.script_of("aggregation", &["record told.json", super::AGGREGATION]);
    env.start_plan(&["--isolate", "none"]).wait(SOON).ok();
    let epic = env.epic();
    let one = env.task_of(&epic, "one");
    assert_eq!(env.status(&one), "closed", "its status stands");
    let told = env.comments(&one);
    assert!(
        told.iter().any(|comment| comment.contains("A contradiction: its worker says \"failed\"")),
        "{told:?}"
    );
    assert_eq!(env.comments(&env.task_of(&epic, "two")), [] as [&str; 0]);
    let told = std::fs::read_to_string(env.project("told.json")).unwrap();
    assert!(told.contains("wrote two.md") && told.contains("- two.md"), "{told}");
}

#[test]
fn a_completion_block_that_cannot_be_read_is_told_at_its_task() {
    let steps = [r#"answer completion {"task_id": "one", "stat"#, "close done"];
    let env = TestEnv::with_plan(&[Task("one", &[], steps.map(str::to_owned).into())]);
    env.start_plan(&[]).wait(SOON).ok();
    let task = env.task_of(&env.epic(), "one");
    assert_eq!(env.status(&task), "closed");
    let told = env.comments(&task);
    assert!(
        told.iter().any(|said| said.contains("completion block") && said.contains("read")),
        "{told:?}"
    );
}
