//! Watches the open pull requests of a project, for `el pr watch` and `el work`: one query a minute
//! for each repository, whoever asks.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use el_core::model::{PullRequest, PullRequestState, Timestamp};
use el_core::ops::{self, Given};
use el_core::{Ctx, Durability, ServerAddress, Store};

use super::{
    FeedbackRules, PullError, PullItem, PullOptions, PullRun, TextRules, WantedPlace, find_place,
    gather_feedback, look_at, open_all,
};
use crate::clock;
use crate::forge::{ForgeError, ForgeWait, ForgeWaits, Forges};
use crate::git::Repository;
use crate::land::{LandContext, LandError, LandSettings, lock_landing};

/// The time between two looks at a repository.
pub const BETWEEN_LOOKS: Duration = Duration::from_secs(60);
/// A look counts for this long, so that looks of several processes are one a minute.
const STILL_NEW: Duration = Duration::from_secs(55);
/// Reviewers write several comments: they are gathered after so much silence.
const QUIET: Duration = Duration::from_secs(120);

/// How pull requests are watched. All is owned, since a worker watches on another thread.
#[derive(Debug, Clone)]
pub struct WatchSettings {
    /// A folder in the repository.
    pub folder: PathBuf,
    pub database: PathBuf,
    /// The server that has the tables, if one has.
    pub server: Option<ServerAddress>,
    /// The tracker's folder, with the lock of landings.
    pub state: PathBuf,
    pub actor: String,
    pub el: PathBuf,
    pub environment: Vec<(OsString, OsString)>,
    pub waits: ForgeWaits,
    pub forges: Forges,
    pub feedback: FeedbackRules,
    pub place: WantedPlace,
    pub texts: TextRules,
    pub options: PullOptions,
    pub land: LandSettings,
}

/// The findings of a look.
#[derive(Debug, Default)]
pub struct Watched {
    /// The pull requests that could still be merged before the look, as they are now.
    pub seen: Vec<PullRequest>,
    /// Those that are not as they were.
    pub changed: Vec<PullRequest>,
    /// The atoms that were reopened or blocked.
    pub given: Vec<(String, Given)>,
    /// Those whose answers to a review were pushed.
    pub updated: Vec<PullItem>,
    /// The forge is not asked for now.
    pub waits: Option<ForgeWait>,
}

/// Watches pull requests.
#[derive(Debug, Clone)]
pub struct PullWatch {
    settings: WatchSettings,
    /// The commit of each atom that was last tried to be pushed.
    tried: HashMap<String, String>,
}

impl PullWatch {
    pub fn new(settings: WatchSettings) -> PullWatch {
        PullWatch { settings, tried: HashMap::new() }
    }

    pub(crate) fn open_store(&self, durability: Durability) -> el_core::Result<Store> {
        let (database, server) = (&self.settings.database, self.settings.server.as_ref());
        Store::open_at(database, server, durability)
    }

    /// Looks once. `is_asked`: a person asks, so nothing is put off.
    ///
    /// # Errors
    /// If git or the store fails, or the forge does for good; with `is_asked`, whenever it fails.
    pub fn look(&mut self, store: &mut Store, is_asked: bool) -> Result<Watched, PullError> {
        let now = clock::now();
        let live = ops::pull_requests(store, true)?;
        let mut found = Watched::default();
        let mut due = Vec::new();
        for one in live.iter().filter(|one| is_asked || is_due(one, now)) {
            match self.settings.waits.find(host_of(one), now) {
                Some(wait) if !is_asked => found.waits = Some(wait),
                _ => due.push(one.clone()),
            }
        }
        let has_answers = self.settings.feedback.is_on() && !live.is_empty();
        if due.is_empty() && !has_answers {
            return Ok(Watched { seen: live, ..found });
        }
        let repository = Repository::open_at(&self.settings.folder)?;
        let mut trouble = None;
        let ctx = Ctx { now, actor: &self.settings.actor, session: None };
        let looked = look_at(store, &ctx, &repository, &self.settings.forges, &due);
        let seen = self.unless_passing(looked, &due, is_asked, &mut trouble)?;
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
        if has_answers && found.waits.is_none() {
            found.updated = self.push_answers(store, &repository, &found.seen)?;
        }
        if trouble.is_none() {
            let given = self.gather(store, &repository, &seen, is_asked);
            found.given = self.unless_passing(given, &due, is_asked, &mut trouble)?;
            found.waits = trouble.clone().or(found.waits);
        }
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
    ) -> Result<Vec<(String, Given)>, PullError> {
        if !self.settings.feedback.is_on() || seen.is_empty() {
            return Ok(Vec::new());
        }
        let waiting = self.find_answers(store, repository, seen)?;
        // A push has changed some of them.
        let mut records = ops::pull_requests(store, true)?;
        records.retain(|one| {
            seen.iter().any(|seen| (&seen.atom_id, seen.seq) == (&one.atom_id, one.seq))
                && waiting.iter().all(|(id, _)| *id != one.atom_id)
        });
        let ctx = Ctx { now: clock::now(), actor: &self.settings.actor, session: None };
        let quiet = if is_asked { Duration::ZERO } else { QUIET };
        let (rules, forges) = (&self.settings.feedback, &self.settings.forges);
        gather_feedback(store, &ctx, forges, rules, quiet, &records)
    }

