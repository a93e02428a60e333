use el_agents::git;
use el_agents::land::AtomBranch;
use schemars::JsonSchema;
use serde::Serialize;

use super::removal::{Kept, Removal};
use super::{at_remote, find_branches};
use crate::output::{sanitize, style};
use crate::{App, Exit, Result};

/// Remove the worktrees and branches whose work has landed and that are clean
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el worktrees prune --dry-run
  el worktrees prune
  el worktrees prune --ignored

A worktree stays, and is told with the reason, if it has changes that are not committed, commits
that are not merged, a run at work, or an atom that is not over; also if el did not make it, or
if it has files that git ignores and nobody makes anew, unless --ignored says that they may go.
A nested repository with commits of its own stays even then. Work that el worktrees remove
--force gave up more than a month ago is let go, too. With the setting remote, so are atoms'
branches there, if the branch that work lands on has their work at the remote as well, and
nobody pushed to them since they were fetched.")]
pub(crate) struct Args {
    /// Show the worktrees without removing any
    #[arg(long)]
    dry_run: bool,
    /// Also worktrees with files that git ignores; the files are lost
    #[arg(long)]
    ignored: bool,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Pruning<'a> {
    /// The number of removed worktrees, or with `--dry-run` of removable ones.
    count: usize,
    dry_run: bool,
    pruned: Vec<&'a AtomBranch>,
    kept: Vec<Kept<'a>>,
    /// References with work that was given up more than a month ago, and that are let go.
    expired: Vec<String>,
    /// Atoms' branches that are deleted at the shared remote, whose target has their work.
    remote_branches: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let mut removal = Removal::new(app)?;
    // The notes about a branch here tell what landed, also of the branch there.
    let remote_branches = at_remote::prune(app, &store, &mut removal.repository, args.dry_run)?;
    let found = find_branches(app, &store, &removal.repository)?;
    let (mut pruned, mut kept) = (Vec::new(), Vec::new());
    for branch in &found {
        let mut stays = removal.why_kept(branch, args.ignored)?;
        if stays.is_none() && !args.dry_run {
            stays = removal.remove_branch(branch);
        }
        match stays {
            None => pruned.push(branch),
            Some(stays) => kept.push(stays),
        }
    }
    let now = app.now().as_micros() / 1_000_000;
    let expired = git::expire_given_up(&removal.repository, now, args.dry_run)?;
    let dry_run = args.dry_run;
    let data = Pruning { count: pruned.len(), dry_run, pruned, kept, expired, remote_branches };
    app.printer.emit(&data, |page| {
        let did = if args.dry_run { "Would remove" } else { "Removed" };
        for branch in &data.pruned {
            page.push_line(format!("{did} {}", page.paint(style::ID, &branch.branch)));
        }
        let told = if page.is_quiet() { &[][..] } else { data.kept.as_slice() };
        for one in told {
            page.push_line(format!(
                "Kept {}: {}",
                page.paint(style::ID, &one.branch.branch),
                sanitize::one_line(&one.reason)
            ));
        }
        for name in &data.expired {
            page.push_line(format!("{did} {name}"));
        }
        for name in &data.remote_branches {
            page.push_line(format!("{did} {} at the remote", page.paint(style::ID, name)));
        }
        let nothing_there = data.expired.is_empty() && data.remote_branches.is_empty();
        if found.is_empty() && nothing_there && !page.is_quiet() {
            page.push_painted(style::DIM, "nothing was removed");
        }
    })
}
