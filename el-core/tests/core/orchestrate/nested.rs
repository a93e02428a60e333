//! Orchestrations within each other.

use el_core::Error;
use el_core::model::{BondKind, Status};
use el_core::ops::{self, Begin, Goal, PlanSettings};
use el_core::rules::orchestrate::{Question, Step};
use serde_json::json;

use super::world::{Plan, aggregation, analysis, block, list, task};

fn begin(plan: &mut Plan, atom: &str, depth_max: u32) -> Result<String, Error> {
    let settings = PlanSettings { depth_max, ..PlanSettings::default() };
    let ctx = plan.p.person();
    let begin = Begin { goal: Goal::Atom(atom.to_owned()), settings, budget_usd: None };
    ops::begin_orchestration(&mut plan.p.store, &ctx, &begin).map(|epic| epic.id)
}

#[test]
fn an_orchestration_within_another_is_a_part_of_it() {
    let mut plan = Plan::filed(&json!([task("one", &[]), task("two", &[])]));
    let one = plan.task("one");
    let inner = begin(&mut plan, &one, 2).unwrap();
    assert_eq!(inner, one, "the task has become an epic");
    assert_eq!(plan.work("done"), "Task two");
    let Step::AwaitWork { .. } = plan.advance() else {
        panic!("the inner one is not over: {:?}", plan.overview().next)
    };

    let outer = std::mem::replace(&mut plan.epic, inner);
    assert!(plan.p.ready().is_empty(), "nobody drives the inner one yet");
    plan.sign_driver_on();
    plan.answer(Question::Analysis, &analysis());
    plan.answer(Question::TaskList, &list(&json!([task("one", &[])])));
    assert_eq!(plan.work_all(), ["Task one"]);
    plan.answer(Question::Aggregation, &aggregation("the inner part"));
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    assert_eq!(plan.status(&plan.epic), Status::Closed);

    plan.epic = outer;
    let asked = plan.asked(Question::Aggregation);
    let told = plan.context(&asked);
    assert!(told.contains("the inner part"), "{told}");
    plan.say(&asked, &block(Question::Aggregation, &aggregation("all")), 0, true);
    plan.end(&asked);
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
    assert_eq!(plan.advance(), Step::Done { missing: vec![] });
}

#[test]
fn an_orchestration_too_deep_within_others_is_refused() {
    let mut plan = Plan::filed(&json!([task("one", &[])]));
    let one = plan.task("one");
    let refused = begin(&mut plan, &one, 1);
    assert!(matches!(refused, Err(Error::Conflict { code: "too_deep", .. })), "{refused:?}");
    assert_eq!(plan.show(&one).issue_type, el_core::model::IssueType::Task, "nothing was changed");
    begin(&mut plan, &one, 2).unwrap();
}

#[test]
fn an_atom_that_its_own_part_waits_for_becomes_no_epic() {
    let mut plan = Plan::new(PlanSettings::default());
    let (whole, part) = (plan.p.create("whole"), plan.p.create("part"));
    let ctx = plan.p.person();
    for kind in [BondKind::ParentChild, BondKind::Blocks] {
        ops::dep_add(&mut plan.p.store, &ctx, &whole, &part, kind).unwrap();
    }
    let refused = begin(&mut plan, &whole, 9);
    assert!(matches!(refused, Err(Error::Conflict { code: "cycle", .. })), "{refused:?}");
    assert!(ops::dep_check(&plan.p.store).unwrap().is_empty());
}

#[test]
fn a_question_and_an_atom_that_is_over_have_no_plan() {
    let mut plan = Plan::new(PlanSettings::default());
    plan.advance();
    let asks = plan.below().remove(0).id;
    let refused = begin(&mut plan, &asks, 9);
    assert!(matches!(refused, Err(Error::Conflict { code: "asks", .. })), "{refused:?}");
    let asked = plan.answer(Question::Analysis, &analysis()).atom.id;
    let refused = begin(&mut plan, &asked, 9);
    assert!(matches!(refused, Err(Error::Conflict { code: "over", .. })), "{refused:?}");
}
