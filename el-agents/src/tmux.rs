//! tmux: the sessions of agents, on a private server.
//!
//! The server is private (`-L <socket>`), reads no configuration (`-f /dev/null`), and starts with
//! a cleaned environment. Arguments are the session's name (letters, digits, `-`, `_`) and the
//! words of a command, never text of an atom. Every call has a time limit, because a tmux that
//! hangs must not block el.
//!
//! tmux provides sessions, not truth: the liveness of a supervisor comes from its process, the end
//! of a run from its exit record.

mod call;
mod environment;
mod error;
mod names;
mod pane;
mod server;
mod sessions;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::requirements::ConfigurationError;
use call::Answer;

pub(crate) use environment::is_utf8;
pub use environment::server_environment;
pub use error::{Failure, SessionError};
pub use names::{session_name, socket_name};
pub(crate) use pane::{OwnPane, PaneLook};

/// The time limit of a call.
const CALL_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a server to make its lost socket again.
const RECALL: Duration = Duration::from_secs(3);
/// The maximum length of a command in bytes. tmux cannot send more than about 16,300 bytes to its
/// server.
const COMMAND_LIMIT: usize = 16_000;
/// Scrollback of a pane in lines; the whole is in the run's `pane.log`.
const HISTORY_LINES: &str = "10000";

/// A private tmux server, running or not.
#[derive(Debug, Clone)]
pub struct Tmux {
    bin: PathBuf,
    socket: String,
    environment: Vec<(OsString, OsString)>,
    timeout: Duration,
}

/// The ids of a new session. A server never reuses ids, but may reuse names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionIds {
    /// `$3`
    pub session_id: String,
    /// `%7`
    pub pane_id: String,
    /// Pid of the command in the pane.
    pub pane_pid: u32,
    /// Pid of the tmux server.
    pub server_pid: u32,
}

/// A session as listed by the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    pub name: String,
    pub ids: SessionIds,
    /// The command has ended, but the session was to be preserved.
    pub dead: bool,
    /// The number of attached terminals.
    pub attached: u32,
    /// The start time, in seconds since 1970.
    pub created: i64,
}

