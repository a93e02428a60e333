use el_core::ops;

use crate::output::atoms;
use crate::{App, Exit, Result, complete, session};

/// Claim an atom for yourself: in progress, and assigned to you
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el claim q5e6
  el claim q5e6 --actor gendry
  el claim q5e6 --force      From another assignee, or in spite of blockers

Claiming what is yours already is no error. A running attempt of el work is never taken from it;
el cancel ends it.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::complete_atoms())]
    id: String,
    /// Claim for this name instead of yours
    #[arg(long, value_name = "NAME")]
    agent_id: Option<String>,
    /// Also if the atom is assigned to somebody else or blocked
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mut store = app.open_for_writing()?;
    let mut ctx = app.ctx();
    if let Some(name) = &args.agent_id {
        ctx.actor = name;
    }
    let claimed = ops::claim(
        &mut store,
        &ctx,
        &args.id,
        args.force,
        session::claude_conversation().as_deref(),
    )?;
    app.printer.emit(&claimed, |page| atoms::print_done(page, "Claimed", &claimed))
}
