//! Orchestrations: the whole flow on a real database, with agents that answer as a test says.

mod answers;
mod nested;
mod people;
mod random;
mod world;

use std::time::Duration;

use el_core::model::Status;
use el_core::ops::{self, PlanSettings, Reply};
use el_core::rules::orchestrate::{Question, Standing, Step};
use serde_json::json;

use world::{Plan, aggregation, analysis, block, list, task};

/// Two chapters, and an index that waits for both.
fn chapters() -> serde_json::Value {
    json!([task("one", &[]), task("two", &[]), task("index", &["one", "two"])])
}

#[test]
fn a_plan_is_asked_for_filed_worked_on_and_brought_together() {
    let mut plan = Plan::new(PlanSettings::default());
    let asked = plan.answer(Question::Analysis, &analysis());
    assert_eq!(plan.status(&asked.atom.id), Status::Closed);
    let asked = plan.asked(Question::TaskList);
    let told = plan.context(&asked);
    assert!(told.contains("Write the manual") && told.contains("Three chapters"), "{told}");
    assert_eq!(
        plan.say(&asked, &block(Question::TaskList, &list(&chapters())), 0, true),
        Reply::Kept
    );
    plan.end(&asked);

    let Step::AwaitWork { work } = plan.advance() else { panic!("{:?}", plan.overview()) };
    assert_eq!((work.ready.len(), work.waiting.len()), (2, 1));
    assert_eq!(plan.overview().tasks.iter().map(|t| t.layer).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(plan.work_all(), ["Task one", "Task two", "Task index"]);

    let asked = plan.asked(Question::Aggregation);
    let told = plan.context(&asked);
    for part in ["Task one", "Task two", "Task index", "done: as asked"] {
        assert!(told.contains(part), "{part} is missing: {told}");
    }
    let conflict =
        json!([{ "type": "duplicate", "description": "twice", "resolution": "kept one" }]);
    let result = json!({
        "status": "success", "summary": "A manual of two chapters", "conflicts": conflict,
    });
    assert_eq!(plan.say(&asked, &block(Question::Aggregation, &result), 0, true), Reply::Kept);
    plan.end(&asked);

    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    let epic = plan.show(&plan.epic);
    assert_eq!(
        (epic.status, epic.close_reason.as_deref()),
        (Status::Closed, Some("A manual of two chapters"))
    );
    let told = plan.comments(&plan.epic);
    assert!(
        told.contains("A manual of two chapters") && told.contains("duplicate: twice — kept one"),
        "{told}"
    );
    plan.assert_once();
    assert_eq!(plan.below().len(), 6, "three questions, three tasks");
}

#[test]
fn advancing_again_and_by_two_stores_in_turn_files_nothing_twice() {
    let mut plan = Plan::filed(&chapters());
    let before = plan.below().len();
    let mut other = plan.p.reopen();
    let epic = plan.epic.clone();
    for _ in 0..5 {
        let ctx = plan.p.person();
        let there = ops::advance(&mut other, &ctx, &epic, false, Duration::ZERO).unwrap().step;
        assert_eq!(there, plan.advance());
    }
    assert_eq!(plan.below().len(), before);
    plan.work_all();
    plan.answer(Question::Aggregation, &aggregation("all"));
    for _ in 0..5 {
        assert_eq!(plan.advance(), Step::Done { missing: vec![] });
        let ctx = plan.p.person();
        ops::advance(&mut other, &ctx, &epic, false, Duration::ZERO).unwrap();
    }
    assert_eq!(plan.comments(&epic).matches("## Result").count(), 1, "its result is told once");
    plan.assert_once();
}

#[test]
fn a_plan_that_is_only_to_be_filed_stops_there_and_goes_on_later() {
    let mut plan = Plan::new(PlanSettings::default());
    plan.answer(Question::Analysis, &analysis());
    plan.answer(Question::TaskList, &list(&chapters()));
    assert_eq!(plan.step(true).step, Step::PlanFiled);
    assert_eq!(plan.step(true).step, Step::PlanFiled);
    assert_eq!(plan.overview().tasks.len(), 3);
    assert!(matches!(plan.advance(), Step::AwaitWork { .. }));
    plan.assert_once();
}

#[test]
fn a_failed_task_holds_what_waits_for_it_and_the_aggregation_is_told_what_is_missing() {
    let mut plan = Plan::filed(&chapters());
    let failed = plan.fail();
    assert_eq!(failed, plan.task("one"));
    assert_eq!(plan.work("done: as asked"), "Task two");
    assert_eq!(plan.p.ready(), [] as [&str; 0], "the index waits for the first chapter");

    let asked = plan.asked(Question::Aggregation);
    let told = plan.context(&asked);
    let index = plan.task("index");
    assert!(told.contains(&format!("{failed} (blocked): Task one")), "{told}");
    assert!(told.contains(&format!("{index} (open): Task index")), "{told}");
    plan.say(&asked, &block(Question::Aggregation, &aggregation("half")), 0, true);
    plan.end(&asked);
    assert_eq!(plan.advance(), Step::Done { missing: vec![failed.clone(), index.clone()] });
    assert_eq!(plan.status(&plan.epic), Status::Open, "something is missing");
    assert!(plan.comments(&plan.epic).contains("### Missing"));
    let standings: Vec<_> = plan.overview().tasks.iter().map(|t| t.standing).collect();
    assert_eq!(standings, [Standing::Stuck, Standing::Done, Standing::Held]);

    let ctx = plan.p.person();
    ops::retry(&mut plan.p.store, &ctx, &failed).unwrap();
    assert_eq!(plan.work_all(), ["Task one", "Task index"]);
    plan.answer(Question::Aggregation, &aggregation("whole"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    let epic = plan.show(&plan.epic);
    assert_eq!((epic.status, epic.close_reason.as_deref()), (Status::Closed, Some("whole")));
    plan.assert_once();
}

#[test]
fn results_are_brought_together_when_the_runs_have_ended_and_not_before() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    let claimed = plan.p.claim().unwrap();
    plan.close(&claimed, "done");
    assert!(matches!(plan.advance(), Step::AwaitWork { .. }), "what it says last is still to come");
    plan.end(&claimed);
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::Aggregation });
}

