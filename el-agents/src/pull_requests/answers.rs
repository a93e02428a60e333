//! Pushes the answers of agents to reviews. An answer counts once the forge has it: until then
//! nothing more is asked of the agent, and the push is tried again, after waits that grow.

use std::time::Duration;

use el_core::model::{PullRequest, PullRequestState, Timestamp};
use el_core::{Ctx, Store, ops};
use schemars::JsonSchema;
use serde::Serialize;

use super::item::closing_note;
use super::watch_settings::{WatchSettings, host_of};
use super::{PullError, PullItem, PullOutcome, PullRun, Result, find_place, open_all};
use crate::clock;
use crate::forge::ForgeWait;
use crate::git::Repository;
use crate::land::{LandContext, lock_landing_within};

/// How long an answer waits for another landing to end.
const LOCK_LIMIT: Duration = Duration::from_secs(60);

/// How the push of an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PushedAnswer {
    pub atom_id: String,
    #[serde(rename = "fate")]
    pub outcome: PullOutcome,
    /// Why it could not be pushed.
    pub detail: Option<String>,
    /// The closing words in messages of its commits, as for `el pr`.
    pub closes: Vec<String>,
    /// The commits that others pushed on top, and that come to the branch here, newest first.
    pub taken_in: Vec<String>,
}

impl PushedAnswer {
    /// Says which issues the messages of its commits close.
    pub fn closing_note(&self) -> Option<String> {
        closing_note(&self.closes)
    }
}

/// The commits of a branch that the forge does not have.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) record: PullRequest,
    tip: String,
}

impl Answer {
    fn is_due(&self, now: Timestamp) -> bool {
        let held = self.record.held.as_ref().filter(|held| held.tip == self.tip);
        held.is_none_or(|held| held.is_due(now))
    }

    fn key(&self) -> (&str, i64) {
        (&self.record.atom_id, self.record.seq)
    }
}

impl WatchSettings {
    /// Pushes the answers that are due, and returns what is new to tell; also the wait, if the
    /// forge cannot be asked now. `wait`: one that is known already. A person who asks is always
    /// told.
    pub(super) fn push_answers(
        &self,
        store: &mut Store,
        repository: &Repository,
        records: &[PullRequest],
        wait: Option<&ForgeWait>,
        is_asked: bool,
    ) -> Result<(Vec<PushedAnswer>, Option<ForgeWait>)> {
        let now = clock::now();
        let mut due = find_answers(store, repository, records)?;
        due.retain(|answer| is_asked || answer.is_due(now));
        if due.is_empty() {
            return Ok((Vec::new(), None));
        }
        if let Some(wait) = wait {
            self.hold_all(store, &due, &wait.why, Some(wait.until))?;
            return Ok((collect_news(store, &due, &[], false)?, None));
        }
        let mut trouble = None;
        let noted = || self.waits.find(host_of(&due[0].record), clock::now());
        let before = noted();
        let items = match self.try_push(store, repository, &due) {
            Ok(items) => {
                // One of them met a limit, or an outage.
                trouble = noted().filter(|wait| before.as_ref() != Some(wait));
                items
            }
            Err(error @ PullError::Tracker(_)) => return Err(error),
            Err(error) => {
                if let PullError::Forge(failed) = &error
                    && failed.is_passing()
                {
                    trouble = Some(self.waits.note_error(failed, now));
                }
                // It is told of these answers, and hides nothing of the others.
                let until = trouble.as_ref().map(|wait| wait.until);
                self.hold_all(store, &due, &error.to_string(), until)?;
                Vec::new()
            }
        };
        Ok((collect_news(store, &due, &items, is_asked)?, trouble))
    }

    fn hold_all(
        &self,
        store: &mut Store,
        answers: &[Answer],
        why: &str,
        until: Option<Timestamp>,
    ) -> Result<()> {
        let ctx = Ctx { now: clock::now(), actor: &self.actor, session: None };
        for answer in answers {
            ops::hold_push(store, &ctx, answer.key(), (&answer.tip, why), until)?;
        }
        Ok(())
    }

