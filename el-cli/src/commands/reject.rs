use el_core::ops;

use super::close::report;
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::{complete, input};

/// Send back what waits for review: the atom is open again, and the next attempt is told why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el reject q5e6 --reason \"no test covers offsets\"
  el reject q5e6 -r - < review.txt")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::atoms())]
    id: String,
    /// What is to be put right; `-` reads it from stdin
    #[arg(
        short,
        long,
        visible_alias = "message",
        short_alias = 'm',
        value_name = "TEXT",
        required = true
    )]
    reason: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let reason = input::text(app, "reason", &args.reason)?;
    let rejected = ops::reject(&mut app.writer()?, &app.ctx(), &args.id, &reason)?;
    report(app, 1, "Rejected", std::slice::from_ref(&rejected))
}