    /// Keeps in mind that the forge cannot be asked for now, unless a person asks.
    fn unless_passing<T: Default>(
        &self,
        result: Result<T, PullError>,
        due: &[PullRequest],
        is_asked: bool,
        trouble: &mut Option<ForgeWait>,
    ) -> Result<T, PullError> {
        match result {
            Err(PullError::Forge(error)) if error.is_passing() => {
                let wait = self.note_failure(due, &error, clock::now());
                if is_asked {
                    return Err(error.into());
                }
                *trouble = Some(wait);
                Ok(T::default())
            }
            result => result,
        }
    }

    fn note_failure(&self, due: &[PullRequest], error: &ForgeError, now: Timestamp) -> ForgeWait {
        let host = error.host().unwrap_or_default();
        let ends = match error {
            ForgeError::RateLimit { .. } => due
                .iter()
                .find(|one| host_of(one) == host)
                .and_then(|one| self.settings.forges.of_record(one).limit_end(host)),
            _ => None,
        };
        self.settings.waits.note_failure(host, now, &error.to_string(), ends)
    }

    /// The commits with which agents answered reviews, and that were not tried to be pushed: those
    /// of closed atoms that a review had reopened.
    fn find_answers(
        &self,
        store: &Store,
        repository: &Repository,
        seen: &[PullRequest],
    ) -> Result<Vec<(String, String)>, PullError> {
        let mut wanted = Vec::new();
        for one in seen.iter().filter(|one| one.state == PullRequestState::Open) {
            if !ops::takes_remarks(store, &one.atom_id)?
                || ops::remark_rounds(store, &one.atom_id)? == 0
            {
                continue;
            }
            let Some(tip) = repository.tip_of(&one.atom_id)? else { continue };
            if one.pushed.as_ref() != Some(&tip) && self.tried.get(&one.atom_id) != Some(&tip) {
                wanted.push((one.atom_id.clone(), tip));
            }
        }
        Ok(wanted)
    }

    /// Pushes the answers to reviews. Each commit is tried once; `el pr` tries again.
    fn push_answers(
        &mut self,
        store: &mut Store,
        repository: &Repository,
        seen: &[PullRequest],
    ) -> Result<Vec<PullItem>, PullError> {
        let wanted = self.find_answers(store, repository, seen)?;
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let settings = &self.settings;
        let _lock = match lock_landing(&settings.state) {
            Ok(lock) => lock,
            // The next look comes in a minute.
            Err(LandError::Busy) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let place = find_place(repository, &settings.forges, &settings.place)?;
        let base_commit = place.fetch_base(repository)?;
        let land = LandContext {
            settings: &settings.land,
            database: &settings.database,
            el: settings.el.clone(),
            environment: &settings.environment,
            actor: &settings.actor,
            session: None,
        };
        let run = PullRun {
            repository,
            land: &land,
            forges: &settings.forges,
            place: &place,
            base_commit: &base_commit,
            texts: &settings.texts,
            options: settings.options,
        };
        let ids: Vec<String> = wanted.iter().map(|(id, _)| id.clone()).collect();
        let items = open_all(&run, store, Some(&ids))?;
        self.tried.extend(wanted);
        Ok(items)
    }
}

/// Nobody has looked within the last minute, and the last failure is long ago.
fn is_due(one: &PullRequest, now: Timestamp) -> bool {
    let is_new = |at: Timestamp| at <= now && now.since(at) < STILL_NEW;
    one.number.is_some()
        && !one.seen_at.is_some_and(is_new)
        && one.next_look.is_none_or(|at| at <= now)
}

fn host_of(one: &PullRequest) -> &str {
    one.repo.split('/').next().unwrap_or_default()
}
