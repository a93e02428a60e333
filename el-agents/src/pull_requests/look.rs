//! Asks the forge what became of pull requests, and records it.

use std::time::Duration;

use el_core::model::{PullRequest, PullRequestState};
use el_core::ops::{self, SeenPullRequest};
use el_core::{Ctx, Store};

use super::{PullError, Result};
use crate::forge::{
    Checks, Conflict, Forge, ForgeError, Forges, RepoName, RequestFacts, RequestState, Review,
    push_address,
};
use crate::git::{MergedPull, Remote, Repository};

/// Looks that find nothing before a pull request counts as lost, and the time between them.
const LOOKS: u32 = 3;
const BETWEEN_LOOKS: Duration = Duration::from_secs(3600);

/// Looks at the given pull requests, by one query for each repository. Returns the present state of
/// each, without a change to requests that have no number.
///
/// # Errors
/// If the forge, git or the store fails. Earlier findings are recorded, and those of other requests
/// if git fails for one.
pub fn look_at(
    store: &mut Store,
    ctx: &Ctx<'_>,
    repository: &Repository,
    forges: &Forges,
    records: &[PullRequest],
) -> Result<Vec<PullRequest>> {
    let mut looked = look_at_each(store, ctx, repository, forges, records)?;
    looked.unnoted.pop().map_or(Ok(looked.seen), |(_, error)| Err(error))
}

/// The findings of a look.
#[derive(Debug)]
pub(super) struct Looked {
    seen: Vec<PullRequest>,
    /// The atoms whose merge git could not note.
    pub(super) unnoted: Vec<(String, PullError)>,
}

/// Does the same as [`look_at`], and goes on after a merge that git cannot note.
pub(super) fn look_at_each(
    store: &mut Store,
    ctx: &Ctx<'_>,
    repository: &Repository,
    forges: &Forges,
    records: &[PullRequest],
) -> Result<Looked> {
    let mut seen = records.to_vec();
    let mut unnoted = Vec::new();
    let mut repos: Vec<&str> = records.iter().map(|record| record.repo.as_str()).collect();
    repos.sort_unstable();
    repos.dedup();
    for name in repos {
        let Some(repo) = RepoName::parse(name, "") else { continue };
        let which: Vec<usize> = (0..seen.len())
            .filter(|at| seen[*at].repo == name && seen[*at].number.is_some())
            .collect();
        let numbers: Vec<u64> = which.iter().filter_map(|at| seen[*at].number).collect();
        let Some(forge) = which.first().map(|at| forges.of_record(&seen[*at])) else { continue };
        let facts = match forge.request_facts(&repo, &numbers) {
            Err(ForgeError::NoRepository { .. }) => vec![None; numbers.len()],
            facts => facts?,
        };
        let moved = facts.iter().flatten().find_map(|facts| RepoName::of_page(&facts.url));
        let is_moved = |moved: &RepoName| moved.host == repo.host && !moved.is_same(&repo);
        let repo = match moved.filter(is_moved) {
            None => repo,
            // It was renamed, or given to another owner, and answers under its old name, too.
            Some(moved) => {
                let new = moved.to_string();
                ops::move_pull_requests(store, ctx, name, &new)?;
                which.iter().for_each(|at| seen[*at].repo.clone_from(&new));
                moved
            }
        };
        for (at, facts) in which.into_iter().zip(facts) {
            let record = &seen[at];
            let key = (record.atom_id.as_str(), record.seq);
            seen[at] = match facts {
                // Nothing is new.
                Some(facts)
                    if record.state == PullRequestState::Closed
                        && facts.state == RequestState::Closed =>
                {
                    record.clone()
                }
                Some(facts) => {
                    if facts.state == RequestState::Merged {
                        if let Err(error) = note_merge(repository, forge, record, &repo, &facts) {
                            unnoted.push((record.atom_id.clone(), error));
                            continue;
                        }
                        if record.state.is_live() {
                            // The branch is in nobody's way; a person deletes it as easily.
                            let _ = delete_branch(repository, forge, record, &repo, &facts.head);
                        }
                    }
                    ops::pull_request_seen(store, ctx, key, &as_seen(record, &facts))?
                }
                None if record.next_look.is_some_and(|at| at > ctx.now) => record.clone(),
                None if record.failures + 1 >= LOOKS => {
                    let lost = SeenPullRequest {
                        state: PullRequestState::Lost,
                        detail: Some("the forge knows it no more"),
                        base_ref: None,
                        merge_commit: None,
                        merged_head: None,
                    };
                    ops::pull_request_seen(store, ctx, key, &lost)?
                }
                None => ops::put_off_look(store, ctx, key, ctx.now.plus(BETWEEN_LOOKS))?,
            };
        }
    }
    Ok(Looked { seen, unnoted })
}

