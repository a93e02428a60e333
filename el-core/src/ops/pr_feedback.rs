use serde_json::json;

use super::change::{ChangeDetails, set_status};
use super::comment::insert_comment;
use super::pull_requests::find_request;
use crate::model::{EventKind, Status};
use crate::store::{Store, Tx, atom, event, pull_request, run};
use crate::{Ctx, Result};

/// A demand on an atom's branch at the forge: a failed check, a review, a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The commit that it is about.
    pub head: String,
    /// Unique in its pull request.
    pub id: String,
    /// The text for the next attempt.
    pub text: String,
    /// It was said before an answer arrived whose push had been held up.
    pub is_late: bool,
}

/// The fate of remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// All of them were known, or the atom is not closed.
    Nothing,
    /// The atom is open again, and its next attempt is told.
    Reopened,
    /// The attempts are used up: a person has to decide.
    Blocked,
}

/// Hands new remarks to the atom's next attempt: the atom is reopened with a comment. Each remark
/// is handed over once for its commit. `most`: how often remarks reopen an atom before a person has
/// to decide. Late remarks alone do not count: their author could not see the answer.
///
/// # Errors
///
/// If there is no such pull request, the caller's run is stale, or the database cannot be written.
pub fn give_remarks(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    remarks: &[Remark],
    most: u32,
) -> Result<Given> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let one = find_request(tx, key)?;
        let atom = atom::get(tx, key.0)?;
        if atom.status != Status::Closed || atom.run_id.is_some() {
            return Ok(Given::Nothing);
        }
        let new = record_new(tx, ctx, key, remarks)?;
        if new.is_empty() {
            return Ok(Given::Nothing);
        }
        let number = one.number.map(|number| format!(" #{number}")).unwrap_or_default();
        let texts: Vec<&str> = new.iter().map(|remark| remark.text.as_str()).collect();
        let comment =
            format!("Asked for in review of the pull request{number}:\n\n{}", texts.join("\n\n"));
        insert_comment(tx, ctx, key.0, None, &comment)?;
        let rounds = pull_request::remark_rounds(tx, key.0)?;
        let is_enough = rounds > i64::from(most);
        let data = json!({ "seq": key.1, "state": one.state, "number": one.number,
            "remarks": new.len(), "round": rounds });
        event::insert(tx, ctx, EventKind::PullRequest, Some(key.0), None, &data)?;
        let reason = format!(
            "its pull request{number} asks for more than pr_attempts = {most} further attempts"
        );
        let (status, reason, fresh) = match is_enough {
            true => (Status::Blocked, Some(reason.as_str()), false),
            false => (Status::Open, None, true),
        };
        let via = Some("pull_request");
        let to = ChangeDetails { reason, fresh, via, ..ChangeDetails::default() };
        set_status(tx, ctx, &atom, status, to)?;
        Ok(if is_enough { Given::Blocked } else { Given::Reopened })
    })
}

/// Returns true if remarks can reopen the atom: it is closed and has no live run.
///
/// # Errors
///
/// If there is no such atom, or the database cannot be read.
pub fn takes_remarks(store: &Store, id: &str) -> Result<bool> {
    let atom = store.read(|tx| atom::get(tx, id))?;
    Ok(atom.status == Status::Closed && atom.run_id.is_none())
}

/// Returns true if a remark, by its commit and its id, was handed to an attempt.
///
/// # Errors
///
/// If the database cannot be read.
pub fn knows_remark(store: &Store, key: (&str, i64), remark: (&str, &str)) -> Result<bool> {
    store.read(|tx| pull_request::knows_remark(tx, key, remark))
}

/// Records the remarks that are new, as one round.
fn record_new<'a>(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    remarks: &'a [Remark],
) -> Result<Vec<&'a Remark>> {
    let mut unknown = Vec::new();
    for remark in remarks {
        if !pull_request::knows_remark(tx, key, (&remark.head, &remark.id))? {
            unknown.push(remark);
        }
    }
    let rounds = pull_request::remark_rounds(tx, key.0)?;
    let counts = rounds == 0 || unknown.iter().any(|remark| !remark.is_late);
    let round = rounds + i64::from(counts);
    let mut new = Vec::new();
    for remark in unknown {
        if pull_request::insert_remark(tx, ctx.now, key, (&remark.head, &remark.id), round)? {
            new.push(remark);
        }
    }
    Ok(new)
}
