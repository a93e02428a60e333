use el_core::ops;

use crate::output::{atoms, style};
use crate::{App, Exit, Result, complete};

/// Give a claim back: open again, for anyone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el release q5e6
  el release q5e6 --force    Somebody else's claim

A running attempt of el work is ended cleanly by its supervisor. Releasing what nobody has
claimed is no error.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::complete_atoms())]
    id: String,
    /// Also release another name's claim
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let released = ops::release(&mut app.open_for_writing()?, &app.ctx(), &args.id, args.force)?;
    app.printer.emit(&released, |page| {
        atoms::print_done(page, "Released", &released);
        if let Some(run) = &released.run_id
            && !page.is_quiet()
        {
            let text = format!("{run} is being ended; the atom is open once it is");
            page.push_painted(style::DIM, &text);
        }
    })
}
