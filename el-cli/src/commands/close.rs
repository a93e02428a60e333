use el_core::model::Status;
use el_core::ops::{self, Guard};

use crate::app::App;
use crate::args::values::word;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::atoms;
use crate::output::list::List;
use crate::{complete, input};

/// Close atoms: they are done
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el close q5e6 --reason \"Parser handles offsets; tests added\"
  el close q5e6 x2 --if-status in_progress
  el close q5e6 -r - < summary.txt

Several ids are closed together or not at all. Closing again is no error: the first reason
stands, a new one is added as a comment.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
    /// What was done; `-` reads it from stdin
    #[arg(short, long, visible_alias = "message", short_alias = 'm', value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    guard: GuardArgs,
}

/// One or more atoms.
#[derive(Debug, clap::Args)]
pub(crate) struct Ids {
    /// Ids, or unique beginnings of their short parts
    #[arg(required = true, value_name = "ATOM", add = complete::atoms())]
    pub(super) ids: Vec<String>,
}

/// `--if-status`.
#[derive(Debug, clap::Args)]
pub(crate) struct GuardArgs {
    /// Do nothing, with exit code 4, unless the status is one of these
    #[arg(long, value_parser = word::<Status>(), value_delimiter = ',', value_name = "STATUS", hide_possible_values = true)]
    if_status: Vec<Status>,
}

impl GuardArgs {
    pub(super) fn guard(&self) -> Guard {
        Guard { if_status: self.if_status.clone() }
    }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let reason = args.reason.as_deref().map(|text| input::text(app, "reason", text)).transpose()?;
    let mut store = app.writer()?;
    let closed = ops::close(&mut store, &app.ctx(), &args.ids.ids, reason.as_deref(), &args.guard.guard())?;
    report(app, args.ids.ids.len(), "Closed", &closed)
}

/// One atom for one id, a list for several; a line for each.
pub(super) fn report(app: &App, asked: usize, verb: &str, changed: &[el_core::model::Atom]) -> Result<Exit> {
    let human = |page: &mut crate::output::page::Page| changed.iter().for_each(|atom| atoms::did(page, verb, atom));
    match changed {
        [one] if asked == 1 => app.printer.emit(one, human)?,
        several => app.printer.emit(&List::all(several), human)?,
    }
    Ok(Exit::Done)
}
