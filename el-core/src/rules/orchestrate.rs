//! The next step of an orchestration: analysis, task list, work, aggregation, and perhaps a check
//! at the end.
//!
//! [`next_step`] depends only on the record, so every caller after a crash takes the same step. The
//! caller writes the effect and the record of a step in one transaction: a recorded step is never
//! repeated, an unrecorded step is. Each filed task has a [`task_key`], made from the epic and the
//! model's id, so that interrupted filing goes on with the rest.

mod work;

pub use work::{Member, Standing, Work, find_contradiction, sort_members};

use std::collections::HashSet;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Phase;

/// The configuration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Stop when the tasks are filed.
    pub plan_only: bool,
    /// How many orchestrations may be within each other.
    pub depth_max: u32,
    /// The budget of the whole plan, in millionths of a US dollar.
    pub budget: Option<u64>,
    /// The time limit of the whole plan.
    pub time: Option<Duration>,
    /// How often the check at the end may fail and be worked on; `None`: there is no check.
    pub check_rounds: Option<u32>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { plan_only: false, depth_max: 2, budget: None, time: None, check_rounds: None }
    }
}

/// The state of a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum QuestionState {
    /// The question was not asked yet.
    #[default]
    Nothing,
    /// Being asked, or about to be asked: the question's atom exists.
    Pending,
    /// Data that fits: the model's, or a person's.
    Data,
    /// There was no data, and the words of the last answer carried enough.
    Carried,
    /// No usable answer, or stopped by a person. No further attempt before a person supplies the
    /// data.
    Stopped { why: String },
}

/// A task of a list, by the model's ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub dependencies: Vec<String>,
}

/// A task list, and the progress of filing the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FilingState {
    pub tasks: Vec<Listed>,
    /// The model's ids of tasks with an atom.
    pub filed: HashSet<String>,
    /// Every task once had an atom: a task that a person removed since is not filed again.
    pub is_filed: bool,
}

/// A round of the check at the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Round {
    /// `None`: the command did not end, or the result was not recorded.
    pub passed: Option<bool>,
    /// The state of the question about the failed check.
    pub asking: QuestionState,
    pub filing: FilingState,
}

/// The full record of an epic's orchestration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanSnapshot {
    pub analysis: QuestionState,
    pub task_list: QuestionState,
    pub filing: FilingState,
    /// The work below the epic: filed tasks, and atoms that a person added.
    pub members: Vec<Member>,
    pub aggregation: QuestionState,
    pub rounds: Vec<Round>,
    /// The number of orchestrations around this orchestration.
    pub depth: u32,
    /// Spent by all runs of the epic, in millionths.
    pub spent: u64,
    /// The time since the start, without the time while stopped.
    pub elapsed: Duration,
}

/// A question to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    Analysis,
    TaskList,
    Aggregation,
    /// How to repair the failed check of the round, counted from 0; the answer is a task list.
    Failures {
        round: usize,
    },
}

impl Question {
    /// Returns the phase of the answer.
    pub fn phase(self) -> Phase {
        match self {
            Question::Analysis => Phase::Analysis,
            Question::TaskList | Question::Failures { .. } => Phase::TaskList,
            Question::Aggregation => Phase::Aggregation,
        }
    }

    /// Returns the name under which the question is stored. An epic has a single question of each
    /// name.
    pub fn storage_name(self) -> String {
        match self {
            Question::Failures { round } => format!("{FAILURES}{round}"),
            other => other.phase().to_string(),
        }
    }

    /// The question of a name.
    pub fn from_name(name: &str) -> Option<Question> {
        match name {
            "analysis" => Some(Question::Analysis),
            "task_list" => Some(Question::TaskList),
            "aggregation" => Some(Question::Aggregation),
            other => {
                Some(Question::Failures { round: other.strip_prefix(FAILURES)?.parse().ok()? })
            }
        }
    }
}

/// The prefix of names of questions about failed checks.
const FAILURES: &str = "failures-";

/// The next step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// Ask for the first time.
    Ask { question: Question },
    /// An agent answers now.
    AwaitAnswer { question: Question },
    /// Create the atoms of the tasks, with bonds; a task comes after the dependencies. `round`: the
    /// tasks of a failed check.
    File { round: Option<usize>, tasks: Vec<String> },
    /// Record that all tasks are filed.
    MarkFiled { round: Option<usize> },
    /// The plan is filed, for a person to look at.
    PlanFiled,
    /// Workers do the tasks, or will.
    AwaitWork { work: Work },
    /// Run the command that checks the whole.
    Check { round: usize },
    /// No progress without a person.
    Stop { question: Option<Question>, why: String },
    /// All is over; `missing`: atoms that gave no result.
    Done { missing: Vec<String> },
}

/// Returns the key of a task's atom. The key is unique within an epic.
pub fn task_key(epic: &str, round: Option<usize>, task: &str) -> String {
    match round {
        None => format!("{epic}/task/{task}"),
        Some(round) => format!("{epic}/check-{round}/{task}"),
    }
}

/// Describes how a list exceeds the limits, in words for the model.
pub fn exceeded_limits(tasks: usize, tasks_max: usize) -> Option<String> {
    (tasks > tasks_max).then(|| {
        format!("has {tasks} tasks, and at most {tasks_max} are taken; cut the work into fewer")
    })
}

