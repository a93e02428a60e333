//! Pushes one branch, and never over a commit that el does not know.

use std::path::Path;

use el_core::model::PullRequest;
use el_core::ops::{self, NewPullRequest};
use el_core::{Ctx, Store};

use super::look::head_remote;
use super::{PullError, PullPlace, PullRun, Result};
use crate::clock;
use crate::forge::{Forge, RepoName, push_address};
use crate::git::{PushResult, Repository};

/// How far the remote branch is.
#[derive(Debug)]
pub(super) enum Pushed {
    /// The remote has the commit, which was there before if `is_new` is false. `taken_in`: commits
    /// of others that the branch here has got.
    Arrived { record: Box<PullRequest>, is_new: bool, taken_in: Vec<String> },
    /// Nothing was pushed, for the given reason.
    Held(String),
}

/// A branch at the remote beside the one here.
#[derive(Debug)]
pub(super) struct RemoteBranch {
    /// The commit that the remote has.
    there: Option<String>,
    /// The commit that it is to have: what somebody pushed on top is taken in.
    pub(super) tip: String,
    /// Those that are taken in, newest first, with their authors.
    pub(super) taken_in: Vec<String>,
}

impl RemoteBranch {
    /// The remote does not have the commit.
    pub(super) fn is_new(&self) -> bool {
        self.there.as_ref() != Some(&self.tip)
    }
}

/// Looks at the remote's branch. The inner error says why nothing can be pushed over it.
pub(super) fn compare_remote(
    run: &PullRun<'_>,
    records: &[PullRequest],
    branch: &str,
    tip: &str,
) -> Result<Result<RemoteBranch, String>> {
    let PullRun { repository, place, .. } = run;
    let found = |there: Option<String>, tip: &str| {
        Ok(Ok(RemoteBranch { there, tip: tip.into(), taken_in: Vec::new() }))
    };
    let known = |commit: &str| {
        let of = |one: &PullRequest| {
            [&one.pushed, &one.pushing, &one.merged_head]
                .into_iter()
                .any(|has| has.as_deref() == Some(commit))
        };
        records.iter().any(of)
    };
    let live = records.last().filter(|record| record.state.is_live());
    let Some(there) = repository.fetch_tip(&push_address(repository, &place.remote)?, branch)?
    else {
        return match live.and_then(|record| record.number) {
            Some(number) => Ok(Err(format!(
                "{branch} was deleted at {0}, and #{number} is open; git push {0} {branch} brings \
                 it back, or close #{number} there",
                place.remote
            ))),
            None => found(None, tip),
        };
    };
    if there == tip {
        return found(Some(there), tip);
    }
    if repository.contains(&there, tip)? {
        let taken_in = name_commits(repository, tip, &there)?;
        return Ok(Ok(RemoteBranch { tip: there.clone(), there: Some(there), taken_in }));
    }
    if repository.contains(tip, &there)? {
        let own = live.into_iter().flat_map(|live| [&live.pushed, &live.pushing]).flatten();
        let own: Vec<&String> = own.collect();
        if let Some(last) = own.first()
            && !own.contains(&&there)
            && !repository.contains(&there, last)?
        {
            return Ok(Err(format!(
                "somebody took commits away there: {0} has {there}, and el pushed {last}; git \
                 push {0} {branch} brings them back, git reset --keep {there} in its worktree \
                 drops them",
                place.remote
            )));
        }
        return found(Some(there), tip);
    }
    let whose = match known(&there) {
        true => "its branch was rewritten here",
        false => "somebody else has pushed there",
    };
    Ok(Err(format!(
        "{whose}: {} has {there}, which {branch} does not have; merge it in its worktree",
        place.remote
    )))
}

/// The commits of `there` that `tip` does not have, newest first, with their authors.
fn name_commits(repository: &Repository, tip: &str, there: &str) -> Result<Vec<String>> {
    let range = format!("{tip}..{there}");
    let words = ["log", "--abbrev=10", "--format=%h by %an", &range];
    Ok(repository.git().ask(&words)?.lines().map(str::to_owned).collect())
}

