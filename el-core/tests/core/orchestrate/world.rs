//! A plan on a real database, whose agents answer as a test says. No process is started.

use std::time::Duration;

use el_core::model::{Atom, EndKind, ExitRecord, Stamp, Status, Takes, Timestamp, Worker};
use el_core::ops::{
    self, Advanced, AgentAnswer, Begin, ClaimedRun, Ending, Goal, Guard, Overview, PlanSettings,
    Reply,
};
use el_core::protocol::response::{END, START, read_blocks};
use el_core::rules::orchestrate::{Question, Step};
use el_core::rules::retry::RetryPolicy;
use el_core::{Ctx, Store};
use serde_json::{Value, json};

use crate::support::{Project, session};

pub(super) struct Plan {
    pub(super) p: Project,
    pub(super) epic: String,
}

impl Plan {
    pub(super) fn new(settings: PlanSettings) -> Plan {
        Plan::with_budget(settings, None)
    }

    pub(super) fn with_budget(settings: PlanSettings, budget_usd: Option<f64>) -> Plan {
        let mut p = Project::new();
        let ctx = p.person();
        let begin =
            Begin { goal: Goal::Words("Write the manual".to_owned()), settings, budget_usd };
        let epic = ops::begin_orchestration(&mut p.store, &ctx, &begin).unwrap().id;
        let mut plan = Plan { p, epic };
        plan.sign_driver_on();
        plan
    }

    /// A worker drives the plan from now on.
    pub(super) fn sign_driver_on(&mut self) {
        let worker = Worker {
            id: format!("drives-{}", self.epic),
            process: Stamp { pid: 7, start: 1, boot: "b".into() },
            agent: "claude".to_owned(),
            agents: vec!["claude".to_owned()],
            takes: Takes::Some,
            concurrency: 2,
            started_at: self.p.now,
            heartbeat_at: self.p.now,
            stop_requested: false,
            name: None,
            offers: Vec::new(),
            load_milli: None,
        };
        ops::worker_join(&mut self.p.store, &worker).unwrap();
        ops::share_plan(&mut self.p.store, &self.epic, &worker.id).unwrap();
    }

    /// A plan whose list of tasks was answered and filed.
    pub(super) fn filed(tasks: &Value) -> Plan {
        Plan::filed_with(PlanSettings::default(), tasks)
    }

    pub(super) fn filed_with(settings: PlanSettings, tasks: &Value) -> Plan {
        let mut plan = Plan::new(settings);
        plan.answer(Question::Analysis, &analysis());
        plan.answer(Question::TaskList, &list(tasks));
        plan.advance();
        plan
    }

    pub(super) fn step(&mut self, plan_only: bool) -> Advanced {
        self.p.wait(Duration::from_millis(1));
        let ctx = self.p.person();
        ops::advance(&mut self.p.store, &ctx, &self.epic, plan_only, Duration::ZERO).unwrap()
    }

    pub(super) fn advance(&mut self) -> Step {
        self.step(false).step
    }

    /// The question that the plan waits for is claimed; its run.
    #[track_caller]
    pub(super) fn asked(&mut self, question: Question) -> ClaimedRun {
        assert_eq!(self.advance(), Step::AwaitAnswer { question });
        let claimed = self.p.claim().expect("the question is there to be taken");
        assert_eq!(claimed.atom.metadata["orchestration"]["asks"], question.storage_name());
        claimed
    }

    /// The agent of a run says a text, and nothing more.
    pub(super) fn say(
        &mut self,
        claimed: &ClaimedRun,
        text: &str,
        asked_again: u32,
        may_ask_again: bool,
    ) -> Reply {
        self.p.wait(Duration::from_millis(1));
        let reading = read_blocks(text);
        let heard = AgentAnswer {
            run: &claimed.run.id,
            token: &claimed.run.token,
            reading: &reading,
            asked_again,
            may_ask_again,
        };
        let ctx = Ctx { actor: "claude", ..self.p.person() };
        ops::record_answer(&mut self.p.store, &ctx, &heard).unwrap()
    }

    /// The question is asked, answered with this, and its run settled.
    #[track_caller]
    pub(super) fn answer(&mut self, question: Question, data: &Value) -> ClaimedRun {
        let claimed = self.asked(question);
        assert_eq!(self.say(&claimed, &block(question, data), 0, true), Reply::Kept);
        self.end(&claimed);
        claimed
    }

    pub(super) fn end(&mut self, claimed: &ClaimedRun) {
        self.exit(claimed, 0);
    }

    pub(super) fn exit(&mut self, claimed: &ClaimedRun, code: i32) {
        let mut exit = ExitRecord::new(&claimed.run.id, EndKind::Exited, self.p.now);
        exit.exit_code = Some(code);
        let policy = RetryPolicy { base: Duration::ZERO, ..RetryPolicy::default() };
        let ctx = Ctx { actor: "claude", ..self.p.person() };
        ops::settle(&mut self.p.store, &ctx, &Ending::new(&exit, &policy, 0.5), |_| None).unwrap();
    }

