use el_core::ops;

use super::close::{Ids, report_changed};
use super::freed::Waiting;
use crate::{App, Exit, Result, input};

/// Approve atoms in review: the atoms are closed
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el approve q5e6
  el approve q5e6 x2 --reason \"well done\"

Several ids are approved together or not at all. The closing reason is yours, or else what the
report says was done.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
    /// A comment; `-` reads the text from stdin
    #[arg(short, long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let reason = input::read_optional(app, "reason", args.reason.as_deref())?;
    let mut store = app.open_for_writing()?;
    let waiting = Waiting::find_waiting(app, &store, &args.ids.ids);
    let approved = ops::approve(&mut store, &app.ctx(), &args.ids.ids, reason.as_deref())?;
    report_changed(app, args.ids.ids.len(), "Approved", &approved)?;
    waiting.report_freed(app, &store, &approved)?;
    Ok(Exit::Done)
}
