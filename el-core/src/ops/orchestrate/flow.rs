//! The record of an orchestration, loaded for the rules.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::super::change::resolve_atom;
use super::PlanSettings;
use crate::model::{Atom, Phase, Status, WholeCheck};
use crate::protocol::response::TaskList;
use crate::rules::budget::cap_of;
use crate::rules::orchestrate::{
    FilingState, Listed, Member, PlanSnapshot, Question, QuestionState, Round,
};
use crate::store::orchestration::{Asked, Orchestration, Planned, State};
use crate::store::{Tx, atom, bond, budget, orchestration, unmerged};
use crate::{Error, Result};

/// Where an atom's metadata names the question that the atom asks.
const ASKS: &str = "/orchestration/asks";

/// The complete record of an epic.
#[derive(Debug, Clone)]
pub(super) struct LoadedPlan {
    pub(super) epic: Atom,
    pub(super) own: Orchestration,
    pub(super) settings: PlanSettings,
    pub(super) asked: Vec<Asked>,
    pub(super) planned: Vec<Planned>,
    pub(super) checks: Vec<WholeCheck>,
    /// The work of the plan in the order of creation; each atom has a [`Member`] in the flow.
    pub(super) atoms: Vec<Atom>,
    /// The budget of the plan, in millionths of a US dollar.
    pub(super) budget: Option<i64>,
    pub(super) flow: PlanSnapshot,
}

/// Returns the epic and the orchestration. Refuses an atom that is not orchestrated.
pub(super) fn load_orchestration(tx: &Tx<'_>, id: &str) -> Result<(Atom, Orchestration)> {
    let epic = resolve_atom(tx, id)?;
    match orchestration::find(tx, &epic.id)? {
        Some(own) => Ok((epic, own)),
        None => {
            let message =
                format!("{} is not orchestrated; el orchestrate {} begins it", epic.id, epic.id);
            Err(Error::conflict("not_orchestrated", message))
        }
    }
}

/// Loads the record of an epic.
pub(super) fn load_plan(tx: &Tx<'_>, id: &str) -> Result<LoadedPlan> {
    let (epic, own) = load_orchestration(tx, id)?;
    let asked = orchestration::list_questions(tx, &epic.id)?;
    let planned = orchestration::list_planned(tx, &epic.id)?;
    let checks = orchestration::list_checks(tx, &epic.id)?;
    let (atoms, members) = load_members(tx, &epic.id)?;
    let spent = budget::spent_below(tx, &epic.id)?;
    let mut loaded = LoadedPlan {
        budget: cap_of(epic.issue_type, &epic.metadata, None),
        flow: PlanSnapshot {
            depth: own.depth,
            spent: u64::try_from(spent).unwrap_or_default(),
            elapsed: Duration::from_micros(u64::try_from(own.worked).unwrap_or_default()),
            members,
            ..PlanSnapshot::default()
        },
        epic,
        settings: PlanSettings::of_plan(&own),
        own,
        asked,
        planned,
        checks,
        atoms,
    };
    loaded.flow.analysis = loaded.asking_state(tx, Question::Analysis)?;
    loaded.flow.task_list = loaded.asking_state(tx, Question::TaskList)?;
    loaded.flow.filing = loaded.filing_state(Question::TaskList);
    loaded.flow.aggregation = loaded.asking_state(tx, Question::Aggregation)?;
    if loaded.flow.aggregation == QuestionState::Data && loaded.is_outdated(tx)? {
        loaded.flow.aggregation = QuestionState::default();
    }
    for round in 0..loaded.count_rounds() {
        let question = Question::Failures { round };
        let passed =
            loaded.checks.iter().find(|check| check.round == round).map(|check| check.passed);
        let round = Round {
            passed,
            asking: loaded.asking_state(tx, question)?,
            filing: loaded.filing_state(question),
        };
        loaded.flow.rounds.push(round);
    }
    Ok(loaded)
}

/// Loads the work below an epic. A nested plan counts as one piece of work, whatever is below.
/// Questions, of this plan or of a nested plan, are no work.
fn load_members(tx: &Tx<'_>, epic: &str) -> Result<(Vec<Atom>, Vec<Member>)> {
    let below = orchestration::atoms_below(tx, epic)?
        .iter()
        .map(|id| atom::get(tx, id))
        .collect::<Result<Vec<_>>>()?;
    let mut plans = HashMap::new();
    for found in below.iter().filter(|found| found.issue_type.is_abstract()) {
        plans.extend(orchestration::find(tx, &found.id)?.map(|plan| (found.id.clone(), plan)));
    }
    let parents: HashMap<&str, &str> = below
        .iter()
        .filter_map(|found| Some((found.id.as_str(), found.parent_id.as_deref()?)))
        .collect();
    let is_within = |id: &str| {
        let mut above = parents.get(id);
        while let Some(id) = above.filter(|id| **id != epic) {
            if plans.contains_key(*id) {
                return true;
            }
            above = parents.get(id);
        }
        false
    };
    let asking = orchestration::asking_below(tx, epic)?;
    let mut waits = orchestration::waits_below(tx, epic)?;
    let (mut atoms, mut members) = (Vec::new(), Vec::new());
    for found in &below {
        // An atom of a question that was asked anew no longer asks, but is no work either.
        let asks = asking.contains(&found.id) || found.metadata.pointer(ASKS).is_some();
        let plan = plans.get(&found.id);
        // Discarded atoms are not missed.
        if found.status == Status::Discard
            || asks
            || is_within(&found.id)
            || (found.issue_type.is_abstract() && plan.is_none())
        {
            continue;
        }
        let mut member = Member {
            id: found.id.clone(),
            status: found.status,
            close_reason: found.close_reason.clone(),
            is_running: found.run_id.is_some(),
            has_date: found.defer_until.is_some(),
            waits_for: waits.remove(&found.id).unwrap_or_default(),
            unmerged: Vec::new(),
        };
        if plan.is_some_and(|plan| plan.ended_at.is_some()) && !found.status.is_over() {
            // A part of the nested plan is missing, and the plan does not go on alone.
            member.status = Status::Blocked;
        }
        members.push(member);
        atoms.push(found.clone());
    }
    // A finished dependency outside of the plan holds no member.
    let own: HashSet<String> = atoms.iter().map(|atom| atom.id.clone()).collect();
    let unmerged = unmerged::list_closed(tx)?;
    for member in &mut members {
        let mut waits_for = Vec::new();
        for id in std::mem::take(&mut member.waits_for) {
            if unmerged.contains(&id) {
                member.unmerged.push(id.clone());
            }
            if own.contains(&id)
                || atom::find(tx, &id)?.is_some_and(|found| !found.status.is_over())
            {
                waits_for.push(id);
            }
        }
        member.waits_for = waits_for;
    }
    Ok((atoms, members))
}