fn as_seen<'a>(record: &PullRequest, facts: &'a RequestFacts) -> SeenPullRequest<'a> {
    let (state, detail) = match facts.state {
        RequestState::Merged => (PullRequestState::Merged, None),
        RequestState::Closed => {
            (PullRequestState::Closed, Some("it was closed without being merged"))
        }
        RequestState::Open if facts.is_queued => (PullRequestState::Queued, None),
        RequestState::Open => (PullRequestState::Open, Some(waits_for(record, facts))),
    };
    let is_merged = facts.state == RequestState::Merged;
    SeenPullRequest {
        state,
        detail,
        base_ref: Some(&facts.base_ref),
        merge_commit: facts.merge_commit.as_deref().filter(|_| is_merged),
        merged_head: Some(facts.head.as_str()).filter(|_| is_merged),
    }
}

/// Names in a word what an open pull request waits for. A draft hides no trouble.
fn waits_for(record: &PullRequest, facts: &RequestFacts) -> &'static str {
    let was_thrown_out = record.state == PullRequestState::Queued || record.is_thrown_out();
    let (open, draft) = if facts.is_branch_gone {
        ("branch_deleted", "draft_branch_deleted")
    } else if facts.review == Review::ChangesRequested {
        ("changes_requested", "draft_changes_requested")
    } else if facts.conflict == Conflict::Yes {
        ("conflict", "draft_conflict")
    } else if facts.is_behind {
        // The required checks have passed, and begin anew once the base is taken in.
        ("behind", "draft_behind")
    } else if facts.checks == Checks::Failed {
        ("failing", "draft_failing")
    } else if facts.still_waits() {
        ("waiting", "draft")
    } else if was_thrown_out && record.pushed.as_deref() == Some(&facts.head) {
        // Its own checks may be green: what failed was the merge that the queue tried.
        ("unqueued", "draft")
    } else {
        ("ready", "draft")
    };
    if facts.is_draft { draft } else { open }
}

/// Deletes the branch of a merged pull request at the remote, if el made the branch, it still is at
/// the commit that was merged, and no open pull request builds on it: the forge would close it.
fn delete_branch(
    repository: &Repository,
    forge: &dyn Forge,
    record: &PullRequest,
    repo: &RepoName,
    head: &str,
) -> Result<()> {
    if !record.owns_branch
        || record.pushed.as_deref() != Some(head)
        || forge.is_base(repo, &record.head_ref)?
    {
        return Ok(());
    }
    if let Some(remote) = head_remote(repository, Some(forge), record, repo)?
        && repository.remote_tip(&push_address(repository, &remote)?, &record.head_ref)?.as_deref()
            == Some(head)
    {
        repository.delete_remote_branch(&remote, &record.head_ref, head)?;
    }
    Ok(())
}

/// The remote that has the branch of a pull request.
pub(super) fn head_remote(
    repository: &Repository,
    forge: Option<&dyn Forge>,
    record: &PullRequest,
    repo: &RepoName,
) -> Result<Option<String>> {
    let is_its = |name: &RepoName| name.owner.eq_ignore_ascii_case(&record.head_owner);
    find_remote(repository, forge, &repo.host, &is_its)
}

/// Notes the merge in git, so that one that git itself cannot recognise counts from then on.
fn note_merge(
    repository: &Repository,
    forge: &dyn Forge,
    record: &PullRequest,
    repo: &RepoName,
    facts: &RequestFacts,
) -> Result<()> {
    let Some(commit) = &facts.merge_commit else { return Ok(()) };
    if let Some(remote) = remote_of(repository, forge, repo)? {
        repository.fetch_branch(&remote, &facts.base_ref)?;
        if repository.resolve_commit(&facts.head)?.is_none() {
            repository.fetch_commit(&remote, &forge.head_reference(facts.number))?;
        }
    }
    let is_here = |name: &str| repository.resolve_commit(name).map(|found| found.is_some());
    if !is_here(commit)? || !is_here(&facts.head)? {
        return Ok(());
    }
    let merged = MergedPull { head: facts.head.clone(), commit: commit.clone() };
    Ok(repository.record_merged(&record.atom_id, &merged)?)
}

/// The remote of a repository.
pub(super) fn remote_of(
    repository: &Repository,
    forge: &dyn Forge,
    repo: &RepoName,
) -> Result<Option<String>> {
    find_remote(repository, Some(forge), &repo.host, &|name| name.is_same(repo))
}

/// The remote whose repository has such a name, or has got it since, as far as the forge is asked.
fn find_remote(
    repository: &Repository,
    forge: Option<&dyn Forge>,
    host: &str,
    is_it: &dyn Fn(&RepoName) -> bool,
) -> Result<Option<String>> {
    let named = |remote: Remote| Some((remote.name, RepoName::of_remote(&remote.url)?));
    let mut all: Vec<(String, RepoName)> =
        repository.remotes()?.into_iter().filter_map(named).collect();
    all.retain(|(_, name)| name.host == host);
    let has_become = |name: &RepoName| {
        let now = forge.and_then(|forge| forge.repository_facts(name).ok());
        now.is_some_and(|now| is_it(&now.repo))
    };
    let found = all
        .iter()
        .find(|(_, name)| is_it(name))
        .or_else(|| all.iter().find(|(_, name)| has_become(name)));
    Ok(found.map(|(remote, _)| remote.clone()))
}
