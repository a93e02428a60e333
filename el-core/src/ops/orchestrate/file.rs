//! Filing: a question's atom, and the atoms of a list of tasks.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::bonds::tell_of_bond;
use super::super::create::{NewAtom, create_in};
use super::answers::supply_command;
use super::flow::LoadedPlan;
use crate::model::{Atom, BondKind, EventKind, limits};
use crate::protocol::response::{ProposedTask, TaskList, map_priority, task_layers};
use crate::rules::orchestrate::{Question, sort_members, task_key};
use crate::store::orchestration::{self, Planned};
use crate::store::{Tx, atom, bond};
use crate::{Ctx, Result};

/// The metadata key with an atom's role in a plan.
pub(super) const KEY: &str = "orchestration";

/// The list of a check's round; `None`: the plan's first list.
pub(super) fn list_of(round: Option<usize>) -> Question {
    round.map_or(Question::TaskList, |round| Question::Failures { round })
}

/// Files the atom of a question.
pub(super) fn file_question(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    loaded: &LoadedPlan,
    question: Question,
) -> Result<()> {
    let epic = &loaded.epic;
    let what = match question {
        Question::Analysis => "Look at what it takes",
        Question::TaskList => "Cut into tasks",
        Question::Aggregation => "Bring the results together",
        Question::Failures { .. } => "Look into the failed check",
    };
    let blocked_by = question_sources(tx, loaded, question)?;
    let new = NewAtom {
        title: format!("{what}: {}", epic.title).chars().take(limits::TITLE).collect(),
        description: format!(
            "A question of the plan of {}. Its run is told the whole question, and its answer ends \
             it. A person answers instead with `{}`.",
            epic.id,
            supply_command(&epic.id, question)
        ),
        priority: Some(epic.priority),
        parent: Some(epic.id.clone()),
        blocked_by,
        metadata: Some(json!({ KEY: { "epic": epic.id, "asks": question.storage_name() } })),
        ..NewAtom::default()
    };
    let made = create_in(tx, ctx, &[new])?.remove(0);
    orchestration::record_question(tx, &epic.id, &question.storage_name(), &made.id)
}

/// Returns the atoms whose results a question includes. All are over, so the bonds hold nobody, and
/// the question's worktree begins with their branches.
fn question_sources(tx: &Tx<'_>, loaded: &LoadedPlan, question: Question) -> Result<Vec<String>> {
    match question {
        Question::Aggregation => Ok(sort_members(&loaded.flow.members).done),
        Question::Failures { .. } => checked_atoms(tx, loaded),
        Question::Analysis | Question::TaskList => Ok(Vec::new()),
    }
}

/// Renews the bonds of an unclaimed question if the included atoms changed since the question was
/// filed. Otherwise, a task that was reopened and then given up would hold the question for ever. A
/// person's bonds to atoms outside of the plan stay. Returns true if a bond changed.
pub(super) fn bind_anew(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    loaded: &LoadedPlan,
    question: Question,
) -> Result<bool> {
    let asking = loaded.asking_atom(tx, question)?.filter(|asking| asking.run_id.is_none());
    let Some(asking) = asking else { return Ok(false) };
    let told = question_sources(tx, loaded, question)?;
    let edges = bond::list_touching(tx, &asking.id)?;
    let bound: Vec<&str> = edges
        .iter()
        .filter(|edge| edge.target_id == asking.id && edge.dependency_type == BondKind::Blocks)
        .map(|edge| edge.source_id.as_str())
        .collect();
    let is_own = |id: &str| {
        loaded.atoms.iter().any(|own| own.id == id)
            || loaded.asked.iter().any(|a| a.atom_id.as_deref() == Some(id))
    };
    let tell =
        |what, source: &str| tell_of_bond(tx, ctx, what, (source, &asking.id), BondKind::Blocks);
    let mut has_changed = false;
    for gone in bound.iter().filter(|id| is_own(id) && !told.iter().any(|told| told == *id)) {
        bond::remove(tx, gone, &asking.id, Some(BondKind::Blocks))?;
        tell(EventKind::BondRemoved, gone)?;
        has_changed = true;
    }
    for new in told.iter().filter(|id| !bound.contains(&id.as_str())) {
        bond::add(tx, new, &asking.id, BondKind::Blocks, ctx.now)?;
        tell(EventKind::BondAdded, new)?;
        has_changed = true;
    }
    Ok(has_changed)
}

