use std::io::IsTerminal as _;

use crate::{App, CommandError, Exit, Result};

/// Show the board in this terminal, live, with a key for each action
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el top
  NO_COLOR=1 el top

j and k or the arrows move, Tab goes to the next part, / filters, ? lists the keys, q leaves.
The entries that need you come first, and their keys are at the foot. A question comes before
anything that cannot be undone.")]
pub(crate) struct Args {}

pub(super) fn run(_args: &Args, app: &App, show: fn(&App) -> Result<Exit>) -> Result<Exit> {
    let is_terminal = std::io::stdin().is_terminal() && app.printer.is_terminal();
    if app.printer.is_robot() || !is_terminal {
        return Err(CommandError::usage_error("el top needs a terminal")
            .with_hint("el status prints the board once, and el status --watch again and again"));
    }
    // A folder without a tracker is told before the screen is taken.
    app.open_for_reading()?;
    show(app)
}