#[test]
fn a_task_waits_for_the_merge_of_what_it_builds_on_where_that_is_asked_for() {
    let mut plan = Plan::filed(&chapters());
    let (one, index) = (plan.task("one"), plan.task("index"));
    let ctx = plan.p.person();
    ops::set_merge_gate(&mut plan.p.store, &ctx, true).unwrap();
    plan.p.begin_push(&one);
    assert_eq!([plan.work("done"), plan.work("done")], ["Task one", "Task two"]);
    let Step::AwaitWork { work } = plan.advance() else { panic!("{:?}", plan.overview()) };
    assert_eq!((work.ready.as_slice(), &work.waiting), (&[][..], &vec![index.clone()]));
    let overview = plan.overview();
    let task = overview.tasks.iter().find(|task| task.atom_id == index).unwrap();
    assert_eq!((task.standing, &task.waits_for), (Standing::Waiting, &vec![one.clone()]));
    assert_eq!(task.why, Some(format!("not merged yet: {one}")));

    ops::forget_unmerged(&mut plan.p.store, &one).unwrap();
    let Step::AwaitWork { work } = plan.advance() else { panic!("{:?}", plan.overview()) };
    assert_eq!(work.ready, [index]);
}

#[test]
fn a_plan_without_any_result_stops() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    let failed = plan.fail();
    let Step::Stop { question: None, why } = plan.advance() else { panic!() };
    assert!(why.contains(&failed), "{why}");
}

