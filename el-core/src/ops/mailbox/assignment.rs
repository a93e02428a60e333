//! Assignments of work.

use serde_json::{Value, json};

use super::{DEVELOPER, Received, atom_of};
use crate::model::{Atom, EventKind, Status, limits};
use crate::ops::create::{NewAtom, create_in};
use crate::ops::reject::reject_one;
use crate::ops::reopen::open_afresh;
use crate::ops::submit::hand_over;
use crate::protocol::mailbox::{Assignment, read_assignment, task_of};
use crate::protocol::report::{CompletionReport, in_one_line};
use crate::store::{Tx, atom, comment, event, mailbox};
use crate::text::one_line;
use crate::{Ctx, Result};

/// Receives an assignment: creates an atom, or gives new instructions to an existing atom.
pub(super) fn receive_assignment(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    message: &Value,
    received: &mut Received,
) -> Result<()> {
    let assignment = match read_assignment(message) {
        Ok(assignment) => assignment,
        Err(problem) => {
            let task = one_line(task_of(message).unwrap_or("without a name"), limits::WORD);
            received.problems.push(format!(
                "the assignment {task} is left as it is: {}: {}",
                problem.field, problem.message
            ));
            return Ok(());
        }
    };
    let task = &assignment.task_id;
    if !assignment.problems.is_empty() {
        received.problems.push(format!(
            "the assignment {task} is taken, but {}",
            in_one_line(&assignment.problems)
        ));
    }
    match atom_of(tx, task)? {
        Some(before) => assigned_again(tx, ctx, &before, &assignment, received),
        None => {
            let new = NewAtom {
                title: assignment.title.clone(),
                description: assignment.description(),
                metadata: Some(assignment.metadata()),
                ..NewAtom::default()
            };
            let made = create_in(tx, ctx, std::slice::from_ref(&new))?.remove(0);
            mailbox::add_task(tx, task, &made.id)?;
            received.notes.push(format!("{task} was assigned and is {} ({})", made.id, made.title));
            match assignment.instructions {
                Some(_) => Ok(()),
                None => report_missing_instructions(tx, ctx, &made, task, received),
            }
        }
    }
}

fn assigned_again(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &Atom,
    assignment: &Assignment,
    received: &mut Received,
) -> Result<()> {
    let task = &assignment.task_id;
    let description = assignment.description();
    if assignment.instructions.is_some() && description != before.description {
        let after = Atom {
            description,
            title: assignment.title.clone(),
            updated_at: ctx.now,
            ..before.clone()
        };
        atom::update_fields(tx, before, &after)?;
        let changes =
            json!({ "description": { "from": before.description, "to": after.description } });
        event::insert(tx, ctx, EventKind::Updated, Some(&before.id), None, &changes)?;
        received.notes.push(format!("{task} has new instructions"));
    }
    match before.status {
        Status::Review => {
            reject_one(
                tx,
                ctx,
                before,
                "it was assigned again, with the instructions as they are now",
            )?;
            received
                .notes
                .push(format!("{task} was assigned again, which rejects what was handed over"));
        }
        status if status.is_over() => {
            open_afresh(tx, ctx, before)?;
            received.notes.push(format!("{task} was assigned again and is open"));
        }
        Status::InProgress => {
            comment::insert(
                tx,
                ctx,
                &before.id,
                "It was assigned again while it was in progress; the instructions may have \
                 changed.",
            )?;
        }
        _ => {}
    }
    let now = atom::get(tx, &before.id)?;
    let says_nothing = assignment.instructions.is_none() && now.description.trim().is_empty();
    if says_nothing && now.status == Status::Open {
        report_missing_instructions(tx, ctx, &now, task, received)?;
    }
    Ok(())
}

/// Reports missing instructions, with an unverified build, as the protocol asks.
fn report_missing_instructions(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    atom: &Atom,
    task: &str,
    received: &mut Received,
) -> Result<()> {
    let mut report = CompletionReport::template(task, ctx.now);
    report.summary = format!(
        "No instructions were found: the assignment of {task} says nothing of what is to be done. \
         Nothing was done. Assign it again with instructions, or reject this with them."
    );
    hand_over(tx, &Ctx { actor: DEVELOPER, ..*ctx }, atom, &json!(report))?;
    received.notes.push(format!("{task} has no instructions, which was reported"));
    Ok(())
}
