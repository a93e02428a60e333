//! The exchange between the mailbox files and the store. Each verb is one transaction; a second
//! call with the same messages changes nothing.

use std::time::Duration;

use serde_json::{Value, json};

use super::approve::approve_one;
use super::change::{ChangeDetails, set_status};
use super::reject::reject_one;
use super::{AtomFilter, Sort};
use crate::model::{Atom, EventKind, Review, ReviewVerdict, Status, Timestamp, validate};
use crate::protocol::mailbox::{
    Decision, Document, MailboxFile, TaskState, TaskStatus, is_own, message_digest,
    number_messages, read_decisions, type_of,
};
use crate::store::filter::Query;
use crate::store::{Store, Tx, atom, event, mailbox, review, run};
use crate::{Ctx, Error, Result};

mod assignment;
mod report;

use assignment::receive_assignment;
use report::receive_report;

/// The result of reading a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Received {
    /// Messages that were not known before.
    pub arrived: usize,
    /// The changes made, a line each, for the log.
    pub notes: Vec<String>,
    /// Messages that failed, or that break the protocol.
    pub problems: Vec<String>,
}

/// Receives the messages of a file. Each message counts once: a known content (the n-th of its kind
/// in the file) is skipped.
///
/// # Errors
///
/// If the caller is a session, or the database cannot be written.
pub fn mailbox_receive(
    store: &mut Store,
    ctx: &Ctx<'_>,
    file: MailboxFile,
    messages: &[Value],
) -> Result<Received> {
    store.write(|tx| {
        ensure_no_session(tx, ctx)?;
        let mut received = Received::default();
        for (message, (hash, nth)) in messages.iter().zip(number_messages(messages)) {
            if !mailbox::mark_seen(tx, file.store_name(), &hash, nth, ctx.now)? {
                continue;
            }
            // After a restore of a backup, `el` does not know what it wrote since then.
            if nth == 0 && message.as_object().is_some_and(is_own) {
                continue;
            }
            received.arrived += 1;
            match (file, type_of(message)) {
                (MailboxFile::ToDeveloper, "task_assignment") => {
                    receive_assignment(
                        tx,
                        &Ctx { actor: TEAM_LEAD, ..*ctx },
                        message,
                        &mut received,
                    )?;
                }
                (MailboxFile::ToTeamLead, "completion_report") => {
                    receive_report(tx, &Ctx { actor: DEVELOPER, ..*ctx }, message, &mut received)?;
                }
                (_, other) => {
                    let other = if other.is_empty() {
                        "no type".to_owned()
                    } else {
                        format!("type '{}'", other.escape_debug())
                    };
                    received.problems.push(format!(
                        "{}: a message of {other} is left as it is",
                        file.store_name()
                    ));
                }
            }
        }
        Ok(received)
    })
}

/// Carries out changes that other programs made in the queue file. Any agent can write that file,
/// so an approval counts only if the calling person allows it by `may_approve`.
///
/// # Errors
///
/// As for [`mailbox_receive`].
pub fn mailbox_decide(
    store: &mut Store,
    ctx: &Ctx<'_>,
    queue: &Document,
    may_approve: bool,
) -> Result<Received> {
    store.write(|tx| {
        ensure_no_session(tx, ctx)?;
        let (wanted, problems) = read_decisions(queue, &task_states(tx, ctx.now)?);
        let mut received = Received { arrived: wanted.len(), problems, ..Received::default() };
        let ctx = Ctx { actor: TEAM_LEAD, ..*ctx };
        for decision in wanted {
            let (Decision::Approve { task_id }
            | Decision::Reject { task_id, .. }
            | Decision::Begin { task_id }) = &decision;
            let Some(before) = atom_of(tx, task_id)? else { continue };
            match &decision {
                Decision::Approve { .. } if before.status == Status::Review && !may_approve => {
                    received.problems.push(format!(
                        "{task_id} is approved in the queue, which any agent can write: a person \
                         approves it (el approve {})",
                        before.id
                    ));
                }
                Decision::Approve { .. } if before.status == Status::Review => {
                    approve_one(tx, &ctx, &before, None)?;
                    received.notes.push(format!("{task_id} was approved in the queue"));
                }
                Decision::Reject { reason, .. } if before.status == Status::Review => {
                    let reason: String =
                        reason.chars().filter(|c| *c != '\0').take(4_000).collect();
                    reject_one(tx, &ctx, &before, &validate::reason(&reason)?)?;
                    received.notes.push(format!("{task_id} was rejected in the queue: {reason}"));
                }
                Decision::Begin { .. }
                    if before.status == Status::Open && before.run_id.is_none() =>
                {
                    let to =
                        ChangeDetails { assignee: Some(DEVELOPER), ..ChangeDetails::default() };
                    set_status(tx, &ctx, &before, Status::InProgress, to)?;
                    let data = json!({ "assignee": DEVELOPER, "was": before.assignee });
                    event::insert(tx, &ctx, EventKind::Claimed, Some(&before.id), None, &data)?;
                    received.notes.push(format!("{task_id} was begun by someone else"));
                }
                _ => {}
            }
        }
        Ok(received)
    })
}