/// Takes in what others pushed on top of an atom's open pull request since the last look, so that
/// an agent does not go apart from it. Git alone is asked.
pub(crate) fn take_in_before_run(
    store: &mut Store,
    actor: &str,
    folder: &Path,
    record: &PullRequest,
) -> Result<Vec<String>> {
    let Some(repo) = RepoName::parse(&record.repo, "") else { return Ok(Vec::new()) };
    let ctx = Ctx { now: clock::now(), actor, session: None };
    take_in(store, &ctx, (&Repository::open_at(folder)?, None), record, &repo)
}

/// Takes what others pushed on top of an open pull request's branch into the branch here, and
/// returns those commits. Nothing is pushed. `forge`: who knows the remote of a repository that was
/// renamed.
pub(super) fn take_in(
    store: &mut Store,
    ctx: &Ctx<'_>,
    (repository, forge): (&Repository, Option<&dyn Forge>),
    record: &PullRequest,
    repo: &RepoName,
) -> Result<Vec<String>> {
    let branch = &record.head_ref;
    let (Some(tip), Some(remote)) =
        (repository.branch_tip(branch)?, head_remote(repository, forge, record, repo)?)
    else {
        return Ok(Vec::new());
    };
    let there = repository.fetch_tip(&push_address(repository, &remote)?, branch)?;
    let Some(there) = there.filter(|there| *there != tip) else { return Ok(Vec::new()) };
    if !repository.contains(&there, &tip)? {
        return Ok(Vec::new());
    }
    let taken_in = name_commits(repository, &tip, &there)?;
    repository.move_branch_up(branch, &tip, &there)?;
    ops::pull_request_pushed(store, ctx, (&record.atom_id, record.seq), &there)?;
    Ok(taken_in)
}

/// Pushes an atom's branch. The commit is recorded first: after a crash, a later call knows the
/// commit that the remote has for its own. `base`: the branch that is to receive the work.
pub(super) fn push(
    run: &PullRun<'_>,
    store: &mut Store,
    atom_id: &str,
    branch: &str,
    (tip, base): (&str, &str),
) -> Result<Pushed> {
    let PullRun { repository, place, .. } = run;
    let records = ops::pull_requests_of(store, atom_id)?;
    let remote = match compare_remote(run, &records, branch, tip)? {
        Ok(remote) => remote,
        Err(why) => return Ok(Pushed::Held(why)),
    };
    let is_new = remote.is_new();
    let RemoteBranch { there, tip: wanted, taken_in } = remote;
    if wanted != tip {
        // Somebody has pushed on top of it.
        repository.move_branch_up(branch, tip, &wanted)?;
    }
    let tip = wanted;
    let live = records.last().filter(|record| record.state.is_live());
    let new = NewPullRequest {
        forge: place.forge,
        repo: &place.repo.to_string(),
        head_owner: &place.head.owner,
        head_ref: branch,
        base_ref: base,
        tip: &tip,
        owns_branch: there.is_none() && run.options.deletes_branch,
    };
    let mut record = match live.filter(|live| !is_new && live.pushed.as_ref() == Some(&tip)) {
        Some(live) => live.clone(),
        None => ops::begin_push(store, &run.land.ctx(), atom_id, &new)?,
    };
    if is_new {
        let result = repository.push_branch(&place.remote, &tip, branch, there.as_deref())?;
        if let PushResult::Refused(why) = result {
            return Ok(Pushed::Held(why));
        }
    }
    if record.pushed.as_ref() != Some(&tip) || record.pushing.is_some() || record.held.is_some() {
        let key = (atom_id, record.seq);
        record = ops::pull_request_pushed(store, &run.land.ctx(), key, &tip)?;
    }
    Ok(Pushed::Arrived { record: Box::new(record), is_new, taken_in })
}

impl PullPlace {
    /// Fetches the base and returns its commit.
    ///
    /// # Errors
    /// If there is no such branch, or the remote cannot be reached.
    pub fn fetch_base(&self, repository: &Repository) -> Result<String> {
        repository.fetch_branch(&self.base_remote, &self.base)?.ok_or_else(|| {
            PullError::place(
                format!("{} has no branch {}", self.repo, self.base),
                "el pr --base BRANCH names another",
            )
        })
    }
}