/// Returns the next step. Total: every record has a next step.
pub fn next_step(flow: &PlanSnapshot, settings: &Settings) -> Step {
    if flow.depth > settings.depth_max {
        let why = format!(
            "it is the orchestration number {} within others, and {} are allowed",
            flow.depth, settings.depth_max
        );
        return Step::Stop { question: None, why };
    }
    let mut step = decide_step(flow, settings);
    // Running work is awaited and results stay, but no new work begins.
    let begins = matches!(step, Step::Ask { .. } | Step::File { .. } | Step::Check { .. });
    if let Some(why) = spent_reason(flow, settings).filter(|_| begins || is_about_to_start(&step)) {
        step = Step::Stop { question: None, why };
    }
    step
}

/// Returns true if a wait is for workers that have not started.
fn is_about_to_start(step: &Step) -> bool {
    matches!(step, Step::AwaitWork { work } if work.running.is_empty())
}

/// Returns why no new work may begin: the budget or the time of the plan is used up. Running work
/// goes on.
pub fn spent_reason(flow: &PlanSnapshot, settings: &Settings) -> Option<String> {
    if let Some(budget) = settings.budget.filter(|budget| flow.spent >= *budget) {
        let usd =
            |micros: u64| super::budget::format_usd(i64::try_from(micros).unwrap_or(i64::MAX));
        return Some(format!(
            "its budget is used up: {} of {} are spent",
            usd(flow.spent),
            usd(budget)
        ));
    }
    let time = settings.time.filter(|time| flow.elapsed >= *time)?;
    Some(format!(
        "its time is over: {} of {} seconds have passed",
        flow.elapsed.as_secs(),
        time.as_secs()
    ))
}

fn decide_step(flow: &PlanSnapshot, settings: &Settings) -> Step {
    // A list that a person supplied needs no analysis.
    if flow.task_list != QuestionState::Data
        && let Some(step) = asking_step(&flow.analysis, Question::Analysis)
    {
        return step;
    }
    if let Some(step) = asking_step(&flow.task_list, Question::TaskList) {
        return step;
    }
    if let Some(step) = filing_step(&flow.filing, None) {
        return step;
    }
    if settings.plan_only {
        return Step::PlanFiled;
    }
    let work = sort_members(&flow.members);
    // While the check's failures are worked on, or are still to be filed, the aggregation is done
    // already.
    if work.is_moving() {
        return Step::AwaitWork { work };
    }
    if work.done.is_empty() {
        let why = match work.missing.as_slice() {
            [] => "it has no task left: all were thrown away".to_owned(),
            missing => format!("no task gave a result: {}", missing.join(", ")),
        };
        return Step::Stop { question: None, why };
    }
    if let Some(step) = asking_step(&flow.aggregation, Question::Aggregation) {
        return step;
    }
    if let Some(rounds) = settings.check_rounds
        && let Some(step) = check_step(flow, rounds)
    {
        return step;
    }
    Step::Done { missing: work.missing }
}

fn check_step(flow: &PlanSnapshot, rounds: u32) -> Option<Step> {
    let Some((last, round)) = flow.rounds.last().zip(flow.rounds.len().checked_sub(1)) else {
        return Some(Step::Check { round: 0 });
    };
    match last.passed {
        None => return Some(Step::Check { round }),
        Some(true) => return None,
        Some(false) => {}
    }
    if u32::try_from(round).is_ok_and(|round| round >= rounds) {
        return Some(Step::Stop {
            question: None,
            why: format!("the check failed {}", crate::count_times(round + 1)),
        });
    }
    if let Some(step) = asking_step(&last.asking, Question::Failures { round }) {
        return Some(step);
    }
    // Their work was awaited with all the other work.
    Some(filing_step(&last.filing, Some(round)).unwrap_or(Step::Check { round: round + 1 }))
}

/// `None`: there is an answer.
fn asking_step(asking: &QuestionState, question: Question) -> Option<Step> {
    Some(match asking {
        QuestionState::Data | QuestionState::Carried => return None,
        QuestionState::Nothing => Step::Ask { question },
        QuestionState::Pending => Step::AwaitAnswer { question },
        QuestionState::Stopped { why } => Step::Stop { question: Some(question), why: why.clone() },
    })
}

fn filing_step(filing: &FilingState, round: Option<usize>) -> Option<Step> {
    if filing.is_filed {
        return None;
    }
    let tasks = left_to_file(filing);
    Some(if tasks.is_empty() { Step::MarkFiled { round } } else { Step::File { round, tasks } })
}

/// Returns the tasks without an atom, each after the dependencies. Missing dependencies and cycles
/// hold nothing: lists with such faults are refused before.
fn left_to_file(filing: &FilingState) -> Vec<String> {
    let mut placed: HashSet<&str> = HashSet::new();
    let mut order = Vec::new();
    let place_of: std::collections::HashMap<&str, usize> =
        filing.tasks.iter().enumerate().map(|(n, task)| (task.id.as_str(), n)).collect();
    for root in 0..filing.tasks.len() {
        // Depth first, without recursion: a task comes after the dependencies.
        let mut path = vec![(root, 0)];
        let mut begun = HashSet::from([root]);
        while let Some((n, next)) = path.pop() {
            let task = &filing.tasks[n];
            if placed.contains(task.id.as_str()) {
                continue;
            }
            let Some(before) = task.dependencies.get(next) else {
                placed.insert(&task.id);
                if !filing.filed.contains(&task.id) {
                    order.push(task.id.clone());
                }
                continue;
            };
            path.push((n, next + 1));
            if let Some(before) = place_of.get(before.as_str())
                && !placed.contains(filing.tasks[*before].id.as_str())
                && begun.insert(*before)
            {
                path.push((*before, 0));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests;
