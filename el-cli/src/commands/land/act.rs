//! The plan, carried out. Until the branch is moved nothing of it is seen; the moving is the last step of each round.

use std::ffi::OsString;
use std::time::Duration;

use el_agents::git::{self, Advanced, Brought, GitError, Mode, Repository, Scratch, Step, advance, held, note_landed, recover};
use el_agents::verify;
use el_core::model::{Verify, VerifyStatus};

use super::plan::{self, Fate, Item};
use super::{conflict, scratch_folder};
use crate::app::App;
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
}

/// One branch on top of those before it.
struct Joined {
    /// Its place among the items.
    at: usize,
    commit: String,
}

/// Its place among the items, and the files.
type InConflict = (usize, Vec<String>);

pub(super) fn land(app: &App, repository: &Repository, onto: &str, items: &mut [Item]) -> Result<()> {
    let mut todo: Vec<usize> = (0..items.len()).filter(|at| items[*at].fate == Fate::ToLand).collect();
    if todo.is_empty() {
        return Ok(());
    }
    recover(repository, onto).map_err(failed)?;
    // Better known before a long check than after it.
    if let Some(why) = held(repository, onto).map_err(failed)? {
        hold(items, &todo, &why);
        return Ok(());
    }
    let mut head = repository.tip(onto).map_err(failed)?.unwrap_or_default();
    let lander = Lander {
        app,
        repository,
        onto,
        landing: app.settings_for_agents()?.landing()?,
        scratch: Scratch::new(repository, &scratch_folder(app)?, &head).map_err(failed)?,
        environment: std::env::vars_os().collect(),
    };
    loop {
        let (chain, conflicts) = lander.join(&head, items, &todo)?;
        let culprit = lander.culprit(&head, &chain)?;
        let good = culprit.as_ref().map_or(chain.len(), |(at, _)| *at);
        if let Some(why) = lander.keep(&mut head, items, &chain[..good])? {
            let rest: Vec<usize> = chain.iter().map(|one| one.at).collect();
            hold(items, &rest, &why);
            lander.tell_conflicts(items, conflicts.into_iter())?;
            return Ok(());
        }
        let Some((at, output)) = culprit else { return lander.tell_conflicts(items, conflicts.into_iter()) };
        let at = chain[at].at;
        items[at].fate = Fate::CheckFailed;
        items[at].detail = Some(output);
        // What came after it was tried on top of it; what was in conflict before it is so without it.
        let position = todo.iter().position(|one| *one == at).unwrap_or(todo.len());
        todo.drain(..=position);
        lander.tell_conflicts(items, conflicts.into_iter().filter(|(one, _)| !todo.contains(one)))?;
        if todo.is_empty() {
            return Ok(());
        }
    }
}

fn hold(items: &mut [Item], which: &[usize], why: &str) {
    for at in which {
        items[*at].fate = Fate::Held;
        items[*at].detail = Some(why.to_owned());
    }
}

impl Lander<'_> {
    /// Puts each on top of those before it; what is in conflict is left out.
    fn join(&self, head: &str, items: &[Item], todo: &[usize]) -> Result<(Vec<Joined>, Vec<InConflict>)> {
        let (mut chain, mut conflicts) = (Vec::new(), Vec::new());
        let mut top = head.to_owned();
        for &at in todo {
            let item = &items[at];
            let tip = item.tip.as_deref().unwrap_or_default();
            let message = format!("Land {}: {}", item.atom_id, item.title.as_deref().unwrap_or_default());
            // A merge in the branch, of a conflict that was resolved for instance, would be lost by a rebase.
            let since = self.since(&top, &item.atom_id, tip).map_err(failed)?;
            let range = format!("{}..{tip}", since.as_ref().unwrap_or(&top));
            let merges =
                self.repository.git().ask(&["rev-list", "--merges", "--max-count=1", &range, "--not", &top]).map_err(failed)?;
            let mode = if merges.is_empty() { self.landing.mode } else { Mode::Merge };
            match self.scratch.join(&top, since.as_deref(), tip, mode, &message).map_err(failed)? {
                Step::Joined(commit) => {
                    top.clone_from(&commit);
                    chain.push(Joined { at, commit });
                }
                Step::Conflict(files) => conflicts.push((at, files)),
            }
        }
        Ok((chain, conflicts))
    }

    /// Where a branch's own commits begin, if what it began with has been brought in as other commits: of the work of others that it builds on,
    /// nothing is to be put on top a second time. `None`: at whatever `top` does not have.
    fn since(&self, top: &str, atom: &str, tip: &str) -> std::result::Result<Option<String>, GitError> {
        let Some(base) = self.repository.base_of(atom)? else { return Ok(None) };
        let is_other = self.repository.contains(tip, &base)? && !self.repository.contains(top, &base)?;
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
        git::furnish(self.repository.top(), self.scratch.path(), &self.landing.copy, &self.landing.link).map_err(failed)?;
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
    fn command(&self, key: &'static str, name: &str, words: &[String], limit: Duration) -> Result<Option<String>> {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let below = self.scratch.path().join(self.repository.prefix());
        let folder = if below.is_dir() { below } else { self.scratch.path().to_owned() };
        let done = verify::run(&Verify::pending(words.to_vec(), true, limit), &folder, &self.environment);
        let said = done.output.unwrap_or_default();
        match done.status {
            VerifyStatus::Passed => Ok(None),
            VerifyStatus::NotRun | VerifyStatus::Pending => {
                Err(CommandError::config(key, format!("the {name} cannot be run: {said}"))
                    .with_hint(format!("{key} is a program and its arguments; sh -c '…' gives it a shell")))
            }
            status => Ok(Some(format!("{said}\nthe {name} ended as {status}").trim().to_owned())),
        }
    }

    /// Moves the branch over these; what is in the way, if something is.
    fn keep(&self, head: &mut String, items: &mut [Item], chain: &[Joined]) -> Result<Option<String>> {
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
                head.clone_from(&last.commit);
                let noted = note_landed(self.repository, &landed).err();
                for one in chain {
                    items[one.at].fate = Fate::Landed;
                    items[one.at].detail = noted.as_ref().map(|error| format!("git could not note that: {error}"));
                }
                Ok(None)
            }
        }
    }

    fn tell_conflicts(&self, items: &mut [Item], conflicts: impl Iterator<Item = InConflict>) -> Result<()> {
        for (at, files) in conflicts {
            let item = &mut items[at];
            item.fate = Fate::Conflict;
            item.detail = Some(files.join("\n"));
            item.files = files;
            item.conflict_atom = Some(conflict::file(self.app, item, self.onto)?);
        }
        Ok(())
    }
}
