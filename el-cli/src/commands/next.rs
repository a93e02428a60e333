use el_core::ops::{self, ClaimNext};

use super::list::FilterArgs;
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{atoms, style};
use crate::session;

/// Pick the best ready atom, and claim it if asked to
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el next
  el next --claim --robot
  el next --claim --type bug --actor gendry

Picking and claiming are one step: two callers never get the same atom. What is assigned to
someone else is not picked. When nothing is ready the answer is null, with exit code 0.")]
pub(crate) struct Args {
    /// Claim it for the actor, in the same step
    #[arg(long)]
    claim: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let which = ClaimNext {
        filter: args.filter.filter(app)?,
        claim: args.claim,
        conversation: session::conversation(),
    };
    let mut store = if args.claim { app.writer()? } else { app.reader()? };
    let found = ops::next(&mut store, &app.ctx(), &which)?;
    app.printer.emit(&found, |page| match &found {
        Some(atom) if page.quiet() => page.line(&atom.id),
        Some(atom) if args.claim => atoms::did(page, "Claimed", atom),
        Some(atom) => {
            let line = atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
            page.line(line);
        }
        None if page.quiet() => {}
        None => {
            let text = page.paint(style::DIM, "nothing is ready");
            page.line(text);
        }
    })?;
    Ok(Exit::Done)
}
