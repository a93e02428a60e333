//! Answers of every kind.

use el_core::Error;
use el_core::model::Status;
use el_core::ops::{self, PlanSettings, Reply};
use el_core::rules::orchestrate::{Question, Step};
use serde_json::json;

use super::world::{Plan, aggregation, analysis, block, list, task};

#[test]
fn a_faulty_answer_is_asked_for_again_with_its_fault_in_the_same_run() {
    let mut plan = Plan::new(PlanSettings::default());
    let asked = plan.asked(Question::Analysis);
    let faulty = block(Question::Analysis, &json!({ "summary": "I forgot the splits" }));
    let Reply::AskAgain { prompt } = plan.say(&asked, &faulty, 0, true) else { panic!() };
    let is_last = |prompt: &str| prompt.contains("the last time");
    assert!(prompt.contains("recommended_splits") && !is_last(&prompt), "{prompt}");
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::Analysis });
    let Reply::AskAgain { prompt } = plan.say(&asked, "There is no block in this.", 1, true) else {
        panic!()
    };
    assert!(is_last(&prompt), "{prompt}");
    assert_eq!(plan.say(&asked, &block(Question::Analysis, &analysis()), 2, true), Reply::Kept);
    plan.end(&asked);
    let faults = ops::answer_faults(&plan.p.store, &plan.epic, Question::Analysis).unwrap();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].why.contains("recommended_splits") && faults[1].why.contains("no block"),
        "{faults:?}"
    );
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::TaskList });
    plan.assert_once();
}

#[test]
fn what_never_comes_in_its_form_is_blocked_and_a_person_supplies_it() {
    let mut plan = Plan::new(PlanSettings::default());
    plan.answer(Question::Analysis, &analysis());
    let asked = plan.asked(Question::TaskList);
    let empty = block(Question::TaskList, &list(&json!([])));
    assert!(matches!(plan.say(&asked, "no", 0, true), Reply::AskAgain { .. }));
    assert!(matches!(plan.say(&asked, &empty, 1, true), Reply::AskAgain { .. }));
    assert!(matches!(plan.say(&asked, "The task list is ready.", 2, true), Reply::Stopped { .. }));
    plan.end(&asked);
    assert_eq!(plan.status(&asked.atom.id), Status::Blocked);
    let told = plan.comments(&asked.atom.id);
    assert!(
        told.contains("el phase set")
            && told.contains("\n1. ")
            && told.contains("\n2. `tasks`")
            && told.contains("\n3. "),
        "{told}"
    );
    let Step::Stop { question: Some(Question::TaskList), why } = plan.advance() else { panic!() };
    assert!(why.contains(&asked.atom.id), "{why}");

    plan.supply(Question::TaskList, &list(&json!([task("one", &[])])));
    assert_eq!(plan.status(&asked.atom.id), Status::Closed);
    assert_eq!(plan.work_all(), ["Task one"]);
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    plan.assert_once();
}

#[test]
fn a_blocked_question_that_is_retried_asks_anew() {
    let mut plan = Plan::new(PlanSettings { asks_again: 0, ..PlanSettings::default() });
    let asked = plan.asked(Question::Analysis);
    assert!(matches!(plan.say(&asked, "no", 0, true), Reply::Stopped { .. }));
    plan.end(&asked);
    let ctx = plan.p.person();
    ops::retry(&mut plan.p.store, &ctx, &asked.atom.id).unwrap();
    let again = plan.answer(Question::Analysis, &analysis());
    assert_eq!(again.atom.id, asked.atom.id);
}

#[test]
fn an_analysis_in_words_is_carried() {
    let mut plan = Plan::new(PlanSettings::default());
    let asked = plan.asked(Question::Analysis);
    // Its conversation cannot go on, so the words are looked at at once.
    assert_eq!(
        plan.say(&asked, "The analysis is complete: there are seven modules.", 0, false),
        Reply::Kept
    );
    plan.end(&asked);
    let asked = plan.asked(Question::TaskList);
    assert!(plan.context(&asked).contains("there are seven modules"));
    assert_eq!(plan.overview().phases[0].state, "in_words");
}

#[test]
fn a_question_whose_agent_crashes_is_tried_again_and_then_stops() {
    let mut plan = Plan::new(PlanSettings::default());
    plan.advance();
    let question = plan.fail();
    let Step::Stop { question: Some(Question::Analysis), why } = plan.advance() else { panic!() };
    assert!(why.contains(&question), "{why}");
    plan.supply(Question::Analysis, &analysis());
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::TaskList });
    plan.assert_once();
}

