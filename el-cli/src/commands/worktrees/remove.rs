use el_agents::git;
use el_agents::land::AtomBranch;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::find_branches;
use super::removal::{Kept, Removal};
use crate::output::style;
use crate::{App, CommandError, Exit, Result, complete};

/// Take away the worktree and the branch of an atom
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el worktrees remove q5e6
  el worktrees remove q5e6 --force

Without --force only what el worktrees prune would take away goes. With it the branch is given
up: a reference keeps its commits, and a commit of the files that had none, for a month.
Files that git ignores are lost. A branch with a run at work stays, and so does a worktree that
holds a repository with commits of its own. Exit code 4 if it stays.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    atom: String,
    /// Give up work that has not landed
    #[arg(long)]
    force: bool,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Removed<'a> {
    #[serde(flatten)]
    branch: &'a AtomBranch,
    /// The reference that keeps the abandoned work for a month; `null` if all had landed.
    kept_as: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let atom = ops::resolve_id(&store, &args.atom)?;
    let removal = Removal::new(app)?;
    let found = find_branches(app, &store, &removal.repository)?;
    let Some(branch) = found.iter().find(|branch| branch.atom_id == atom) else {
        return Err(CommandError::not_found(format!("{atom} has no branch"))
            .with_hint("el worktrees lists those that there are"));
    };
    let mut stays = removal.why_kept(branch, false)?;
    if stays.is_none() {
        stays = removal.remove_branch(branch);
    }
    let kept_as = match stays {
        None => None,
        Some(stays) if args.force => Some(give_up(app, &removal, branch, stays)?),
        Some(stays) => {
            return Err(removal_refused(&stays.reason, branch).with_hint(format!(
                "el worktrees remove {atom} --force gives it up; a reference keeps its commits and \
                 uncommitted changes for a month, and ignored files are lost"
            )));
        }
    };
    let data = Removed { branch, kept_as };
    app.printer.emit(&data, |page| {
        page.push_line(format!("Removed {}", page.paint(style::ID, &branch.branch)));
        if let Some(name) = data.kept_as.as_ref().filter(|_| !page.is_quiet()) {
            let line = page.paint(style::HINT, &format!("git branch {} {name}", branch.branch));
            let text =
                format!("  All but the ignored files is kept for a month; {line} brings it back");
            page.push_line(text);
        }
    })
}

fn removal_refused(why: &str, branch: &AtomBranch) -> CommandError {
    let message = format!("{} stays: {why}", branch.branch);
    CommandError::conflict("kept", message).with_detail("branch", branch.branch.as_str())
}

fn give_up(app: &App, removal: &Removal, branch: &AtomBranch, stays: Kept<'_>) -> Result<String> {
    if branch.live {
        return Err(removal_refused(&stays.reason, branch)
            .with_hint(format!("el cancel {} ends the run", branch.atom_id)));
    }
    let tree = removal.worktree_of(branch);
    if let Some(tree) = tree
        && let Some((said, _)) = removal.nested_repositories(tree)?
    {
        return Err(removal_refused(&said, branch));
    }
    let now = app.now().as_micros() / 1_000_000;
    let put = &removal.settings.put_into_worktrees;
    let (repository, atom, tip) = (&removal.repository, &branch.atom_id, &branch.tip);
    Ok(git::give_up(repository, tree, atom, tip, put, now)?)
}