/// Creates the atoms of listed tasks that have no atom yet, all or none.
pub(super) fn file_tasks(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    loaded: &LoadedPlan,
    round: Option<usize>,
    tasks: &[String],
) -> Result<()> {
    let question = list_of(round);
    let list = loaded.task_list(question).unwrap_or_else(|| TaskList {
        tasks: Vec::new(),
        total_tasks: None,
        parallelizable_groups: Vec::new(),
        execution_order: Vec::new(),
        extra: serde_json::Map::new(),
    });
    let name = question.storage_name();
    let known: HashMap<&str, &str> = loaded
        .planned
        .iter()
        .filter(|p| p.list == name)
        .map(|p| (p.task_id.as_str(), p.atom_id.as_str()))
        .collect();
    // Tasks after a failed check build on the aggregated work.
    let base = match question {
        Question::Failures { .. } => checked_atoms(tx, loaded)?,
        _ => Vec::new(),
    };
    let mut news = Vec::new();
    // Atoms of the same moment are ordered by creation, so the model's order counts.
    for id in
        task_layers(&list).into_iter().flatten().filter(|id| tasks.iter().any(|task| task == id))
    {
        let Some(task) = list.tasks.iter().find(|task| task.id == *id) else { continue };
        let mut blocked_by = Vec::new();
        for name in &task.dependencies {
            match known.get(name.as_str()) {
                // A task that a person removed holds nobody.
                Some(atom_id) => blocked_by.extend(atom::find(tx, atom_id)?.map(|found| found.id)),
                None => blocked_by.push(task_key(&loaded.epic.id, round, name)),
            }
        }
        blocked_by.extend(base.iter().cloned());
        news.push((
            task.id.clone(),
            new_task_atom(
                &loaded.epic,
                task,
                &name,
                task_key(&loaded.epic.id, round, &task.id),
                blocked_by,
            ),
        ));
    }
    let (ids, news): (Vec<String>, Vec<NewAtom>) = news.into_iter().unzip();
    let made = create_in(tx, ctx, &news)?;
    for (task_id, made) in ids.into_iter().zip(made) {
        orchestration::record_planned(
            tx,
            &loaded.epic.id,
            &Planned { list: name.clone(), task_id, atom_id: made.id },
        )?;
    }
    Ok(())
}

/// Returns the atoms that the check covered, all over: the aggregation, or else the tasks, and the
/// tasks of earlier failures.
fn checked_atoms(tx: &Tx<'_>, loaded: &LoadedPlan) -> Result<Vec<String>> {
    let aggregation =
        loaded.asking_atom(tx, Question::Aggregation)?.filter(|found| found.status.is_over());
    let first = Question::TaskList.storage_name();
    let list_of = |id: &String| {
        loaded
            .planned
            .iter()
            .find(|planned| planned.atom_id == *id)
            .map(|planned| planned.list.clone())
    };
    let mut checked: Vec<String> = aggregation.iter().map(|found| found.id.clone()).collect();
    checked.extend(
        sort_members(&loaded.flow.members)
            .done
            .into_iter()
            .filter(|id| aggregation.is_none() || list_of(id).is_some_and(|list| list != first)),
    );
    Ok(checked)
}

fn new_task_atom(
    epic: &Atom,
    task: &ProposedTask,
    list: &str,
    key: String,
    blocked_by: Vec<String>,
) -> NewAtom {
    let mut own = json!({ "epic": epic.id, "list": list, "task": task.id });
    let mut tell = |name: &str, value: Value| own[name] = value;
    if !task.scope.is_empty() {
        tell("scope", json!(task.scope));
    }
    if let Some(theirs) = task.priority {
        tell("priority", json!(theirs));
    }
    if let Some(tokens) = task.estimated_tokens {
        tell("estimated_tokens", json!(tokens));
    }
    if !task.extra.is_empty() {
        tell("extra", Value::Object(task.extra.clone()));
    }
    NewAtom {
        key: Some(key),
        title: task.title.clone(),
        description: task.description.clone(),
        priority: Some(map_priority(task.priority)),
        parent: Some(epic.id.clone()),
        blocked_by,
        metadata: Some(json!({ KEY: own })),
        ..NewAtom::default()
    }
}
