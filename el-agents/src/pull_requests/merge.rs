//! Merges a pull request, at a person's word only, and looks afterwards at what became of it: the
//! forge's program says the same whether it merged, waits or is queued.

use std::time::Duration;

use el_core::model::{PullRequest, PullRequestState, Status};
use el_core::{Ctx, Store, ops};

use super::look::remote_of;
use super::stack::retarget_children;
use super::{Result, look_at};
use crate::forge::{
    Checks, Conflict, Forge, ForgeError, Forges, MergeMethod, RepoName, RequestFacts, RequestState,
    Review,
};
use crate::git::Repository;
use crate::land::{WorkBelow, unfinished_below};

/// Looks after the request, and the time between them: a forge merges by and by.
const LOOKS: u32 = 5;
const BETWEEN: Duration = Duration::from_secs(1);

/// How a pull request is to be merged.
#[derive(Debug, Clone, Copy)]
pub struct MergeOptions {
    /// The way; `None`: the first that the repository allows.
    pub method: Option<MergeMethod>,
    /// One that may not be merged yet merges by itself later.
    pub when_ready: bool,
}

/// How asking for a merge ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeEnd {
    /// It is merged, or in the merge queue.
    Done(Box<PullRequest>),
    /// The forge merges it once it may.
    Asked(Box<PullRequest>),
    /// Nothing was asked, for the given reason.
    Held(String),
}

/// Asks the forge to merge exactly the head that el knows.
///
/// # Errors
/// If the forge refuses, or git or the store fails.
pub fn merge_one(
    store: &mut Store,
    ctx: &Ctx<'_>,
    repository: &Repository,
    forges: &Forges,
    record: &PullRequest,
    options: MergeOptions,
) -> Result<MergeEnd> {
    let (Some(number), Some(repo)) = (record.number, RepoName::parse(&record.repo, "")) else {
        return Ok(MergeEnd::Held("it is not open yet; el pr opens it".to_owned()));
    };
    let forge = forges.of_record(record);
    let look = || -> Result<RequestFacts> {
        let found = forge.request_facts(&repo, &[number])?.pop().flatten();
        found.ok_or_else(|| ForgeError::NoRequest { repo: repo.to_string(), number }.into())
    };
    let facts = look()?;
    if facts.state == RequestState::Open && !facts.is_queued {
        let tip = repository.tip_of(&record.atom_id)?;
        let atom = ops::get_atom(store, &record.atom_id)?;
        if atom.status != Status::Closed {
            return Ok(MergeEnd::Held(format!(
                "the status of its atom is {}; el close {1} says that the work is done, or close \
                 #{number} on its page",
                atom.status.as_str(),
                atom.id
            )));
        }
        if let Some(why) = obstacle(record, tip.as_deref(), &facts, options.when_ready) {
            return Ok(MergeEnd::Held(why));
        }
        // The forge would merge it into the branch below, and not where the work is wanted.
        if let Some(below) = repository.atom_of(&facts.base_ref) {
            let id = &record.atom_id;
            return Ok(MergeEnd::Held(format!(
                "its base is the branch of {below}; el pr merge {below} comes first, or el pr {id} \
                 if that is merged"
            )));
        }
        if let Some(below) = work_below(store, repository, (forge, &repo), record, &facts)?.first()
        {
            let other = &below.atom_id;
            return Ok(MergeEnd::Held(format!(
                "it has work of {other}, whose {}; el close {other} says that this is done, too",
                below.state
            )));
        }
        let method = match choose_method(forge, &repo, &facts, options.method)? {
            Ok(method) => method,
            Err(why) => return Ok(MergeEnd::Held(why)),
        };
        retarget_children(store, forge, &repo, record)?;
        let asked = ask(forge, &repo, &facts, method, options.when_ready);
        // Another call may have merged it since the look.
        if asked.is_err() && !look().is_ok_and(|now| now.state == RequestState::Merged) {
            asked?;
        }
    }
    for at in 0..LOOKS {
        let facts = look()?;
        let is_over = facts.state != RequestState::Open || facts.is_queued;
        if is_over || facts.is_armed || at + 1 == LOOKS {
            let mut seen = look_at(store, ctx, repository, forges, std::slice::from_ref(record))?;
            let now = Box::new(seen.pop().unwrap_or_else(|| record.clone()));
            return Ok(match now.state {
                PullRequestState::Merged | PullRequestState::Queued => MergeEnd::Done(now),
                PullRequestState::Closed => MergeEnd::Held(format!(
                    "it is closed; open it again on its page, or el reopen {id}, el close {id} and \
                     el pr {id} make a new one",
                    id = now.atom_id
                )),
                PullRequestState::Open if facts.is_armed => MergeEnd::Asked(now),
                _ => MergeEnd::Held("the forge took the request, and did not merge it".to_owned()),
            });
        }
        std::thread::sleep(BETWEEN);
    }
    Ok(MergeEnd::Held("the forge did not merge it".to_owned()))
}

