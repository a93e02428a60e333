//! The status of an atom follows what people do with its pull request at the forge.

use super::change::{ChangeDetails, set_status};
use crate::model::{PullRequest, PullRequestState, Status};
use crate::store::{Tx, atom};
use crate::{Ctx, Result};

/// Defers a closed atom whose pull request was closed without a merge, and closes the atom again if
/// the pull request is open again or merged, and nobody has decided otherwise since.
pub(super) fn follow_request(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &PullRequest,
    now: &PullRequest,
) -> Result<()> {
    let number = now.number.map(|number| format!(" #{number}")).unwrap_or_default();
    let refused =
        format!("its pull request{number} was closed without being merged; a person decides");
    let is_refused = |one: &PullRequest| one.state == PullRequestState::Closed;
    let atom = atom::get(tx, &now.atom_id)?;
    if atom.run_id.is_some() {
        return Ok(());
    }
    let (status, reason) = match atom.status {
        Status::Closed if before.state.is_live() && is_refused(now) => (Status::Deferred, refused),
        Status::Deferred
            if is_refused(before)
                && (now.state.is_live() || now.state == PullRequestState::Merged)
                && atom.close_reason.as_deref() == Some(&refused)
                && atom.defer_until.is_none() =>
        {
            let is = if now.state.is_live() { "is open again" } else { "was merged after all" };
            (Status::Closed, format!("its pull request{number} {is}"))
        }
        _ => return Ok(()),
    };
    let via = Some("pull_request");
    let to = ChangeDetails { reason: Some(&reason), via, ..ChangeDetails::default() };
    set_status(tx, ctx, &atom, status, to)
}
