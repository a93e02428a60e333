use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::change::{ChangeDetails, ensure_may_set_status, resolve_atom, set_status};
use crate::model::{Atom, EventKind, Review, Status};
use crate::protocol::report::{CompletionReport, FieldProblem};
use crate::store::{Store, Tx, atom, event, mailbox, review, run};
use crate::{Ctx, Error, Result};

/// An atom that now waits for review: the row of the atom with the review.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Submitted {
    #[serde(flatten)]
    pub atom: Atom,
    pub review: Review,
}

/// Submits an atom for review, with a completion report as JSON text. A submission from the atom's
/// session ends the run.
///
/// # Errors
///
/// [`Error::Report`] names every field that does not fit. Nothing is written then.
pub fn submit(store: &mut Store, ctx: &Ctx<'_>, id: &str, report: &str) -> Result<Submitted> {
    let (report, given) =
        CompletionReport::parse(report).map_err(|problems| Error::Report { problems })?;
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let before = resolve_atom(tx, id)?;
        ensure_may_set_status(tx, session.as_ref(), &before, Status::Review)?;
        if !is_about(tx, &report, &before)? {
            let message =
                format!("the report is about '{}', and this is {}", report.task_id, before.id);
            return Err(Error::Report {
                problems: vec![FieldProblem { field: "taskId".to_owned(), message }],
            });
        }
        if before.status.is_over() {
            return Err(Error::conflict(
                "over",
                format!(
                    "{} is {}; `el reopen {}` opens it again",
                    before.id, before.status, before.id
                ),
            ));
        }
        hand_over(tx, ctx, &before, &given)
    })
}

/// Returns true if the report is about the atom, by id or by the task name in the mailbox.
fn is_about(tx: &Tx<'_>, report: &CompletionReport, atom: &Atom) -> Result<bool> {
    if report.task_id.eq_ignore_ascii_case(&atom.id) {
        return Ok(true);
    }
    Ok(mailbox::task_of(tx, &atom.id)?.is_some_and(|task| task.task_id == report.task_id))
}

pub(super) fn hand_over(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &Atom,
    report: &Value,
) -> Result<Submitted> {
    let made = review::insert(tx, ctx, &before.id, report)?;
    if before.status != Status::Review {
        set_status(tx, ctx, before, Status::Review, ChangeDetails::default())?;
    }
    let build = report.pointer("/buildResult/status").cloned().unwrap_or(Value::Null);
    let data = json!({ "review": made.id, "build": build });
    event::insert(tx, ctx, EventKind::Submitted, Some(&before.id), None, &data)?;
    Ok(Submitted { atom: atom::get(tx, &before.id)?, review: made })
}
