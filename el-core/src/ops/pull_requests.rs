use std::time::Duration;

use serde_json::json;

use super::pull_status::follow_request;
use super::unmerged::note_branch;
use crate::model::{EventKind, HeldPush, PullRequest, PullRequestState, Timestamp};
use crate::store::{Store, Tx, atom, event, pull_request, run, unmerged};
use crate::{Ctx, Error, Result};

/// The wait after the first push that failed. Each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(60);

/// The place of a pull request, and the commit that is about to be pushed.
#[derive(Debug, Clone, Copy)]
pub struct NewPullRequest<'a> {
    pub forge: &'a str,
    pub repo: &'a str,
    pub head_owner: &'a str,
    pub head_ref: &'a str,
    pub base_ref: &'a str,
    pub tip: &'a str,
    /// The push makes the branch, which is to be deleted after the merge.
    pub owns_branch: bool,
}

/// The state of a pull request as the forge reported it.
#[derive(Debug, Clone, Copy)]
pub struct SeenPullRequest<'a> {
    pub state: PullRequestState,
    pub detail: Option<&'a str>,
    pub base_ref: Option<&'a str>,
    pub merge_commit: Option<&'a str>,
    pub merged_head: Option<&'a str>,
}

/// Records a push before it begins. Returns the atom's live pull request, or else a new one.
///
/// # Errors
///
/// If the atom is unknown, its live pull request is in another repository, the caller's run is
/// stale, or the database cannot be written.
pub fn begin_push(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    new: &NewPullRequest<'_>,
) -> Result<PullRequest> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let atom_id = atom::resolve(tx, id)?;
        let last = pull_request::of_atom(tx, &atom_id)?.pop();
        let seq = last.as_ref().map_or(1, |last| last.seq + 1);
        let one = match last.filter(|last| last.state.is_live()) {
            Some(live) => {
                if (live.repo.as_str(), live.head_ref.as_str()) != (new.repo, new.head_ref) {
                    return Err(Error::conflict(
                        "elsewhere",
                        format!("the pull request of {atom_id} is in {}", live.repo),
                    ));
                }
                PullRequest {
                    pushing: Some(new.tip.to_owned()),
                    owns_branch: live.owns_branch || new.owns_branch,
                    ..live
                }
            }
            None => PullRequest {
                head_owner: new.head_owner.to_owned(),
                head_ref: new.head_ref.to_owned(),
                base_ref: new.base_ref.to_owned(),
                pushing: Some(new.tip.to_owned()),
                owns_branch: new.owns_branch,
                ..PullRequest::new(&atom_id, seq, new.forge, new.repo, ctx.now)
            },
        };
        pull_request::put(tx, &one)?;
        note_branch(tx, &one.atom_id, ctx.now)?;
        record_step(tx, ctx, &one, &json!({ "pushing": new.tip }))?;
        Ok(one)
    })
}

/// Records that a commit has arrived.
///
/// # Errors
///
/// If there is no such record, the caller's run is stale, or the database cannot be written.
pub fn pull_request_pushed(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    commit: &str,
) -> Result<PullRequest> {
    change(store, ctx, key, |one| {
        if one.pushed.as_deref() != Some(commit) && one.is_thrown_out() {
            one.detail = None;
        }
        (one.pushing, one.pushed) = (None, Some(commit.to_owned()));
        if one.held.take().is_some() {
            one.late_at = Some(ctx.now);
        }
        json!({ "pushed": commit })
    })
}

