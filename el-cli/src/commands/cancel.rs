use el_core::model::CancelMode;
use el_core::ops::{self, Cancelled};

use crate::output::{OneOrMany, style};
use crate::{App, Exit, Result, complete};

/// End running attempts cleanly
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el cancel q5e6                     The atom is held until el reopen
  el cancel run-7kq2m9xd --requeue   The atom is open again, for the next worker
  el cancel q5e6 --reason \"wrong branch\"

The run's supervisor ends the agent and everything it started. Asking again is no error.
An agent's session has no --requeue.")]
pub(crate) struct Args {
    /// An atom, or a run
    #[arg(required = true, value_name = "ATOM|RUN", add = complete::complete_runs())]
    targets: Vec<String>,
    /// Put the atom back into the queue instead of holding the atom
    #[arg(long)]
    requeue: bool,
    /// Why; becomes a comment
    #[arg(short, long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mode = if args.requeue { CancelMode::Requeue } else { CancelMode::Hold };
    let mut store = app.open_for_writing()?;
    let ctx = app.ctx();
    // All are there, or none is asked to end.
    for target in &args.targets {
        ops::target_run(&store, target)?;
    }
    let asked = args.targets.iter();
    let cancelled: Vec<Cancelled> = asked
        .map(|target| ops::cancel(&mut store, &ctx, target, mode, args.reason.as_deref()))
        .collect::<el_core::Result<_>>()?;
    app.printer.emit_sentence(&OneOrMany::for_request(args.targets.len(), &cancelled), |page| {
        for cancelled in &cancelled {
            let then = if args.requeue {
                "its atom is open again then"
            } else {
                "its atom is held then, until el reopen"
            };
            let (run, atom) = (&cancelled.run_id, page.paint(style::ID, &cancelled.atom_id));
            page.push_done("Asked to end:", &format!("{run} of {atom}; {then}"));
        }
    })
}
