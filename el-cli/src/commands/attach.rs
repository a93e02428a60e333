use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use el_agents::process::Liveness;
use el_agents::tmux::{Tmux, socket_name};
use el_core::model::Run;
use el_core::ops;
use serde_json::json;

use crate::output::runs;
use crate::{App, CommandError, Exit, Result, complete};

/// Watch an agent at work: attach to its tmux session
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el attach q5e6
  el attach run-7kq2m9xd
  el attach q5e6 --robot     The command that attaches, without running it

Ctrl-b d detaches and leaves the agent to its work.")]
pub(crate) struct Args {
    /// An atom, or a run
    #[arg(value_name = "ATOM|RUN", add = complete::complete_runs())]
    target: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let run = ops::target_run(&app.open_for_reading()?, &args.target)?;
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let socket = socket_name(&app.project()?.db);
    let tmux = Tmux::discover(&socket, &environment)?;
    if run.is_live() && runs::host_of_run(&run).is_some() {
        return Err(no_session_error(&run));
    }
    let session = run.session.as_deref().ok_or_else(|| no_session_error(&run))?;
    match tmux.session_exists(session) {
        Liveness::Absent => return Err(no_session_error(&run)),
        Liveness::Unknown => {
            return Err(CommandError::new(
                Exit::TimedOut,
                "tmux_unknown",
                format!("tmux did not say whether {session} is there"),
            )
            .with_retryable(true)
            .with_hint(format!(
                "try again; el logs {} shows what the agent does, without tmux",
                run.id
            )));
        }
        Liveness::Alive => {}
    }
    let mut attach = tmux.attach_command(session, std::env::var_os("TMUX").as_deref());
    if app.printer.is_robot() {
        let data = json!({
            "run_id": run.id,
            "atom_id": run.atom_id,
            "session": session,
            "socket": socket,
            "command": command_words(&attach),
        });
        return app.printer.emit(&data, |_| {});
    }
    if !std::io::stdin().is_terminal() || !app.printer.is_terminal() {
        return Err(CommandError::usage_error("a session can be attached to a terminal only")
            .with_hint(format!("el logs {} -f follows it here", run.id)));
    }
    // `exec` returns only on failure.
    let source = attach.exec();
    Err(CommandError::config_error("tmux", "tmux could not be started").with_source(source))
}

fn command_words(command: &Command) -> Vec<String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

fn no_session_error(run: &Run) -> CommandError {
    let id = &run.id;
    let error = |what: &str| {
        CommandError::not_found(format!("{id} {what}")).with_detail("run", id.as_str())
    };
    match (run.is_live(), runs::host_of_run(run)) {
        (true, Some(host)) => error(&format!("runs on {host}"))
            .with_detail("host", host)
            .with_hint(format!("el attach {id} attaches there; el logs {id} -f follows it here")),
        (true, None) => error("has no tmux session").with_hint(format!(
            "it is only just starting, or its session was ended; el runs show {id} tells more"
        )),
        (false, _) => error("is over, and its session is gone")
            .with_hint(format!("el logs {id} shows what was said and done")),
    }
}