    fn try_push(
        &self,
        store: &mut Store,
        repository: &Repository,
        answers: &[Answer],
    ) -> Result<Vec<PullItem>> {
        let _lock = lock_landing_within(&self.state, LOCK_LIMIT)?;
        let place = find_place(repository, &self.forges, &self.place)?;
        let base_commit = place.fetch_base(repository)?;
        let land = LandContext {
            settings: &self.land,
            database: &self.database,
            el: self.el.clone(),
            environment: &self.environment,
            actor: &self.actor,
            session: None,
        };
        let run = PullRun {
            repository,
            land: &land,
            forges: &self.forges,
            place: &place,
            base_commit: &base_commit,
            texts: &self.texts,
            waits: &self.waits,
            options: self.options,
        };
        let ids: Vec<String> = answers.iter().map(|one| one.record.atom_id.clone()).collect();
        open_all(&run, store, Some(&ids))
    }
}

/// The answers that the forge does not have: the commits of closed atoms that a review had
/// reopened.
pub(super) fn find_answers(
    store: &Store,
    repository: &Repository,
    records: &[PullRequest],
) -> Result<Vec<Answer>> {
    let mut found = find_asked(store, repository, records)?;
    found.retain(|answer| answer.record.pushed.as_ref() != Some(&answer.tip));
    Ok(found)
}

/// The closed atoms with open pull requests that a review had reopened, with the commits that they
/// have now.
fn find_asked(
    store: &Store,
    repository: &Repository,
    records: &[PullRequest],
) -> Result<Vec<Answer>> {
    let mut found = Vec::new();
    for one in records.iter().filter(|one| one.state == PullRequestState::Open) {
        if ops::takes_remarks(store, &one.atom_id)?
            && ops::remark_rounds(store, &one.atom_id)? > 0
            && let Some(tip) = repository.tip_of(&one.atom_id)?
        {
            found.push(Answer { record: one.clone(), tip });
        }
    }
    Ok(found)
}

/// The atoms whose answer to a review is in their worktree alone, and in no commit. `but`:
/// untracked files that el itself puts into worktrees.
///
/// # Errors
/// If git or the store fails.
pub fn find_uncommitted(
    store: &Store,
    repository: &Repository,
    records: &[PullRequest],
    but: &[String],
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for Answer { record, tip } in find_asked(store, repository, records)? {
        if record.pushed.as_ref() == Some(&tip)
            && let Some(tree) = repository.checkout_of(&record.head_ref)?
            && !tree.uncommitted_changes(repository.git(), but)?.is_empty()
        {
            found.push(record.atom_id);
        }
    }
    Ok(found)
}

/// The news of these answers.
fn collect_news(
    store: &Store,
    answers: &[Answer],
    items: &[PullItem],
    is_asked: bool,
) -> Result<Vec<PushedAnswer>> {
    let mut told = Vec::new();
    for answer in answers {
        let id = &answer.record.atom_id;
        let item = items.iter().find(|item| item.atom_id == *id);
        let held = ops::pull_requests_of(store, id)?.pop().and_then(|now| now.held);
        let outcome = match (item.map(|item| item.outcome), &held) {
            // Somebody has begun to work on it again.
            (Some(PullOutcome::NotFinished | PullOutcome::AtWork), _) => continue,
            (None, _) => PullOutcome::Failed,
            (Some(outcome), Some(_)) if !outcome.is_failure() => PullOutcome::Held,
            (Some(outcome), _) => outcome,
        };
        let as_told = |held: &el_core::model::HeldPush| (held.tip.clone(), held.why.clone());
        let is_known = held.is_some()
            && held.as_ref().map(as_told) == answer.record.held.as_ref().map(as_told);
        if is_known && !is_asked {
            continue;
        }
        told.push(PushedAnswer {
            atom_id: id.clone(),
            outcome,
            detail: held.map(|held| held.why),
            closes: item.map(|item| item.closes.clone()).unwrap_or_default(),
            taken_in: item.map(|item| item.taken_in.clone()).unwrap_or_default(),
        });
    }
    Ok(told)
}
