use el_core::model::BondKind;
use el_core::ops;

use super::add::print_bond;
use crate::output::List;
use crate::values::word_parser;
use crate::{App, Exit, Result, complete};

/// Remove the bonds from a source to a target
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el dep remove q5e6 x2
  el dep remove q5e6 x2 --type related     Only that one

Removing a bond that is not there is an error.")]
pub(crate) struct Args {
    /// The source
    #[arg(value_name = "SOURCE", add = complete::all_atoms())]
    source: String,
    /// The target
    #[arg(value_name = "TARGET", add = complete::all_atoms())]
    target: String,
    /// Only of this kind [default: all]
    #[arg(long = "type", value_parser = word_parser::<BondKind>(), value_name = "TYPE")]
    kind: Option<BondKind>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let removed = ops::dep_remove(
        &mut app.open_for_writing()?,
        &app.ctx(),
        &args.source,
        &args.target,
        args.kind,
    )?;
    app.printer.emit(&List::complete(&removed), |page| {
        removed.iter().for_each(|bond| print_bond(page, "Removed", bond))
    })
}
