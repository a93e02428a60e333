//! Uncommitted work in a run's worktree, reported once while the agent can still act.

use std::path::Path;

use el_agents::git::{GitError, OwnWorktree, WorkBranch};
use el_agents::rundir::RunDir;
use el_agents::sandbox::OwnBranch;
use el_core::model::Run;
use el_core::{Store, ops};

use crate::output::sanitize;
use crate::{App, CommandError, Result};

/// The maximum number of files that an error names.
const NAMED: usize = 10;

/// Refuses, once, to end a run's work while files in its worktree are uncommitted or the work is
/// not on the run's branch. Work on another branch is taken over at once and reported, if no commit
/// is lost.
///
/// # Errors
///
/// If the run is told for the first time, or the store cannot be used.
pub(super) fn ensure_committed(app: &App, store: &mut Store, run: &Run, token: &str) -> Result<()> {
    // A failing git must not keep an agent from ending its work.
    let Ok(Some((own, branch, files))) = uncommitted_work(app, run) else { return Ok(()) };
    let (mut faults, mut hints) = (Vec::new(), Vec::new());
    match &branch {
        WorkBranch::Own => {}
        WorkBranch::Reclaimed { from } => app.printer.note(&format!(
            "the work was on {from}; {own} has it now and is checked out again, \
             since only that branch is brought in",
            from = sanitize::one_line(from)
        )),
        WorkBranch::Restored { on } => {
            faults.push(format!(
                "{own} was gone and is back at its last commit; this worktree is on {}",
                sanitize::one_line(on)
            ));
            hints.push(format!("git switch {own} goes on with it"));
        }
        WorkBranch::Apart { on } => {
            let on = sanitize::one_line(on);
            faults.push(format!("this worktree is on {on}, whose commits {own} does not have"));
            hints.push(format!("git switch {own} && git merge {on} brings them together"));
        }
    }
    if !files.is_empty() {
        let named: Vec<_> = files.iter().take(NAMED).map(|name| sanitize::one_line(name)).collect();
        let more = match files.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        faults.push(format!("not committed: {}{more}", named.join(", ")));
        hints.push("git add -A && git commit -m \"what was done\" keeps it".to_owned());
    }
    if faults.is_empty()
        || !ops::remind_of_uncommitted(store, &app.ctx(), &run.id, token, files.len())?
    {
        return Ok(());
    }
    let message = format!("{} is not ended yet: {}", run.atom_id, faults.join("; "));
    Err(CommandError::conflict("uncommitted", message)
        .with_detail("files", files)
        .with_retryable(true)
        .with_hints(hints)
        .with_hint(format!(
            "only what is committed on {own} is brought in; \
             if nothing else is to be, the same command once more ends the atom"
        )))
}

/// The atom's branch, the place of the work, and the uncommitted files; `None` outside of a
/// worktree made for the run.
fn uncommitted_work(
    app: &App,
    run: &Run,
) -> std::result::Result<Option<(String, WorkBranch, Vec<String>)>, GitError> {
    let Some(tree) = OwnWorktree::find(Path::new(&run.workdir), &run.atom_id)? else {
        return Ok(None);
    };
    // In a sandbox, the branch is the session's own until el takes its commits over.
    let project = app.project().ok();
    let mut apart = project.and_then(|p| OwnBranch::of_run(&RunDir::of_run(&p.db, &run.id)));
    if let Some(branch) = &mut apart {
        // The supervisor tries again at the end, and tells why it fails.
        let _ = branch.take_over_finally();
    }
    let ours = app.settings().and_then(|settings| settings.put_into_worktrees());
    let work = tree.reclaim_work()?;
    if let Some(branch) = &mut apart {
        branch.show_inside();
    }
    let files = tree.uncommitted_files(&ours.unwrap_or_default())?;
    Ok(Some((tree.branch().to_owned(), work, files)))
}
