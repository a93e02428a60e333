use el_core::model::Bond;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{bonds, style};
use crate::{App, Exit, Result, complete};

/// List the bonds of an atom, by direction
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el dep list q5e6
  el dep list q5e6 --robot")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Bonds<'a> {
    atom_id: &'a str,
    outgoing: &'a [Bond],
    incoming: &'a [Bond],
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let shown = ops::show(&app.open_for_reading()?, &args.id)?;
    let dependencies = &shown.dependencies;
    let data = Bonds {
        atom_id: &shown.atom.id,
        outgoing: &dependencies.outgoing,
        incoming: &dependencies.incoming,
    };
    app.printer.emit(&data, |page| {
        if dependencies.outgoing.is_empty() && dependencies.incoming.is_empty() {
            page.push_painted(style::DIM, "bound to nothing");
        }
        bonds::print_bonds(page, &shown);
    })
}
