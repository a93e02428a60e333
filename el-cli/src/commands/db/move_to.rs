//! Moves a tracker from a file to a server, back, or to another one.

use std::env;
use std::path::{Path, PathBuf};

use el_agents::worker;
use el_core::model::{Timestamp, Worker};
use el_core::{
    Durability, MoveReport, MoveState, MoveTarget, Places, ServerAddress, Store, count_noun,
    has_password, ops,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{ensure_file_or_nothing, target_error};
use crate::commands::work::{named_worker, silent_hint};
use crate::output::{Page, Progress, sanitize, style};
use crate::project::{Project, STATE_FOLDER};
use crate::{App, CommandError, Exit, Result, modes};

/// Move the tracker to a server, or into a file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el db move --to postgres://ann@db.example.org/shop
  el db move --to postgres://db/team?options=-csearch_path%3Dshop
  EL_DATABASE_URL=postgres://db/shop el db move --to .eluent/el.db        And back
  el db move --to postgres://db/shop --dry-run      Say what it would do, or why not

All tables are copied as they are at one moment, and compared. The old side is then closed: it
still shows what it held, and every change there says where the tracker is. A call that is ended
in the middle loses nothing; the same call goes on. Afterwards name the new side to el, by
EL_DATABASE_URL, database_url or --db. Files of runs stay where they are.

Exit codes: 4 a run or a worker is live, or the target holds another tracker; 6 a side cannot be
used; 7 it did not answer in time.")]
pub(crate) struct Args {
    /// A server's address, without a password, or a file
    #[arg(long, value_name = "URL|FILE", value_hint = clap::ValueHint::FilePath)]
    to: String,
    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Answer {
    from: String,
    to: String,
    rows: u64,
    #[serde(flatten)]
    report: MoveReport,
}

/// The target of the move, as a person names it.
enum Target {
    File(PathBuf),
    Server(ServerAddress),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let target = read_target(&args.to)?;
    let project = app.project()?;
    let from = place_of(project)?;
    let to = match &target {
        Target::File(path) => file_place(path),
        Target::Server(address) => address.without_password(),
    };
    let mut store = project.open_store(Durability::Full)?;
    if store.closed().is_none() {
        ensure_no_workers(&store, app.now())?;
    }
    let target = match &target {
        Target::File(path) => MoveTarget::File(path),
        Target::Server(address) => MoveTarget::Server(address),
    };
    let places = Places { from: &from, to: &to };
    let at_target = |error| match target {
        MoveTarget::File(path) => target_error(error, path),
        MoveTarget::Server(_) => error.into(),
    };
    let report = if args.dry_run {
        store.plan_move(&target, places).map_err(at_target)?
    } else {
        if let MoveTarget::File(path) = target {
            prepare_folder(path)?;
        }
        let progress = Progress::new(&app.printer, "moving");
        let moved = store.move_to(&target, places, &mut |done, all| {
            progress.show_counts(as_count(done), as_count(all));
            Ok(())
        });
        moved.map_err(at_target)?
    };
    let rows = report.tables.iter().map(|table| table.rows).sum();
    let answer = Answer { from, to, rows, report };
    let to = sanitize::one_line(&args.to);
    let next = match target {
        MoveTarget::Server(_) => {
            format!("export EL_DATABASE_URL='{to}', or el config set database_url '{to}'")
        }
        MoveTarget::File(path) if *path == Project::in_folder(&project.root).db => {
            "unset EL_DATABASE_URL EL_DB; el config unset database_url".to_owned()
        }
        MoveTarget::File(path) => {
            let path = sanitize::path_line(path);
            format!("unset EL_DATABASE_URL; export EL_DB='{path}', or --db '{path}' each time")
        }
    };
    app.printer.emit(&answer, |page| print_answer(page, &answer, &next))
}

pub(super) fn as_count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// The place of a project's tables, in words without a password.
pub(super) fn place_of(project: &Project) -> Result<String> {
    Ok(match project.server_address()? {
        Some(address) => address.without_password(),
        None => file_place(&project.db),
    })
}

fn file_place(path: &Path) -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{} on {host}", path.display())
}

fn read_target(to: &str) -> Result<Target> {
    if to.contains("://") {
        if has_password(to) {
            return Err(CommandError::invalid_value(
                "to",
                "an address with a password would be seen by everybody on this machine",
            )
            .with_hint("leave it out; ~/.pgpass or PGPASSWORD has the password"));
        }
        return Ok(Target::Server(ServerAddress::new(to, env::vars_os())));
    }
    let path = std::path::absolute(to)
        .map_err(|source| CommandError::file_error("find", Path::new(to), source))?;
    if to.is_empty() || path.is_dir() {
        let message = format!("'{}' is not a file", sanitize::one_line(to));
        return Err(CommandError::invalid_value("to", message)
            .with_hint("name a file that is to be made, such as .eluent/el.db"));
    }
    if !to.contains(['/', '.']) && !path.exists() {
        let message = format!("'{}' is no address of a server", sanitize::one_line(to));
        return Err(CommandError::invalid_value("to", message)
            .with_hint("an address begins with postgres://")
            .with_hint(format!("if a file is meant: --to ./{}", sanitize::one_line(to))));
    }
    ensure_file_or_nothing(&path)?;
    Ok(Target::File(path))
}

/// Makes the folder of a tracker; any other folder must exist already.
fn prepare_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    if folder.file_name().is_some_and(|name| name == STATE_FOLDER) {
        modes::create_state_folder(folder)
            .map_err(|source| CommandError::file_error("create", folder, source))?;
    }
    if folder.is_dir() {
        return Ok(());
    }
    let message = format!("there is no folder {}", folder.display());
    Err(CommandError::not_found(message).with_hint("make it, then try again"))
}

/// Refuses while a worker is signed on, since it would go on claiming.
fn ensure_no_workers(store: &Store, now: Timestamp) -> Result<()> {
    let there: Vec<Worker> =
        ops::list_workers(store)?.into_iter().filter(worker::is_there).collect();
    if there.is_empty() {
        return Ok(());
    }
    let named: Vec<String> = there.iter().map(|worker| named_worker(worker, now)).collect();
    let hint = silent_hint(&there, now)
        .unwrap_or_else(|| "el work --stop ends workers and runs cleanly".to_owned());
    let message = format!("nothing was moved, since workers are there: {}", named.join(", "));
    Err(CommandError::conflict("in_use", message).with_detail("live", named).with_hint(hint))
}

fn print_answer(page: &mut Page, answer: &Answer, next: &str) {
    let place = sanitize::one_line(&answer.to);
    let rows = count_noun(as_count(answer.rows), "row");
    let (word, rest) = match answer.report.state {
        MoveState::Planned => {
            let from = sanitize::one_line(&answer.from);
            page.push_line(format!("Would move {rows} from {from} to {place}"));
            return;
        }
        MoveState::Moved => ("Moved", format!("{rows} to {place}; both sides are equal")),
        MoveState::Finished => ("Finished", format!("an earlier move to {place}")),
        MoveState::MovedBefore => ("Done", format!("before: the tracker is at {place}")),
    };
    page.push_done(word, &rest);
    if !page.is_quiet() {
        page.push_painted(style::DIM, &format!("next: {next}"));
    }
}
