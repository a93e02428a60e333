use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::PlanSettings;
use super::file::KEY;
use super::flow::{Loaded, load};
use crate::Result;
use crate::model::{Atom, Run, Status, Timestamp};
use crate::rules::orchestrate::{Came, Question, Standing, Step, contradiction, next, work};
use crate::store::orchestration::State;
use crate::store::{Store, Tx, atom, orchestration, run};

/// Where an orchestration stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Overview {
    pub epic: Atom,
    /// How many orchestrations it is within, itself included.
    pub depth: u32,
    pub settings: PlanSettings,
    pub started_at: Timestamp,
    /// Its result was told.
    pub ended_at: Option<Timestamp>,
    /// Seconds in which somebody drove it.
    pub worked_s: u64,
    /// In millionths of a US dollar.
    pub spent_micros: u64,
    pub budget_micros: Option<i64>,
    /// What comes next.
    pub next: Step,
    pub phases: Vec<PhaseView>,
    pub tasks: Vec<TaskView>,
    pub checks: Vec<CheckView>,
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PhaseView {
    /// `analysis`, `task_list`, `aggregation`, `failures-0` …
    pub name: String,
    /// `waiting`, `asked`, `running`, `answered`, `in_words`, `stopped`.
    pub state: &'static str,
    pub atom_id: Option<String>,
    /// Its atom is over.
    pub is_over: bool,
    pub answered_by: Option<String>,
    pub answered_at: Option<Timestamp>,
    pub run_id: Option<String>,
    /// Why it stopped, or what was wrong with the last answer.
    pub fault: Option<String>,
    pub data: Option<Value>,
}

/// One atom of the plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TaskView {
    pub atom_id: String,
    /// The model's name for it; `null` if a person added it.
    pub task_id: Option<String>,
    /// The list that names it.
    pub list: Option<String>,
    pub title: String,
    pub status: Status,
    pub standing: Standing,
    /// Counts from 0; it waits for atoms of lower layers only.
    pub layer: usize,
    /// Atoms that have to be over before it, and are not.
    pub waits_for: Vec<String>,
    /// Why it is where it is, where that is not plain.
    pub why: Option<String>,
    pub attempts: i64,
    /// The live run, or the last.
    pub run_id: Option<String>,
    pub percent: Option<i64>,
    pub action: Option<String>,
    pub scope: Vec<String>,
    /// The model's own, from 1 to 10.
    pub priority: Option<u64>,
    pub estimated_tokens: Option<u64>,
    pub tokens: i64,
    pub cost_micros: i64,
}

/// How a check of the whole ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckView {
    pub round: usize,
    pub passed: bool,
    pub at: Timestamp,
    pub output: String,
}

/// Reads where an epic's orchestration stands. Changes nothing.
pub fn overview(store: &Store, epic: &str) -> Result<Overview> {
    store.read(|tx| {
        let loaded = load(tx, epic)?;
        let next = match super::advance::held(&loaded) {
            Some(why) => Step::Stop { question: None, why },
            None => next(&loaded.flow, &loaded.settings.rules(false, loaded.budget)),
        };
        Ok(Overview {
            depth: loaded.own.depth,
            settings: loaded.settings.clone(),
            started_at: loaded.own.started_at,
            ended_at: loaded.own.ended_at,
            worked_s: loaded.flow.elapsed.as_secs(),
            spent_micros: loaded.flow.spent,
            budget_micros: loaded.budget,
            next,
            phases: phases(tx, &loaded)?,
            tasks: tasks(tx, &loaded)?,
            checks: loaded
                .checks
                .iter()
                .map(|check| CheckView { round: check.round, passed: check.passed, at: check.at, output: check.output.clone() })
                .collect(),
            epic: loaded.epic,
        })
    })
}

/// Whether a run is on at anything below an epic, whoever's it is.
pub fn is_below_running(store: &Store, epic: &str) -> Result<bool> {
    store.read(|tx| {
        let below = orchestration::below(tx, epic)?;
        Ok(run::live(tx)?.iter().any(|run| below.contains(&run.atom_id)))
    })
}

