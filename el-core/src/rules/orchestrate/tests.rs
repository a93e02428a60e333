use proptest::prelude::*;

use super::*;
use crate::model::{CompletionStatus, Status};

fn listed(id: &str, dependencies: &[&str]) -> Listed {
    Listed {
        id: id.to_owned(),
        dependencies: dependencies.iter().map(|d| (*d).to_owned()).collect(),
    }
}

fn member(id: &str, status: Status, waits_for: &[&str]) -> Member {
    Member {
        id: id.to_owned(),
        status,
        close_reason: None,
        is_running: false,
        has_date: false,
        waits_for: waits_for.iter().map(|d| (*d).to_owned()).collect(),
        unmerged: Vec::new(),
    }
}

fn planned() -> PlanSnapshot {
    PlanSnapshot {
        analysis: QuestionState::Data,
        task_list: QuestionState::Data,
        filing: FilingState {
            tasks: vec![listed("a", &[]), listed("b", &["a"])],
            filed: HashSet::new(),
            is_filed: false,
        },
        ..PlanSnapshot::default()
    }
}

#[test]
fn a_question_is_asked_awaited_and_answered_or_it_stops() {
    let question = Question::Analysis;
    let step = |asking: QuestionState| {
        next_step(
            &PlanSnapshot { analysis: asking, ..PlanSnapshot::default() },
            &Settings::default(),
        )
    };
    let why = "x".to_owned();
    assert_eq!(step(QuestionState::Nothing), Step::Ask { question });
    assert_eq!(step(QuestionState::Pending), Step::AwaitAnswer { question });
    assert_eq!(
        step(QuestionState::Stopped { why: why.clone() }),
        Step::Stop { question: Some(question), why }
    );
    assert_eq!(step(QuestionState::Carried), Step::Ask { question: Question::TaskList });
    assert_eq!(step(QuestionState::Data), Step::Ask { question: Question::TaskList });
}

#[test]
fn a_list_that_a_person_supplied_needs_no_analysis() {
    let flow =
        PlanSnapshot { analysis: QuestionState::Stopped { why: "x".to_owned() }, ..planned() };
    assert!(matches!(next_step(&flow, &Settings::default()), Step::File { .. }));
}

#[test]
fn filing_goes_on_with_what_is_left_and_then_never_begins_again() {
    let mut flow = planned();
    let settings = Settings { plan_only: true, ..Settings::default() };
    flow.filing.tasks.reverse();
    assert_eq!(
        next_step(&flow, &settings),
        Step::File { round: None, tasks: vec!["a".to_owned(), "b".to_owned()] }
    );
    flow.filing.filed.insert("a".to_owned());
    assert_eq!(
        next_step(&flow, &settings),
        Step::File { round: None, tasks: vec!["b".to_owned()] }
    );
    flow.filing.filed.insert("b".to_owned());
    assert_eq!(next_step(&flow, &settings), Step::MarkFiled { round: None });
    flow.filing.is_filed = true;
    flow.filing.filed.clear();
    assert_eq!(next_step(&flow, &settings), Step::PlanFiled);
}

#[test]
fn a_failed_task_holds_only_what_depends_on_it_and_is_told_as_missing() {
    let mut flow = planned();
    flow.filing.is_filed = true;
    flow.members = vec![
        member("a", Status::Blocked, &[]),
        member("b", Status::Open, &["a"]),
        member("c", Status::Open, &["b"]),
        member("d", Status::Open, &[]),
        member("e", Status::Open, &["d"]),
    ];
    let Step::AwaitWork { work } = next_step(&flow, &Settings::default()) else { panic!() };
    assert_eq!(
        (work.ready, work.waiting, work.missing),
        (
            vec!["d".to_owned()],
            vec!["e".to_owned()],
            vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]
        )
    );
    flow.members[3].status = Status::Closed;
    flow.members[4].status = Status::Closed;
    assert_eq!(
        next_step(&flow, &Settings::default()),
        Step::Ask { question: Question::Aggregation }
    );
    flow.aggregation = QuestionState::Data;
    let missing: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
    assert_eq!(next_step(&flow, &Settings::default()), Step::Done { missing });
    for member in &mut flow.members {
        member.status = Status::WontDo;
    }
    flow.aggregation = QuestionState::default();
    assert!(matches!(next_step(&flow, &Settings::default()), Step::Stop { question: None, .. }));
}

