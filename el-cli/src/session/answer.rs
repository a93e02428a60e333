//! The `el` that answers a call of a session. The supervisor starts this process, with the run's
//! identity as stdin and the connection as stdout; the rest comes from the caller.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use el_agents::session::{self as socket, Identity};
use el_core::{Durability, ServerAddress, SessionCredentials, Store};

use super::caller::{OUTSIDE, VARIABLES};
use super::wire::{self, Kind, Message};
use crate::Exit;

/// The time limit for receiving a caller's command.
const PATIENCE: Duration = Duration::from_secs(10);

/// The session for which this process answers a call.
#[derive(Debug)]
pub(crate) struct Session {
    /// The run, with the token. A check of the run has no token, so the check may look and may
    /// change nothing.
    pub(crate) credentials: SessionCredentials,
    /// The only tracker.
    pub(crate) database: PathBuf,
    /// The server that has its tables, if one has.
    pub(crate) server: Option<ServerAddress>,
    /// The author of all changes.
    pub(crate) agent: String,
    connection: Mutex<UnixStream>,
}

/// The socket of the identity, from which the supervisor reads a report.
static SUPERVISOR: OnceLock<UnixStream> = OnceLock::new();

/// The connection of this process's only call. It also tells the caller of a panic.
static CONNECTION: OnceLock<UnixStream> = OnceLock::new();

/// A call as it was received.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) argv: Vec<OsString>,
    pub(crate) session: Session,
    /// Set if the caller does not belong to this session.
    pub(crate) is_foreign: bool,
}

/// Takes the call over: streams, folder and the few variables become those of this process.
pub(super) fn take() -> io::Result<Call> {
    let identity = identity()?;
    let connection = UnixStream::from(duplicate(io::stdout())?);
    connection.set_nonblocking(false)?;
    let is_foreign = !belongs_here(&connection)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    let message = wire::receive(&connection)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    connection.set_read_timeout(None)?;
    let Message { kind: Kind::Call, parts, files } = message else {
        return Err(io::ErrorKind::InvalidData.into());
    };
    let [stdin, stdout, stderr] = <[OwnedFd; 3]>::try_from(files)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "three files are needed"))?;
    rustix::stdio::dup2_stdin(&stdin)?;
    rustix::stdio::dup2_stdout(&stdout)?;
    rustix::stdio::dup2_stderr(&stderr)?;
    let mut parts = parts.into_iter();
    let folder = parts.next().unwrap_or_default();
    let count = parts.next().and_then(|count| count.to_str()?.parse::<usize>().ok()).unwrap_or(0);
    let set: Vec<OsString> = parts.by_ref().take(count).collect();
    let is_check = take_variables(&set);
    // The folder may exist in the sandbox alone: no path is relative to it here, then.
    let _ = env::set_current_dir(folder);
    let Identity { run, token, database, server, agent } = identity;
    let token = Some(token).filter(|_| !is_check);
    let credentials = SessionCredentials { run, token };
    let _ = CONNECTION.set(connection.try_clone()?);
    let connection = Mutex::new(connection);
    let session = Session { credentials, database, server, agent, connection };
    Ok(Call { argv: parts.collect(), session, is_foreign })
}

/// Tells the supervisor that the tracker's disk was full.
pub(super) fn report_full_disk() {
    if let Some(mut supervisor) = SUPERVISOR.get() {
        let _ = supervisor.write_all(&[socket::FULL_DISK]);
    }
}

fn duplicate(stream: impl AsFd) -> io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

