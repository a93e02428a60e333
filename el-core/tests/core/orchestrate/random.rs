//! Whatever comes in whatever order: no task is filed twice, no question has two atoms that live,
//! and it ends.

use std::time::Duration;

use el_core::model::Status;
use el_core::ops::{self, ClaimedRun, NewAtom, PlanSettings};
use el_core::rules::orchestrate::{Question, Step};
use el_core::{Error, Store};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::{Plan, aggregation, analysis, block, list, task};

/// A random action. The number selects one of the items that exist.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Advance,
    AdvanceElsewhere,
    Claim,
    /// A live run's agent does well, or badly, and the run is settled.
    Good(usize),
    Faulty(usize),
    Crash(usize),
    Retry(usize),
    Reopen(usize),
    Discard(usize),
    Add,
    Supply(usize),
    Check(bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => Just(Deed::Advance),
        2 => Just(Deed::AdvanceElsewhere),
        6 => Just(Deed::Claim),
        6 => any::<usize>().prop_map(Deed::Good),
        2 => any::<usize>().prop_map(Deed::Faulty),
        2 => any::<usize>().prop_map(Deed::Crash),
        1 => any::<usize>().prop_map(Deed::Retry),
        1 => any::<usize>().prop_map(Deed::Reopen),
        1 => any::<usize>().prop_map(Deed::Discard),
        1 => Just(Deed::Add),
        1 => any::<usize>().prop_map(Deed::Supply),
        2 => any::<bool>().prop_map(Deed::Check),
    ]
}

struct World {
    plan: Plan,
    other: Store,
    live: Vec<ClaimedRun>,
    tasks: Value,
}

impl World {
    fn new(tasks: Value) -> World {
        let settings = PlanSettings {
            asks_again: 1,
            check: vec!["true".to_owned()],
            ..PlanSettings::default()
        };
        let plan = Plan::new(settings);
        World { other: plan.p.reopen(), plan, live: Vec::new(), tasks }
    }

    fn data(&self, question: Question) -> Value {
        match question {
            Question::Analysis => analysis(),
            Question::TaskList => list(&self.tasks),
            Question::Aggregation => aggregation("all"),
            Question::Failures { round } => list(&json!([task(&format!("fix {round}"), &[])])),
        }
    }

    fn asks(claimed: &ClaimedRun) -> Option<Question> {
        claimed.atom.metadata["orchestration"]["asks"].as_str().and_then(Question::from_name)
    }

    fn take_live(&mut self, n: usize) -> Option<ClaimedRun> {
        (!self.live.is_empty()).then(|| self.live.remove(n % self.live.len()))
    }

    fn good(&mut self, claimed: &ClaimedRun) {
        match World::asks(claimed) {
            Some(question) => {
                let text = block(question, &self.data(question));
                self.plan.say(claimed, &text, 0, true);
            }
            // A person may have ended it meanwhile.
            None if self.plan.status(&claimed.atom.id) == Status::InProgress => {
                self.plan.close(claimed, "done")
            }
            None => {}
        }
        self.plan.end(claimed);
    }

    /// The ids of the atoms below that are so.
    fn those(&self, is: impl Fn(&el_core::model::Atom) -> bool) -> Vec<String> {
        self.plan.below().into_iter().filter(is).map(|atom| atom.id).collect()
    }

