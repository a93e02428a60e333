use el_core::ops;

use crate::output::atoms;
use crate::{App, Exit, Result, complete};

/// Take a discarded atom back: open again
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el discard restore q5e6")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let restored = ops::restore(&mut app.open_for_writing()?, &app.ctx(), &args.id)?;
    app.printer.emit(&restored, |page| atoms::print_done(page, "Restored", &restored))
}