/// Records that the tip of the branch could not be pushed. `until`: when it may be tried again;
/// `None`: after a wait that doubles with each try. It is an event only if the reason is new.
///
/// # Errors
///
/// The same.
pub fn hold_push(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    (tip, why): (&str, &str),
    until: Option<Timestamp>,
) -> Result<PullRequest> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut one = find_request(tx, key)?;
        let before = one.held.take().filter(|held| held.tip == tip);
        let is_news = before.as_ref().is_none_or(|held| held.why != why);
        let tries = before.as_ref().map_or(0, |held| held.tries).saturating_add(1);
        let doubled = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(8)).min(HeldPush::LONGEST);
        one.held = Some(HeldPush {
            tip: tip.to_owned(),
            why: why.to_owned(),
            tries,
            since: before.map_or(ctx.now, |held| held.since),
            until: until.unwrap_or(ctx.now.plus(doubled)),
        });
        pull_request::put(tx, &one)?;
        if is_news {
            record_step(tx, ctx, &one, &json!({ "held": why }))?;
        }
        Ok(one)
    })
}

/// Forgets that commits could not be pushed: they are on the branch no more.
///
/// # Errors
///
/// The same.
pub fn drop_held_push(store: &mut Store, ctx: &Ctx<'_>, key: (&str, i64)) -> Result<()> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut one = find_request(tx, key)?;
        one.held = None;
        pull_request::put(tx, &one)
    })
}

/// Records that the pull request is about to be made.
///
/// # Errors
///
/// The same.
pub fn pull_request_opening(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
) -> Result<PullRequest> {
    change(store, ctx, key, |one| {
        one.state = PullRequestState::Opening;
        json!({})
    })
}

/// Records the number of a pull request that was made or found.
///
/// # Errors
///
/// The same; also if the number belongs to another atom.
pub fn pull_request_opened(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    number: u64,
    url: &str,
) -> Result<PullRequest> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut one = find_request(tx, key)?;
        let known = pull_request::by_number(tx, &one.forge, &one.repo, number)?;
        if let Some(other) = known.filter(|other| (other.atom_id.as_str(), other.seq) != key) {
            return Err(Error::conflict(
                "taken",
                format!("{} #{number} is the pull request of {}", one.repo, other.atom_id),
            ));
        }
        one.state = PullRequestState::Open;
        (one.number, one.url) = (Some(number), Some(url.to_owned()));
        pull_request::put(tx, &one)?;
        record_step(tx, ctx, &one, &json!({}))?;
        Ok(one)
    })
}

/// Records that an open pull request was made a draft, or ready for review.
///
/// # Errors
///
/// The same.
pub fn pull_request_drafted(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    is_draft: bool,
) -> Result<PullRequest> {
    change(store, ctx, key, |one| {
        one.set_draft(is_draft);
        json!({ "detail": one.detail })
    })
}

/// Records the state that the forge reported. If the pull request was closed without a merge, its
/// closed atom becomes deferred: a person decides. If that was undone there, the atom is closed.
///
/// # Errors
///
/// If there is no such record, the caller's run is stale, or the database cannot be written.
pub fn pull_request_seen(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    seen: &SeenPullRequest<'_>,
) -> Result<PullRequest> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let before = find_request(tx, key)?;
        let text = |new: Option<&str>, old: &Option<String>| {
            new.map(str::to_owned).or_else(|| old.clone())
        };
        let one = PullRequest {
            state: seen.state,
            detail: seen.detail.map(str::to_owned),
            base_ref: seen.base_ref.map_or_else(|| before.base_ref.clone(), str::to_owned),
            merge_commit: text(seen.merge_commit, &before.merge_commit),
            merged_head: text(seen.merged_head, &before.merged_head),
            seen_at: Some(ctx.now),
            next_look: None,
            failures: 0,
            held: before.held.clone().filter(|_| seen.state.is_live()),
            ..before.clone()
        };
        pull_request::put(tx, &one)?;
        if (before.state, &before.detail) != (one.state, &one.detail) {
            record_step(tx, ctx, &one, &json!({ "detail": one.detail }))?;
        }
        if one.state == PullRequestState::Merged {
            unmerged::forget(tx, &one.atom_id)?;
        }
        follow_request(tx, ctx, &before, &one)?;
        Ok(one)
    })
}

/// The owner in HOST/OWNER/NAME.
fn owner_of(repo: &str) -> &str {
    let path = repo.split_once('/').map_or("", |(_, path)| path);
    path.rsplit_once('/').map_or("", |(owner, _)| owner)
}

