//! The plan, carried out. Until the branch is moved nothing of it is seen; the moving is the last
//! step of each round.

use std::cell::RefCell;
use std::ffi::OsString;
use std::time::Duration;

use el_agents::git::{
    self, Advanced, Brought, GitError, Mode, Repository, Scratch, Step, advance, held, note_landed,
    recover, unpublished,
};
use el_agents::whole_check::{self, Breaker, WholeCheck};
use el_core::model::{Status, Verify, VerifyStatus};
use el_core::ops;

use super::plan::{self, Fate, Item};
use super::{conflict, project_name, scratch_folder};
use crate::app::App;
use crate::commands::work::this_program;
use crate::commands::worktrees::failed;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::settings::served::Landing;

struct Lander<'a> {
    app: &'a App,
    repository: &'a Repository,
    onto: &'a str,
    landing: Landing,
    scratch: Scratch,
    environment: Vec<(OsString, OsString)>,
    /// Whose checks its are, for all processes of this machine.
    owner: String,
    breaker: RefCell<Breaker>,
}

/// One branch on top of those before it.
struct Joined {
    /// Its place among the items.
    at: usize,
    commit: String,
}

/// Its place among the items, and the files.
type InConflict = (usize, Vec<String>);

pub(super) fn land(
    app: &App,
    repository: &Repository,
    onto: &str,
    items: &mut [Item],
) -> Result<()> {
    let mut todo: Vec<usize> =
        (0..items.len()).filter(|at| items[*at].fate == Fate::ToLand).collect();
    if todo.is_empty() {
        return Ok(());
    }
    recover(repository, onto).map_err(failed)?;
    // Better known before a long check than after it.
    if let Some(why) = held(repository, onto).map_err(failed)? {
        hold(items, &todo, &why);
        return Ok(());
    }
    let head = repository.tip(onto).map_err(failed)?.unwrap_or_default();
    let owner = format!("{}:land", project_name(app)?);
    // The check of one that was killed.
    whole_check::sweep(&owner);
    let breaker = Breaker::listen().map_err(|source| {
        CommandError::internal("signals cannot be listened to".to_owned()).with_source(source)
    })?;
    let lander = Lander {
        app,
        repository,
        onto,
        landing: app.settings_for_agents()?.landing()?,
        scratch: Scratch::new(repository, &scratch_folder(app)?, &head).map_err(failed)?,
        environment: std::env::vars_os().collect(),
        owner,
        breaker: RefCell::new(breaker),
    };
    match lander.rounds(head, items, &mut todo) {
        Err(_) if lander.breaker.borrow_mut().is_broken() => {
            items
                .iter_mut()
                .filter(|item| item.fate == Fate::ToLand)
                .for_each(|item| item.fate = Fate::BrokenOff);
            Ok(())
        }
        done => done,
    }
}

/// Says which would be in conflict, as far as merging them one after another tells.
pub(super) fn foresee(repository: &Repository, onto: &str, items: &mut [Item]) -> Result<()> {
    let todo: Vec<usize> = (0..items.len()).filter(|at| items[*at].fate == Fate::ToLand).collect();
    if todo.is_empty() {
        return Ok(());
    }
    if let Some(why) = held(repository, onto).map_err(failed)? {
        hold(items, &todo, &why);
        return Ok(());
    }
    let mut top = repository.tip(onto).map_err(failed)?.unwrap_or_default();
    let mut conflicts = Vec::new();
    for at in todo {
        let tip = items[at].tip.clone().unwrap_or_default();
        match repository.foresee(&top, &tip).map_err(failed)? {
            Ok(commit) => top = commit,
            Err(files) => conflicts.push((at, tip, files)),
        }
    }
    for (at, tip, files) in conflicts {
        // A later one that has it may resolve it.
        if !repository.contains(&top, &tip).map_err(failed)? {
            items[at].fate = Fate::Conflict;
            items[at].detail = Some(files.join("\n"));
            items[at].files = files;
        }
    }
    Ok(())
}

fn hold(items: &mut [Item], which: &[usize], why: &str) {
    for at in which {
        items[*at].fate = Fate::Held;
        items[*at].detail = Some(why.to_owned());
    }
}

