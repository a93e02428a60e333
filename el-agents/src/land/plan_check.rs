//! The check at the end of a plan: a command that runs on the joined results.

use std::path::{Path, PathBuf};
use std::time::Duration;

use el_core::ops::Overview;
use el_core::rules::orchestrate::{Question, Standing};

use super::check::{CheckCommand, CheckEnd, CheckRunner};
use super::{LandContext, Result};
use crate::git::{GitError, Repository, ScratchCheckout, copy_untracked};

/// A branch with the work of an atom of a plan.
#[derive(Debug)]
pub struct PlanBranch<'a> {
    pub atom: &'a str,
    pub name: String,
    pub tip: String,
    /// The task mends a failed check, so the branch is newer than the aggregation.
    pub is_later: bool,
}

/// The branches with the finished work of a plan.
#[derive(Debug)]
pub struct PlanBranches<'a> {
    /// The branch of the aggregation.
    pub whole: Option<PlanBranch<'a>>,
    /// The tasks that are done and have a branch.
    pub tasks: Vec<PlanBranch<'a>>,
}

/// Finds the branches of a plan.
///
/// # Errors
/// If git fails.
pub fn plan_branches<'a>(
    repository: &Repository,
    overview: &'a Overview,
) -> Result<PlanBranches<'a>, GitError> {
    let branch = |atom: &'a str, list: Option<&str>| -> Result<Option<PlanBranch<'a>>, GitError> {
        let name = repository.branch_of(atom)?;
        let is_later =
            matches!(list.and_then(Question::from_name), Some(Question::Failures { .. }));
        let tip = repository.branch_tip(&name)?;
        Ok(tip.map(|tip| PlanBranch { atom, name, tip, is_later }))
    };
    let name = Question::Aggregation.storage_name();
    let aggregation = overview.phases.iter().find(|phase| phase.name == name);
    let atom = aggregation.and_then(|phase| phase.atom_id.as_deref());
    let whole = atom.map_or(Ok(None), |atom| branch(atom, None))?;
    let mut tasks = Vec::new();
    for task in overview.tasks.iter().filter(|task| task.standing == Standing::Done) {
        tasks.extend(branch(&task.atom_id, task.list.as_deref())?);
    }
    Ok(PlanBranches { whole, tasks })
}

/// The check of a plan.
#[derive(Debug)]
pub struct PlanCheck<'a> {
    pub overview: &'a Overview,
    /// The project's folder.
    pub folder: &'a Path,
    /// The commit or branch at which branches begin; `None`: the checked-out commit.
    pub base: Option<&'a str>,
    pub limit: Duration,
}

/// An event during the check.
#[derive(Debug)]
pub enum PlanCheckEvent<'a> {
    /// The results are joined in the given folder, and the check begins.
    Begins(&'a Path),
    /// A command, given by its words, has run for this long.
    GoesOn(&'a [String], Duration),
}

/// The result of a plan's check.
#[derive(Debug)]
pub enum PlanCheckEnd {
    Ended {
        passed: bool,
        output: String,
    },
    /// A signal came.
    Interrupted,
}

/// Returns the owner of a plan's check, unique on this machine.
pub fn plan_check_owner(database: &Path, epic: &str) -> String {
    let whole = database.canonicalize();
    format!("{}:{epic}", whole.as_deref().unwrap_or(database).display())
}

/// Joins the results of a plan and runs the plan's check there. The caller must be the only process
/// that drives this plan.
///
/// # Errors
/// If git fails, or a command cannot be run.
pub fn check_plan(
    context: &LandContext<'_>,
    plan: &PlanCheck<'_>,
    on_event: &mut dyn FnMut(PlanCheckEvent<'_>),
) -> Result<PlanCheckEnd> {
    let settings = context.settings;
    let overview = plan.overview;
    let mut runner =
        CheckRunner::new(context, plan_check_owner(context.database, &overview.epic.id))?;
    let check = CheckCommand {
        key: "orchestrate_check",
        name: "check",
        words: &overview.settings.check,
        limit: plan.limit,
    };
    let repository = match Repository::open_at(plan.folder) {
        Ok(repository) => Some(repository),
        Err(GitError::NoRepository(_)) => None,
        Err(error) => return Err(error.into()),
    };
    let together = match &repository {
        Some(repository) => bring_together(context, plan, repository)?,
        None => Together::Folder,
    };
    // Keeps the checkout until the end of the function.
    let _checkout;
    let (folder, commands): (PathBuf, &[CheckCommand<'_>]) = match together {
        Together::Folder => (plan.folder.to_owned(), &[check]),
        Together::Conflict(output) => {
            on_event(PlanCheckEvent::Begins(plan.folder));
            return Ok(PlanCheckEnd::Ended { passed: false, output });
        }
        Together::Checkout(scratch, repository) => {
            copy_untracked(repository.top(), scratch.path(), &settings.copy, &settings.link)?;
            let folder = repository.project_folder(scratch.path());
            _checkout = scratch;
            (folder, &[settings.setup_command(), check])
        }
    };
    on_event(PlanCheckEvent::Begins(&folder));
    let mut output = String::new();
    for command in commands.iter().filter(|command| !command.words.is_empty()) {
        let mut progress = |elapsed| on_event(PlanCheckEvent::GoesOn(command.words, elapsed));
        match runner.run_command(command, &folder, &mut progress)? {
            CheckEnd::Passed(said) => output = said,
            CheckEnd::Failed(output) => return Ok(PlanCheckEnd::Ended { passed: false, output }),
            CheckEnd::Interrupted => return Ok(PlanCheckEnd::Interrupted),
        }
    }
    Ok(PlanCheckEnd::Ended { passed: true, output })
}

/// The place in which the results are joined.
enum Together<'a> {
    /// The project's folder: no task used a worktree.
    Folder,
    /// A scratch checkout.
    Checkout(Box<ScratchCheckout>, &'a Repository),
    /// The results do not merge, for the given reason.
    Conflict(String),
}

/// Joins the results. The aggregation's branch contains everything aggregated; only the branches of
/// tasks that mend failed checks are newer. Without such a branch, the branches of all tasks are
/// joined.
fn bring_together<'a>(
    context: &LandContext<'_>,
    plan: &PlanCheck<'_>,
    repository: &'a Repository,
) -> Result<Together<'a>> {
    let PlanBranches { whole, mut tasks } = plan_branches(repository, plan.overview)?;
    tasks.retain(|task| whole.is_none() || task.is_later);
    if whole.is_none() && tasks.is_empty() {
        return Ok(Together::Folder);
    }
    let mut top = match (&whole, plan.base) {
        (Some(whole), _) => whole.tip.clone(),
        (None, Some(base)) => repository.resolve_commit(base)?.unwrap_or_default(),
        (None, None) => repository.head_commit()?,
    };
    let epic = &plan.overview.epic.id;
    for PlanBranch { atom, name: branch, tip, .. } in tasks {
        let message = format!("Join {branch} for the check of {epic}");
        match repository.merge_branch(&top, (atom, &tip), &message)? {
            Ok(commit) => top = commit,
            Err(files) => {
                let names = files.join("\n");
                let with = whole.as_ref().map_or("the branches before it", |one| one.name.as_str());
                return Ok(Together::Conflict(format!(
                    "The branch {branch} does not go together with {with}. In conflict \
                     are:\n{names}"
                )));
            }
        }
    }
    let scratch = context.scratch_folder("check", &format!("-{epic}"))?;
    let scratch = ScratchCheckout::new(repository, &scratch, &top)?;
    Ok(Together::Checkout(Box::new(scratch), repository))
}
