//! Remarks on the branches of a finished plan, so that no branch is forgotten.

use std::path::Path;

use el_agents::git::Repository;
use el_agents::land::{PlanBranches, plan_branches};
use el_core::ops::Overview;

use super::ending::Ending;
use super::state::State;
use crate::Result;

/// Adds the branches that are not landed, and the results that the last run left out, to the ending
/// of a finished plan.
pub(super) fn add_branch_remarks(
    overview: &Overview,
    folder: &Path,
    mut ending: Ending,
) -> Result<Ending> {
    if ending.state != State::Done {
        return Ok(ending);
    }
    let Ok(repository) = Repository::open_at(folder) else { return Ok(ending) };
    let PlanBranches { whole, tasks } = plan_branches(&repository, overview)?;
    if let Some(whole) = &whole {
        let mut left_out = Vec::new();
        for task in tasks.iter().filter(|task| !task.is_later) {
            if !repository.has_work(&whole.tip, &task.tip)? {
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
