//! Changes that people make to a plan between its steps stand.

use std::time::Duration;

use el_core::model::{BondKind, NeedKind, Status};
use el_core::ops::{self, AtomPatch, Guard, NewAtom, PlanSettings};
use el_core::rules::orchestrate::{Question, Step};
use serde_json::json;

use super::chapters;
use super::world::{Plan, aggregation, analysis, block, list, task};

#[test]
fn a_plan_that_a_person_edited_is_worked_on_as_it_is() {
    edited(false);
    edited(true);
}

fn edited(is_pruned: bool) {
    let mut plan = Plan::filed(&chapters());
    let (one, two, index) = (plan.task("one"), plan.task("two"), plan.task("index"));
    let (ctx, epic) = (plan.p.person(), plan.epic.clone());
    let store = &mut plan.p.store;
    // Thrown away: removed for good or not.
    ops::discard(store, &ctx, &[&one], None, false).unwrap();
    if is_pruned {
        ops::prune(store, &ctx, Duration::ZERO, false).unwrap();
    }
    // Added, and the rest bound to it.
    let more = NewAtom { title: "A preface".to_owned(), parent: Some(epic), ..NewAtom::default() };
    let more = ops::create(store, &ctx, &more).unwrap().id;
    ops::dep_add(store, &ctx, &more, &two, BondKind::Blocks).unwrap();
    ops::dep_remove(store, &ctx, &two, &index, None).unwrap();
    let Step::AwaitWork { work } = plan.advance() else { panic!() };
    assert_eq!((work.ready, work.waiting), (vec![index, more], vec![two]));
    assert_eq!(plan.work_all(), ["Task index", "A preface", "Task two"]);
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    assert_eq!(plan.overview().tasks.len(), 3, "what was removed is not filed again");
    plan.assert_once();
}

#[test]
fn an_epic_that_is_opened_again_with_nothing_to_do_is_closed_again_and_told_once() {
    let mut plan = Plan::filed(&chapters());
    plan.work_all();
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    let epic = plan.epic.clone();
    let told = ops::list_comments(&plan.p.store, &epic).unwrap().1.len();
    let ctx = plan.p.person();
    ops::reopen(&mut plan.p.store, &ctx, &[&epic]).unwrap();
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    assert_eq!(
        (plan.status(&epic), ops::list_comments(&plan.p.store, &epic).unwrap().1.len()),
        (Status::Closed, told)
    );
}

#[test]
fn a_list_that_is_supplied_after_filing_files_only_what_is_new() {
    let mut plan = Plan::filed(&chapters());
    let one = plan.task("one");
    assert_eq!(plan.work("done"), "Task one");
    let ctx = plan.p.person();
    let index = plan.task("index");
    ops::discard(&mut plan.p.store, &ctx, &[&index], None, false).unwrap();
    ops::prune(&mut plan.p.store, &ctx, Duration::ZERO, false).unwrap();
    let tasks = json!([
        task("one", &[]),
        task("two", &[]),
        task("index", &["one"]),
        task("three", &["one", "two", "index"])
    ]);
    plan.supply(Question::TaskList, &list(&tasks));
    let Step::AwaitWork { work } = plan.advance() else { panic!() };
    assert_eq!((work.ready.len(), work.waiting.len()), (1, 1));
    assert_eq!(plan.task("one"), one);
    assert_eq!(plan.work_all(), ["Task two", "Task three"]);
    plan.assert_once();
}

#[test]
fn work_that_comes_after_the_aggregation_is_brought_together_too_and_once() {
    let mut plan = Plan::filed(&json!([task("one", &[]), task("two", &[])]));
    let failed = plan.fail();
    plan.work("done");
    plan.answer(Question::Aggregation, &aggregation("half"));
    assert!(matches!(plan.advance(), Step::Done { .. }));
    for round in 0..3 {
        let ctx = plan.p.person();
        let new = NewAtom {
            title: format!("More {round}"),
            parent: Some(plan.epic.clone()),
            ..NewAtom::default()
        };
        ops::create(&mut plan.p.store, &ctx, &new).unwrap();
        assert_eq!(plan.work_all(), [format!("More {round}")]);
        let asked = plan.asked(Question::Aggregation);
        let told = plan.context(&asked);
        assert!(!told.contains("answered:"), "an aggregation is no part: {told}");
        plan.say(
            &asked,
            &block(Question::Aggregation, &aggregation(&format!("round {round}"))),
            0,
            true,
        );
        plan.end(&asked);
        assert_eq!(plan.advance(), Step::Done { missing: vec![failed.clone()] });
        assert_eq!(plan.advance(), Step::Done { missing: vec![failed.clone()] });
    }
    assert_eq!(plan.comments(&plan.epic).matches("## Result").count(), 4);
    assert_eq!(plan.overview().tasks.len(), 5);
    plan.assert_once();
}