#[test]
fn a_failed_check_is_worked_on_and_run_again() {
    let settings = PlanSettings {
        check: vec!["make".to_owned(), "test".to_owned()],
        ..PlanSettings::default()
    };
    let mut plan = Plan::filed_with(settings, &json!([task("one", &[])]));
    plan.work_all();
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Check { round: 0 });
    plan.check(0, false, "assertion failed: left == right");
    plan.check(0, true, "the first record of a round stands");
    let question = Question::Failures { round: 0 };
    let asked = plan.asked(question);
    let told = plan.context(&asked);
    assert!(
        told.contains("assertion failed: left == right") && told.contains("make test"),
        "{told}"
    );
    // The model's names of this list are its own.
    plan.say(&asked, &block(question, &list(&json!([task("one", &[])]))), 0, true);
    plan.end(&asked);
    assert_eq!(plan.work_all(), ["Task one"]);
    assert_eq!(plan.advance(), Step::Check { round: 1 });
    plan.check(1, true, "");
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    let overview = plan.overview();
    assert_eq!(overview.checks.iter().map(|c| c.passed).collect::<Vec<_>>(), [false, true]);
    assert_eq!(
        overview.tasks.iter().map(|t| t.list.clone().unwrap()).collect::<Vec<_>>(),
        ["task_list", "failures-0"]
    );
    plan.assert_once();
}

#[test]
fn a_check_that_fails_too_often_stops() {
    let settings = PlanSettings {
        check: vec!["false".to_owned()],
        check_rounds: 0,
        ..PlanSettings::default()
    };
    let mut plan = Plan::filed_with(settings, &json!([task("one", &[])]));
    plan.work_all();
    plan.answer(Question::Aggregation, &aggregation("all"));
    plan.check(0, false, "no");
    assert!(matches!(plan.advance(), Step::Stop { question: None, .. }));
    assert_eq!(plan.status(&plan.epic), Status::Open);
}

#[test]
fn money_that_is_used_up_begins_nothing_new() {
    let mut plan = Plan::with_budget(PlanSettings::default(), Some(1.0));
    let asked = plan.asked(Question::Analysis);
    let (token, progress) = (
        asked.run.token.clone(),
        el_core::model::Progress {
            cost: el_core::model::Cost::reported(1_500_000),
            ..Default::default()
        },
    );
    let beat = ops::Beat {
        run_id: &asked.run.id,
        token: &token,
        now: plan.p.now,
        lease: crate::support::LEASE,
        active_at: None,
        progress: &progress,
    };
    ops::extend_lease(&mut plan.p.store, &beat).unwrap();
    plan.say(&asked, &block(Question::Analysis, &analysis()), 0, true);
    plan.end(&asked);
    let Step::Stop { question: None, why } = plan.advance() else {
        panic!("{:?}", plan.overview().next)
    };
    assert!(why.contains("budget"), "{why}");
    assert_eq!(plan.below().len(), 1);
}

#[test]
fn time_that_is_used_up_begins_nothing_new_and_what_runs_is_awaited() {
    let settings = PlanSettings { time_s: Some(60), ..PlanSettings::default() };
    let mut plan = Plan::filed_with(settings, &chapters());
    let running = plan.p.claim().unwrap();
    let (ctx, epic) = (plan.p.person(), plan.epic.clone());
    let advanced =
        ops::advance(&mut plan.p.store, &ctx, &epic, false, Duration::from_secs(61)).unwrap();
    assert!(matches!(advanced.step, Step::AwaitWork { .. }), "{advanced:?}");
    assert!(advanced.used_up.unwrap().contains("time"));
    plan.close(&running, "done");
    plan.end(&running);
    assert!(matches!(plan.advance(), Step::Stop { question: None, .. }));
    // More time lets it go on.
    let begin = ops::Begin {
        goal: ops::Goal::Atom(epic),
        settings: PlanSettings::default(),
        budget_usd: None,
    };
    ops::begin_orchestration(&mut plan.p.store, &ctx, &begin).unwrap();
    assert!(matches!(plan.advance(), Step::AwaitWork { .. }));
}