    fn act(&mut self, deed: Deed) {
        self.plan.p.wait(Duration::from_millis(1));
        let ctx = self.plan.p.person();
        match deed {
            Deed::Advance => {
                self.plan.step(false);
            }
            Deed::AdvanceElsewhere => {
                ops::advance(&mut self.other, &ctx, &self.plan.epic, false, Duration::ZERO)
                    .unwrap();
            }
            Deed::Claim => self.live.extend(self.plan.p.claim()),
            Deed::Good(n) => {
                if let Some(claimed) = self.take_live(n) {
                    self.good(&claimed);
                }
            }
            Deed::Faulty(n) => {
                if let Some(claimed) = self.take_live(n) {
                    for again in 0..2 {
                        self.plan.say(&claimed, "I will not keep to your form.", again, true);
                    }
                    self.plan.end(&claimed);
                }
            }
            Deed::Crash(n) => {
                if let Some(claimed) = self.take_live(n) {
                    self.plan.exit(&claimed, 1);
                }
            }
            Deed::Retry(n) => {
                let blocked =
                    self.those(|atom| atom.status == Status::Blocked && atom.run_id.is_none());
                if !blocked.is_empty() {
                    ops::retry(&mut self.plan.p.store, &ctx, &blocked[n % blocked.len()]).unwrap();
                }
            }
            Deed::Reopen(n) => {
                // An older aggregation asks nothing any more.
                let asked: Vec<_> = self
                    .plan
                    .overview()
                    .phases
                    .into_iter()
                    .filter_map(|phase| phase.atom_id)
                    .collect();
                let is_work =
                    |atom: &el_core::model::Atom| atom.metadata["orchestration"]["asks"].is_null();
                let over = self.those(|atom| {
                    atom.status == Status::Closed && (is_work(atom) || asked.contains(&atom.id))
                });
                if !over.is_empty() {
                    ops::reopen(&mut self.plan.p.store, &ctx, &[&over[n % over.len()]]).unwrap();
                }
            }
            Deed::Discard(n) => {
                let all = self.those(|_| true);
                if !all.is_empty() {
                    ops::discard(&mut self.plan.p.store, &ctx, &[&all[n % all.len()]], None, false)
                        .unwrap();
                }
            }
            Deed::Add => {
                let new = NewAtom {
                    title: "More".to_owned(),
                    parent: Some(self.plan.epic.clone()),
                    ..NewAtom::default()
                };
                ops::create(&mut self.plan.p.store, &ctx, &new).unwrap();
            }
            Deed::Supply(n) => {
                let question =
                    [Question::Analysis, Question::TaskList, Question::Aggregation][n % 3];
                let data = self.data(question);
                // An epic that is over takes no data until a person reopens it.
                let over = self.plan.status(&self.plan.epic).is_over();
                match ops::supply_answer(
                    &mut self.plan.p.store,
                    &ctx,
                    &self.plan.epic,
                    question,
                    &data,
                    false,
                ) {
                    Err(Error::Conflict { code: "over", .. }) if over => {}
                    supplied => assert!(supplied.is_ok() && !over, "{supplied:?}"),
                }
            }
            Deed::Check(passed) => {
                if let Step::Check { round } = self.plan.advance() {
                    self.plan.check(round, passed, "it said so");
                }
            }
        }
        self.plan.assert_once();
    }

    /// From here on everybody does well, and a person supplies what stopped: how it ends.
    fn end(&mut self) -> Step {
        for _ in 0..200 {
            self.plan.p.wait(Duration::from_secs(3_600));
            while let Some(claimed) = self.take_live(0) {
                self.good(&claimed);
            }
            let step = self.plan.advance();
            self.plan.assert_once();
            match step {
                Step::Done { .. } => return step,
                Step::Stop { question: Some(question), .. } => {
                    let data = self.data(question);
                    self.plan.supply(question, &data);
                }
                Step::Stop { question: None, ref why } if why.contains("el reopen") => {
                    let ctx = self.plan.p.person();
                    ops::reopen(&mut self.plan.p.store, &ctx, &[&self.plan.epic]).unwrap();
                }
                Step::Stop { .. } => return step,
                Step::Check { round } => self.plan.check(round, true, ""),
                Step::AwaitAnswer { .. } | Step::AwaitWork { .. } => {
                    let claimed = self.plan.p.claim();
                    assert!(
                        claimed.is_some(),
                        "{step:?}, but nothing is ready: {:#?}",
                        self.plan.below()
                    );
                    self.live.extend(claimed);
                }
                other => panic!("{other:?} is nobody's to take"),
            }
        }
        panic!("it never ends: {:#?}", self.plan.overview());
    }
}

/// As many as take some seconds; `PROPTEST_CASES=3000` for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").map_or(24, |cases| cases.parse().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn in_any_order_nothing_is_there_twice_and_it_ends(
        edges in prop::collection::vec((0_usize..4, 0_usize..4), 0..5),
        deeds in prop::collection::vec(deed(), 0..100),
    ) {
        let tasks: Vec<Value> = (0..4_usize)
            .map(|n| {
                let before: Vec<String> = edges
                    .iter()
                    .filter(|(from, to)| *from == n && to < from)
                    .map(|(_, to)| format!("t{to}"))
                    .collect();
                let before: Vec<&str> = before.iter().map(String::as_str).collect();
                task(&format!("t{n}"), &before)
            })
            .collect();
        let mut world = World::new(Value::Array(tasks));
        for deed in deeds {
            world.act(deed);
        }
        let step = world.end();
        // And it stays so.
        prop_assert_eq!(&world.plan.advance(), &step);
        world.plan.assert_once();
    }
}
