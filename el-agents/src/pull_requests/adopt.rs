//! Finds a pull request that is there already, by owner, branch and head.

use el_core::model::PullRequest;
use el_core::ops::{self, NewPullRequest};
use el_core::{Ctx, Store};

use super::{PullError, PullPlace, PullRun, Result, look_at};
use crate::forge::{Forges, FoundRequest, RequestState};
use crate::git::Repository;

/// A pull request of the branch.
#[derive(Debug)]
pub(super) enum Own {
    /// It is ours, and recorded now.
    Found(Box<PullRequest>),
    /// It is open, with a head that el did not push.
    Foreign(u64),
    None,
}

/// A pull request of a branch, as the forge has it.
#[derive(Debug)]
pub(super) enum Search {
    Own(FoundRequest),
    Foreign(u64),
    None,
}

/// Looks for the pull request of a record that has no number yet. One whose head is another commit
/// is not ours: an older branch may have had the same name.
pub(super) fn search(
    run: &PullRun<'_>,
    records: &[PullRequest],
    record: &PullRequest,
) -> Result<Search> {
    let is_known = |number: u64| records.iter().any(|one| one.number == Some(number));
    let is_ours = |head: &str| {
        let pushed = |one: &PullRequest| {
            [&one.pushed, &one.pushing].into_iter().flatten().any(|commit| commit == head)
        };
        let own = records.iter().filter(|one| one.seq == record.seq);
        own.chain([record]).any(pushed)
    };
    let mut foreign = Search::None;
    for one in run.forge().find_requests(&run.place.repo, &record.head_ref)? {
        if !one.head_owner.eq_ignore_ascii_case(&record.head_owner) || is_known(one.number) {
            continue;
        }
        if is_ours(&one.head) {
            return Ok(Search::Own(one));
        }
        if one.state == RequestState::Open {
            foreign = Search::Foreign(one.number);
        }
    }
    Ok(foreign)
}

/// The same, and records one that is ours.
pub(super) fn find_own(run: &PullRun<'_>, store: &mut Store, record: &PullRequest) -> Result<Own> {
    let records = ops::pull_requests_of(store, &record.atom_id)?;
    let one = match search(run, &records, record)? {
        Search::Own(one) => one,
        Search::Foreign(number) => return Ok(Own::Foreign(number)),
        Search::None => return Ok(Own::None),
    };
    let ctx = run.land.ctx();
    let key = (record.atom_id.as_str(), record.seq);
    let record = ops::pull_request_opened(store, &ctx, key, one.number, &one.url)?;
    if one.state == RequestState::Open {
        return Ok(Own::Found(Box::new(record)));
    }
    // It was merged or closed before its number was recorded.
    let mut seen = look_at(store, &ctx, run.repository, run.forges, &[record])?;
    Ok(seen.pop().map_or(Own::None, |one| Own::Found(Box::new(one))))
}

/// Takes a pull request of the atom's branch for the atom's own, at a person's word.
///
/// # Errors
/// If there is no such pull request of this branch, the branch and its head went apart, or the
/// forge, git or the store fails.
pub fn adopt(
    store: &mut Store,
    ctx: &Ctx<'_>,
    repository: &Repository,
    forges: &Forges,
    place: &PullPlace,
    (atom_id, number): (&str, u64),
) -> Result<PullRequest> {
    let (branch, forge) = (repository.branch_of(atom_id)?, forges.named(place.forge));
    let found = forge.find_requests(&place.repo, &branch)?;
    let Some(one) = found.iter().find(|one| one.number == number) else {
        let numbers: Vec<String> = found.iter().map(|one| format!("#{}", one.number)).collect();
        let hint = match numbers.is_empty() {
            true => format!("that branch has none; el pr {atom_id} opens one"),
            false => format!("those of that branch: {}", numbers.join(", ")),
        };
        let message = format!("{} #{number} is not of the branch {branch}", place.repo);
        return Err(PullError::place(message, hint));
    };
    if repository.resolve_commit(&one.head)?.is_none() {
        repository.fetch_commit(&place.base_remote, &forge.head_reference(number))?;
    }
    let tip = repository.branch_tip(&branch)?.unwrap_or_default();
    let is_known = repository.resolve_commit(&one.head)?.is_some();
    if !is_known
        || !repository.contains(&tip, &one.head)? && !repository.contains(&one.head, &tip)?
    {
        return Err(PullError::place(
            format!("#{number} is at {}, which is no part of {branch}", one.head),
            format!("merge that commit into {branch} first"),
        ));
    }
    let last = ops::pull_requests_of(store, atom_id)?.pop();
    if let Some(known) = last.filter(|one| one.number == Some(number)) {
        // It was closed, and is open again.
        let mut seen = look_at(store, ctx, repository, forges, std::slice::from_ref(&known))?;
        return Ok(seen.pop().unwrap_or(known));
    }
    let new = NewPullRequest {
        forge: forge.name(),
        repo: &place.repo.to_string(),
        head_owner: &one.head_owner,
        head_ref: &branch,
        base_ref: &place.base,
        tip: &one.head,
        owns_branch: false,
    };
    let record = ops::begin_push(store, ctx, atom_id, &new)?;
    let key = (record.atom_id.as_str(), record.seq);
    ops::pull_request_pushed(store, ctx, key, &one.head)?;
    let record = ops::pull_request_opened(store, ctx, key, number, &one.url)?;
    let mut seen = look_at(store, ctx, repository, forges, std::slice::from_ref(&record))?;
    Ok(seen.pop().unwrap_or(record))
}