/// Records the new name of a repository that was renamed, or given to another owner.
///
/// # Errors
///
/// If the caller's run is stale, or the database cannot be written.
pub fn move_pull_requests(store: &mut Store, ctx: &Ctx<'_>, from: &str, to: &str) -> Result<()> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        for one in pull_request::of_repository(tx, from)? {
            let url = one.url.as_ref().map(|url| url.replacen(from, to, 1));
            let is_own = owner_of(from).eq_ignore_ascii_case(&one.head_owner);
            let head_owner = if is_own { owner_of(to).to_owned() } else { one.head_owner.clone() };
            let one = PullRequest { repo: to.to_owned(), head_owner, url, ..one };
            pull_request::put(tx, &one)?;
            record_step(tx, ctx, &one, &json!({ "repo": to }))?;
        }
        Ok(())
    })
}

/// Records that the forge could not be asked, and when it may be asked again.
///
/// # Errors
///
/// The same.
pub fn put_off_look(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    until: Timestamp,
) -> Result<PullRequest> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut one = find_request(tx, key)?;
        one.failures += 1;
        one.next_look = Some(until);
        pull_request::put(tx, &one)?;
        Ok(one)
    })
}

/// The latest pull request of each atom, oldest first; `live`: only those that can still be merged.
///
/// # Errors
///
/// If the database cannot be read.
pub fn pull_requests(store: &Store, live: bool) -> Result<Vec<PullRequest>> {
    store.read(|tx| pull_request::latest(tx, live))
}

/// The latest pull requests that were closed without a merge, of atoms that are not over.
///
/// # Errors
///
/// If the database cannot be read.
pub fn closed_pull_requests(store: &Store) -> Result<Vec<PullRequest>> {
    store.read(pull_request::closed_unmerged)
}

/// Every pull request of an atom, oldest first.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn pull_requests_of(store: &Store, id: &str) -> Result<Vec<PullRequest>> {
    store.read(|tx| pull_request::of_atom(tx, &atom::resolve(tx, id)?))
}

/// How often remarks were handed to attempts of an atom.
///
/// # Errors
///
/// If the database cannot be read.
pub fn remark_rounds(store: &Store, id: &str) -> Result<i64> {
    store.read(|tx| pull_request::remark_rounds(tx, id))
}

/// The latest pull request of each of these atoms that has one.
///
/// # Errors
///
/// If the database cannot be read.
pub fn latest_pull_requests(store: &Store, atoms: &[&str]) -> Result<Vec<PullRequest>> {
    store.read(|tx| pull_request::latest_of(tx, atoms))
}

pub(super) fn find_request(tx: &Tx<'_>, (atom, seq): (&str, i64)) -> Result<PullRequest> {
    let all = pull_request::of_atom(tx, atom)?;
    all.into_iter()
        .find(|one| one.seq == seq)
        .ok_or_else(|| Error::not_found("pull request", format!("{atom}/{seq}")))
}

fn change(
    store: &mut Store,
    ctx: &Ctx<'_>,
    key: (&str, i64),
    change: impl FnOnce(&mut PullRequest) -> serde_json::Value,
) -> Result<PullRequest> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut one = find_request(tx, key)?;
        let told = change(&mut one);
        pull_request::put(tx, &one)?;
        record_step(tx, ctx, &one, &told)?;
        Ok(one)
    })
}

/// Writes the event of a step. `told`: more keys of the event.
fn record_step(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    one: &PullRequest,
    told: &serde_json::Value,
) -> Result<()> {
    let mut data = json!({
        "seq": one.seq,
        "state": one.state,
        "number": one.number,
        "url": one.url,
    });
    for (key, value) in told.as_object().into_iter().flatten() {
        data[key] = value.clone();
    }
    event::insert(tx, ctx, EventKind::PullRequest, Some(&one.atom_id), None, &data)
}