/// Returns every task for the mailbox files. A ready atom that matches `filter` becomes a task.
///
/// # Errors
///
/// As for [`mailbox_receive`], or if the filter names an unknown atom.
pub fn mailbox_outlook(
    store: &mut Store,
    ctx: &Ctx<'_>,
    filter: &AtomFilter,
) -> Result<Vec<TaskState>> {
    let is_new = |tx: &Tx<'_>| -> Result<Vec<String>> {
        let filter = super::list::with_parent(tx, filter)?;
        let ready = Query::ready_at(&filter, ctx.now).fetch_rows(
            tx,
            &Sort::Oldest.order_sql(ctx.now),
            None,
            0,
        )?;
        let mut new = Vec::new();
        for atom in ready {
            if mailbox::task_of(tx, &atom.id)?.is_none() {
                new.push(atom.id);
            }
        }
        Ok(new)
    };
    // Writing is worth a lock only if there is something to write.
    if store.read(is_new)?.is_empty() {
        return store.read(|tx| task_states(tx, ctx.now));
    }
    store.write(|tx| {
        for id in is_new(tx)? {
            // Another program may have given a task the name of one of our atoms.
            if mailbox::find_task(tx, &id)?.is_none() {
                mailbox::add_task(tx, &id, &id)?;
            }
        }
        task_states(tx, ctx.now)
    })
}

/// Marks every message of a file that is about to be written as known.
///
/// # Errors
///
/// If the database cannot be written.
pub fn mailbox_sent(
    store: &mut Store,
    file: MailboxFile,
    messages: &[Value],
    now: Timestamp,
) -> Result<()> {
    store.write(|tx| {
        for (hash, nth) in number_messages(messages) {
            mailbox::mark_seen(tx, file.store_name(), &hash, nth, now)?;
        }
        Ok(())
    })
}

/// Records the states that the queue file tells. Returns a line for the log for each task with a
/// new state.
///
/// # Errors
///
/// If the database cannot be written.
pub fn mailbox_told(store: &mut Store, tasks: &[TaskState]) -> Result<Vec<String>> {
    let changed: Vec<&TaskState> =
        tasks.iter().filter(|task| task.told != Some(task.status)).collect();
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    store.write(|tx| {
        let mut notes = Vec::new();
        for task in changed {
            mailbox::set_told(tx, &task.task_id, task.status.as_str())?;
            let from = task.told.map_or("new", TaskStatus::as_str);
            notes.push(format!(
                "{} ({}): {from} → {}",
                task.task_id,
                task.atom.title,
                task.status.as_str()
            ));
        }
        Ok(notes)
    })
}

/// The names of the protocol's two roles.
const TEAM_LEAD: &str = "team-lead";
const DEVELOPER: &str = "developer";

/// Refuses sessions: an agent's session reads and writes its own atom; the mailbox is for programs
/// outside.
fn ensure_no_session(tx: &Tx<'_>, ctx: &Ctx<'_>) -> Result<()> {
    match run::fence(tx, ctx)? {
        None => Ok(()),
        Some(own) => Err(Error::conflict(
            "in_session",
            format!("the mailbox is not for a session, which works on {} alone", own.atom_id),
        )),
    }
}

/// Returns the atom of a task, by the name in the mailbox or by the atom's id. An id makes the atom
/// a task.
fn atom_of(tx: &Tx<'_>, task_id: &str) -> Result<Option<Atom>> {
    match mailbox::find_task(tx, task_id)? {
        Some(task) => atom::find(tx, &task.atom_id),
        None => {
            let found = atom::find(tx, &task_id.to_ascii_lowercase())?;
            // The files now show the task under the name used.
            if let Some(atom) = &found
                && mailbox::task_of(tx, &atom.id)?.is_none()
            {
                mailbox::add_task(tx, task_id, &atom.id)?;
            }
            Ok(found)
        }
    }
}

/// How long the files track a task that is over. Messages about the task that reappear are cleared
/// again.
const LOOKED_AFTER: Duration = Duration::from_secs(24 * 3600);

fn task_states(tx: &Tx<'_>, now: Timestamp) -> Result<Vec<TaskState>> {
    let mut states = Vec::new();
    for task in mailbox::list_tasks(tx, now.minus(LOOKED_AFTER))? {
        let Some(atom) = atom::find(tx, &task.atom_id)? else { continue };
        let last = review::last_review(tx, &atom.id)?;
        let has_report = |review: &Review| !review.report.is_null();
        let waits = last.as_ref().filter(|review| review.verdict.is_none() && has_report(review));
        states.push(TaskState {
            task_id: task.task_id,
            status: atom.status.into(),
            told: task.told.as_deref().and_then(TaskStatus::parse),
            report: waits.map(|review| review.report.clone()),
            decided: last
                .as_ref()
                .filter(|review| review.verdict.is_some())
                .map(|review| message_digest(&review.report)),
            rejection: last
                .as_ref()
                .filter(|review| review.verdict == Some(ReviewVerdict::Rejected))
                .and_then(|review| review.reason.clone()),
            atom,
        });
    }
    Ok(states)
}
