use el_core::ops;

use super::close::{Ids, report_changed};
use crate::{App, Exit, Result};

/// Give atoms fresh attempts: open, no back-off
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el retry q5e6
  el retry q5e6 x2

Several are put back together or not at all.

For what is blocked, as after its last attempt, or waits for its next one; el reopen opens what
was cancelled or put off, or is over. The failures so far are counted no longer. An agent's
session gives no fresh attempts, and does not retry its own atom.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let opened = ops::retry_all(&mut app.open_for_writing()?, &app.ctx(), &args.ids.ids)?;
    report_changed(app, args.ids.ids.len(), "Ready to retry", &opened)
}
