use el_agents::land::AtomBranch;

use super::{find_branches, find_repository};
use crate::output::pull_requests::{number_text, state_words};
use crate::output::{List, Page, count, sanitize, style};
use crate::{App, Exit, Result};

/// List the worktrees and branches of agents
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el worktrees list
  el worktrees list --robot")]
pub(crate) struct Args {}

pub(super) fn run(app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let found = find_branches(app, &store, &find_repository(app)?)?;
    let list = List::complete(&found);
    app.printer.emit(&list, |page| {
        found.iter().for_each(|branch| print_branch(page, branch));
        if found.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "No atom has a branch");
        }
    })
}

/// Prints the branch, the state, and the folder of the worktree.
pub(super) fn print_branch(page: &mut Page, branch: &AtomBranch) {
    if page.is_quiet() {
        return page.push_line(sanitize::one_line(&branch.branch));
    }
    let id = page.paint(style::ID, &branch.branch);
    let title = branch.title.as_deref().map(sanitize::one_line).unwrap_or_default();
    page.push_line(format!("{id}  {}  {title}", branch_state(branch)));
    if let Some(path) = &branch.path {
        page.push_painted(style::DIM, &format!("  {}", sanitize::path_line(path)));
    }
}

/// In words.
fn branch_state(branch: &AtomBranch) -> String {
    let mut words =
        vec![branch.status.map_or_else(|| "unknown atom".to_owned(), |status| status.to_string())];
    words.push(count::with_noun(branch.commits, "commit"));
    if branch.landed {
        words.push("landed".to_owned());
    }
    words.extend(
        branch
            .pull_request
            .as_ref()
            .map(|one| format!("pull request {} {}", number_text(one), state_words(one))),
    );
    words.extend(branch.describe_revert());
    words.extend(branch.describe_stray());
    if !branch.uncommitted.is_empty() {
        words.push(format!("{} not committed", branch.uncommitted.len()));
    }
    if branch.missing {
        words.push("its folder was removed".to_owned());
    }
    if branch.live {
        words.push("at work".to_owned());
    }
    words.join(" · ")
}
