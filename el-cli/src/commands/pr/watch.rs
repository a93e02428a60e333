use el_agents::pull_requests::{BETWEEN_LOOKS, PushedAnswer};

use super::answer::Listing;
use crate::commands::work::this_program;
use crate::output::time;
use crate::pull_watch::pull_watch;
use crate::{App, Exit, Result};

/// Ask the forge what became of the pull requests: one query a minute for all of a repository
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el pr watch --once
  el pr watch

One that was merged counts as landed, so el worktrees prune takes its branch away. One that was
closed without being merged sets its atom to deferred: el reopen or el discard decides. With
pr_feedback, failed checks and reviews of trusted people reopen the atom with what they ask
for, after two quiet minutes (--once: at once), and what its agent answers is pushed. el work
does the same while it works (pr_watch). Ends once none is left that can be merged. While the
forge cannot be reached, or takes no more calls, it waits, up to half an hour between two looks.")]
pub(super) struct Args {
    /// Look once, and end
    #[arg(long)]
    once: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let settings = app.settings_for_agents()?;
    app.warn_of_inert(&settings);
    let watch = pull_watch(app, &settings, this_program()?)?;
    let mut is_first = true;
    let mut told = None;
    loop {
        let found = watch.look(&mut app.open_for_writing()?, args.once)?;
        found.answers.iter().for_each(|answer| warn_of_answer(app, answer));
        if args.once {
            let listing = Listing::new(found.seen).with_news(found.answers, found.given);
            return print_listing(app, listing.with_uncommitted(found.uncommitted));
        }
        let is_over = found.seen.iter().all(|one| !one.state.is_live());
        let shown = if is_first { found.seen } else { found.changed };
        if !shown.is_empty() || !found.given.is_empty() || !found.answers.is_empty() {
            print_listing(app, Listing::new(shown).with_news(found.answers, found.given))?;
        }
        if is_over {
            return Ok(Exit::Done);
        }
        if let Some(wait) = found.waits.filter(|wait| told.as_ref() != Some(wait)) {
            let until = time::relative_time(app.now(), wait.until);
            app.printer.warn(&format!("{}; the next look is {until}", wait.why));
            told = Some(wait);
        }
        is_first = false;
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// Tells what is wrong with the answer of an agent to a review.
fn warn_of_answer(app: &App, answer: &PushedAnswer) {
    let id = &answer.atom_id;
    if answer.outcome.is_failure() {
        let why = answer.detail.as_deref().unwrap_or("it cannot be pushed");
        app.printer.warn(&format!("the answer of {id} to its review: {why}; el pr {id}"));
    } else if let Some(note) = answer.closing_note() {
        app.printer.warn(&format!("the answer of {id} to its review: {note}"));
    }
}

fn print_listing(app: &App, listing: Listing) -> Result<Exit> {
    let now = app.now();
    app.printer.emit(&listing, |page| listing.print(page, now))
}
