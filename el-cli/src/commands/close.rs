use el_agents::launch_spec::launched_sandbox;
use el_agents::sandbox::Confinement;
use el_agents::verify;
use el_core::Store;
use el_core::model::{Run, Status};
use el_core::ops::{self, Guard};
use el_core::protocol::words;

use super::freed::Waiting;
use crate::backups::Reason;
use crate::output::{OneOrMany, Page, atoms};
use crate::project::environment_for_programs;
use crate::values::word_parser;
use crate::{App, CommandError, Exit, Result, backup_hooks, complete, input};

mod worktree;

/// Close atoms: they are done
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el close q5e6 --reason \"Parser handles offsets; tests added\"
  el close q5e6 x2 --if-status in_progress
  el close q5e6 -r - < summary.txt

Several ids are closed together or not at all. Closing again is no error: the first reason
stands, a new one is added as a comment. An epic is closed after what it contains.

A run that works in a worktree of its own and has not committed everything is told so, once,
with exit code 4; the same command again closes the atom.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
    /// The work that was done; `-` reads the text from stdin
    #[arg(short, long, value_name = "TEXT")]
    reason: Option<String>,
    /// Also if somebody else claimed the atom, or an epic has open children
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    guard: GuardArgs,
}

/// One or more atoms.
#[derive(Debug, clap::Args)]
pub(crate) struct Ids {
    /// Ids, or unique beginnings of their short parts
    #[arg(required = true, value_name = "ATOM", add = complete::complete_atoms())]
    pub(super) ids: Vec<String>,
}

/// `--if-status`.
#[derive(Debug, clap::Args)]
pub(crate) struct GuardArgs {
    /// Change nothing, with exit code 4, unless the status is in this list
    #[arg(long, value_parser = word_parser::<Status>(), value_delimiter = ',',
        value_name = "STATUS", hide_possible_values = true)]
    if_status: Vec<Status>,
}

impl GuardArgs {
    /// The guard of these arguments, with the review that the agent's settings demand.
    pub(super) fn close_guard(&self, app: &App, force: bool) -> Guard {
        Guard { force, ..guard_for_caller(app, self.if_status.clone()) }
    }
}

/// The caller's guard: the expected statuses, and the review that the settings of this session's
/// agent demand.
pub(crate) fn guard_for_caller(app: &App, if_status: Vec<Status>) -> Guard {
    // A mistake in the configuration must not keep an agent from ending its work.
    let review = || {
        app.settings()
            .and_then(|settings| settings.agent_settings(app.actor()))
            .is_ok_and(|agent| agent.review)
    };
    Guard { if_status, review: app.session().is_some() && review(), force: false }
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let reason = input::read_optional(app, "reason", args.reason.as_deref())?;
    let mut store = app.open_for_writing()?;
    if args.force && args.ids.ids.len() > 1 {
        backup_hooks::before(app, Reason::BeforeForce);
    }
    ready_to_close(app, &mut store, &args.ids.ids, args.force, &|| true)?;
    let waiting = Waiting::find_waiting(app, &store, &args.ids.ids);
    let closed = ops::close(
        &mut store,
        &app.ctx(),
        &args.ids.ids,
        reason.as_deref(),
        &args.guard.close_guard(app, args.force),
    )?;
    for atom in closed.iter().filter(|_| app.session().is_none()) {
        if let Some(other) = atom.assignee.as_deref().filter(|who| *who != app.actor()) {
            app.printer.note(&format!("{} is assigned to {other}", atom.id));
        }
    }
    let human = |page: &mut Page| {
        for atom in &closed {
            // Closing another atom may have made this one unnecessary.
            match atom.status {
                Status::Closed => atoms::print_done(page, "Closed", atom),
                status => atoms::print_done(page, &format!("Set to {status}"), atom),
            }
        }
    };
    app.printer.emit(&OneOrMany::for_request(args.ids.ids.len(), &closed), human)?;
    waiting.report_freed(app, &store, &closed)?;
    Ok(Exit::Done)
}

/// Makes the session's own work ready to be closed. Unless forced, refuses once what is not
/// committed. Then runs the required check and stores the result, which the transaction that closes
/// the atom judges. Once `goes_on` returns false, the check is ended and no result is stored.
pub(crate) fn ready_to_close(
    app: &App,
    store: &mut Store,
    ids: &[String],
    force: bool,
    goes_on: &dyn Fn() -> bool,
) -> Result<()> {
    let Some((run, token)) = own_run(app, store, ids) else { return Ok(()) };
    if !force {
        worktree::ensure_committed(app, store, &run, &token)?;
    }
    let Some(required) = run.verify.as_ref().filter(|verify| verify.required) else {
        return Ok(());
    };
    app.printer.note(&format!("checking first: {}", words::join_command(&required.command)));
    let environment = environment_for_programs(app.project()?);
    // Inside of the sandbox, `el` knows nothing of it, and all children stay in it.
    let launched = launched_sandbox(store.path(), &run.id);
    let confinement = launched.as_ref().map(|(sandbox, places)| Confinement { sandbox, places });
    let result = match verify::start_check(
        required,
        std::path::Path::new(&run.workdir),
        &environment,
        confinement,
    ) {
        Ok(mut running) => loop {
            if let Some(ended) = running.poll() {
                break ended;
            }
            if !goes_on() {
                return Err(CommandError::conflict(
                    "cancelled",
                    "the close was called off; nothing was changed",
                ));
            }
            std::thread::sleep(verify::LOOK);
        },
        Err(not_run) => *not_run,
    };
    Ok(ops::record_verify(store, &app.ctx(), &run.id, &token, &result)?)
}

/// Refuses, once, to end the session's own atom while the worktree has uncommitted work.
pub(crate) fn ensure_committed(app: &App, store: &mut Store, ids: &[String]) -> Result<()> {
    match own_run(app, store, ids) {
        Some((run, token)) => worktree::ensure_committed(app, store, &run, &token),
        None => Ok(()),
    }
}

/// The session's live run with the token, if the run's atom is among `ids` and not closed. Faults
/// are left to the fence of the change.
fn own_run(app: &App, store: &Store, ids: &[String]) -> Option<(Run, String)> {
    let session = app.session()?;
    let token = session.token.clone()?;
    let run = ops::get_run(store, &session.run).ok().filter(Run::is_live)?;
    let is_own = |id: &String| {
        ops::get_atom(store, id)
            .is_ok_and(|atom| atom.id == run.atom_id && atom.status != Status::Closed)
    };
    ids.iter().any(is_own).then_some((run, token))
}

/// Prints a single atom for a single id, a list for several, and a line for each.
pub(super) fn report_changed(
    app: &App,
    asked: usize,
    verb: &str,
    changed: &[el_core::model::Atom],
) -> Result<Exit> {
    let human =
        |page: &mut Page| changed.iter().for_each(|atom| atoms::print_done(page, verb, atom));
    app.printer.emit(&OneOrMany::for_request(asked, changed), human)
}