impl Lander<'_> {
    fn rounds(&self, mut head: String, items: &mut [Item], todo: &mut Vec<usize>) -> Result<()> {
        let mut is_second_try = false;
        loop {
            let (chain, conflicts) = self.join(&head, items, todo)?;
            let culprit = self.culprit(&head, &chain)?;
            let good = culprit.as_ref().map_or(chain.len(), |(at, _)| *at);
            self.go_on()?;
            // The check may have taken long. What stands on one that has changed was not checked
            // without it.
            if self.look_again(items, &chain[..good])? {
                todo.retain(|at| items[*at].fate == Fate::ToLand);
                continue;
            }
            if let Some(mut why) = self.keep(&mut head, items, &chain[..good])? {
                if let Some(now) =
                    self.repository.tip(self.onto).map_err(failed)?.filter(|now| *now != head)
                {
                    // Somebody has committed there since: what was checked is not what it would be
                    // now.
                    if !std::mem::replace(&mut is_second_try, true) {
                        head = now;
                        continue;
                    }
                    why = format!(
                        "{} is being moved by somebody else; el land tries again",
                        self.onto
                    );
                }
                let rest: Vec<usize> = chain.iter().map(|one| one.at).collect();
                hold(items, &rest, &why);
                return self.tell_conflicts(items, conflicts.into_iter());
            }
            let Some((at, output)) = culprit else {
                return self.tell_conflicts(items, conflicts.into_iter());
            };
            let at = chain[at].at;
            items[at].fate = Fate::CheckFailed;
            items[at].detail = Some(output);
            // What came after it was tried on top of it; what was in conflict before it is so
            // without it.
            let before = todo.iter().take_while(|one| **one != at).copied().collect::<Vec<_>>();
            self.tell_conflicts(
                items,
                conflicts.into_iter().filter(|(one, _)| before.contains(one)),
            )?;
            todo.retain(|at| items[*at].fate == Fate::ToLand);
            if todo.is_empty() {
                return Ok(());
            }
        }
    }

    /// The end of it all once a signal has come.
    fn go_on(&self) -> Result<()> {
        match self.breaker.borrow_mut().is_broken() {
            true => {
                Err(CommandError::new(Exit::Conflict, "broken_off", "it was broken off".to_owned()))
            }
            false => Ok(()),
        }
    }

    /// Leaves out what is not as it was when this began; whether there is such a one.
    fn look_again(&self, items: &mut [Item], chain: &[Joined]) -> Result<bool> {
        let store = self.app.reader()?;
        let ours = self.app.settings()?.put_into_worktrees()?;
        let mut has_changed = false;
        for one in chain {
            let item = &mut items[one.at];
            let branch = item.branch.as_deref().unwrap_or_default();
            let tree = self.repository.checkout_of(branch).map_err(failed)?;
            let uncommitted =
                tree.map_or(Ok(Vec::new()), |tree| tree.changes(&ours)).map_err(failed)?;
            let why = if ops::brief(&store, &item.atom_id)?.status != Status::Closed {
                "it is not closed any more"
            } else if self.repository.tip(branch).map_err(failed)? != item.tip {
                "its branch has moved meanwhile"
            } else if !uncommitted.is_empty() {
                "its worktree has changes now that are not committed"
            } else {
                continue;
            };
            item.fate = Fate::Held;
            item.detail = Some(format!("{why}; el land looks again"));
            has_changed = true;
        }
        Ok(has_changed)
    }

    /// Puts each on top of those before it; what is in conflict is left out.
    fn join(
        &self,
        head: &str,
        items: &[Item],
        todo: &[usize],
    ) -> Result<(Vec<Joined>, Vec<InConflict>)> {
        let (mut chain, mut conflicts) = (Vec::new(), Vec::new());
        let mut top = head.to_owned();
        for &at in todo {
            self.go_on()?;
            let item = &items[at];
            let tip = item.tip.as_deref().unwrap_or_default();
            let before = match self.bring_back(&top, &item.brings_back)? {
                Step::Joined(commit) => commit,
                Step::Conflict(files) => {
                    conflicts.push((at, files));
                    continue;
                }
            };
            let message =
                format!("Land {}: {}", item.atom_id, item.title.as_deref().unwrap_or_default());
            // A merge in the branch, of a conflict that was resolved for instance, would be lost by
            // a rebase.
            let since = self.since(&before, &item.atom_id, tip).map_err(failed)?;
            let range = format!("{}..{tip}", since.as_ref().unwrap_or(&before));
            let merges = self
                .repository
                .git()
                .ask(&["rev-list", "--merges", "--max-count=1", &range, "--not", &before])
                .map_err(failed)?;
            let mode = if merges.is_empty() { self.landing.mode } else { Mode::Merge };
            match self
                .scratch
                .join(&before, since.as_deref(), tip, mode, &message)
                .map_err(failed)?
            {
                Step::Joined(commit) => {
                    top.clone_from(&commit);
                    chain.push(Joined { at, commit });
                }
                Step::Conflict(files) => conflicts.push((at, files)),
            }
        }
        // One that was in conflict by itself comes with a later one that resolved it.
        let mut left = Vec::new();
        for (at, files) in conflicts {
            let tip = items[at].tip.as_deref().unwrap_or_default();
            match self.repository.contains(&top, tip).map_err(failed)? {
                true => chain.push(Joined { at, commit: top.clone() }),
                false => left.push((at, files)),
            }
        }
        Ok((chain, left))
    }

    /// Takes these reverts back, the last first.
    fn bring_back(&self, top: &str, reverts: &[String]) -> Result<Step> {
        let mut top = top.to_owned();
        for revert in reverts {
            match self.scratch.bring_back(&top, revert).map_err(failed)? {
                Step::Joined(commit) => top = commit,
                conflict => return Ok(conflict),
            }
        }
        Ok(Step::Joined(top))
    }

    /// Where a branch's own commits begin, if what it began with has been brought in as other
    /// commits: of the work of others that it builds on, nothing is to be put on top a second time.
    /// `None`: at whatever `top` does not have.
    fn since(
        &self,
        top: &str,
        atom: &str,
        tip: &str,
    ) -> std::result::Result<Option<String>, GitError> {
        let Some(base) = self.repository.base_of(atom)? else { return Ok(None) };
        let is_other =
            self.repository.contains(tip, &base)? && !self.repository.contains(top, &base)?;
        Ok(if is_other && self.repository.has_work(top, &base)? { Some(base) } else { None })
    }

    /// Which of them makes the check fail, and what that said; `None`: none does.
    fn culprit(&self, head: &str, chain: &[Joined]) -> Result<Option<(usize, String)>> {
        let Some(last) = chain.last() else { return Ok(None) };
        let Some(mut output) = self.fails(&last.commit)? else { return Ok(None) };
        if let Some(said) = self.fails(head)? {
            return Err(CommandError::new(Exit::Conflict, "check_failed", format!("the check fails on {} already", self.onto))
                .with_listing(said.lines().rev().take(8).map(str::to_owned).collect::<Vec<_>>().into_iter().rev())
                .with_hint("nothing was moved; mend the branch, or the commands in land_check and worktree_setup"));
        }
        let found = plan::bisect(chain.len(), |many| -> Result<bool> {
            let said = self.fails(&chain[many - 1].commit)?;
            let passed = said.is_none();
            output = said.unwrap_or_else(|| std::mem::take(&mut output));
            Ok(passed)
        })?;
        Ok(Some((found - 1, output)))
    }

    /// The end of what the check says of a commit that it does not like.
    fn fails(&self, commit: &str) -> Result<Option<String>> {
        if self.landing.check.is_empty() {
            return Ok(None);
        }
        self.scratch.go(commit).map_err(failed)?;
        match git::furnish(
            self.repository.top(),
            self.scratch.path(),
            &self.landing.copy,
            &self.landing.link,
        ) {
            // What is in the way came with the commit.
            Err(error @ GitError::Untracked { .. }) => return Ok(Some(error.to_string())),
            done => done.map_err(failed)?,
        }
        let Landing { setup, setup_limit, check, check_limit, .. } = &self.landing;
        // Each commit may need another one: what a setup brings in follows the files of the commit.
        if !setup.is_empty()
            && let Some(said) = self.command("worktree_setup", "setup", setup, *setup_limit)?
        {
            return Ok(Some(said));
        }
        self.command("land_check", "check", check, *check_limit)
    }

    /// Runs one command in the checkout; the end of what it says, if it fails.
    fn command(
        &self,
        key: &'static str,
        name: &str,
        words: &[String],
        limit: Duration,
    ) -> Result<Option<String>> {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let below = self.scratch.path().join(self.repository.prefix());
        let folder = if below.is_dir() { below } else { self.scratch.path().to_owned() };
        let guard = [this_program()?.into_os_string(), "hook".into(), "guard-check".into()];
        let verify = Verify::pending(words.to_vec(), true, limit);
        let breaker = &mut *self.breaker.borrow_mut();
        let ended = whole_check::run(
            breaker,
            &verify,
            &folder,
            &self.environment,
            &self.owner,
            &guard,
            &mut |_| {},
        )
        .map_err(|source| {
            CommandError::internal(format!("the {name} could not be watched")).with_source(source)
        })?;
        let WholeCheck::Over(done) = ended else {
            return Err(CommandError::new(
                Exit::Conflict,
                "broken_off",
                format!("the {name} was broken off"),
            ));
        };
        let said = done.output.unwrap_or_default();
        match done.status {
            VerifyStatus::Passed => Ok(None),
            VerifyStatus::NotRun | VerifyStatus::Pending => {
                Err(CommandError::config(key, format!("the {name} cannot be run: {said}"))
                    .with_hint(format!(
                        "{key} is a program and its arguments; sh -c '…' gives it a shell"
                    )))
            }
            status => Ok(Some(format!("{said}\nthe {name} ended as {status}").trim().to_owned())),
        }
    }

    /// Moves the branch over these; what is in the way, if something is.
    fn keep(
        &self,
        head: &mut String,
        items: &mut [Item],
        chain: &[Joined],
    ) -> Result<Option<String>> {
        let Some(last) = chain.last() else { return Ok(None) };
        let brought = |one: &Joined| Brought {
            atom: items[one.at].atom_id.clone(),
            tip: items[one.at].tip.clone().unwrap_or_default(),
            commit: one.commit.clone(),
        };
        let landed: Vec<Brought> = chain.iter().map(brought).collect();
        match advance(self.repository, self.onto, head, &last.commit).map_err(failed)? {
            Advanced::Held(why) => Ok(Some(why)),
            Advanced::Moved => {
                let old = std::mem::replace(head, last.commit.clone());
                let noted = note_landed(self.repository, &landed).err();
                let mut before = old;
                for one in chain {
                    let item = &mut items[one.at];
                    let mut told =
                        unpublished(self.repository, &before, &one.commit, item.path.as_deref())
                            .map_err(failed)?;
                    told.extend(
                        noted.as_ref().map(|error| format!("git could not note that: {error}")),
                    );
                    item.fate = Fate::Landed;
                    item.detail = (!told.is_empty()).then(|| told.join("\n"));
                    before.clone_from(&one.commit);
                }
                Ok(None)
            }
        }
    }

    /// Files what is to be resolved. Where one builds on another, whoever resolves its conflict
    /// resolves both.
    fn tell_conflicts(
        &self,
        items: &mut [Item],
        conflicts: impl Iterator<Item = InConflict>,
    ) -> Result<()> {
        let mut conflicts: Vec<InConflict> = conflicts.collect();
        let tip = |items: &[Item], at: usize| items[at].tip.clone().unwrap_or_default();
        let tips: Vec<String> = conflicts.iter().map(|(at, _)| tip(items, *at)).collect();
        let tops = self.repository.independent(&tips).map_err(failed)?;
        let is_top = |items: &[Item], at: usize| tops.contains(&tip(items, at));
        conflicts.sort_by_key(|(at, _)| !is_top(items, *at));
        let mut filed: Vec<usize> = Vec::new();
        for (at, files) in conflicts {
            let mut detail = files.clone();
            items[at].fate = Fate::Conflict;
            items[at].files = files;
            let mut carrier = None;
            for above in &filed {
                if self.repository.contains(&tip(items, *above), &tip(items, at)).map_err(failed)? {
                    carrier = Some(*above);
                    break;
                }
            }
            if let Some(above) = carrier {
                detail.push(format!("it comes with {}, which builds on it", items[above].atom_id));
                items[at].conflict_atom = items[above].conflict_atom.clone();
            } else {
                let conflict = conflict::file(self.app, &items[at], self.onto)?;
                if conflict.is_closed {
                    let id = &conflict.id;
                    let resolved = self.repository.tip(&git::branch_of(id)).map_err(failed)?;
                    let has_it = resolved
                        .map_or(Ok(false), |of| self.repository.contains(&of, &tip(items, at)))
                        .map_err(failed)?;
                    detail.push(match has_it {
                        true => format!("{id} is closed, and its branch has this one: el land {id} brings in both"),
                        false => {
                            format!("{id} is closed, but its branch does not have this one: el reopen {id}, and merge it there")
                        }
                    });
                }
                items[at].conflict_atom = Some(conflict.id);
                filed.push(at);
            }
            items[at].detail = Some(detail.join("\n"));
        }
        Ok(())
    }
}
