//! Carries out the plan of a landing. Each round moves the target last; no change is visible before
//! that.

use el_core::Store;
use el_core::model::Status;
use el_core::ops::{self, LandingRecord};

use super::chain::{ChainBuilder, Conflict, Link};
use super::check::{CheckProgress, CheckRunner};
use super::commit_check::CommitCheck;
use super::plan::{find_first_failure, hold_items, hold_refused, to_land};
use super::{LandContext, LandError, LandItem, LandOutcome, LandSettings, Result, conflict_atom};
use crate::git::{
    AdvanceResult, LandedBranch, Repository, ScratchCheckout, advance_branch,
    find_files_in_the_way, find_obstacle, note_landed, recover_move, unpublished_submodules,
};

/// Carries out a plan in rounds. A round joins the branches, checks the result, leaves out the
/// branch that fails the check, and moves the target. The caller holds [`super::lock_landing`].
///
/// # Errors
/// If git, the store or the check command fails, or the target fails the check without any branch.
pub fn carry_out(
    store: &mut Store,
    repository: &Repository,
    context: &LandContext<'_>,
    onto: &str,
    items: &mut [LandItem],
    progress: CheckProgress<'_>,
) -> Result<()> {
    recover_move(repository, onto)?;
    let Some(head) = begin_landing(repository, context.settings, onto, items)? else {
        return Ok(());
    };
    let runner = CheckRunner::new(context, format!("{}:land", context.tracker_name()))?;
    let scratch = ScratchCheckout::new(repository, &context.scratch_folder("landing", "")?, &head)?;
    let check = CommitCheck::new(context, repository, runner, progress);
    let mut lander = Lander { store, repository, context, onto, scratch: &scratch, check, items };
    let ended = lander.run_rounds(head);
    record_outcomes(lander.store, context, onto, lander.items);
    match ended {
        Err(LandError::Interrupted) => {
            let left = to_land(lander.items);
            left.iter().for_each(|at| lander.items[*at].outcome = LandOutcome::BrokenOff);
            Ok(())
        }
        done => done,
    }
}

