//! Watches the open pull requests of a project, for `el pr watch` and `el work`: one query a minute
//! for each repository, whoever asks.

use std::time::Duration;

use el_core::model::{PullRequest, PullRequestState, Timestamp};
use el_core::{Ctx, Durability, Store, ops};

use super::answers::{find_answers, find_uncommitted};
use super::watch_settings::{WatchSettings, host_of};
use super::{Handed, PullError, PushedAnswer, Result, gather_feedback, look_at};
use crate::clock;
use crate::forge::ForgeWait;
use crate::git::Repository;

/// The time between two looks at a repository.
pub const BETWEEN_LOOKS: Duration = Duration::from_secs(60);
/// A look counts for this long, so that looks of several processes are one a minute.
const STILL_NEW: Duration = Duration::from_secs(55);
/// Reviewers write several comments: they are gathered after so much silence.
const QUIET: Duration = Duration::from_secs(120);

/// The findings of a look.
#[derive(Debug, Default)]
pub struct Watched {
    /// The pull requests that could still be merged before the look, as they are now, and those
    /// that were opened again or merged after they had been closed.
    pub seen: Vec<PullRequest>,
    /// Those that are not as they were.
    pub changed: Vec<PullRequest>,
    /// The atoms that were reopened or blocked.
    pub given: Vec<Handed>,
    /// The answers to reviews that were pushed, or could not be.
    pub answers: Vec<PushedAnswer>,
    /// The atoms whose answer to a review is not committed; only if a person asks.
    pub uncommitted: Vec<String>,
    /// The forge is not asked for now.
    pub waits: Option<ForgeWait>,
}

/// Watches pull requests.
#[derive(Debug, Clone)]
pub struct PullWatch {
    settings: WatchSettings,
}

impl PullWatch {
    pub fn new(settings: WatchSettings) -> PullWatch {
        PullWatch { settings }
    }

    pub(crate) fn open_store(&self, durability: Durability) -> el_core::Result<Store> {
        let (database, server) = (&self.settings.database, self.settings.server.as_ref());
        let store = Store::open_at(database, server, durability)?;
        clock::follow(&store);
        Ok(store)
    }

    /// Looks once. `is_asked`: a person asks, so nothing is put off.
    ///
    /// # Errors
    /// If git or the store fails, or the forge does for good; with `is_asked`, whenever it fails.
    pub fn look(&self, store: &mut Store, is_asked: bool) -> Result<Watched> {
        let now = clock::now();
        let live = ops::pull_requests(store, true)?;
        let mut found = Watched::default();
        let mut due = Vec::new();
        for one in &live {
            match self.settings.waits.find(host_of(one), now) {
                Some(wait) if !is_asked => found.waits = Some(wait),
                _ if is_asked || is_due(one, now) => due.push(one.clone()),
                _ => {}
            }
        }
        // The same query tells of those that were closed.
        let mut closed = ops::closed_pull_requests(store)?;
        closed.retain(|one| is_asked || due.iter().any(|due| due.repo == one.repo));
        let has_answers = self.settings.feedback.is_on() && !live.is_empty();
        if due.is_empty() && closed.is_empty() && !has_answers {
            return Ok(Watched { seen: live, ..found });
        }
        let repository = Repository::open_at(&self.settings.folder)?;
        let mut trouble = None;
        let ctx = Ctx { now, actor: &self.settings.actor, session: None };
        let due = [due, closed.clone()].concat();
        let looked = look_at(store, &ctx, &repository, &self.settings.forges, &due);
        let seen = self.unless_passing(looked, is_asked, &mut trouble)?;
        found.waits = trouble.clone().or(found.waits);
        let as_now = |one: &PullRequest| {
            let new = seen.iter().find(|new| (&new.atom_id, new.seq) == (&one.atom_id, one.seq));
            new.unwrap_or(one).clone()
        };
        found.seen = live.iter().map(as_now).collect();
        let as_told = |one: &PullRequest| (one.state, one.detail.clone());
        let both = found.seen.iter().zip(&live);
        let changed = both.filter(|(now, before)| as_told(now) != as_told(before));
        found.changed = changed.map(|(now, _)| now.clone()).collect();
        let reopened =
            closed.iter().map(as_now).filter(|now| now.state != PullRequestState::Closed);
        let reopened: Vec<PullRequest> = reopened.collect();
        found.changed.extend(reopened.clone());
        found.seen.extend(reopened);
        if has_answers {
            let wait = found.waits.as_ref();
            let (answers, failed) =
                self.settings.push_answers(store, &repository, &found.seen, wait, is_asked)?;
            found.answers = answers;
            trouble = trouble.or(failed);
            reload_records(store, &mut found.seen)?;
        }
        if trouble.is_none() {
            let given = self.gather(store, &repository, &seen, is_asked);
            found.given = self.unless_passing(given, is_asked, &mut trouble)?;
        }
        if is_asked {
            let put = &self.settings.land.put_into_worktrees;
            found.uncommitted = find_uncommitted(store, &repository, &found.seen, put)?;
        }
        found.waits = trouble.clone().or(found.waits);
        if trouble.is_none() {
            due.iter().for_each(|one| self.settings.waits.clear(host_of(one)));
        }
        Ok(found)
    }

