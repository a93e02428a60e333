use el_core::model::{Bond, BondKind};
use el_core::ops;

use crate::output::{Page, style};
use crate::values::word_parser;
use crate::{App, Exit, Result, complete};

/// Bind a source to a target: the target waits for the source
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el dep add q5e6 x2                       x2 waits until q5e6 is over
  el dep add q5e6 x2 --type related
  el dep add epic1 x2 --type parent_child  epic1 contains x2

Adding a bond that is there is no error; one that would make a cycle is refused.")]
pub(crate) struct Args {
    /// The atom that has to be over first
    #[arg(value_name = "SOURCE", add = complete::complete_atoms())]
    source: String,
    /// The atom that waits
    #[arg(value_name = "TARGET", add = complete::complete_atoms())]
    target: String,
    /// The meaning of the bond
    #[arg(long = "type", value_parser = word_parser::<BondKind>(), value_name = "TYPE",
        default_value = "blocks")]
    kind: BondKind,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let bond = ops::dep_add(
        &mut app.open_for_writing()?,
        &app.ctx(),
        &args.source,
        &args.target,
        args.kind,
    )?;
    app.printer.emit(&bond, |page| print_bond(page, "Bound", &bond))
}

/// `Bound app-q5e6 —blocks→ app-x2`.
pub(super) fn print_bond(page: &mut Page, verb: &str, bond: &Bond) {
    if !page.is_quiet() {
        let source = page.paint(style::ID, &bond.source_id);
        let target = page.paint(style::ID, &bond.target_id);
        page.push_done(verb, &format!("{source} —{}→ {target}", bond.dependency_type));
    }
}
