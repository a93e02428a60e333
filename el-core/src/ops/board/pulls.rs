//! The pull requests that are under way, and those that a person has to look at.

use schemars::JsonSchema;
use serde::Serialize;

use super::entry::way;
use super::found::{Found, about_atom};
use super::{COUNTED, Part};
use crate::Result;
use crate::model::{AtomRow, Need, NeedKind, PullRequest, PullRequestState, Status, Timestamp};
use crate::store::{Tx, board as rows, pull_request};

/// The most entries that are looked at.
const RANKED: usize = 100;
/// A push that takes longer was broken off.
const PUSH: std::time::Duration = std::time::Duration::from_secs(10 * 60);

/// An atom with its pull request.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PullRow {
    #[serde(flatten)]
    pub atom: AtomRow,
    pub pull_request: PullRequest,
}

/// Lists the pull requests that can still be merged.
pub(super) fn list_pulls(tx: &Tx<'_>) -> Result<Vec<PullRow>> {
    let mut pulls = Vec::new();
    for one in pull_request::latest(tx, true)? {
        if let Some(atom) = rows::atom_row(tx, &one.atom_id)? {
            pulls.push(PullRow { atom, pull_request: one });
        }
    }
    Ok(pulls)
}

pub(super) fn pull_part(pulls: Vec<PullRow>, most: usize) -> Part<PullRow> {
    let total = i64::try_from(pulls.len()).unwrap_or(i64::MAX);
    Part::new(pulls, total, most, false)
}

/// An entry for each pull request that goes no further by itself.
pub(super) fn add_pulls(
    tx: &Tx<'_>,
    pulls: &[PullRow],
    now: Timestamp,
    found: &mut Found,
) -> Result<()> {
    for row in pulls.iter().take(RANKED) {
        if let Some((why, command)) = trouble_of(&row.pull_request, row.atom.status, now) {
            add_pull(tx, &row.atom, &row.pull_request, why, command, found)?;
        }
    }
    // A pull request that was closed without a merge has deferred its atom.
    let (held, _) = rows::list_held(tx, COUNTED)?;
    let ids: Vec<&str> = held.iter().take(RANKED).map(String::as_str).collect();
    let mut last = pull_request::latest_of(tx, &ids)?;
    last.retain(|one| one.state == PullRequestState::Closed);
    for one in last {
        let Some(atom) = rows::atom_row(tx, &one.atom_id)? else { continue };
        if atom.status == Status::Deferred {
            add_pull(tx, &atom, &one, "was closed without being merged", None, found)?;
        }
    }
    Ok(())
}

/// Returns the trouble that a person has to look at, and the command that goes on.
fn trouble_of(
    one: &PullRequest,
    status: Status,
    now: Timestamp,
) -> Option<(&'static str, Option<String>)> {
    let id = &one.atom_id;
    let own = |verb: &str| Some(format!("el pr {verb}{id}"));
    if matches!(status, Status::Discard | Status::WontDo) {
        return Some(("is open though its atom was given up; close it there", None));
    }
    if one.held.is_some() {
        return Some(("has commits that could not be pushed", own("")));
    }
    Some(match (one.state, one.waits_for()) {
        (PullRequestState::Pushing | PullRequestState::Opening, _)
            if now.since(one.created_at) >= PUSH =>
        {
            ("was begun, and is not open", own(""))
        }
        // Its atom goes on, and `el pr merge` waits for that.
        (PullRequestState::Open, Some("unqueued" | "ready")) if status != Status::Closed => {
            return None;
        }
        (PullRequestState::Open, Some("unqueued")) => {
            ("was thrown out of the merge queue", own("merge "))
        }
        (PullRequestState::Open, Some("ready")) => ("can be merged", own("merge ")),
        (PullRequestState::Open, Some("failing")) => ("fails its checks", None),
        (PullRequestState::Open, Some("changes_requested")) => ("is asked for changes", None),
        // `el pr` would not push there: somebody deleted the branch on purpose, or by mistake.
        (PullRequestState::Open, Some("branch_deleted")) => (
            "is open, and its branch was deleted there; close it there, or bring the branch back \
             with git push",
            None,
        ),
        (PullRequestState::Open, Some("conflict")) => ("is in conflict with its base", own("")),
        _ => return None,
    })
}

fn add_pull(
    tx: &Tx<'_>,
    atom: &AtomRow,
    one: &PullRequest,
    why: &str,
    command: Option<String>,
    found: &mut Found,
) -> Result<()> {
    let number = one.number.map(|number| format!(" #{number}")).unwrap_or_default();
    let place = one.url.as_ref().map(|url| format!(": {url}")).unwrap_or_default();
    let why = format!("its pull request{number} {why}{place}");
    let last = rows::last_run(tx, &atom.id)?;
    let mut need: Need = about_atom(tx, NeedKind::PullRequest, atom, last.as_ref(), &why, found)?;
    need.since = one.seen_at.unwrap_or(one.created_at);
    let id = &atom.id;
    need.ways.extend(command.map(|command| way("e", "go on", command)));
    need.ways.extend([
        way("c", "reopen", format!("el reopen {id}")),
        way("d", "diff", format!("el diff {id}")),
    ]);
    found.push(need);
    Ok(())
}