#[test]
fn a_task_that_is_done_after_all_while_it_is_brought_together_is_told_in_a_further_aggregation() {
    let mut plan = Plan::filed(&json!([task("one", &[]), task("two", &[])]));
    let failed = plan.fail();
    plan.work("done");
    let asked = plan.asked(Question::Aggregation);
    let ctx = plan.p.person();
    ops::retry(&mut plan.p.store, &ctx, &failed).unwrap();
    assert!(matches!(plan.advance(), Step::AwaitWork { .. }));
    plan.say(&asked, &block(Question::Aggregation, &aggregation("half")), 0, true);
    plan.end(&asked);
    assert_eq!(plan.work_all(), ["Task one"]);
    plan.answer(Question::Aggregation, &aggregation("whole"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    plan.assert_once();
}

#[test]
fn an_epic_that_a_person_holds_or_closes_goes_no_further_until_it_is_reopened() {
    let mut plan = Plan::filed(&chapters());
    let (ctx, epic) = (plan.p.person(), plan.epic.clone());
    for status in [Status::Blocked, Status::Deferred, Status::Closed, Status::WontDo] {
        let patch = AtomPatch { status: Some(status), ..AtomPatch::default() };
        ops::update(
            &mut plan.p.store,
            &ctx,
            &[&epic],
            &patch,
            &Guard { force: true, ..Guard::default() },
        )
        .unwrap();
        let Step::Stop { question: None, why } = plan.advance() else { panic!("{status}") };
        assert!(why.contains("el reopen"), "{why}");
        ops::reopen(&mut plan.p.store, &ctx, &[&epic]).unwrap();
        assert!(matches!(plan.advance(), Step::AwaitWork { .. }), "{status}");
    }
}

#[test]
fn a_question_that_a_person_closed_or_removed_stops_and_can_be_supplied() {
    for remove in [false, true] {
        let mut plan = Plan::new(PlanSettings::default());
        plan.advance();
        let asked = plan.below().remove(0).id;
        let ctx = plan.p.person();
        if remove {
            ops::discard(&mut plan.p.store, &ctx, &[&asked], None, false).unwrap();
            ops::prune(&mut plan.p.store, &ctx, Duration::ZERO, false).unwrap();
        } else {
            ops::close(&mut plan.p.store, &ctx, &[&asked], None, &Guard::default()).unwrap();
        }
        let Step::Stop { question: Some(Question::Analysis), why } = plan.advance() else {
            panic!()
        };
        assert!(why.contains(&asked), "{why}");
        plan.supply(Question::Analysis, &analysis());
        assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::TaskList });
    }
}

#[test]
fn a_result_that_a_person_supplied_stands() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    plan.work_all();
    plan.advance();
    plan.supply(Question::Aggregation, &aggregation("by hand"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    assert_eq!(plan.show(&plan.epic).close_reason.as_deref(), Some("by hand"));
    plan.assert_once();
}

#[test]
fn a_question_is_not_held_by_work_that_was_opened_again_and_given_up() {
    let mut plan = Plan::filed(&json!([task("one", &[]), task("two", &[])]));
    plan.work_all();
    let one = plan.task("one");
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::Aggregation });
    let ctx = plan.p.person();
    ops::reopen(&mut plan.p.store, &ctx, &[&one]).unwrap();
    assert!(matches!(plan.advance(), Step::AwaitWork { .. }), "the aggregation waits for it");
    assert_eq!(plan.fail(), one);
    // It goes on without it, and says so.
    let asked = plan.asked(Question::Aggregation);
    let told = plan.context(&asked);
    assert!(told.contains(&format!("{one} (blocked): Task one")), "{told}");
    plan.say(&asked, &block(Question::Aggregation, &aggregation("half")), 0, true);
    plan.end(&asked);
    assert_eq!(plan.advance(), Step::Done { missing: vec![one.clone()] });
    // A late result is aggregated with the rest.
    let ctx = plan.p.person();
    ops::retry(&mut plan.p.store, &ctx, &one).unwrap();
    plan.work_all();
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
}

