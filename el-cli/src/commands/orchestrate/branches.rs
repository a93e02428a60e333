//! Where the work of a plan that is done lies: on branches, which are to be brought in, and of which none may be forgotten.

use std::path::Path;

use el_agents::git::{Repository, branch_of};
use el_core::ops::Overview;
use el_core::rules::orchestrate::{Question, Standing};

use super::ending::{Ending, State};
use crate::commands::worktrees::failed;
use crate::error::Result;

/// Says of a plan that is done what is still to be brought in, and what its last run left out: that is not done.
pub(super) fn add(overview: &Overview, folder: &Path, mut ending: Ending) -> Result<Ending> {
    if ending.state != State::Done {
        return Ok(ending);
    }
    let Ok(repository) = Repository::of(folder) else { return Ok(ending) };
    let name = Question::Aggregation.name();
    let last = overview.phases.iter().find(|phase| phase.name == name).and_then(|phase| phase.atom_id.as_deref());
    let tip = |atom: &str| repository.tip(&branch_of(atom)).map_err(failed);
    let whole = last.map(&tip).transpose()?.flatten();
    let (mut has_any, mut left_out) = (whole.is_some(), Vec::new());
    for task in overview.tasks.iter().filter(|task| task.standing == Standing::Done) {
        let Some(own) = tip(&task.atom_id)? else { continue };
        has_any = true;
        let is_earlier = task.list.as_deref().is_none_or(|list| list == Question::TaskList.name());
        if let Some(whole) = whole.as_deref().filter(|_| is_earlier)
            && !repository.has_work(whole, &own).map_err(failed)?
        {
            left_out.push(task.atom_id.as_str());
        }
    }
    if !left_out.is_empty() {
        ending.state = State::Incomplete;
        let branch = last.map(branch_of).unwrap_or_default();
        ending.says = format!("{}, but {branch} has not the work of {}", ending.says, left_out.join(", "));
        ending.commands.splice(0..0, left_out.iter().map(|atom| format!("el diff {atom}")));
    }
    if has_any {
        ending.commands.push("el land --all".to_owned());
    }
    Ok(ending)
}