#[test]
fn a_circle_that_a_person_made_ends_the_wait() {
    let members = [
        member("a", Status::Open, &["b"]),
        member("b", Status::Open, &["a"]),
        member("c", Status::Open, &["elsewhere"]),
    ];
    let work = sort_members(&members);
    assert_eq!(work.missing, ["a", "b"]);
    assert_eq!(work.waiting, ["c"]);
}

#[test]
fn the_check_is_worked_on_until_its_rounds_are_over() {
    let mut flow = planned();
    flow.filing.is_filed = true;
    flow.members = vec![member("a", Status::Closed, &[])];
    flow.aggregation = QuestionState::Data;
    let settings = Settings { check_rounds: Some(1), ..Settings::default() };
    assert_eq!(next_step(&flow, &settings), Step::Check { round: 0 });
    flow.rounds.push(Round::default());
    assert_eq!(next_step(&flow, &settings), Step::Check { round: 0 }, "it did not end");
    flow.rounds[0].passed = Some(false);
    assert_eq!(
        next_step(&flow, &settings),
        Step::Ask { question: Question::Failures { round: 0 } }
    );
    flow.rounds[0].asking = QuestionState::Data;
    flow.rounds[0].filing.tasks = vec![listed("fix", &[])];
    assert_eq!(
        next_step(&flow, &settings),
        Step::File { round: Some(0), tasks: vec!["fix".to_owned()] }
    );
    flow.rounds[0].filing.is_filed = true;
    flow.members.push(member("fix", Status::Open, &[]));
    assert!(matches!(next_step(&flow, &settings), Step::AwaitWork { .. }));
    flow.members[1].status = Status::Closed;
    assert_eq!(next_step(&flow, &settings), Step::Check { round: 1 });
    flow.rounds.push(Round { passed: Some(true), ..Round::default() });
    assert_eq!(next_step(&flow, &settings), Step::Done { missing: vec![] });
    flow.rounds[1].passed = Some(false);
    assert!(matches!(next_step(&flow, &settings), Step::Stop { .. }));
}

#[test]
fn nothing_begins_beyond_a_limit_and_what_runs_is_awaited() {
    let mut flow = planned();
    flow.filing.is_filed = true;
    flow.members = vec![member("a", Status::InProgress, &[])];
    flow.spent = 5;
    let settings = Settings { budget: Some(5), ..Settings::default() };
    assert!(matches!(next_step(&flow, &settings), Step::AwaitWork { .. }));
    flow.members[0].status = Status::Open;
    assert!(matches!(next_step(&flow, &settings), Step::Stop { .. }));
    let late = PlanSnapshot { elapsed: Duration::from_secs(9), ..PlanSnapshot::default() };
    assert!(matches!(
        next_step(&late, &Settings { time: Some(Duration::from_secs(9)), ..Settings::default() }),
        Step::Stop { .. }
    ));
    let deep = PlanSnapshot { depth: 3, ..PlanSnapshot::default() };
    assert!(matches!(next_step(&deep, &Settings::default()), Step::Stop { .. }));
}

#[test]
fn a_worker_that_contradicts_its_atom_is_reported() {
    use CompletionStatus::{Failed, Partial, Success, Timeout};
    assert_eq!(find_contradiction(Success, Status::Closed, None), None);
    assert_eq!(find_contradiction(Partial, Status::Closed, None), None);
    assert!(find_contradiction(Failed, Status::Closed, Some("done")).is_some());
    assert!(find_contradiction(Timeout, Status::Closed, None).is_some());
    assert!(find_contradiction(Success, Status::Closed, Some("failed: no")).is_some());
    assert!(find_contradiction(Success, Status::Blocked, None).is_some());
    assert_eq!(find_contradiction(Success, Status::InProgress, None), None);
    assert_eq!(find_contradiction(Failed, Status::WontDo, None), None);
}

/// A world in which each step's effect is one transaction, and a crash comes before or after any of
/// them.
struct World {
    flow: PlanSnapshot,
    filed: Vec<String>,
    dice: Vec<u8>,
}

impl World {
    fn roll(&mut self) -> u8 {
        self.dice.pop().unwrap_or(200)
    }

