//! `el`: an issue tracker for coding agents, with the workers built in.

use std::process::ExitCode;
use std::sync::Arc;

mod actor;
mod app;
mod args;
mod backup_hooks;
mod backups;
mod command_list;
mod commands;
mod complete;
mod editor;
mod error;
mod exit;
mod globals;
mod in_git;
mod input;
mod known_trackers;
mod locate;
mod looked;
mod mcp;
mod mistyped;
mod modes;
mod output;
mod own_state;
mod owner;
mod project;
mod pull_watch;
mod read_age;
mod replace;
mod schema;
mod search_path;
mod serve;
mod server;
mod session;
mod settings;
mod setup;
mod shared_remote;
mod strict_json;
mod top;
mod trust;
mod values;
mod watch;

pub(crate) use app::App;
use args::Parsed;
use clap::CommandFactory as _;
use commands::{Command, Upper};
use el_agents::sandbox;
pub(crate) use error::{CommandError, Result};
pub(crate) use exit::Exit;
use output::printer::{Format, Printer};
use output::terminal::ColorWhen;
use session::{Place, Session};

const UPPER: Upper = Upper {
    grammar: args::Cli::command,
    serve_mcp: mcp::serve,
    serve_board: serve::serve,
    show_top: top::show,
};

fn main() -> ExitCode {
    let argv: Vec<_> = std::env::args_os().collect();
    if argv.get(1).is_some_and(|word| word == sandbox::ENTER) {
        // The program has its environment as it was given.
        return sandbox::enter(&argv[2..]);
    }
    search_path::keep_absolute_folders();
    if args::asks_for_version(&argv) {
        // It is the same in a session, and needs no grammar.
        let printer = Printer::new(Format::Human, ColorWhen::Never, false);
        let version = concat!("el ", env!("CARGO_PKG_VERSION"), "\n");
        return report_result(
            &printer,
            printer.write_bytes(version.as_bytes()).map(|()| Exit::Done),
        )
        .into();
    }
    match session::place(&argv) {
        Place::Outside => {
            complete::answer_the_shell(args::Cli::command);
            run(&argv, None).into()
        }
        Place::Inside(socket) => match session::call(socket.as_deref(), &argv) {
            Ok(code) => code,
            Err(error) => report_early_error(&argv, &error).into(),
        },
        Place::Answering => answer_call(),
    }
}

/// Answers one call of an agent's session.
fn answer_call() -> ExitCode {
    // A connection without a proper call gets no answer.
    let Ok(call) = session::take_call() else { return Exit::Usage.into() };
    let exit = match call.is_foreign {
        true => report_early_error(&call.argv, &session::foreign()),
        false => run(&call.argv, Some(call.session.into())),
    };
    session::end_call(exit);
    exit.into()
}

/// Reports why a command could not even begin.
fn report_early_error(argv: &[std::ffi::OsString], error: &CommandError) -> Exit {
    match args::parse_command_line(argv) {
        // A hook never fails.
        Parsed::Run(cli) if cli.command.as_ref().is_some_and(Command::is_hook) => Exit::Done,
        Parsed::Run(cli) => {
            cli.globals.new_printer().emit_failure(error);
            error.exit()
        }
        // Help, and mistakes in the command line, need no tracker.
        Parsed::Text { .. } | Parsed::Wrong { .. } => run(argv, None),
    }
}

fn run(argv: &[std::ffi::OsString], session: Option<Arc<Session>>) -> Exit {
    match args::parse_command_line(argv) {
        Parsed::Run(cli) => {
            let printer = cli.globals.new_printer();
            output::panic::install_hook(printer.is_robot(), cli.globals.debug);
            let app = App::new(cli.globals, printer, session);
            el_core::before_migration(backup_hooks::before_migration);
            let done = match cli.command {
                Some(command) => command.run(&app, &UPPER),
                None => Command::run_bare(&app),
            };
            let done = done.map_err(|error| backup_hooks::offer(error, &app));
            if done.as_ref().is_err_and(|error| error.code() == "disk") {
                session::report_full_disk();
            }
            let exit = report_result(&app.printer, done);
            app.back_up_if_due();
            // The caller need not wait longer: the database is closed later.
            session::end_call(exit);
            exit
        }
        Parsed::Text { text, color } => {
            let printer = Printer::new(Format::Human, color, false);
            report_result(&printer, printer.print_styled(&text).map(|()| Exit::Done))
        }
        Parsed::Wrong { error, robot, color } => {
            let format = if robot { Format::Robot } else { Format::Human };
            let printer = Printer::new(format, color, false);
            printer.emit_failure(&error);
            error.exit()
        }
    }
}

fn report_result(printer: &Printer, result: Result<Exit>) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) => {
            if !error.is_broken_pipe() {
                printer.emit_failure(&error);
            }
            error.exit()
        }
    }
}