/// The atoms that are not closed and have work in the branch. The base is fetched only if it seems
/// that there are some.
fn work_below(
    store: &Store,
    repository: &Repository,
    (forge, repo): (&dyn Forge, &RepoName),
    record: &PullRequest,
    facts: &RequestFacts,
) -> Result<Vec<WorkBelow>> {
    let Some(remote) = remote_of(repository, forge, repo)? else { return Ok(Vec::new()) };
    let branch = (record.atom_id.as_str(), facts.head.as_str());
    let find = |target: &str| unfinished_below(store, repository, target, branch);
    let known = repository.resolve_commit(&format!("refs/remotes/{remote}/{}", facts.base_ref))?;
    if let Some(known) = known
        && find(&known)?.is_empty()
    {
        return Ok(Vec::new());
    }
    let base = repository.fetch_branch(&remote, &facts.base_ref)?;
    Ok(base.map_or(Ok(Vec::new()), |base| find(&base))?)
}

/// Why it is not to be merged now.
fn obstacle(
    record: &PullRequest,
    tip: Option<&str>,
    facts: &RequestFacts,
    when_ready: bool,
) -> Option<String> {
    let id = &record.atom_id;
    if facts.is_draft {
        return Some(format!("it is a draft; el pr {id} --ready"));
    }
    if record.pushed.as_deref() != Some(&facts.head) {
        return Some(format!(
            "its head {} is not the commit that el pushed; look at it, then el pr {id} takes it in",
            facts.head
        ));
    }
    if tip.is_some_and(|tip| tip != facts.head) {
        return Some(format!("its branch has other commits here; el pr {id} pushes them"));
    }
    if facts.open_threads > 0 {
        let count = facts.open_threads;
        let are = if count == 1 { "thread of its review is" } else { "threads of its review are" };
        return Some(format!("{count} {are} open"));
    }
    if facts.review == Review::ChangesRequested {
        return Some("its review requests changes".to_owned());
    }
    if facts.conflict == Conflict::Yes {
        return Some(format!("it is in conflict with {}; el pr {id} files that", facts.base_ref));
    }
    if facts.is_behind {
        let base = &facts.base_ref;
        return Some(format!("{base} wants all of it in its branch; el pr {id} takes it in"));
    }
    let waits = match (facts.checks, facts.review) {
        (Checks::Failed, _) => "a check fails".to_owned(),
        (Checks::Pending, _) => "its checks are not over".to_owned(),
        (_, Review::Required) => "it needs a review".to_owned(),
        _ if facts.is_blocked => format!("{} requires what has not come yet", facts.base_ref),
        _ => return None,
    };
    (!when_ready).then(|| format!("{waits}; el pr merge {id} --when-ready merges it once it may"))
}

/// The way to merge: the one that was asked for, or the first that the repository allows. `None`:
/// the merge queue has a way of its own, and a word about it keeps the pull request out. The inner
/// error says why it cannot be the one that was asked for.
fn choose_method(
    forge: &dyn Forge,
    repo: &RepoName,
    facts: &RequestFacts,
    wanted: Option<MergeMethod>,
) -> Result<Result<Option<MergeMethod>, String>> {
    if facts.has_queue {
        return Ok(Ok(None));
    }
    let allowed = forge.repository_facts(repo)?.methods;
    let Some(wanted) = wanted else { return Ok(Ok(allowed.first().copied())) };
    if allowed.contains(&wanted) {
        return Ok(Ok(Some(wanted)));
    }
    let names: Vec<&str> = allowed.iter().map(|method| method.name()).collect();
    let others = names.join(" or ");
    Ok(Err(format!(
        "pr_method is {}, and {repo} allows {others}; el config set pr_method {}",
        wanted.name(),
        names.first().unwrap_or(&"squash")
    )))
}

fn ask(
    forge: &dyn Forge,
    repo: &RepoName,
    facts: &RequestFacts,
    method: Option<MergeMethod>,
    when_ready: bool,
) -> Result<()> {
    let is_ready = facts.checks != Checks::Failed && !facts.still_waits();
    let later = when_ready && !is_ready && !facts.has_queue;
    match forge.request_merge(repo, facts.number, &facts.head, method, later) {
        // The answer was lost: the looks afterwards tell.
        Err(ForgeError::Network { .. } | ForgeError::NotJson { .. }) => Ok(()),
        done => Ok(done?),
    }
}