    /// Hands on what is said about these. An answer is shown to the reviewer before anything more
    /// is asked of the agent.
    fn gather(
        &self,
        store: &mut Store,
        repository: &Repository,
        seen: &[PullRequest],
        is_asked: bool,
    ) -> Result<Vec<Handed>> {
        if !self.settings.feedback.is_on() || seen.is_empty() {
            return Ok(Vec::new());
        }
        // A push has changed some of them.
        let mut records = ops::pull_requests(store, true)?;
        records.retain(|one| {
            seen.iter().any(|seen| (&seen.atom_id, seen.seq) == (&one.atom_id, one.seq))
        });
        let waiting = find_answers(store, repository, &records)?;
        records.retain(|one| waiting.iter().all(|it| it.record.atom_id != one.atom_id));
        let ctx = Ctx { now: clock::now(), actor: &self.settings.actor, session: None };
        let quiet = if is_asked { Duration::ZERO } else { QUIET };
        let (rules, forges) = (&self.settings.feedback, &self.settings.forges);
        gather_feedback(store, &ctx, (repository, forges), rules, quiet, &records)
    }

    /// Keeps in mind that the forge cannot be asked for now, unless a person asks.
    fn unless_passing<T: Default>(
        &self,
        result: Result<T>,
        is_asked: bool,
        trouble: &mut Option<ForgeWait>,
    ) -> Result<T> {
        match result {
            Err(PullError::Forge(error)) if error.is_passing() => {
                let wait = self.settings.waits.note_error(&error, clock::now());
                if is_asked {
                    return Err(error.into());
                }
                *trouble = Some(wait);
                Ok(T::default())
            }
            result => result,
        }
    }
}

/// Brings the records to the state after a push.
fn reload_records(store: &Store, seen: &mut [PullRequest]) -> Result<()> {
    let ids: Vec<&str> = seen.iter().map(|one| one.atom_id.as_str()).collect();
    let latest = ops::latest_pull_requests(store, &ids)?;
    for one in seen.iter_mut() {
        let is_it = |now: &&PullRequest| (&now.atom_id, now.seq) == (&one.atom_id, one.seq);
        if let Some(now) = latest.iter().find(is_it) {
            one.clone_from(now);
        }
    }
    Ok(())
}

/// Nobody has looked within the last minute, and the last failure is long ago.
fn is_due(one: &PullRequest, now: Timestamp) -> bool {
    let is_new = |at: Timestamp| at <= now && now.since(at) < STILL_NEW;
    one.number.is_some()
        && !one.seen_at.is_some_and(is_new)
        && one.next_look.is_none_or(|at| at <= now)
}
