use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::file::KEY;
use super::flow::{LoadedPlan, load_plan};
use crate::Result;
use crate::model::{Atom, Run, Status};
use crate::rules::orchestrate::{
    Member, Question, QuestionState, Standing, Step, find_contradiction, next_step, sort_members,
};
use crate::rules::retry::count_alike;
use crate::store::orchestration::{Planned, State};
use crate::store::{Store, Tx, atom, bond, orchestration, run};

mod views;

pub use views::{DroppedView, Overview, PhaseView, TaskView, Tries};

/// Returns the state of an orchestration. Changes nothing.
///
/// # Errors
///
/// If the atom is not orchestrated, the id is unknown or ambiguous, or the database cannot be read.
pub fn plan_overview(store: &Store, epic: &str) -> Result<Overview> {
    store.read(|tx| {
        let loaded = load_plan(tx, epic)?;
        let next = next_of(&loaded);
        Ok(Overview {
            depth: loaded.own.depth,
            settings: loaded.settings.clone(),
            started_at: loaded.own.started_at,
            ended_at: loaded.own.ended_at,
            worked_s: loaded.flow.elapsed.as_secs(),
            spent_micros: loaded.flow.spent,
            budget_micros: loaded.budget,
            next,
            phases: phase_views(tx, &loaded)?,
            tasks: task_views(tx, &loaded)?,
            dropped: dropped_views(tx, &loaded)?,
            checks: loaded.checks,
            epic: loaded.epic,
        })
    })
}

fn next_of(loaded: &LoadedPlan) -> Step {
    match super::advance::held_reason(loaded) {
        Some(why) => Step::Stop { question: None, why },
        None => next_step(&loaded.flow, &loaded.settings.to_rules(false, loaded.budget)),
    }
}

/// Returns the next step of a plan, and how often its check has failed if it failed the last time.
pub(in crate::ops) fn resting_step(tx: &Tx<'_>, epic: &str) -> Result<(Step, usize)> {
    let loaded = load_plan(tx, epic)?;
    let has_failed = loaded.checks.last().is_some_and(|check| !check.passed);
    Ok((next_of(&loaded), if has_failed { loaded.checks.len() } else { 0 }))
}

/// Returns true if a live run works below the epic, of any worker.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn is_below_running(store: &Store, epic: &str) -> Result<bool> {
    store.read(|tx| {
        let below = orchestration::atoms_below(tx, epic)?;
        Ok(run::list_live(tx)?.iter().any(|run| below.contains(&run.atom_id)))
    })
}

fn phase_views(tx: &Tx<'_>, loaded: &LoadedPlan) -> Result<Vec<PhaseView>> {
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
        let asked = loaded.asked_question(question).filter(|_| *asking != QuestionState::Nothing);
        if asked.is_none() && matches!(question, Question::Failures { .. }) {
            continue;
        }
        let atom = asked.map_or(Ok(None), |_| loaded.asking_atom(tx, question))?;
        // A list that a person supplied needs no analysis.
        let is_needless =
            question == Question::Analysis && loaded.flow.task_list == QuestionState::Data;
        let state = match asking {
            QuestionState::Nothing | QuestionState::Stopped { .. } if is_needless => "not_needed",
            QuestionState::Nothing => "waiting",
            QuestionState::Pending if atom.as_ref().is_some_and(|atom| atom.run_id.is_some()) => {
                "running"
            }
            QuestionState::Pending => "asked",
            QuestionState::Data => "answered",
            QuestionState::Carried => "in_words",
            QuestionState::Stopped { .. } => "stopped",
        };
        let fault = match asking {
            _ if state == "not_needed" => None,
            QuestionState::Stopped { why } => Some(why.clone()),
            _ => asked
                .filter(|asked| asked.state == State::Open)
                .and_then(|asked| asked.fault.clone()),
        };
        views.push(PhaseView {
            name: question.storage_name(),
            state,
            atom_id: asked.and_then(|asked| asked.atom_id.clone()),
            is_over: atom.as_ref().is_some_and(|atom| atom.status.is_over()),
            answered_by: asked.and_then(|asked| asked.answered_by.clone()),
            answered_at: asked.and_then(|asked| asked.answered_at),
            run_id: match (state, &atom) {
                ("running", Some(atom)) => atom.run_id.clone(),
                _ => asked.and_then(|asked| asked.run_id.clone()),
            },
            fault,
            tries: match &atom {
                Some(atom) => count_tries(tx, atom, &run::of_atom(tx, &atom.id)?)?,
                None => Tries::default(),
            },
            data: asked.and_then(|asked| asked.data.clone()),
        });
    }
    Ok(views)
}

fn count_tries(tx: &Tx<'_>, of: &Atom, runs: &[Run]) -> Result<Tries> {
    let ended = runs.last().and_then(|run| Some((run.outcome?, run.detail.clone())));
    let failures = match ended {
        Some((outcome, _)) if outcome.is_failure() => {
            let recent = run::recent_attempts(tx, &of.id)?;
            count_alike(outcome, &recent.iter().map(|one| one.outcome).collect::<Vec<_>>())
        }
        _ => 0,
    };
    let (outcome, detail) = ended.unzip();
    let attempts = i64::try_from(runs.len()).unwrap_or(i64::MAX);
    Ok(Tries { attempts, outcome, detail: detail.flatten(), failures, retry_at: of.retry_at })
}

