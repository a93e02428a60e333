//! Opens and updates pull requests. Everything is checked before anything is pushed.

use std::time::{Duration, Instant};

use el_core::model::{PullRequest, PullRequestState};
use el_core::{Store, ops};

use super::commits::read_messages;
use super::item::{PullItem, PullOutcome};
use super::look::look_at_each;
use super::predict::predict_opening;
use super::push::{Pushed, push};
use super::run::PullRun;
use super::stack::{Stacked, find_stacked, stack_base, step_over};
use super::texts::{Texts, compose, template};
use super::{PullError, Result, adopt, update};
use crate::forge::{ForgeError, NewRequest};
use crate::git::Rehearsal;
use crate::land::{
    Base, LandItem, LandOutcome, atom_branches_at, check_each, plan_any, predict_each,
};

/// The time between two writes: a forge takes ten in a row for a machine gone wild.
const PACE: Duration = Duration::from_secs(2);

/// Opens or updates the pull requests of closed atoms. `wanted`: ids of atoms; `None`: all with
/// work that has not landed. The caller holds [`crate::land::lock_landing`].
///
/// # Errors
/// If git or the store fails, or the base alone fails the check. A failure of the forge ends the
/// rest, and is told in the items.
pub fn open_all(
    run: &PullRun<'_>,
    store: &mut Store,
    wanted: Option<&[String]>,
) -> Result<Vec<PullItem>> {
    let mut known = ops::pull_requests(store, false)?;
    let is_wanted = |one: &PullRequest| wanted.is_none_or(|wanted| wanted.contains(&one.atom_id));
    // One that was merged or closed meanwhile takes no more commits; one that was closed may be
    // open again.
    known.retain(|one| {
        is_wanted(one) && (one.state.is_live() || one.state == PullRequestState::Closed)
    });
    let ctx = run.land.ctx();
    let unnoted = look_at_each(store, &ctx, run.repository, run.forges, &known)?.unnoted;
    let mut items = plan_requests(run, store, wanted)?;
    let mut texts = Vec::new();
    for item in &mut items {
        item.pull_request = ops::pull_requests_of(store, &item.atom_id)
            .ok()
            .and_then(|mut all| all.pop())
            .filter(|one| one.state.is_live() || item.outcome == PullOutcome::Already);
        let unseen = item.pull_request.as_ref().filter(|one| one.is_unseen());
        if let (Some(one), PullOutcome::ToOpen) = (unseen, item.outcome) {
            let why = format!(
                "{} does not show #{}; after three such looks, an hour apart, it counts as lost, \
                 and el pr opens a new one",
                one.repo,
                one.number.unwrap_or_default()
            );
            item.hold(PullOutcome::Failed, why);
        }
        let merge = unnoted.iter().find(|(atom_id, _)| *atom_id == item.atom_id);
        if let (Some((_, error)), PullOutcome::ToOpen) = (merge, item.outcome) {
            item.hold(
                PullOutcome::Failed,
                format!("it is merged, and git cannot note that: {error}"),
            );
        }
        let repo = run.place.repo.to_string();
        let elsewhere =
            item.pull_request.as_ref().filter(|one| one.state.is_live() && one.repo != repo);
        if let (Some(one), PullOutcome::ToOpen) = (elsewhere, item.outcome) {
            let why = format!(
                "its pull request is in {}, and this one would be in {repo}; close that one, or \
                 set pr_remote to the remote of its repository",
                one.repo
            );
            item.hold(PullOutcome::Held, why);
        }
        if item.outcome == PullOutcome::ToOpen {
            match compose(store, run.texts, run.place, &item.atom_id)? {
                Ok(found) => {
                    read_messages(run, store, item, &found.closes)?;
                    texts.push(Some(found).filter(|_| item.outcome == PullOutcome::ToOpen));
                }
                Err(key) => {
                    item.hold(PullOutcome::HasKey, key.to_string());
                    texts.push(None);
                }
            }
        } else {
            texts.push(None);
        }
    }
    if run.options.dry_run {
        predict_opening(run, store, &mut items, &texts)?;
        return Ok(items);
    }
    let template = template(run.repository.git(), run.forge(), run.base_commit)?;
    let mut opener = Opener { run, template, last_write: None };
    let mut stop = None;
    for (item, texts) in items.iter_mut().zip(texts) {
        let Some(texts) = texts.filter(|_| item.outcome == PullOutcome::ToOpen) else { continue };
        if let Some(why) = &stop {
            item.hold(PullOutcome::Held, format!("another one failed before: {why}"));
            continue;
        }
        match opener.open_one(store, item, &texts) {
            Ok(()) => {}
            Err(PullError::Forge(error)) => {
                if error.is_passing() {
                    run.waits.note_error(&error, run.land.ctx().now);
                    stop = Some(error.to_string());
                }
                item.hold(PullOutcome::Failed, format!("{error}; {}", error.hint()));
            }
            Err(PullError::Git(error)) => {
                item.hold(PullOutcome::Failed, format!("{error}; {}", error.hint()));
                stop = Some(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    for item in &items {
        note_held(run, store, item)?;
    }
    Ok(items)
}

/// Notes why commits of an open pull request's branch are not at the forge, or forgets it.
fn note_held(run: &PullRun<'_>, store: &mut Store, item: &PullItem) -> Result<()> {
    let last = ops::pull_requests_of(store, &item.atom_id)?.pop();
    let Some(record) = last.filter(|record| record.state.is_live()) else { return Ok(()) };
    let (ctx, key) = (run.land.ctx(), (record.atom_id.as_str(), record.seq));
    let tip = run.repository.tip_of(&item.atom_id)?;
    match (tip, item.why_held(&run.place.base_name())) {
        (Some(tip), Some(why)) if record.pushed.as_ref() != Some(&tip) => {
            ops::hold_push(store, &ctx, key, (&tip, &why), None)?;
        }
        (Some(tip), _) if record.held.is_some() && record.pushed.as_ref() == Some(&tip) => {
            ops::drop_held_push(store, &ctx, key)?;
        }
        _ => {}
    }
    Ok(())
}

/// The branches with all refusals of `el land`.
fn plan_requests(
    run: &PullRun<'_>,
    store: &mut Store,
    wanted: Option<&[String]>,
) -> Result<Vec<PullItem>> {
    let (repository, settings) = (run.repository, run.land.settings);
    let target = Some(run.base_commit.to_owned());
    let branches = atom_branches_at(store, repository, settings, target)?;
    let mut items = plan_any(&branches, wanted);
    let name = run.place.base_name();
    hold_reverted(&mut items, &name);
    let stacked = find_stacked(run, store, (&branches, wanted), &mut items)?;
    let base = Base { commit: run.base_commit, name: &name };
    let joined = match run.options.dry_run {
        true => rehearse(run, store, base, &mut items)?,
        false => {
            step_over(run, store, &mut items)?;
            check_each(store, repository, run.land, base, &mut items)?;
            Vec::new()
        }
    };
    let mut items: Vec<PullItem> = items.into_iter().map(PullItem::of_landing).collect();
    for at in joined {
        items[at].merges = Some(name.clone());
    }
    for (at, how) in stacked {
        match how {
            Stacked::Waits(why) => items[at].hold(PullOutcome::Waits, why),
            Stacked::On(below) => items[at].below = Some(below),
        }
    }
    hold_unsigned(run, &mut items)?;
    for item in &items {
        if matches!(item.outcome, PullOutcome::Already | PullOutcome::Nothing) {
            ops::forget_unmerged(store, &item.atom_id)?;
        }
    }
    Ok(items)
}

/// Leaves out what the base took back. A merge of the base would take it out of the branch, too.
fn hold_reverted(items: &mut [LandItem], base: &str) {
    let is_reverted =
        |item: &&mut LandItem| item.outcome == LandOutcome::ToLand && !item.brings_back.is_empty();
    for item in items.iter_mut().filter(is_reverted) {
        let commits = item.brings_back.join(", ");
        let why = format!(
            "its work was taken back by {commits}; git revert of that on {base} brings it back"
        );
        (item.outcome, item.detail) = (LandOutcome::Held, Some(why));
    }
}

/// Tries all in memory, and leaves no commit behind. Returns the items into which the base would be
/// merged: their tips stay as they are.
fn rehearse(
    run: &PullRun<'_>,
    store: &Store,
    base: Base<'_>,
    items: &mut [LandItem],
) -> Result<Vec<usize>> {
    let scratch = Rehearsal::begin(run.repository)?;
    let repository = scratch.repository();
    let before: Vec<Option<String>> = items.iter().map(|item| item.tip.clone()).collect();
    step_over(&PullRun { repository, ..*run }, store, items)?;
    predict_each(repository, base, items)?;
    let mut joined = Vec::new();
    for (at, (item, tip)) in items.iter_mut().zip(before).enumerate() {
        if item.tip != tip {
            joined.push(at);
            item.tip = tip;
        }
    }
    Ok(joined)
}

/// Takes out the branches with commits that the base would refuse: el signs nothing, and rewrites
/// no commit of others.
fn hold_unsigned(run: &PullRun<'_>, items: &mut [PullItem]) -> Result<()> {
    let place = run.place;
    if !items.iter().any(|item| item.outcome == PullOutcome::ToOpen) {
        return Ok(());
    }
    match run.forge().wants_signatures(&place.repo, &place.base) {
        Ok(true) => {}
        // A forge that does not tell refuses the merge later, in its own words.
        Ok(false) | Err(ForgeError::NoRepository { .. } | ForgeError::NoRights { .. }) => {
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    }
    for item in items.iter_mut().filter(|item| item.outcome == PullOutcome::ToOpen) {
        let Some(tip) = &item.tip else { continue };
        let range = format!("{}..{tip}", run.base_commit);
        let said = run.repository.git().ask(&["log", "--format=%G?", &range])?;
        // The merge of the base, which is only made later, is not signed either.
        let unsigned =
            said.lines().filter(|word| *word == "N").count() + usize::from(item.merges.is_some());
        if unsigned > 0 {
            let noun = if unsigned == 1 { "commit is" } else { "commits are" };
            item.hold(
                PullOutcome::Held,
                format!(
                    "{} takes only signed commits, and {unsigned} {noun} not signed; sign them in \
                     its worktree (git rebase --exec 'git commit --amend --no-edit -S' {})",
                    place.base,
                    place.base_name()
                ),
            );
        }
    }
    Ok(())
}

struct Opener<'a> {
    run: &'a PullRun<'a>,
    /// The repository's own.
    template: Option<String>,
    last_write: Option<Instant>,
}

impl Opener<'_> {
    fn open_one(&mut self, store: &mut Store, item: &mut PullItem, texts: &Texts) -> Result<()> {
        let (branch, tip) =
            (item.branch.clone().unwrap_or_default(), item.tip.clone().unwrap_or_default());
        let base = match &item.below {
            None => self.run.place.base.clone(),
            Some(below) => match stack_base(self.run, store, below)? {
                Some(base) => base,
                None => {
                    item.wait_for_base();
                    return Ok(());
                }
            },
        };
        let pushed = push(self.run, store, &item.atom_id, &branch, (&tip, &base))?;
        let (record, is_new) = match pushed {
            Pushed::Arrived { record, is_new, taken_in } => {
                item.taken_in = taken_in;
                (*record, is_new || !item.taken_in.is_empty())
            }
            Pushed::Held(why) => {
                item.hold(PullOutcome::Held, why);
                return Ok(());
            }
        };
        item.tip.clone_from(&record.pushed);
        item.pull_request = Some(record.clone());
        let (mut record, outcome) = if record.number.is_some() {
            (record, if is_new { PullOutcome::Updated } else { PullOutcome::Unchanged })
        } else {
            match adopt::find_own(self.run, store, &record)? {
                adopt::Own::Found(record) => (*record, PullOutcome::Adopted),
                adopt::Own::None => {
                    item.pull_request = Some(self.create(store, &record, texts, &base)?);
                    item.outcome = PullOutcome::Opened;
                    return Ok(());
                }
                adopt::Own::Foreign(number) => {
                    item.hold_foreign(number);
                    return Ok(());
                }
            }
        };
        item.outcome = outcome;
        item.pull_request = Some(record.clone());
        if record.state.is_live() && update::update(self.run, store, &mut record, texts, &base)? {
            item.outcome = PullOutcome::Updated;
            item.pull_request = Some(record);
        }
        Ok(())
    }

    /// Makes the pull request. The intent is recorded before; if the answer is lost, the forge is
    /// asked what it did.
    fn create(
        &mut self,
        store: &mut Store,
        record: &PullRequest,
        texts: &Texts,
        base: &str,
    ) -> Result<PullRequest> {
        let PullRun { place, land, .. } = self.run;
        let body = texts.new_body(self.template.as_deref());
        if let Some(last) = self.last_write {
            std::thread::sleep(PACE.saturating_sub(last.elapsed()));
        }
        let key = (record.atom_id.as_str(), record.seq);
        ops::pull_request_opening(store, &land.ctx(), key)?;
        let new = NewRequest {
            head: &place.head,
            head_ref: &record.head_ref,
            base_ref: base,
            title: &texts.title,
            body: &body,
            is_draft: self.run.options.is_draft,
        };
        let made = self.run.forge().create_request(&place.repo, &new);
        self.last_write = Some(Instant::now());
        match made {
            Ok((number, url)) => {
                Ok(ops::pull_request_opened(store, &land.ctx(), key, number, &url)?)
            }
            Err(error @ (ForgeError::Network { .. } | ForgeError::NotJson { .. }))
            | Err(error @ ForgeError::Refused { .. })
            | Err(error @ (ForgeError::Answer { .. } | ForgeError::Silent { .. })) => {
                match adopt::find_own(self.run, store, record) {
                    Ok(adopt::Own::Found(record)) => Ok(*record),
                    _ => Err(error.into()),
                }
            }
            Err(error) => Err(error.into()),
        }
    }
}
