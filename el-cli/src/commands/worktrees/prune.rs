use el_agents::git;
use el_agents::land::AtomBranch;
use schemars::JsonSchema;
use serde::Serialize;

use super::{find_branches, find_repository};
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{sanitize, style};

/// Take away the worktrees and branches whose work has landed and that are clean
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el worktrees prune --dry-run
  el worktrees prune
  el worktrees prune --ignored

What has changes that are not committed, commits that are not merged, a run at work, or an atom
that is not over, stays, and is told with the reason. So does what el did not make, and what has
files that git ignores and nobody makes anew, unless --ignored says that they may go. A nested
repository with commits of its own stays even then.")]
pub(crate) struct Args {
    /// Say what would be taken away
    #[arg(long)]
    dry_run: bool,
    /// Those too that have files which git ignores, and which are lost with them
    #[arg(long)]
    ignored: bool,
}

/// What it answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Pruning<'a> {
    /// Of those that were taken away, or would be.
    count: usize,
    dry_run: bool,
    pruned: Vec<&'a AtomBranch>,
    kept: Vec<Kept<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Kept<'a> {
    #[serde(flatten)]
    branch: &'a AtomBranch,
    reason: String,
    /// Files that would be lost, though git does not call them changes.
    would_lose: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.reader()?;
    let repository = find_repository(app)?;
    let found = find_branches(app, &store, &repository)?;
    let (mut pruned, mut kept) = (Vec::new(), Vec::new());
    let ours = app.settings()?.put_into_worktrees()?;
    let trees = repository.worktrees()?;
    let folder = app.settings()?.worktrees()?;
    let folder = folder.canonicalize().unwrap_or(folder);
    for branch in &found {
        let tree = trees.iter().find(|tree| tree.branch.as_deref() == Some(&branch.branch));
        let (mut reason, mut would_lose) = (why_kept(branch), Vec::new());
        if reason.is_none()
            && let Some(tree) = tree
        {
            if !tree.is_ours(&folder.join(&branch.atom_id)) {
                reason = Some("its worktree was not made by el".to_owned());
            } else if let found @ [_, ..] = tree.repositories(repository.top())?.as_slice() {
                would_lose = found.to_vec();
                let names = found.join(", ");
                reason = Some(format!(
                    "repositories in it have commits that may be nowhere else: {names}; push them, or move them away"
                ));
            } else if !args.ignored {
                would_lose = tree.would_lose(repository.top(), &ours)?;
                reason = (!would_lose.is_empty()).then(|| lost(&would_lose));
            }
        }
        if reason.is_none() && !args.dry_run {
            // Git has the last word: whatever changed since we looked, it refuses to lose.
            reason = git::remove(&repository, tree, &branch.atom_id, &branch.tip, &ours)
                .err()
                .map(|error| error.to_string());
        }
        match reason {
            None => pruned.push(branch),
            Some(reason) => kept.push(Kept { branch, reason, would_lose }),
        }
    }
    let data = Pruning { count: pruned.len(), dry_run: args.dry_run, pruned, kept };
    app.printer.emit(&data, |page| {
        let did = if args.dry_run { "Would remove" } else { "Removed" };
        for branch in &data.pruned {
            page.line(format!("{did} {}", page.paint(style::ID, &branch.branch)));
        }
        let told = if page.quiet() { &[][..] } else { data.kept.as_slice() };
        for one in told {
            page.line(format!(
                "Kept {}: {}",
                page.paint(style::ID, &one.branch.branch),
                sanitize::line(&one.reason)
            ));
        }
        if found.is_empty() && !page.quiet() {
            let text = page.paint(style::DIM, "nothing was removed");
            page.line(text);
        }
    })?;
    Ok(Exit::Done)
}

/// The pure decision; `None`: it may go.
fn why_kept(branch: &AtomBranch) -> Option<String> {
    if branch.live {
        return Some("a run is at work in it".to_owned());
    }
    match branch.status {
        None => return Some("the tracker does not know its atom".to_owned()),
        Some(status) if !status.is_over() => return Some(format!("its atom is {status}")),
        Some(_) => {}
    }
    if !branch.ours {
        return Some("its branch was not made by el".to_owned());
    }
    if let Some(why) = branch.describe_stray() {
        return Some(why);
    }
    if !branch.uncommitted.is_empty() {
        return Some(format!(
            "{} of its files have changes that are not committed",
            branch.uncommitted.len()
        ));
    }
    if let Some(why) = branch.describe_revert() {
        return Some(why);
    }
    if !branch.landed {
        return Some("it has commits that have not landed".to_owned());
    }
    None
}

fn lost(paths: &[String]) -> String {
    let first = paths.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if paths.len() > 3 { ", …" } else { "" };
    format!(
        "git does not look at these, and they would be lost: {first}{more}; with --ignored they go too"
    )
}
