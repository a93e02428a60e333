//! The supervisor's side of the session socket: it accepts a call, and starts an `el` to answer it.
//!
//! The supervisor reads nothing from a connection. Rubbish, silence or a crash affects the
//! answering process alone, and takes one of a bounded number of places until the run ends.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixListener;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::rundir::{RunDir, RunDirError, private_folder};
use crate::session::{self, Identity};

/// The most calls that are answered at a time; further callers wait.
const CALLS_MAX: usize = 64;
/// The pause after a call that could not be accepted for lack of files or processes.
const AGAIN: Duration = Duration::from_millis(100);
/// How long the last calls may take after their agent has ended.
const LAST_CALLS: Duration = Duration::from_millis(500);

/// An open session socket. Dropping it ends the calls and removes the socket.
#[derive(Debug)]
pub(crate) struct SessionSocket {
    path: PathBuf,
    accepting: JoinHandle<()>,
    answering: Arc<Answering>,
}

/// The values that every answering process gets.
#[derive(Debug)]
struct Answering {
    el: PathBuf,
    identity: Vec<u8>,
    environment: Vec<(OsString, OsString)>,
    places: Arc<Semaphore>,
    met_full_disk: AtomicBool,
    /// How many calls were answered.
    answered: Arc<AtomicUsize>,
}

/// The socket could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionSocketError {
    #[error(transparent)]
    Folder(#[from] RunDirError),
    #[error("cannot listen on {}", path.display())]
    Listen {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl SessionSocket {
    /// Opens the socket of a run, in a folder whose contents the agent may all reach.
    pub(crate) fn open(
        folder: &RunDir,
        el: &Path,
        identity: &Identity,
        environment: &[(OsString, OsString)],
    ) -> Result<SessionSocket, SessionSocketError> {
        private_folder(&folder.session())?;
        let path = folder.session_socket();
        let listener = session::bind(&path)
            .and_then(|listener| {
                listener.set_nonblocking(true)?;
                UnixListener::from_std(listener)
            })
            .map_err(|source| SessionSocketError::Listen { path: path.clone(), source })?;
        let answering = Arc::new(Answering {
            el: el.to_owned(),
            identity: serde_json::to_vec(identity).expect("it has string keys only"),
            environment: environment.to_vec(),
            places: Arc::new(Semaphore::new(CALLS_MAX)),
            met_full_disk: AtomicBool::new(false),
            answered: Arc::default(),
        });
        session::set_open(true);
        let accepting = tokio::spawn(accept(listener, Arc::clone(&answering)));
        Ok(SessionSocket { path, accepting, answering })
    }

    /// Counts the calls that were answered.
    pub(crate) fn answered(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.answering.answered)
    }

    /// Returns true if a change that the session tried failed, since the disk was full. Waits for
    /// the last calls: an agent has its answer before the answering process has ended.
    pub(crate) async fn met_full_disk(&self) -> bool {
        let all = self.answering.places.acquire_many(CALLS_MAX as u32);
        drop(tokio::time::timeout(LAST_CALLS, all).await);
        self.answering.met_full_disk.load(Ordering::Relaxed)
    }
}

impl Drop for SessionSocket {
    fn drop(&mut self) {
        self.accepting.abort();
        // Nobody listens any more. A caller that finds a leftover socket learns the same.
        let _ = std::fs::remove_file(&self.path);
        session::set_open(false);
    }
}

async fn accept(listener: UnixListener, answering: Arc<Answering>) {
    // The set ends with this task, and so do the calls.
    let mut calls = tokio::task::JoinSet::new();
    loop {
        while calls.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        let places = Arc::clone(&answering.places);
        let Ok(place) = places.acquire_owned().await else { return };
        let answering = Arc::clone(&answering);
        calls.spawn(async move {
            let answered = match stream.into_std() {
                Ok(stream) => answering.answer(stream).await,
                Err(error) => Err(error),
            };
            if answered.is_err() {
                tokio::time::sleep(AGAIN).await;
            }
            drop(place);
        });
    }
}

impl Answering {
    /// Answers one call: until the answering process ends, or the caller goes away.
    async fn answer(&self, stream: UnixStream) -> io::Result<()> {
        // A second handle shows the end of the connection. The answering process makes it blocking.
        let caller = tokio::net::UnixStream::from_std(stream.try_clone()?)?;
        // The process reads its identity from this socket, whose credentials show who made it.
        let (mut ours, theirs) = UnixStream::pair()?;
        ours.write_all(&self.identity)?;
        ours.shutdown(Shutdown::Write)?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(&self.el);
        command
            .arg(session::ANSWER)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir("/")
            .stdin(OwnedFd::from(theirs))
            .stdout(OwnedFd::from(stream))
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        drop(command);
        let ended = tokio::select! {
            ended = child.wait() => ended.map(drop),
            () = hung_up(&caller) => child.kill().await,
        };
        self.answered.fetch_add(1, Ordering::Release);
        let mut report = [0];
        if ours.read(&mut report).is_ok_and(|_| report == [session::FULL_DISK]) {
            self.met_full_disk.store(true, Ordering::Relaxed);
        }
        ended
    }
}

/// Waits until the caller is gone. Reads nothing.
async fn hung_up(caller: &tokio::net::UnixStream) {
    loop {
        match caller.ready(Interest::READABLE).await {
            Ok(ready) if !ready.is_read_closed() => {}
            _ => return,
        }
        // The bytes are for the answering process, so they count as nothing to read here.
        let nothing = || Err::<(), _>(io::ErrorKind::WouldBlock.into());
        let _ = caller.try_io(Interest::READABLE, nothing);
    }
}