fn task_views(tx: &Tx<'_>, loaded: &LoadedPlan) -> Result<Vec<TaskView>> {
    let standings: HashMap<String, Standing> =
        sort_members(&loaded.flow.members).standings.into_iter().collect();
    let layers = member_layers(loaded);
    let planned: HashMap<&str, &Planned> =
        loaded.planned.iter().map(|planned| (planned.atom_id.as_str(), planned)).collect();
    let own: HashMap<&str, &Atom> =
        loaded.atoms.iter().map(|atom| (atom.id.as_str(), atom)).collect();
    let ids: Vec<&str> = loaded.atoms.iter().map(|atom| atom.id.as_str()).collect();
    let mut all_runs = run::of_atoms(tx, &ids)?;
    let mut views = Vec::new();
    for (atom, member) in loaded.atoms.iter().zip(&loaded.flow.members) {
        let runs = all_runs.remove(&atom.id).unwrap_or_default();
        let last = runs.last();
        let planned = planned.get(atom.id.as_str());
        let said = atom.metadata.get(KEY);
        let number = |name: &str| said.and_then(|said| said.get(name)).and_then(Value::as_u64);
        // Finished dependencies outside of the plan are left out.
        let waits_for = member
            .waits_for
            .iter()
            .filter(|id| own.get(id.as_str()).is_none_or(|found| !found.status.is_over()))
            .chain(&member.unmerged);
        let standing = standings.get(&atom.id).copied().unwrap_or(Standing::Waiting);
        let live = last.filter(|run| run.is_live());
        views.push(TaskView {
            atom_id: atom.id.clone(),
            task_id: planned.map(|planned| planned.task_id.clone()),
            list: planned.map(|planned| planned.list.clone()),
            title: atom.title.clone(),
            status: atom.status,
            standing,
            layer: layers.get(&atom.id).copied().unwrap_or(0),
            waits_for: waits_for.cloned().collect(),
            why: standing_reason(atom, member, standing, last),
            assignee: atom.assignee.clone(),
            defer_until: atom.defer_until,
            tries: count_tries(tx, atom, &runs)?,
            run_id: last.map(|run| run.id.clone()),
            running_since: live.map(|run| run.started_at),
            percent: live.and_then(|run| run.progress.percent),
            action: live.and_then(|run| run.progress.action.clone()),
            scope: said
                .and_then(|said| said.get("scope"))
                .and_then(|scope| serde_json::from_value(scope.clone()).ok())
                .unwrap_or_default(),
            priority: number("priority"),
            estimated_tokens: number("estimated_tokens"),
            tokens: last.map_or(0, |run| run.progress.tokens_in + run.progress.tokens_out),
            cost: runs.iter().map(|run| run.progress.cost).sum(),
        });
    }
    Ok(views)
}

/// The tasks of the lists that are no part of the work any more.
fn dropped_views(tx: &Tx<'_>, loaded: &LoadedPlan) -> Result<Vec<DroppedView>> {
    let own: HashSet<&str> = loaded.atoms.iter().map(|atom| atom.id.as_str()).collect();
    let mut views = Vec::new();
    for planned in loaded.planned.iter().filter(|planned| !own.contains(planned.atom_id.as_str())) {
        let found = atom::find(tx, &planned.atom_id)?;
        // A person may have moved the atom to another epic, or made the atom an epic.
        if found.as_ref().is_some_and(|found| found.status != Status::Discard) {
            continue;
        }
        let mut freed = Vec::new();
        for edge in bond::list_touching(tx, &planned.atom_id)? {
            if edge.source_id == planned.atom_id
                && edge.dependency_type.is_blocking()
                && own.contains(edge.target_id.as_str())
            {
                freed.push(edge.target_id);
            }
        }
        views.push(DroppedView {
            atom_id: planned.atom_id.clone(),
            task_id: planned.task_id.clone(),
            list: planned.list.clone(),
            title: found.as_ref().map(|found| found.title.clone()),
            reason: found.and_then(|found| found.close_reason),
            freed,
        });
    }
    Ok(views)
}

fn standing_reason(
    atom: &Atom,
    member: &Member,
    standing: Standing,
    last: Option<&Run>,
) -> Option<String> {
    let said = last.and_then(|run| run.completion.as_ref());
    if let Some(contradiction) = said
        .and_then(|said| find_contradiction(said.status, atom.status, atom.close_reason.as_deref()))
    {
        return Some(contradiction);
    }
    let ended = last.filter(|run| !run.is_live()).and_then(|run| run.detail.clone());
    match standing {
        Standing::Failed => atom.close_reason.clone().or(ended),
        Standing::Stuck => ended,
        Standing::Waiting if !member.unmerged.is_empty() => {
            Some(format!("not merged yet: {}", member.unmerged.join(", ")))
        }
        // The atom is tried again.
        Standing::Ready => ended.filter(|_| {
            atom.retry_at.is_some()
                || last.is_some_and(|run| run.outcome.is_some_and(|o| o.is_failure()))
        }),
        _ => None,
    }
}

/// Returns the length of the longest path of dependencies to each member. Only a person can have
/// made a cycle; a cycle is cut at some edge.
fn member_layers(loaded: &LoadedPlan) -> HashMap<String, usize> {
    let members = &loaded.flow.members;
    let mut layers: HashMap<String, usize> =
        members.iter().map(|member| (member.id.clone(), 0)).collect();
    for _ in 0..members.len() {
        let mut has_changed = false;
        for member in members {
            let below = member
                .waits_for
                .iter()
                .filter_map(|id| layers.get(id))
                .max()
                .map_or(0, |layer| layer + 1);
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
