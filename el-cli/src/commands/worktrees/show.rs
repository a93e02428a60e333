use el_agents::land::AtomBranch;
use el_core::ops;

use super::list::print_branch;
use super::{find_branches, find_repository};
use crate::output::{OneOrMany, sanitize, style};
use crate::{App, CommandError, Exit, Result, complete};

/// Show the worktrees and branches of atoms, with the files that are not committed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el worktrees show q5e6
  el worktrees show q5e6 x2 --robot")]
pub(crate) struct Args {
    /// The atoms
    #[arg(required = true, value_name = "ATOM", add = complete::all_atoms())]
    ids: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let found = find_branches(app, &store, &find_repository(app)?)?;
    let mut shown: Vec<AtomBranch> = Vec::new();
    for id in &args.ids {
        // A branch may be of an atom that the tracker no longer knows.
        let id = ops::resolve_id(&store, id).unwrap_or_else(|_| id.clone());
        let branch = found.iter().find(|branch| branch.atom_id == id).ok_or_else(|| {
            CommandError::not_found(format!("{id} has no branch"))
                .with_hint("el worktrees list names those that have one")
        })?;
        shown.push(branch.clone());
    }
    app.printer.emit(&OneOrMany::for_request(args.ids.len(), &shown), |page| {
        for branch in &shown {
            print_branch(page, branch);
            if !page.is_quiet() {
                for file in &branch.uncommitted {
                    let line = format!("  not committed: {}", sanitize::one_line(file));
                    page.push_painted(style::WARNING, &line);
                }
            }
        }
    })
}
