//! `el`: an issue tracker for coding agents, with the workers built in.

use std::process::ExitCode;

mod actor;
mod app;
mod args;
mod backups;
mod command_list;
mod commands;
mod complete;
mod editor;
mod error;
mod exit;
mod globals;
mod input;
mod mcp;
mod mistyped;
mod modes;
mod output;
mod owner;
mod project;
mod replace;
mod schema;
mod session;
mod settings;
mod setup;
mod strict_json;
mod trust;
mod values;

use args::Parsed;
use clap::CommandFactory as _;
use commands::Upper;
use exit::Exit;
use output::printer::{Format, Printer};

const UPPER: Upper = Upper { grammar: args::Cli::command, serve_mcp: mcp::serve };

fn main() -> ExitCode {
    complete::answer_the_shell(args::Cli::command);
    let argv: Vec<_> = std::env::args_os().collect();
    run(&argv).into()
}

fn run(argv: &[std::ffi::OsString]) -> Exit {
    match args::parse_command_line(argv) {
        Parsed::Run(cli) => {
            let printer =
                Printer::new(cli.globals.output_format(), cli.globals.color, cli.globals.quiet);
            output::panic::install_hook(printer.is_robot(), cli.globals.debug);
            let app = app::App::new(cli.globals, printer);
            el_core::before_migration(backups::before_migration);
            let done = cli.command.run(&app, &UPPER);
            let done = done.map_err(|error| backups::offer(error, &app));
            let exit = report_result(&app.printer, done);
            app.back_up_if_due();
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

fn report_result(printer: &Printer, result: error::Result<Exit>) -> Exit {
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
