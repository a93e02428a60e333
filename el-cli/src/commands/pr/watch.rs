use std::time::Duration;

use el_agents::pull_requests::{PullError, gather_feedback, look_at};
use el_core::model::PullRequest;
use el_core::ops::{self, Given};

use super::answer::Listing;
use super::forge;
use crate::app::App;
use crate::commands::worktrees::find_repository;
use crate::error::Result;
use crate::exit::Exit;

/// Ask the forge what became of the pull requests: one query a minute for all of a repository
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el pr watch --once
  el pr watch

One that was merged counts as landed, so el worktrees prune takes its branch away. One that was
closed without being merged sets its atom to deferred: el reopen or el discard decides. With
pr_feedback, failed checks and reviews of trusted people reopen the atom with what they ask for.
Ends once none is left that can be merged. While the forge cannot be reached, or takes no more
calls, it waits, up to half an hour between two looks.")]
pub(super) struct Args {
    /// Look once, and end
    #[arg(long)]
    once: bool,
}

/// The time between two looks, and the longest after failures.
const MINUTE: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(30 * 60);

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let repository = find_repository(app)?;
    let forge = forge();
    let settings = app.settings_for_agents()?;
    app.warn_of_inert(&settings);
    let rules = settings.feedback_rules()?;
    let mut wait = MINUTE;
    let mut told: Vec<PullRequest> = Vec::new();
    loop {
        let mut store = app.open_for_writing()?;
        let live = ops::pull_requests(&store, true)?;
        let ctx = app.ctx();
        let looked = look_at(&mut store, &ctx, &repository, &forge, &live).and_then(|seen| {
            gather_feedback(&mut store, &ctx, &forge, &rules, &seen).map(|given| (seen, given))
        });
        match looked {
            Ok((seen, given)) if args.once => {
                let listing = Listing::new(seen).with_given(given);
                let now = app.now();
                app.printer.emit(&listing, |page| listing.print(page, now))?;
                return Ok(Exit::Done);
            }
            Ok((seen, given)) => {
                wait = MINUTE;
                report_changes(app, &told, &seen, given)?;
                if seen.iter().all(|one| !one.state.is_live()) {
                    return Ok(Exit::Done);
                }
                told = seen;
            }
            Err(PullError::Forge(error)) if error.is_passing() && !args.once => {
                app.printer.warn(&format!("{error}; the next look is in {} s", wait.as_secs()));
                wait = (wait * 2).min(LONGEST);
            }
            Err(error) => return Err(error.into()),
        }
        drop(store);
        std::thread::sleep(wait);
    }
}

/// Prints the pull requests that changed since the last look.
fn report_changes(
    app: &App,
    before: &[PullRequest],
    seen: &[PullRequest],
    given: Vec<(String, Given)>,
) -> Result<()> {
    let is_new = |one: &&PullRequest| {
        !before.iter().any(|old| {
            (&old.atom_id, old.seq, old.state, &old.detail)
                == (&one.atom_id, one.seq, one.state, &one.detail)
        })
    };
    let changed: Vec<PullRequest> = seen.iter().filter(is_new).cloned().collect();
    if changed.is_empty() && given.is_empty() {
        return Ok(());
    }
    let listing = Listing::new(changed).with_given(given);
    let now = app.now();
    app.printer.emit(&listing, |page| listing.print(page, now))
}
