use serde_json::{Value, json};

use super::super::change::{ChangeDetails, set_status};
use super::answers::{answer_line, data_of};
use super::flow::{LoadedPlan, load_plan};
use crate::model::{Atom, EventKind, Status};
use crate::protocol::response::check_payload;
use crate::rules::orchestrate::{Question, exceeded_limits};
use crate::store::orchestration::{self, Answer, State};
use crate::store::{Store, Tx, atom, event, run};
use crate::{Ctx, Error, Result};

/// Stores a person's answer to a question, asked or not. A run that works on the question is
/// superseded. If a list has atoms already, only new tasks get atoms when the plan goes on;
/// existing atoms stay. With `dry_run` nothing is stored; the answer is the same.
///
/// Returns the epic, and the fields that were left out because of faults.
///
/// # Errors
///
/// The faults of the data, field by field.
pub fn supply_answer(
    store: &mut Store,
    ctx: &Ctx<'_>,
    epic: &str,
    question: Question,
    data: &Value,
    dry_run: bool,
) -> Result<(Atom, Vec<String>)> {
    let work = |tx: &Tx<'_>| {
        if let Some(session) = run::fence(tx, ctx)? {
            return Err(Error::Refused(format!(
                "an agent's answer is what it says; {} cannot supply it with this command",
                session.id
            )));
        }
        let loaded = load_plan(tx, epic)?;
        let name = question.storage_name();
        if loaded.epic.status.is_over() {
            let (id, status) = (&loaded.epic.id, loaded.epic.status);
            return Err(Error::conflict(
                "over",
                format!("{id} is {status}; el reopen {id} comes before its plan is changed"),
            ));
        }
        if let Question::Failures { round } = question
            && !loaded.checks.iter().any(|check| check.round == round && !check.passed)
        {
            return Err(Error::conflict(
                "no_failure",
                format!("check number {round} of {} has not failed", loaded.epic.id),
            ));
        }
        let (payload, faults) = check_payload(question.phase(), data);
        let Some(payload) = payload else {
            let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
            return Err(Error::invalid(
                "data",
                format!("the data of {name} cannot be used: {}", lines.join("; ")),
            ));
        };
        if let crate::protocol::response::Payload::TaskList(list) = &payload
            && let Some(why) = exceeded_limits(list.tasks.len(), loaded.settings.tasks_max)
        {
            return Err(Error::invalid("data", format!("`tasks`: {why}")));
        }
        let kept = data_of(&payload);
        let answer = Answer { state: State::Data, data: &kept, by: ctx.actor, run: None };
        orchestration::record_answer(tx, &loaded.epic.id, &name, answer, ctx.now)?;
        let told = json!({ "question": name, "came": "supplied" });
        event::insert(tx, ctx, EventKind::Answered, Some(&loaded.epic.id), None, &told)?;
        let asking = loaded.asking_atom(tx, question)?;
        if let Some(found) = asking.filter(|found| !found.status.is_over()) {
            let reason = format!("{} (by {})", answer_line(&payload), ctx.actor);
            set_status(tx, ctx, &found, Status::Closed, ChangeDetails::with_reason(&reason))?;
        }
        if question == Question::TaskList {
            drop_analysis(tx, ctx, &loaded)?;
        }
        orchestration::set_ended(tx, &loaded.epic.id, None)?;
        let slight = faults.iter().map(ToString::to_string).collect();
        Ok((atom::get(tx, &loaded.epic.id)?, slight))
    };
    if dry_run { store.rehearse(work) } else { store.write(work) }
}

/// Drops a pending analysis after a person supplied the list: the answer would cost money for
/// nothing.
fn drop_analysis(tx: &Tx<'_>, ctx: &Ctx<'_>, loaded: &LoadedPlan) -> Result<()> {
    let asked =
        loaded.asked_question(Question::Analysis).filter(|asked| asked.state == State::Open);
    let Some(id) = asked.and_then(|asked| asked.atom_id.as_deref()) else { return Ok(()) };
    let Some(found) = atom::find(tx, id)?.filter(|found| !found.status.is_over()) else {
        return Ok(());
    };
    let reason = format!("not needed: the list of tasks was supplied by {}", ctx.actor);
    set_status(tx, ctx, &found, Status::WontDo, ChangeDetails::with_reason(&reason))
}