#[test]
fn an_answer_that_is_said_twice_counts_once() {
    let mut plan = Plan::new(PlanSettings::default());
    let asked = plan.asked(Question::Analysis);
    let text = block(Question::Analysis, &analysis());
    assert_eq!(plan.say(&asked, &text, 0, true), Reply::Kept);
    assert_eq!(plan.say(&asked, &text, 0, true), Reply::None);
    // Nor does a supervisor that has lost its run.
    plan.end(&asked);
    let reading = el_core::protocol::response::read_blocks(&text);
    let heard = ops::AgentAnswer {
        run: &asked.run.id,
        token: &asked.run.token,
        reading: &reading,
        asked_again: 0,
        may_ask_again: true,
    };
    let ctx = plan.p.person();
    assert!(ops::record_answer(&mut plan.p.store, &ctx, &heard).is_err());
}

#[test]
fn circles_and_lists_beyond_the_limit_are_sent_back() {
    let mut plan = Plan::new(PlanSettings { tasks_max: 2, ..PlanSettings::default() });
    plan.answer(Question::Analysis, &analysis());
    let asked = plan.asked(Question::TaskList);
    for (n, (tasks, word)) in [
        (json!([task("a", &["b"]), task("b", &["a"])]), "a"),
        (json!([task("a", &["x"])]), "x"),
        (json!([]), "tasks"),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = plan.say(
            &asked,
            &block(Question::TaskList, &list(&tasks)),
            u32::try_from(n).unwrap() % 2,
            true,
        );
        let Reply::AskAgain { prompt } = reply else { panic!("{reply:?}") };
        assert!(prompt.contains(word), "{prompt}");
    }
    let many = list(&json!([task("a", &[]), task("b", &[]), task("c", &[])]));
    let Reply::AskAgain { prompt } = plan.say(&asked, &block(Question::TaskList, &many), 0, true)
    else {
        panic!()
    };
    assert!(prompt.contains("at most 2"), "{prompt}");
    let (ctx, epic) = (plan.p.person(), plan.epic.clone());
    let refused =
        ops::supply_answer(&mut plan.p.store, &ctx, &epic, Question::TaskList, &many, false);
    assert!(matches!(refused, Err(Error::Invalid { field: "data", .. })), "{refused:?}");
    assert!(plan.overview().tasks.is_empty());
}

#[test]
fn what_is_supplied_supersedes_the_run_that_is_at_it() {
    let mut plan = Plan::new(PlanSettings::default());
    let asked = plan.asked(Question::Analysis);
    plan.supply(Question::Analysis, &analysis());
    let run = (asked.run.id.as_str(), asked.run.token.as_str());
    assert_eq!(ops::watch_run(&plan.p.store, run.0, run.1).unwrap(), ops::RunSignal::Superseded);
    let other = json!({ "summary": "too late", "recommended_splits": 9 });
    assert_eq!(plan.say(&asked, &block(Question::Analysis, &other), 0, true), Reply::None);
    plan.end(&asked);
    assert_eq!(plan.overview().phases[0].data.as_ref().unwrap()["summary"], "Three chapters");
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::TaskList });
}

#[test]
fn a_list_that_is_supplied_before_anything_was_asked_leaves_no_question_behind() {
    let mut plan = Plan::new(PlanSettings::default());
    plan.supply(Question::TaskList, &list(&json!([task("one", &[])])));
    assert_eq!(plan.work_all(), ["Task one"]);
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });

    let mut plan = Plan::new(PlanSettings::default());
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::Analysis });
    plan.supply(Question::TaskList, &list(&json!([task("one", &[])])));
    plan.advance();
    let open: Vec<String> =
        plan.below().into_iter().filter(|a| !a.status.is_over()).map(|a| a.title).collect();
    assert_eq!(open, ["Task one"], "an analysis that nobody needs any more costs money");
}

#[test]
fn a_completion_that_contradicts_its_atom_is_told() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    let claimed = plan.p.claim().unwrap();
    assert_eq!(plan.say(&claimed, "I stop here.", 0, true), Reply::LeftOpen);
    plan.close(&claimed, "done: all of it");
    let said = json!({
        "phase": "completion",
        "data": { "task_id": "one", "status": "failed", "error": "it broke" },
    });
    let text = format!(
        "{}\n{said}\n{}",
        el_core::protocol::response::START,
        el_core::protocol::response::END
    );
    assert_eq!(plan.say(&claimed, &text, 0, true), Reply::None);
    plan.end(&claimed);
    assert_eq!(plan.status(&claimed.atom.id), Status::Closed, "its status stands");
    assert!(
        plan.comments(&claimed.atom.id).contains("A contradiction"),
        "{}",
        plan.comments(&claimed.atom.id)
    );
    assert!(plan.overview().tasks[0].why.as_ref().unwrap().contains("failed"));
}