    fn carry_out(&mut self, step: Step, list: &[Listed]) {
        let data = self.roll() > 60;
        match step {
            Step::Ask { question } => {
                let came = match self.roll() {
                    ..60 => QuestionState::Pending,
                    _ if data => QuestionState::Data,
                    _ => QuestionState::Stopped { why: "x".to_owned() },
                };
                self.came(question, came, list);
            }
            Step::AwaitAnswer { question } => {
                let came = if data {
                    QuestionState::Data
                } else {
                    QuestionState::Stopped { why: "x".to_owned() }
                };
                self.came(question, came, list);
            }
            // A person supplies what is missing.
            Step::Stop { question: Some(question), .. } => {
                *self.asking(question) = QuestionState::default()
            }
            Step::File { round, tasks } => {
                // The caller files them one by one, and may be killed among them.
                let roll = self.roll();
                let many =
                    if roll > 150 { tasks.len() } else { usize::from(roll) % (tasks.len() + 1) };
                for task in &tasks[..many] {
                    let dependencies: Vec<String> = list
                        .iter()
                        .find(|l| l.id == *task)
                        .map(|l| l.dependencies.clone())
                        .unwrap_or_default();
                    let key = task_key("e", round, task);
                    let waits_for: Vec<String> =
                        dependencies.iter().map(|d| super::task_key("e", None, d)).collect();
                    assert!(
                        waits_for.iter().all(|d| self.filed.contains(d)),
                        "{key} before what it waits for"
                    );
                    self.filed.push(key.clone());
                    self.flow.members.push(Member { waits_for, ..member(&key, Status::Open, &[]) });
                    self.filing(round).filed.insert(task.clone());
                }
            }
            Step::MarkFiled { round } => self.filing(round).is_filed = true,
            Step::AwaitWork { work } => {
                let id =
                    work.running.first().or(work.ready.first()).expect("something moves").clone();
                let status = if data { Status::Closed } else { Status::Blocked };
                let at = self.flow.members.iter().position(|m| m.id == id).unwrap();
                for before in &self.flow.members[at].waits_for {
                    assert!(
                        self.flow.members.iter().any(|m| m.id == *before && m.status.is_over()),
                        "{id} began before {before} was over"
                    );
                }
                self.flow.members[at].status = status;
            }
            Step::Check { round } => {
                self.flow.rounds.resize(round + 1, Round::default());
                self.flow.rounds[round].passed = Some(data);
            }
            Step::PlanFiled | Step::Stop { .. } | Step::Done { .. } => unreachable!(),
        }
    }

    fn came(&mut self, question: Question, came: QuestionState, list: &[Listed]) {
        if came == QuestionState::Data && question == Question::TaskList {
            self.flow.filing.tasks = list.to_vec();
        }
        if let (QuestionState::Data, Question::Failures { round }) = (&came, question) {
            self.flow.rounds[round].filing.tasks = vec![listed("fix", &[])];
        }
        *self.asking(question) = came;
    }

    fn asking(&mut self, question: Question) -> &mut QuestionState {
        match question {
            Question::Analysis => &mut self.flow.analysis,
            Question::TaskList => &mut self.flow.task_list,
            Question::Aggregation => &mut self.flow.aggregation,
            Question::Failures { round } => &mut self.flow.rounds[round].asking,
        }
    }

    fn filing(&mut self, round: Option<usize>) -> &mut FilingState {
        match round {
            None => &mut self.flow.filing,
            Some(round) => &mut self.flow.rounds[round].filing,
        }
    }
}

proptest! {
    #[test]
    fn whatever_crashes_each_task_is_filed_once_and_it_ends(
        edges in prop::collection::vec((0_usize..8, 0_usize..8), 0..12),
        dice in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let list: Vec<Listed> = (0..8)
            .map(|n| {
                let before = edges
                    .iter()
                    .filter(|(from, to)| *from == n && to < from)
                    .map(|(_, to)| format!("t{to}"))
                    .collect();
                Listed { id: format!("t{n}"), dependencies: before }
            })
            .collect();
        let settings = Settings { check_rounds: Some(2), ..Settings::default() };
        let mut world = World { flow: PlanSnapshot::default(), filed: Vec::new(), dice };
        let mut ended = false;
        for _ in 0..1_000 {
            // The decision depends on the record alone: a process that comes after a crash decides
            // the same.
            let step = next_step(&world.flow, &settings);
            prop_assert_eq!(&step, &next_step(&world.flow.clone(), &settings));
            if matches!(step, Step::Done { .. } | Step::Stop { question: None, .. }) {
                ended = true;
                break;
            }
            // A crash before the transaction: nothing happened.
            if world.roll() < 40 {
                continue;
            }
            world.carry_out(step, &list);
        }
        prop_assert!(ended, "it never ended");
        let mut once = world.filed.clone();
        once.sort();
        once.dedup();
        prop_assert_eq!(once.len(), world.filed.len(), "filed twice");
        for task in &list {
            prop_assert!(world.filed.contains(&task_key("e", None, &task.id)));
        }
    }
}
