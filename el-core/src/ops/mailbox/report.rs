//! Reports of finished work.

use serde_json::{Value, json};

use super::{Received, atom_of};
use crate::model::{Atom, Status};
use crate::ops::change::taken_claim;
use crate::ops::create::{NewAtom, create_in};
use crate::ops::submit::hand_over;
use crate::protocol::mailbox::task_of;
use crate::protocol::report::{CompletionReport, in_one_line};
use crate::store::{Tx, comment, mailbox, review, run};
use crate::{Ctx, Result};

/// A report: the atom waits for review.
pub(super) fn receive_report(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    message: &Value,
    received: &mut Received,
) -> Result<()> {
    let task = task_of(message).unwrap_or("a task without a name").to_owned();
    let known = match task_of(message) {
        Some(id) => atom_of(tx, id)?,
        None => None,
    };
    if let Err(problems) = CompletionReport::from_value(message) {
        let why = format!(
            "The completion report about {task} was not taken, since it does not fit: {}",
            in_one_line(&problems)
        );
        if let Some(atom) = known.filter(|atom| !atom.status.is_over()) {
            comment::insert(tx, ctx, &atom.id, &why)?;
        }
        received.problems.push(why);
        return Ok(());
    }
    let before = match known {
        Some(atom) => atom,
        None => file_unassigned(tx, ctx, &task, received)?,
    };
    if before.status.is_over() {
        received.problems.push(format!(
            "the report about {task} comes too late: {} is {}",
            before.id, before.status
        ));
        return Ok(());
    }
    let last = review::last_review(tx, &before.id)?;
    if before.status == Status::Review && last.is_some_and(|review| review.report == *message) {
        return Ok(());
    }
    // Every agent can write the file. A run hands over by its session, which proves who speaks. An
    // atom that was claimed by hand is handed over by its claimant alone.
    if let Some(live) = run::live_of(tx, &before.id)? {
        received.problems.push(format!(
            "the report about {task} was not taken: {} works on {} in {}, and hands it over with \
             el submit",
            live.agent, before.id, live.id
        ));
        return Ok(());
    }
    if let Err(error) = taken_claim(ctx, None, &before, false) {
        received.problems.push(format!("the report about {task} was not taken: {error}"));
        return Ok(());
    }
    hand_over(tx, ctx, &before, message)?;
    received.notes.push(format!("{task} was handed over for review"));
    Ok(())
}

/// Files a report about an unassigned task as an atom, so that a person sees the report.
fn file_unassigned(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    task: &str,
    received: &mut Received,
) -> Result<Atom> {
    let title: String = format!("Report without an assignment: {task}")
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect();
    let new = NewAtom {
        title,
        description: format!(
            "A completion report about {task} was found, and no such task was ever assigned."
        ),
        metadata: Some(json!({ "review": true, "taskId": task })),
        ..NewAtom::default()
    };
    let made = create_in(tx, ctx, std::slice::from_ref(&new))?.remove(0);
    mailbox::add_task(tx, task, &made.id)?;
    received
        .problems
        .push(format!("{task} was reported, and was never assigned; it is {}", made.id));
    Ok(made)
}
