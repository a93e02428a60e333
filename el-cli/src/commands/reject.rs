use el_core::ops;

use super::close::{Ids, report_changed};
use crate::{App, Exit, Result, input};

/// Reject atoms in review: each is open again, and the next attempt is told the reason
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el reject q5e6 --reason \"no test covers offsets\"
  el reject q5e6 x2 -r - < review.txt

Several are sent back together or not at all.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
    /// The faults to fix; `-` reads the text from stdin
    #[arg(short, long, value_name = "TEXT", required = true)]
    reason: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let reason = input::read_text(app, "reason", &args.reason)?;
    let rejected =
        ops::reject_all(&mut app.open_for_writing()?, &app.ctx(), &args.ids.ids, &reason)?;
    report_changed(app, args.ids.ids.len(), "Rejected", &rejected)
}
