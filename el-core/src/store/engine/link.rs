//! The thread that has the connection to a server.
//!
//! The driver brings a runtime of its own, which cannot be entered where there is another. And
//! whoever asks a server that was stopped, or that a firewall swallows, waits for a bounded time: a
//! supervisor has to end its agent before its lease is over.

use std::cell::Cell;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio_postgres_rustls::MakeRustlsConnect;

use super::{Error, Result};

/// How long an answer is waited for, by default. The server itself gives up before.
pub(super) const PATIENCE: Duration = Duration::from_secs(40);

type Job = Box<dyn FnOnce(&mut postgres::Client) + Send>;

/// How a server is reached.
#[derive(Clone)]
pub(crate) struct Opening {
    pub(crate) config: Box<postgres::Config>,
    /// `None`: by a unix socket, or on this very machine.
    pub(crate) tls: Option<MakeRustlsConnect>,
}

impl Opening {
    pub(super) fn connect(self) -> std::result::Result<postgres::Client, postgres::Error> {
        match self.tls {
            Some(tls) => self.config.connect(tls),
            None => self.config.connect(postgres::NoTls),
        }
    }
}

/// A connection. Its thread ends with it.
pub(super) struct Link {
    jobs: mpsc::Sender<Job>,
    is_broken: Cell<bool>,
    /// How long an answer is waited for.
    patience: Cell<Duration>,
    #[cfg(test)]
    pub(super) questions: Cell<u64>,
}

impl Link {
    pub(super) fn open(opening: &Opening, patience: Duration) -> Result<Link> {
        let (jobs, work) = mpsc::channel::<Job>();
        let (tell, told) = mpsc::sync_channel(1);
        // The driver's own limit does not cover what comes after the first packet.
        let hosts = u32::try_from(opening.config.get_hosts().len().max(1)).unwrap_or(1);
        let limit = opening.config.get_connect_timeout().map_or(PATIENCE, |limit| *limit * hosts);
        let limit = limit.min(patience);
        let opening = opening.clone();
        let serve = move || match opening.connect() {
            Ok(mut client) => {
                let _ = tell.send(Ok(()));
                work.into_iter().for_each(|job| job(&mut client));
            }
            // Whoever asked may have given up.
            Err(error) => drop(tell.send(Err(error))),
        };
        let thread = thread::Builder::new().name("el-server".to_owned()).spawn(serve);
        thread.map_err(|_| Error::NoAnswer)?;
        told.recv_timeout(limit).map_err(|_| Error::NoAnswer)??;
        Ok(Link {
            jobs,
            is_broken: Cell::new(false),
            patience: Cell::new(patience),
            #[cfg(test)]
            questions: Cell::new(0),
        })
    }

    pub(super) fn set_patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// Has the thread make a call.
    pub(super) fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut postgres::Client) -> std::result::Result<T, postgres::Error>
        + Send
        + 'static,
    ) -> Result<T> {
        #[cfg(test)]
        self.questions.set(self.questions.get() + 1);
        let (tell, told) = mpsc::sync_channel(1);
        let job: Job = Box::new(move |client| {
            let done = work(client);
            let _ = tell.send((done, client.is_closed()));
        });
        let answer = match self.is_broken.get() {
            true => None,
            false => {
                self.jobs.send(job).ok().and_then(|()| told.recv_timeout(self.patience.get()).ok())
            }
        };
        let Some((done, is_closed)) = answer else {
            self.is_broken.set(true);
            return Err(Error::NoAnswer);
        };
        self.is_broken.set(is_closed);
        Ok(done?)
    }

    /// Returns true if nothing can be asked any more.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.get()
    }
}