impl Tmux {
    /// Finds `tmux` on the PATH of the caller's environment. The server gets a cleaned part of that
    /// environment.
    ///
    /// # Errors
    /// With field `tmux` if tmux is not installed.
    pub fn discover(
        socket: &str,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, ConfigurationError> {
        let bin = crate::requirements::find_tmux(environment)?;
        Ok(Self::new(bin, socket, environment))
    }

    /// Returns the server behind this socket name.
    #[must_use]
    pub fn new(bin: PathBuf, socket: &str, environment: &[(OsString, OsString)]) -> Self {
        let environment = server_environment(environment);
        Self { bin, socket: names::safe_socket_name(socket), environment, timeout: CALL_TIMEOUT }
    }

    /// The same with another time limit for each call.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The program that is called.
    #[must_use]
    pub fn bin(&self) -> &Path {
        &self.bin
    }

    /// The server's name (`-L`).
    #[must_use]
    pub fn socket(&self) -> &str {
        &self.socket
    }

    /// Starts a session that runs `argv`, and the server if needed. `argv` has at least two words,
    /// because tmux gives a single word to a shell. The server outlives its last session, until
    /// [`Tmux::release_server`].
    ///
    /// With `preserve` the session outlives its command. The command starts in the server's working
    /// directory with the server's environment, and has to fetch its own.
    ///
    /// # Errors
    /// After [`Failure::TimedOut`] the session may exist: the caller kills the session, or its
    /// command finds out that the run is over. After any other error the session does not exist.
    pub fn start_session(
        &self,
        name: &str,
        argv: &[OsString],
        preserve: bool,
    ) -> Result<SessionIds, SessionError> {
        let refuse = |message: String| SessionError::new(name, "create", Failure::Refused, message);
        if !names::is_safe(name) {
            return Err(refuse(
                "a session's name has only letters, digits, '-' and '_'".to_owned(),
            ));
        }
        if argv.len() < 2 {
            return Err(refuse("a command of one word would be given to a shell".to_owned()));
        }
        let target = format!("={name}:");
        let format = "#{session_id} #{pane_id} #{pane_pid} #{pid}";
        let mut words: Vec<OsString> = [
            &["start-server", ";", "set-option", "-s", "exit-empty", "off", ";"][..],
            &["set-option", "-g", "history-limit", HISTORY_LINES, ";"],
            &["new-session", "-d", "-P", "-F", format, "-x", "200", "-y", "50", "-s", name, "--"],
        ]
        .concat()
        .into_iter()
        .map(OsString::from)
        .collect();
        words.extend(argv.iter().map(|word| call::escape_semicolon(word)));
        if preserve {
            words.extend(
                [";", "set-option", "-p", "-t", &target, "remain-on-exit", "on"]
                    .map(OsString::from),
            );
        }
        let length: usize = words.iter().map(|word| word.len() + 1).sum();
        if length > COMMAND_LIMIT {
            return Err(refuse(format!("a command of {length} bytes is too long for tmux")));
        }
        self.create_session(name, &words)
    }

    /// Creates the session. A server that is ending refuses new sessions for a moment, so the call
    /// is repeated.
    fn create_session(&self, name: &str, words: &[OsString]) -> Result<SessionIds, SessionError> {
        self.recall_server();
        let deadline = Instant::now() + self.timeout;
        let mut pause = call::Pause::new();
        let mut asked_before = false;
        loop {
            let mut command = self.build_command(words);
            crate::process::close_inherited(&mut command);
            let answer = call::run(command, self.timeout)
                .map_err(|error| error.into_error(name, "create"))?;
            if answer.ok {
                return names::parse_ids(&answer.out).ok_or_else(|| {
                    SessionError::new(
                        name,
                        "create",
                        Failure::Refused,
                        answer.describe_unexpected(),
                    )
                });
            }
            let failure = answer.failure();
            if failure == Failure::Exists && asked_before {
                // The session is ours: the attempt that seemed to fail had succeeded. Names are
                // unique.
                if let Some(info) = self.list_sessions()?.into_iter().find(|info| info.name == name)
                {
                    return Ok(info.ids);
                }
            }
            if failure != Failure::NoServer || Instant::now() >= deadline {
                return Err(SessionError::new(name, "create", failure, answer.message()));
            }
            asked_before = true;
            pause.sleep();
        }
    }

    /// Makes a living server recreate its lost socket (deleted by a cleaner of `/tmp`). Otherwise
    /// tmux would start a second server beside a server that no call could end.
    fn recall_server(&self) {
        let socket = self.socket_path();
        let deadline = Instant::now() + RECALL;
        let mut pause = call::Pause::new();
        let mut was_told = false;
        while !socket.exists() && Instant::now() < deadline {
            if !was_told {
                match server::revive_server(&self.socket, true) {
                    server::Revived::Lives { told } => was_told = told,
                    _ => return,
                }
            }
            pause.sleep();
        }
    }

    /// Returns the command that shows a session on the caller's terminal. `tmux` is the caller's
    /// `$TMUX`: inside the same server the command switches the client; inside another server the
    /// command attaches within that session, which tmux would otherwise refuse.
    #[must_use]
    pub fn attach_command(&self, name: &str, tmux: Option<&OsStr>) -> Command {
        let target = format!("={name}");
        let mut command = Command::new(&self.bin);
        command.args(self.base_arguments());
        if tmux.is_some_and(|tmux| names::is_same_server(tmux, &self.socket_path())) {
            command.args(["switch-client", "-t", &target]);
        } else {
            command
                .args(["attach-session", "-t", &target])
                .env_remove("TMUX")
                .env_remove("TMUX_PANE");
        }
        command
    }

    /// Lets the server end: at once without sessions, else with the last session. No server is no
    /// error.
    ///
    /// # Errors
    /// If tmux could not be asked or refused.
    pub fn release_server(&self) -> Result<(), SessionError> {
        match self.ask_server(
            "",
            "release the server of",
            &["set-option", "-s", "exit-empty", "on"],
        )? {
            Some(answer) if !answer.ok && answer.failure() != Failure::NoServer => {
                Err(answer.to_error("", "release the server of"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the pid of the server; `None` if the server does not run.
    ///
    /// # Errors
    /// If tmux could not be asked, or gave no valid answer.
    pub fn server_pid(&self) -> Result<Option<u32>, SessionError> {
        match self.ask_server("", "find the server of", &["display-message", "-p", "#{pid}"])? {
            None => Ok(None),
            Some(answer) if answer.ok => match answer.out.trim().parse() {
                Ok(pid) => Ok(Some(pid)),
                Err(_) => Err(answer.to_error("", "find the server of")),
            },
            Some(answer) => Err(answer.to_error("", "find the server of")),
        }
    }

    /// Where the server listens.
    /// Where the server's socket is, or will be.
    #[must_use]
    pub fn socket_path(&self) -> PathBuf {
        let folder =
            self.environment.iter().find(|(key, value)| key == "TMUX_TMPDIR" && !value.is_empty());
        let folder = folder.map_or(Path::new("/tmp"), |(_, value)| Path::new(value));
        folder.join(format!("tmux-{}", rustix::process::getuid().as_raw())).join(&self.socket)
    }

    fn base_arguments(&self) -> [&str; 5] {
        ["-u", "-L", &self.socket, "-f", "/dev/null"]
    }

    fn build_command<W: AsRef<OsStr>>(&self, words: &[W]) -> Command {
        let mut command = Command::new(&self.bin);
        command
            .args(self.base_arguments())
            .args(words)
            .env_clear()
            .envs(self.environment.iter().map(|(key, value)| (key, value)));
        command
    }

    /// Asks a running server. `None` means that certainly no server runs. A living server without
    /// its socket is told to make the socket again.
    fn ask_server(
        &self,
        name: &str,
        operation: &'static str,
        words: &[&str],
    ) -> Result<Option<Answer>, SessionError> {
        let call = || {
            call::run(self.build_command(words), self.timeout)
                .map_err(|error| error.into_error(name, operation))
        };
        let answer = call()?;
        if answer.ok || answer.failure() != Failure::NoServer {
            return Ok(Some(answer));
        }
        let refused = answer.is_refused();
        let deadline = Instant::now() + self.timeout;
        let mut pause = call::Pause::new();
        let (mut answer, mut was_told) = (answer, false);
        loop {
            match server::revive_server(&self.socket, refused) {
                server::Revived::NoServer => return Ok(None),
                server::Revived::Unknown => return Ok(Some(answer)),
                server::Revived::Lives { told } => was_told |= told,
            }
            // After the signal the server is only asked. A second signal would drop the clients
            // that wait at the new socket.
            loop {
                pause.sleep();
                answer = call()?;
                if answer.ok || answer.failure() != Failure::NoServer || Instant::now() >= deadline
                {
                    return Ok(Some(answer));
                }
                if !was_told || server::find_servers(&self.socket).is_empty() {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "tmux/tests.rs"]
mod tests;
