use el_core::ops;

use super::close::{Ids, report_changed};
use super::freed::tell_of_over_parents;
use crate::{App, Exit, Result};

/// Open atoms again, with fresh attempts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el reopen q5e6
  el reopen q5e6 x2

Works on atoms that are closed, deferred, blocked, in review, not to be done, or discarded. An
atom in progress is given back with el release. An agent's session does not reopen its own atom,
and gives no fresh attempts.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mut store = app.open_for_writing()?;
    let opened = ops::reopen(&mut store, &app.ctx(), &args.ids.ids)?;
    report_changed(app, args.ids.ids.len(), "Reopened", &opened)?;
    tell_of_over_parents(app, &store, &opened);
    Ok(Exit::Done)
}