impl LoadedPlan {
    /// Returns the record of a question.
    pub(super) fn asked_question(&self, question: Question) -> Option<&Asked> {
        let name = question.storage_name();
        self.asked.iter().find(|asked| asked.name == name)
    }

    /// Reads the atom that asks a question, or asked it.
    pub(super) fn asking_atom(&self, tx: &Tx<'_>, question: Question) -> Result<Option<Atom>> {
        let id = self.asked_question(question).and_then(|asked| asked.atom_id.as_deref());
        id.map_or(Ok(None), |id| atom::find(tx, id))
    }

    /// The tasks of a list that was answered.
    pub(super) fn task_list(&self, question: Question) -> Option<TaskList> {
        let asked = self
            .asked_question(question)
            .filter(|asked| asked.state == State::Data && question.phase() == Phase::TaskList)?;
        serde_json::from_value(asked.data.clone()?).ok()
    }

    fn count_rounds(&self) -> usize {
        let asked = self.asked.iter().filter_map(|asked| match Question::from_name(&asked.name) {
            Some(Question::Failures { round }) => Some(round + 1),
            _ => None,
        });
        self.checks.iter().map(|check| check.round + 1).chain(asked).max().unwrap_or(0)
    }

    fn asking_state(&self, tx: &Tx<'_>, question: Question) -> Result<QuestionState> {
        let Some(asked) = self.asked_question(question) else {
            return Ok(QuestionState::default());
        };
        let found = self.asking_atom(tx, question)?;
        // A person who opens an answered question again wants another answer.
        let is_open = asked.state == State::Open
            || found.as_ref().is_some_and(|found| !found.status.is_over());
        Ok(match (asked.state, &asked.atom_id) {
            (_, Some(id)) if is_open => {
                unanswered_state(found.as_ref(), id, asked.fault.as_deref())
            }
            (State::Data, _) => QuestionState::Data,
            (State::Carried, _) => QuestionState::Carried,
            (State::Open, _) => QuestionState::Nothing,
        })
    }

    fn filing_state(&self, question: Question) -> FilingState {
        let name = question.storage_name();
        let Some(list) = self.task_list(question) else { return FilingState::default() };
        FilingState {
            tasks: list
                .tasks
                .into_iter()
                .map(|task| Listed { id: task.id, dependencies: task.dependencies })
                .collect(),
            filed: self
                .planned
                .iter()
                .filter(|planned| planned.list == name)
                .map(|planned| planned.task_id.clone())
                .collect(),
            is_filed: self.asked_question(question).is_some_and(|asked| asked.is_filed),
        }
    }

    /// Returns true if the results were aggregated before all of the present results existed. An
    /// aggregation by a person stands. Tasks of failed checks come later and do not count.
    fn is_outdated(&self, tx: &Tx<'_>) -> Result<bool> {
        let Some(asked) =
            self.asked_question(Question::Aggregation).filter(|asked| asked.run_id.is_some())
        else {
            return Ok(false);
        };
        let Some(id) = &asked.atom_id else { return Ok(false) };
        let told: HashSet<String> =
            bond::list_touching(tx, id)?.into_iter().map(|edge| edge.source_id).collect();
        let main = Question::TaskList.storage_name();
        let list_of: HashMap<&str, &str> =
            self.planned.iter().map(|p| (p.atom_id.as_str(), p.list.as_str())).collect();
        Ok(self.flow.members.iter().any(|member| {
            let is_later = list_of.get(member.id.as_str()).is_some_and(|list| *list != main);
            member.is_done() && !is_later && !told.contains(&member.id)
        }))
    }
}

/// Returns the state of a question without an answer, by the question's atom.
fn unanswered_state(found: Option<&Atom>, id: &str, fault: Option<&str>) -> QuestionState {
    let why = |what: String| QuestionState::Stopped {
        why: fault.map_or_else(|| what.clone(), |fault| format!("{what}; {fault}")),
    };
    match found {
        None => why(format!("{id}, which asks it, was removed")),
        Some(atom) if atom.status.is_over() => {
            why(format!("{id}, which asks it, is {} without an answer", atom.status))
        }
        Some(atom) => match atom.status {
            Status::Deferred if atom.defer_until.is_none() => {
                why(format!("{id}, which asks it, is deferred"))
            }
            Status::Blocked => why(format!("{id}, which asks it, is blocked")),
            _ => QuestionState::Pending,
        },
    }
}