#[test]
fn what_is_done_before_somebody_takes_the_aggregation_is_told_to_it() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    plan.work_all();
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::Aggregation });
    let ctx = plan.p.person();
    let new =
        NewAtom { title: "More".to_owned(), parent: Some(plan.epic.clone()), ..NewAtom::default() };
    let more = ops::create(&mut plan.p.store, &ctx, &new).unwrap().id;
    ops::close(&mut plan.p.store, &ctx, &[&more], Some("done"), &Guard::default()).unwrap();
    let asked = plan.asked(Question::Aggregation);
    assert!(
        ops::builds_on(&plan.p.store, &asked.atom.id).unwrap().contains(&more),
        "its worktree begins with it"
    );
    plan.say(&asked, &block(Question::Aggregation, &aggregation("all")), 0, true);
    plan.end(&asked);
    assert_eq!(plan.advance(), Step::Done { missing: vec![] }, "and it is not asked twice");
}

#[test]
fn a_question_about_a_failed_check_is_not_held_by_work_that_was_given_up_since() {
    let settings = PlanSettings { check: vec!["true".to_owned()], ..PlanSettings::default() };
    let mut plan = Plan::filed_with(settings, &json!([task("one", &[])]));
    plan.work_all();
    plan.answer(Question::Aggregation, &aggregation("all"));
    assert_eq!(plan.advance(), Step::Check { round: 0 });
    plan.check(0, false, "no");
    plan.answer(Question::Failures { round: 0 }, &list(&json!([task("fix", &[])])));
    plan.work_all();
    plan.check(1, false, "still no");
    assert_eq!(plan.advance(), Step::AwaitAnswer { question: Question::Failures { round: 1 } });
    let fix = plan.task("fix");
    let ctx = plan.p.person();
    ops::reopen(&mut plan.p.store, &ctx, &[&fix]).unwrap();
    assert_eq!(plan.fail(), fix);
    plan.answer(Question::Failures { round: 1 }, &list(&json!([task("another fix", &[])])));
    assert_eq!(plan.work_all(), ["Task another fix"]);
}

#[test]
fn a_question_that_a_person_opens_again_is_asked_again() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    plan.work_all();
    let first = plan.answer(Question::Aggregation, &aggregation("poor"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    let (ctx, epic) = (plan.p.person(), plan.epic.clone());
    ops::reopen(&mut plan.p.store, &ctx, &[&epic, &first.atom.id]).unwrap();
    let again = plan.answer(Question::Aggregation, &aggregation("better"));
    assert_eq!(again.atom.id, first.atom.id);
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    assert_eq!(plan.show(&epic).close_reason.as_deref(), Some("better"));
}

#[test]
fn the_board_names_what_lets_a_resting_plan_go_on() {
    let check = vec!["make".to_owned(), "test".to_owned()];
    let settings = PlanSettings { check, check_rounds: 0, ..PlanSettings::default() };
    let mut plan = Plan::filed_with(settings, &json!([task("one", &[])]));
    let entry = |plan: &mut Plan| {
        let driver = format!("drives-{}", plan.epic);
        ops::worker_leave(&mut plan.p.store, &driver).unwrap();
        let board = ops::board(&plan.p.store, 50, plan.p.now, &|_| true).unwrap();
        plan.sign_driver_on();
        let need = board.needs.items.into_iter().find(|need| need.kind == NeedKind::Plan);
        let need = need.expect("the plan rests");
        let ways: Vec<String> = need.ways.into_iter().map(|way| way.command).collect();
        (need.why, ways)
    };
    let epic = plan.epic.clone();
    let (resume, show) =
        (format!("el orchestrate resume {epic}"), format!("el orchestrate show {epic}"));
    assert_eq!(entry(&mut plan).1, [resume.clone(), show.clone()]);

    // Going on would stop at once: a task used up its attempts.
    let failed = plan.fail();
    let (why, ways) = entry(&mut plan);
    assert_eq!(why, format!("it stopped: no task gave a result: {failed}"));
    assert_eq!(ways, std::slice::from_ref(&show));

    let ctx = plan.p.person();
    ops::retry(&mut plan.p.store, &ctx, &failed).unwrap();
    assert_eq!(entry(&mut plan).1, [resume.clone(), show.clone()]);
    plan.work("done");
    plan.answer(Question::Aggregation, &aggregation("all"));
    plan.advance();
    plan.check(0, false, "red");
    let (why, ways) = entry(&mut plan);
    assert!(why.contains("the check failed once"), "{why}");
    assert_eq!(ways, [format!("{resume} --check-rounds 1"), show]);
}