/// Reads the identity from stdin: a socket that our parent, a supervisor, has made. No process of a
/// session can start an `el` with an identity.
fn identity() -> io::Result<Identity> {
    let from = UnixStream::from(duplicate(io::stdin())?);
    #[cfg(target_os = "linux")]
    {
        let maker = rustix::net::sockopt::socket_peercred(&from)?.pid;
        let parent = rustix::process::getppid();
        let above = socket::supervisor_above(std::process::id()).map(i64::from);
        let is_parent = Some(maker) == parent;
        if !is_parent || above != parent.map(|pid| i64::from(pid.as_raw_nonzero().get())) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    from.set_read_timeout(Some(PATIENCE))?;
    let mut bytes = Vec::new();
    (&from).take(1 << 16).read_to_end(&mut bytes)?;
    let _ = SUPERVISOR.set(from);
    Ok(serde_json::from_slice(&bytes)?)
}

/// Returns true if the caller is of our user and below our supervisor, not of another session.
#[cfg(target_os = "linux")]
fn belongs_here(connection: &UnixStream) -> io::Result<bool> {
    let caller = rustix::net::sockopt::socket_peercred(connection)?;
    if caller.uid != rustix::process::geteuid() {
        return Ok(false);
    }
    let pid = u32::try_from(caller.pid.as_raw_nonzero().get()).unwrap_or(0);
    let own = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    let own = own.and_then(|pid| u32::try_from(pid).ok());
    Ok(own.is_some() && socket::supervisor_above(pid) == own)
}

/// The folder of the socket is the user's alone.
#[cfg(not(target_os = "linux"))]
fn belongs_here(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}

/// Replaces our variables by the caller's. Returns true if a check calls.
fn take_variables(set: &[OsString]) -> bool {
    let value_of = |name: &str| {
        set.iter().find_map(|pair| {
            let rest = pair.as_encoded_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(rest).to_owned())
        })
    };
    for name in VARIABLES {
        #[expect(
            unsafe_code,
            reason = "libraries read these from the environment and nowhere else"
        )]
        match value_of(name) {
            // SAFETY: this process has one thread yet.
            Some(value) => unsafe { env::set_var(name, value) },
            // SAFETY: the same.
            None => unsafe { env::remove_var(name) },
        }
    }
    value_of(el_agents::verify::MARK).is_some()
}

impl Session {
    /// Asks the caller to open a file to be read.
    pub(crate) fn open(&self, path: &Path) -> io::Result<File> {
        self.ask(Kind::Read, path)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Asks the caller to make a file that takes the place of `path` once the new file is
    /// [kept](Self::keep_new_file).
    pub(crate) fn create(&self, path: &Path) -> io::Result<File> {
        self.ask(Kind::Write, path)?.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Asks the caller to put the new file into its place.
    pub(crate) fn keep_new_file(&self) -> io::Result<()> {
        self.ask(Kind::Keep, Path::new("")).map(drop)
    }

    fn ask(&self, kind: Kind, path: &Path) -> io::Result<Option<File>> {
        let below = self.folders();
        let parts: Vec<&OsStr> =
            std::iter::once(path.as_os_str()).chain(below.iter().map(|f| f.as_os_str())).collect();
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        wire::send(&connection, kind, &parts, &[])?;
        let answer = wire::receive(&connection)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        match answer.kind {
            Kind::Done => Ok(answer.files.into_iter().next().map(File::from)),
            Kind::Failed => {
                let code = answer.parts.first().and_then(|code| code.to_str()?.parse().ok());
                let text = answer.parts.get(1).map(|text| text.to_string_lossy().into_owned());
                Err(match code {
                    Some(code @ 1..) => io::Error::from_raw_os_error(code),
                    _ if text.as_deref() == Some(OUTSIDE) => {
                        io::Error::new(io::ErrorKind::PermissionDenied, OUTSIDE)
                    }
                    _ => io::Error::other(text.unwrap_or_default()),
                })
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// The folders of files that a session may read and write: the run's working folder, and for
    /// files in transit the folders for temporary files.
    fn folders(&self) -> Vec<PathBuf> {
        let work = self.workplace();
        work.into_iter().chain([env::temp_dir(), PathBuf::from("/tmp")]).collect()
    }

    /// Where the run works, without links.
    pub(crate) fn workplace(&self) -> Option<PathBuf> {
        let server = self.server.as_ref();
        let store = Store::open_at(&self.database, server, Durability::Normal).ok()?;
        let run = el_core::ops::get_run(&store, &self.credentials.run).ok()?;
        std::fs::canonicalize(run.workdir).ok()
    }
}

pub(super) fn is_one() -> bool {
    CONNECTION.get().is_some()
}

/// Tells the caller how the command ended, if this process answers for one. Only the first time.
pub(super) fn end(exit: Exit) {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    if let Some(connection) = CONNECTION.get()
        && !IS_OVER.swap(true, Ordering::Relaxed)
    {
        // A caller that is gone needs no code.
        let code = exit.code().to_string();
        let _ = wire::send(connection, Kind::Exit, &[OsStr::new(&code)], &[]);
    }
}