fn phases(tx: &Tx<'_>, loaded: &Loaded) -> Result<Vec<PhaseView>> {
    let mut questions = vec![Question::Analysis, Question::TaskList, Question::Aggregation];
    questions.extend((0..loaded.flow.rounds.len()).map(|round| Question::Failures { round }));
    let mut views = Vec::new();
    for question in questions {
        let asking = match question {
            Question::Analysis => &loaded.flow.analysis,
            Question::TaskList => &loaded.flow.task_list,
            Question::Aggregation => &loaded.flow.aggregation,
            Question::Failures { round } => &loaded.flow.rounds[round].asking,
        };
        let asked = loaded.asked(question).filter(|_| asking.came != Came::Nothing);
        if asked.is_none() && matches!(question, Question::Failures { .. }) {
            continue;
        }
        let atom = asked.and_then(|asked| asked.atom_id.as_deref()).map(|id| atom::find(tx, id)).transpose()?.flatten();
        let state = match &asking.came {
            Came::Nothing | Came::Faulty { .. } | Came::NotFound => "waiting",
            Came::Pending { .. } if atom.as_ref().is_some_and(|atom| atom.run_id.is_some()) => "running",
            Came::Pending { .. } => "asked",
            Came::Data => "answered",
            Came::Carried => "in_words",
            Came::Stopped { .. } => "stopped",
        };
        let fault = match &asking.came {
            Came::Stopped { why } => Some(why.clone()),
            _ => asked.filter(|asked| asked.state == State::Open).and_then(|asked| asked.fault.clone()),
        };
        views.push(PhaseView {
            name: question.name(),
            state,
            atom_id: asked.and_then(|asked| asked.atom_id.clone()),
            is_over: atom.as_ref().is_some_and(|atom| atom.status.is_over()),
            answered_by: asked.and_then(|asked| asked.answered_by.clone()),
            answered_at: asked.and_then(|asked| asked.answered_at),
            run_id: asked.and_then(|asked| asked.run_id.clone()),
            fault,
            data: asked.and_then(|asked| asked.data.clone()),
        });
    }
    Ok(views)
}

fn tasks(tx: &Tx<'_>, loaded: &Loaded) -> Result<Vec<TaskView>> {
    let standings: HashMap<String, Standing> = work(&loaded.flow.members).standings.into_iter().collect();
    let layers = layers(loaded);
    let mut views = Vec::new();
    for (atom, member) in loaded.atoms.iter().zip(&loaded.flow.members) {
        let last = run::last_of(tx, &atom.id)?;
        let planned = loaded.planned.iter().find(|planned| planned.atom_id == atom.id);
        let own = atom.metadata.get(KEY);
        let number = |name: &str| own.and_then(|own| own.get(name)).and_then(Value::as_u64);
        let mut waits_for = Vec::new();
        for id in &member.waits_for {
            if atom::find(tx, id)?.is_some_and(|found| !found.status.is_over()) {
                waits_for.push(id.clone());
            }
        }
        let standing = standings.get(&atom.id).copied().unwrap_or(Standing::Waiting);
        let live = last.as_ref().filter(|run| run.is_live());
        views.push(TaskView {
            atom_id: atom.id.clone(),
            task_id: planned.map(|planned| planned.task_id.clone()),
            list: planned.map(|planned| planned.list.clone()),
            title: atom.title.clone(),
            status: atom.status,
            standing,
            layer: layers.get(&atom.id).copied().unwrap_or(0),
            why: why(atom, standing, last.as_ref()),
            waits_for,
            attempts: run::count_of(tx, &atom.id)?,
            run_id: last.as_ref().map(|run| run.id.clone()),
            percent: live.and_then(|run| run.progress.percent),
            action: live.and_then(|run| run.progress.action.clone()),
            scope: own
                .and_then(|own| own.get("scope"))
                .and_then(|scope| serde_json::from_value(scope.clone()).ok())
                .unwrap_or_default(),
            priority: number("priority"),
            estimated_tokens: number("estimated_tokens"),
            tokens: last.as_ref().map_or(0, |run| run.progress.tokens_in + run.progress.tokens_out),
            cost_micros: run::of_atom(tx, &atom.id)?.iter().map(|run| run.progress.cost_micros).sum(),
        });
    }
    Ok(views)
}

fn why(atom: &Atom, standing: Standing, last: Option<&Run>) -> Option<String> {
    let said = last.and_then(|run| run.completion.as_ref());
    if let Some(contradiction) = said.and_then(|said| contradiction(said.status, atom.status, atom.close_reason.as_deref())) {
        return Some(contradiction);
    }
    let ended = last.filter(|run| !run.is_live()).and_then(|run| run.detail.clone());
    match standing {
        Standing::Failed => atom.close_reason.clone().or(ended),
        Standing::Stuck => ended,
        // It is tried again.
        Standing::Ready => {
            ended.filter(|_| atom.retry_at.is_some() || last.is_some_and(|run| run.outcome.is_some_and(|o| o.is_failure())))
        }
        _ => None,
    }
}

/// The length of the longest way to each member over those that it waits for. What waits in a circle, which only a person can have made, is cut
/// somewhere.
fn layers(loaded: &Loaded) -> HashMap<String, usize> {
    let members = &loaded.flow.members;
    let mut layers: HashMap<String, usize> = members.iter().map(|member| (member.id.clone(), 0)).collect();
    for _ in 0..members.len() {
        let mut has_changed = false;
        for member in members {
            let below = member.waits_for.iter().filter_map(|id| layers.get(id)).max().map_or(0, |layer| layer + 1);
            let own = layers.get_mut(&member.id).expect("every member has its layer");
            if below > *own && below < members.len() {
                *own = below;
                has_changed = true;
            }
        }
        if !has_changed {
            break;
        }
    }
    layers
}
