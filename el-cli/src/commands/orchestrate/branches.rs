//! Where the work of a plan that is done lies: on branches, which are to be brought in, and of
//! which none may be forgotten.

use std::path::Path;

use el_agents::git::{Repository, branch_of};
use el_core::ops::Overview;
use el_core::rules::orchestrate::{Question, Standing};

use super::ending::{Ending, State};
use crate::commands::worktrees::failed;
use crate::error::Result;

/// A branch with the work of an atom.
pub(super) struct Branch<'a> {
    pub(super) atom: &'a str,
    pub(super) name: String,
    pub(super) tip: String,
    /// Its task mends a failed check, so that it came after the results were brought together.
    pub(super) is_later: bool,
}

/// The branch of what was brought together, and those of the tasks that are done, as far as there
/// are any.
pub(super) fn of<'a>(
    repository: &Repository,
    overview: &'a Overview,
) -> Result<(Option<Branch<'a>>, Vec<Branch<'a>>)> {
    let branch = |atom: &'a str, list: Option<&str>| -> Result<Option<Branch<'a>>> {
        let name = branch_of(atom);
        let is_later = matches!(list.and_then(Question::named), Some(Question::Failures { .. }));
        let tip = repository.tip(&name).map_err(failed)?;
        Ok(tip.map(|tip| Branch { atom, name, tip, is_later }))
    };
    let name = Question::Aggregation.name();
    let last = overview
        .phases
        .iter()
        .find(|phase| phase.name == name)
        .and_then(|phase| phase.atom_id.as_deref());
    let whole = last.map(|atom| branch(atom, None)).transpose()?.flatten();
    let mut tasks = Vec::new();
    for task in overview.tasks.iter().filter(|task| task.standing == Standing::Done) {
        tasks.extend(branch(&task.atom_id, task.list.as_deref())?);
    }
    Ok((whole, tasks))
}

/// Says of a plan that is done what is still to be brought in, and what its last run left out: that
/// is not done.
pub(super) fn add(overview: &Overview, folder: &Path, mut ending: Ending) -> Result<Ending> {
    if ending.state != State::Done {
        return Ok(ending);
    }
    let Ok(repository) = Repository::of(folder) else { return Ok(ending) };
    let (whole, tasks) = of(&repository, overview)?;
    if let Some(whole) = &whole {
        let mut left_out = Vec::new();
        for task in tasks.iter().filter(|task| !task.is_later) {
            if !repository.has_work(&whole.tip, &task.tip).map_err(failed)? {
                left_out.push(task.atom);
            }
        }
        if !left_out.is_empty() {
            ending.state = State::Incomplete;
            ending.says = format!(
                "{}, but {} has not the work of {}",
                ending.says,
                whole.name,
                left_out.join(", ")
            );
            ending.commands.splice(0..0, left_out.iter().map(|atom| format!("el diff {atom}")));
        }
    }
    if whole.is_some() || !tasks.is_empty() {
        ending.commands.push("el land --all".to_owned());
    }
    Ok(ending)
}
