//! The prompts of a plan's agents.

use std::collections::HashMap;

use super::super::settle::handed_back;
use super::PlanSettings;
use super::file::KEY;
use super::flow::{LoadedPlan, load_plan};
use crate::Result;
use crate::model::{Atom, Run};
use crate::protocol::response::{
    AggregationPrompt, Analysis, Part, ProposedTask, TaskListPrompt, WorkerPrompt,
    aggregation_prompt, analysis_prompt, task_list, verification_prompt, worker_prompt,
};
use crate::protocol::words;
use crate::rules::orchestrate::{Question, sort_members};
use crate::store::orchestration::{self, State};
use crate::store::{Tx, artifact, atom, run};

/// Returns the full prompt of the question that an atom asks; `None` if the atom asks no question.
pub(in crate::ops) fn question_text(tx: &Tx<'_>, id: &str) -> Result<Option<String>> {
    let Some(asked) = orchestration::question_of(tx, id)? else { return Ok(None) };
    let Some(question) = Question::from_name(&asked.name) else { return Ok(None) };
    let loaded = load_plan(tx, &asked.epic_id)?;
    let goal = goal_text(&loaded.epic);
    let tasks_max = loaded.settings.tasks_max;
    Ok(Some(match question {
        Question::Analysis => analysis_prompt(&goal),
        Question::TaskList => {
            let found = loaded.asked_question(Question::Analysis);
            let data = found.and_then(|asked| asked.data.clone()).unwrap_or_default();
            let parsed: Option<Analysis> = found
                .filter(|asked| asked.state == State::Data)
                .and_then(|_| serde_json::from_value(data.clone()).ok());
            let words =
                data.get("words").and_then(serde_json::Value::as_str).unwrap_or("(there is none)");
            task_list(&TaskListPrompt {
                goal: &goal,
                analysis: parsed.as_ref().ok_or(words),
                tasks_max,
            })
        }
        Question::Aggregation => {
            let work = sort_members(&loaded.flow.members);
            let parts = result_parts(tx, &loaded, &work.done)?;
            let missing: Vec<String> = work
                .missing
                .iter()
                .filter_map(|id| loaded.atoms.iter().find(|atom| atom.id == *id))
                .map(|atom| format!("{} ({}): {}", atom.id, atom.status, atom.title))
                .collect();
            aggregation_prompt(&AggregationPrompt {
                goal: &goal,
                parts: &parts,
                missing: &missing,
                budget: loaded.settings.aggregation_bytes,
            })
        }
        Question::Failures { round } => {
            let output = loaded
                .checks
                .iter()
                .find(|check| check.round == round)
                .map_or("", |check| check.output.as_str());
            verification_prompt(
                &goal,
                &words::join_command(&loaded.settings.check),
                output,
                tasks_max,
            )
        }
    }))
}

fn goal_text(epic: &Atom) -> String {
    let mut text = epic.title.clone();
    for more in [Some(epic.description.as_str()), epic.acceptance.as_deref()].into_iter().flatten()
    {
        if !more.trim().is_empty() {
            text.push_str("\n\n");
            text.push_str(more.trim());
        }
    }
    text
}

fn result_parts(tx: &Tx<'_>, loaded: &LoadedPlan, done: &[String]) -> Result<Vec<Part>> {
    let names: HashMap<&str, &str> =
        loaded.planned.iter().map(|p| (p.atom_id.as_str(), p.task_id.as_str())).collect();
    let mut parts = Vec::new();
    for atom in loaded.atoms.iter().filter(|atom| done.contains(&atom.id)) {
        let last = run::last_of(tx, &atom.id)?;
        let reason = atom.close_reason.as_deref().unwrap_or_default();
        parts.push(Part {
            task_id: names
                .get(atom.id.as_str())
                .map_or_else(|| atom.id.clone(), |name| (*name).to_owned()),
            atom_id: atom.id.clone(),
            title: atom.title.clone(),
            ended: if reason.is_empty() {
                atom.status.to_string()
            } else {
                format!("{}: {reason}", atom.status)
            },
            summary: last
                .as_ref()
                .map(|run| run_summary(tx, run))
                .transpose()?
                .flatten()
                .unwrap_or_else(|| reason.to_owned()),
            files: last.as_ref().map(|run| run_files(tx, run)).transpose()?.unwrap_or_default(),
            uncommitted: last
                .as_ref()
                .and_then(|run| run.summary.as_ref())
                .map(|s| s.uncommitted.clone())
                .unwrap_or_default(),
            workdir: last.map(|run| run.workdir).unwrap_or_default(),
        });
    }
    Ok(parts)
}

/// Returns the summary that the run handed back, or else the summary in the completion block.
fn run_summary(tx: &Tx<'_>, run: &Run) -> Result<Option<String>> {
    let said = run.completion.as_ref().and_then(|said| match (&said.summary, &said.output) {
        (Some(summary), Some(output)) => Some(format!("{summary}\n\n{output}")),
        (one, other) => one.clone().or_else(|| other.clone()),
    });
    Ok(match (handed_back(tx, run)?, said) {
        (Some(handed), Some(said)) => Some(format!("{handed}\n\n{said}")),
        (handed, said) => handed.or(said),
    })
}

fn run_files(tx: &Tx<'_>, run: &Run) -> Result<Vec<String>> {
    let sent = artifact::of_run(tx, &run.id)?
        .into_iter()
        .filter(|file| file.is_sent() && file.kind == crate::model::ArtifactKind::Deliverable);
    let mut files: Vec<String> = sent.map(|file| file.path).collect();
    for named in run.completion.iter().flat_map(|said| &said.output_files) {
        if !files.contains(named) {
            files.push(named.clone());
        }
    }
    Ok(files)
}

/// Returns the part of a worker's prompt about the plan of the task; `None` if the atom belongs to
/// no plan.
pub(in crate::ops) fn larger_work(tx: &Tx<'_>, of: &Atom) -> Result<Option<String>> {
    let Some((epic, planned)) = orchestration::planned_as(tx, &of.id)? else { return Ok(None) };
    let Some(epic) = atom::find(tx, &epic)? else { return Ok(None) };
    let plan = orchestration::find(tx, &epic.id)?;
    let own = of.metadata.get(KEY);
    let scope = own
        .and_then(|own| own.get("scope"))
        .and_then(|scope| serde_json::from_value(scope.clone()).ok());
    let task = ProposedTask {
        id: planned.task_id,
        title: of.title.clone(),
        description: String::new(),
        scope: scope.unwrap_or_default(),
        priority: None,
        dependencies: Vec::new(),
        estimated_tokens: own
            .and_then(|own| own.get("estimated_tokens"))
            .and_then(serde_json::Value::as_u64),
        extra: serde_json::Map::new(),
    };
    Ok(Some(worker_prompt(&WorkerPrompt {
        task: &task,
        epic_title: &epic.title,
        with_progress: plan.as_ref().map(PlanSettings::of_plan).unwrap_or_default().progress,
    })))
}
