use el_core::ops;

use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::atoms;

/// Give an atom fresh attempts: open, no back-off
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el retry q5e6

For what was blocked after its last attempt, or held by el cancel. The failures so far are
counted no longer. An agent's session gives no fresh attempts, and does not retry its own atom.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::atoms())]
    id: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let opened = ops::retry(&mut app.writer()?, &app.ctx(), &args.id)?;
    app.printer.emit(&opened, |page| atoms::did(page, "Ready to retry", &opened))?;
    Ok(Exit::Done)
}
