//! A process is outside of agents' sessions, inside of one, or answers for one.
//!
//! In a session, `el` has no tracker. First of all, `el` hands the whole command to the run's
//! supervisor by the session socket; an `el` outside of the session runs the command, with the
//! rights of the run's agent.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use el_agents::rundir::RunDir;
use el_agents::session as socket;
use el_core::Store;

mod answer;
mod caller;
mod wire;

pub(crate) use answer::{Call, Session};

use self::caller::Lost;
use crate::{CommandError, Exit};

/// The time for which a call of a session tries to reach a silent server, and the interval.
const SERVER_PATIENCE: Duration = Duration::from_secs(20);
const SERVER_PAUSE: Duration = Duration::from_millis(300);

/// The place of this process with regard to sessions.
#[derive(Debug)]
pub(crate) enum Place {
    Outside,
    /// In a session, with its socket; `None` where there is no tracker.
    Inside(Option<PathBuf>),
    /// Started by a supervisor to answer one call.
    Answering,
}

/// Finds out if this process is outside of sessions, inside, or answers for one.
pub(crate) fn place(argv: &[OsString]) -> Place {
    let word = |at: usize| argv.get(at).map(OsString::as_os_str);
    if word(1) == Some(OsStr::new(socket::ANSWER)) {
        return Place::Answering;
    }
    // This is a supervisor's own child; it refuses all other callers.
    if word(1) == Some(OsStr::new("supervise")) && word(3) == Some(OsStr::new("--workplace")) {
        return Place::Outside;
    }
    match env::var_os(socket::VARIABLE).filter(|value| !value.is_empty()) {
        Some(value) if value == socket::NO_TRACKER => return Place::Inside(None),
        Some(value) => return Place::Inside(Some(value.into())),
        None => {}
    }
    // A process that removed the variable was still started by the session.
    match socket::supervisor_above(std::process::id()) {
        Some(supervisor) => {
            Place::Inside(RunDir::of_supervisor(supervisor).map(|run| run.session_socket()))
        }
        None => Place::Outside,
    }
}

/// Takes the call over that this process was started to answer.
pub(crate) fn take_call() -> std::io::Result<Call> {
    answer::take()
}

/// Tells the caller how the command ended, if this process answers a call.
pub(crate) fn end_call(exit: Exit) {
    answer::end(exit);
}

/// Tells the supervisor that the tracker's disk was full, if this process answers a call.
pub(crate) fn report_full_disk() {
    answer::report_full_disk();
}

/// Returns true if this process answers a call of an agent's session.
pub(crate) fn is_answering() -> bool {
    answer::is_one()
}

/// Opens the tracker. For a call of a session, a server that does not answer is asked again, since
/// an agent that cannot close its atom is charged for that; nothing was sent yet. If the lease ends
/// meanwhile, the supervisor ends its agent, and the agent's calls with it.
pub(crate) fn open_patiently(open: impl Fn() -> el_core::Result<Store>) -> el_core::Result<Store> {
    let began = Instant::now();
    loop {
        let opened = open();
        let is_away = matches!(&opened, Err(error) if error.is_server_away());
        if !is_away || !is_answering() || began.elapsed() > SERVER_PATIENCE {
            return opened;
        }
        std::thread::sleep(SERVER_PAUSE);
    }
}

/// Lets the session's supervisor run the command. The caller has to report an error.
pub(crate) fn call(socket: Option<&Path>, argv: &[OsString]) -> Result<ExitCode, CommandError> {
    let Some(socket) = socket else {
        return Err(CommandError::refused(
            "in_session",
            "this program works for an agent and has no tracker",
        )
        .with_hint("a check of a landing or of a plan cannot call el"));
    };
    caller::call(socket, argv).map_err(|lost| match lost {
        Lost::Unreachable(source) => {
            // `…/runs/RUN/session/socket`
            let run = socket.ancestors().nth(2).and_then(Path::file_name);
            CommandError::from(el_core::Error::StaleRun {
                run: run.unwrap_or(socket.as_os_str()).to_string_lossy().into_owned(),
                why: format!("its supervisor does not answer: {source}"),
            })
        }
        Lost::BrokenOff(source) => {
            CommandError::internal_error("the supervisor broke the command off").with_source(source)
        }
    })
}

/// The refusal for a caller from elsewhere.
pub(crate) fn foreign() -> CommandError {
    CommandError::refused(
        "in_session",
        "this session belongs to another run, or to a program that is not of this run",
    )
    .with_hint("call el with the EL_SESSION that the session was started with")
}

/// The Claude Code conversation that started this process, if any. The client tells its tools and
/// hooks by a variable.
pub(crate) fn claude_conversation() -> Option<String> {
    env::var_os("CLAUDE_CODE_SESSION_ID")
        .filter(|value| !value.is_empty())
        .map(|value| value.to_string_lossy().into_owned())
}