    /// The next ready atom, which must be a task, is claimed and closed by its agent; its title.
    #[track_caller]
    pub(super) fn work(&mut self, reason: &str) -> String {
        let claimed = self.p.claim().expect("a task is ready");
        assert!(claimed.atom.metadata["orchestration"]["asks"].is_null(), "{:?}", claimed.atom);
        self.close(&claimed, reason);
        self.end(&claimed);
        claimed.atom.title
    }

    pub(super) fn close(&mut self, claimed: &ClaimedRun, reason: &str) {
        self.p.wait(Duration::from_millis(1));
        let credentials = session(claimed);
        let ctx = Ctx { actor: "claude", session: Some(&credentials), ..self.p.person() };
        ops::close(&mut self.p.store, &ctx, &[&claimed.atom.id], Some(reason), &Guard::default())
            .unwrap();
    }

    /// The next ready atom fails until it is given up; its id.
    #[track_caller]
    pub(super) fn fail(&mut self) -> String {
        let first = self.p.claim().expect("something is ready");
        self.exit(&first, 1);
        while self.status(&first.atom.id) != Status::Blocked {
            self.p.wait(Duration::from_millis(1));
            let again = self.p.claim().expect("it is tried again");
            assert_eq!(again.atom.id, first.atom.id);
            self.exit(&again, 1);
        }
        first.atom.id
    }

    /// Works on tasks until none is ready; their titles in order.
    pub(super) fn work_all(&mut self) -> Vec<String> {
        let mut done = Vec::new();
        while matches!(self.advance(), Step::AwaitWork { .. }) && !self.p.ready().is_empty() {
            done.push(self.work("done: as asked"));
        }
        done
    }

    pub(super) fn supply(&mut self, question: Question, data: &Value) -> Vec<String> {
        self.p.wait(Duration::from_millis(1));
        let ctx = self.p.person();
        ops::supply_answer(&mut self.p.store, &ctx, &self.epic, question, data, false).unwrap().1
    }

    pub(super) fn check(&mut self, round: usize, passed: bool, output: &str) {
        let ctx = self.p.person();
        ops::record_whole_check(&mut self.p.store, &ctx, &self.epic, round, passed, output)
            .unwrap();
    }

    pub(super) fn overview(&self) -> Overview {
        ops::plan_overview(&self.p.store, &self.epic).unwrap()
    }

    pub(super) fn show(&self, id: &str) -> Atom {
        ops::get_atom(&self.p.store, id).unwrap()
    }

    pub(super) fn status(&self, id: &str) -> Status {
        self.show(id).status
    }

    /// The atom of a task by the model's name for it.
    #[track_caller]
    pub(super) fn task(&self, name: &str) -> String {
        let found =
            self.overview().tasks.into_iter().find(|task| task.task_id.as_deref() == Some(name));
        found.unwrap_or_else(|| panic!("no task {name}")).atom_id
    }

    /// The whole prompt context of a run.
    pub(super) fn context(&self, claimed: &ClaimedRun) -> String {
        let run = ops::get_run(&self.p.store, &claimed.run.id).unwrap();
        ops::build_context(&self.p.store, &run, None).unwrap().render()
    }

    pub(super) fn comments(&self, id: &str) -> String {
        ops::list_comments(&self.p.store, id)
            .unwrap()
            .1
            .into_iter()
            .map(|c| c.content + "\n")
            .collect()
    }

    /// The atoms below the epic, whatever they are.
    pub(super) fn below(&self) -> Vec<Atom> {
        below(&self.p.store, &self.epic, self.p.now)
    }

    /// No question has two atoms that live, and no task two atoms.
    pub(super) fn assert_once(&self) {
        let mut names: Vec<String> = Vec::new();
        for atom in self.below() {
            let own = &atom.metadata["orchestration"];
            if let Some(asks) = own["asks"].as_str().filter(|_| !atom.status.is_over()) {
                names.push(format!("question {asks} of {}", own["epic"]));
            }
            if own["task"].is_string() {
                names.push(format!("task {} of {} of {}", own["task"], own["list"], own["epic"]));
            }
        }
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "{:#?}", self.below());
    }
}

pub(super) fn below(store: &Store, epic: &str, now: Timestamp) -> Vec<Atom> {
    let filter = ops::AtomFilter {
        parent: Some(epic.to_owned()),
        include_over: true,
        ..ops::AtomFilter::default()
    };
    ops::list(store, &filter, ops::Sort::Oldest, None, 0, now).unwrap().items
}

pub(super) fn block(question: Question, data: &Value) -> String {
    format!(
        "I have looked.\n{START}\n{}\n{END}\nThat is all.",
        json!({ "phase": question.phase(), "data": data })
    )
}

pub(super) fn analysis() -> Value {
    json!({ "summary": "Three chapters", "recommended_splits": 3 })
}

pub(super) fn list(tasks: &Value) -> Value {
    json!({ "tasks": tasks })
}

/// A task as a model proposes it.
pub(super) fn task(id: &str, dependencies: &[&str]) -> Value {
    json!({
        "id": id, "title": format!("Task {id}"), "description": format!("Do {id}"),
        "dependencies": dependencies,
    })
}

pub(super) fn aggregation(summary: &str) -> Value {
    json!({ "status": "success", "summary": summary })
}