/// Records the outcome of each branch in the history of its atom. The target has moved already, so
/// a failure to record is only reported.
fn record_outcomes(
    store: &mut Store,
    context: &LandContext<'_>,
    onto: &str,
    items: &mut [LandItem],
) {
    // All events get one time, since a landing is one step of `el undo`.
    let ctx = context.ctx();
    for item in items {
        let Some(outcome) = item.outcome.in_history() else { continue };
        let tip = item.tip.clone().unwrap_or_default();
        let record = LandingRecord {
            onto,
            tip: &tip,
            outcome,
            has_landed: item.outcome == LandOutcome::Landed,
            detail: item.detail.as_deref(),
            conflict_atom: item.conflict_atom.as_deref(),
        };
        if let Err(error) = ops::record_landing(store, &ctx, &item.atom_id, &record) {
            let told = format!("the tracker could not note that: {error}");
            item.detail =
                Some(item.detail.iter().cloned().chain([told]).collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Returns the target's tip; `None` if no branch is to be tried, or the target cannot be moved. An
/// obstacle is better found before a long check than after it.
pub(super) fn begin_landing(
    repository: &Repository,
    settings: &LandSettings,
    onto: &str,
    items: &mut [LandItem],
) -> Result<Option<String>> {
    let todo = to_land(items);
    if todo.is_empty() {
        return Ok(None);
    }
    if let Some(why) = find_obstacle(repository, onto, &settings.configuration)? {
        hold_items(items, &todo, &why);
        return Ok(None);
    }
    let head = repository.branch_tip(onto)?.unwrap_or_default();
    if let Some(known) = repository.known_tip(onto)?.filter(|known| *known != head) {
        for at in todo {
            let branch = items[at].atom_and_tip();
            let at_remote = repository.landed_below(&known, branch, &[])?;
            if at_remote != repository.landed_below(&head, branch, &[])? {
                let why = format!(
                    "it builds on work that was merged into {onto} at the remote, which {onto} \
                     here lacks: git pull, then el land"
                );
                hold_items(items, &[at], &why);
            }
        }
    }
    Ok((!to_land(items).is_empty()).then_some(head))
}

/// Holds the branches whose files the checkout cannot take; returns true if there are any.
pub(super) fn hold_in_the_way(
    repository: &Repository,
    onto: &str,
    head: &str,
    chain: &[Link],
    items: &mut [LandItem],
) -> Result<bool> {
    let in_the_way = |old: &str, new: &str| find_files_in_the_way(repository, onto, old, new);
    let Some(last) = chain.last() else { return Ok(false) };
    if in_the_way(head, &last.commit)?.is_none() {
        return Ok(false);
    }
    let mut before = head;
    for link in chain {
        if let Some(why) = in_the_way(before, &link.commit)? {
            hold_items(items, &[link.item], &why);
        }
        before = &link.commit;
    }
    Ok(true)
}

struct Lander<'a> {
    store: &'a mut Store,
    repository: &'a Repository,
    context: &'a LandContext<'a>,
    onto: &'a str,
    scratch: &'a ScratchCheckout,
    check: CommitCheck<'a>,
    items: &'a mut [LandItem],
}

/// The branch that makes the check fail.
struct Culprit {
    /// The index of the branch in the chain.
    link: usize,
    /// The end of the check's output.
    output: String,
}

impl Lander<'_> {
    fn run_rounds(&mut self, mut head: String) -> Result<()> {
        let mut is_second_try = false;
        loop {
            let (chain, conflicts) = self.join_branches(&head)?;
            if hold_in_the_way(self.repository, self.onto, &head, &chain, self.items)? {
                continue;
            }
            let culprit = self.find_culprit(&head, &chain)?;
            let good = &chain[..culprit.as_ref().map_or(chain.len(), |culprit| culprit.link)];
            self.ensure_uninterrupted()?;
            // The check may have taken long. A branch that has changed since holds back all later
            // branches too, because they were checked only on top of it.
            if self.hold_changed(good)? {
                continue;
            }
            if let Some(mut why) = self.move_target(&mut head, good)? {
                if let Some(now) = self.repository.branch_tip(self.onto)?.filter(|now| *now != head)
                {
                    // The target has new commits, which the check did not see.
                    if !std::mem::replace(&mut is_second_try, true) {
                        head = now;
                        continue;
                    }
                    why = format!(
                        "{} is being moved by somebody else; el land tries again",
                        self.onto
                    );
                }
                if self.hold_unfit(&chain)? {
                    continue;
                }
                let rest: Vec<usize> = chain.iter().map(|link| link.item).collect();
                hold_items(self.items, &rest, &why);
                return self.file_conflicts(conflicts);
            }
            let Some(Culprit { link, output }) = culprit else {
                return self.file_conflicts(conflicts);
            };
            let at = chain[link].item;
            self.items[at].outcome = LandOutcome::CheckFailed;
            self.items[at].detail = Some(output);
            // Later branches were tried on top of the culprit, so they are tried again. A conflict
            // before the culprit stays a conflict.
            self.file_conflicts(conflicts.into_iter().filter(|one| one.item < at).collect())?;
        }
    }

    fn ensure_uninterrupted(&mut self) -> Result<()> {
        if self.check.runner.is_interrupted() { Err(LandError::Interrupted) } else { Ok(()) }
    }

    fn join_branches(&mut self, head: &str) -> Result<(Vec<Link>, Vec<Conflict>)> {
        let (repository, scratch) = (self.repository, Some(self.scratch));
        let builder = ChainBuilder { repository, scratch, mode: self.context.settings.mode };
        let runner = &mut self.check.runner;
        builder.build(head, self.items, || runner.is_interrupted())
    }

    /// Finds the first branch that makes the check fail; `None`: none does.
    fn find_culprit(&mut self, head: &str, chain: &[Link]) -> Result<Option<Culprit>> {
        let Some(last) = chain.last() else { return Ok(None) };
        let (scratch, check) = (self.scratch, &mut self.check);
        let Some(mut output) = check.find_failure(scratch, &last.commit)? else { return Ok(None) };
        if let Some(output) = check.find_failure(scratch, head)? {
            return Err(LandError::TargetFails { onto: self.onto.to_owned(), output });
        }
        let found = find_first_failure(chain.len(), |many| -> Result<bool> {
            let said = check.find_failure(scratch, &chain[many - 1].commit)?;
            let passed = said.is_none();
            output = said.unwrap_or_else(|| std::mem::take(&mut output));
            Ok(passed)
        })?;
        Ok(Some(Culprit { link: found - 1, output }))
    }

    /// Holds the first branch with files that cannot be checked out; returns true if there is one.
    fn hold_unfit(&mut self, chain: &[Link]) -> Result<bool> {
        for link in chain {
            if let Err(error) = self.scratch.check_out(&link.commit) {
                hold_refused(self.items, link.item, error)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Marks the branches that changed since the plan was made; returns true if any did.
    fn hold_changed(&mut self, chain: &[Link]) -> Result<bool> {
        let put = &self.context.settings.put_into_worktrees;
        let worktrees = self.repository.worktrees()?;
        let mut has_changed = false;
        for link in chain {
            let item = &mut self.items[link.item];
            let branch = item.branch.as_deref().unwrap_or_default();
            let tree = worktrees.iter().find(|tree| tree.is_checkout_of(branch));
            let git = self.repository.git();
            let uncommitted =
                tree.map_or(Ok(Vec::new()), |tree| tree.uncommitted_changes(git, put))?;
            let why = if ops::get_atom(self.store, &item.atom_id)?.status != Status::Closed {
                "it is not closed any more"
            } else if self.repository.branch_tip(branch)? != item.tip {
                "its branch has moved meanwhile"
            } else if !uncommitted.is_empty() {
                "its worktree has changes now that are not committed"
            } else {
                continue;
            };
            item.outcome = LandOutcome::Held;
            item.detail = Some(format!("{why}; el land looks again"));
            has_changed = true;
        }
        Ok(has_changed)
    }

    /// Moves the target over the chain. Returns the reason if the target cannot be moved.
    fn move_target(&mut self, head: &mut String, chain: &[Link]) -> Result<Option<String>> {
        let Some(last) = chain.last() else { return Ok(None) };
        let brought = |link: &Link| LandedBranch {
            atom: self.items[link.item].atom_id.clone(),
            tip: self.items[link.item].tip.clone().unwrap_or_default(),
            commit: link.commit.clone(),
        };
        let landed: Vec<LandedBranch> = chain.iter().map(brought).collect();
        let own = &self.context.settings.configuration;
        if let AdvanceResult::Held(why) =
            advance_branch(self.repository, self.onto, head, &last.commit, own)?
        {
            return Ok(Some(why));
        }
        let mut before = std::mem::replace(head, last.commit.clone());
        let noted = note_landed(self.repository, &before, &landed).err();
        for link in chain {
            let item = &mut self.items[link.item];
            let mut told = unpublished_submodules(
                self.repository,
                &before,
                &link.commit,
                item.path.as_deref(),
            )?;
            told.extend(noted.as_ref().map(|error| format!("git could not note that: {error}")));
            told.extend(item.remark.clone());
            item.outcome = LandOutcome::Landed;
            item.detail = (!told.is_empty()).then(|| told.join("\n"));
            before.clone_from(&link.commit);
        }
        Ok(None)
    }

    fn file_conflicts(&mut self, conflicts: Vec<Conflict>) -> Result<()> {
        let ctx = self.context.ctx();
        conflict_atom::file_all(self.store, &ctx, self.repository, self.onto, self.items, conflicts)
    }
}
