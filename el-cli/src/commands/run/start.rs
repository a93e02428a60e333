//! The worker in the background: whether one is needed, and starting it, once, however many
//! `el run` do so at the same moment.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use el_agents::settings::Places;
use el_agents::worker::{self, Detached, Served, WorkOptions};
use el_core::Store;
use el_core::model::{Takes, Worker};
use el_core::ops::{self, AtomFilter};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::commands::work;
use crate::error::{CommandError, Result};
use crate::settings::{Settings, WorkSettings};

/// How long a worker may take to sign on before its starter goes on without having seen it.
const SIGN_ON: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(10);

/// How to start a worker for one agent.
pub(super) struct Background {
    agent: String,
    served: Served,
    options: WorkOptions,
    places: Places,
    state: PathBuf,
    root: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// A worker that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Started {
    pub(crate) pid: u32,
    /// `null` if it had nothing to do any more when it came.
    worker_id: Option<String>,
    log: PathBuf,
}

impl Background {
    pub(super) fn new(
        app: &App,
        settings: &Settings,
        work: &WorkSettings,
        agent: &str,
    ) -> Result<Background> {
        let alone = WorkSettings { agents: vec![agent.to_owned()], ..work.clone() };
        let served = settings.served(&alone)?.remove(0);
        let places = work::places(app, work)?;
        let environment: Vec<_> = std::env::vars_os().collect();
        let options = WorkOptions {
            agents: vec![served.clone()],
            rules: work.rules,
            places: places.clone(),
            durability: settings.durability()?,
            filter: AtomFilter::default(),
            concurrency: served.at_most,
            max_claims: None,
            drain: true,
            environment: environment.clone(),
            preamble: None,
            resources: el_agents::worker::Resources::default(),
            drive: None,
        };
        let project = app.project()?;
        Ok(Background {
            agent: agent.to_owned(),
            served,
            options,
            places,
            state: project.state.clone(),
            root: project.root.clone(),
            environment,
        })
    }

    /// Whether a worker could work at all: tmux, the agent's program, the folders.
    pub(super) fn preflight(&self) -> Result<()> {
        Ok(worker::preflight(&self.options)?)
    }

    /// Starts one, unless one has come meanwhile. Those who start at the same moment wait for each
    /// other, and all but the first find its worker.
    pub(super) fn start(&self, store: &Store) -> Result<Option<Started>> {
        let lock_path = self.state.join("worker.lock");
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&lock_path);
        let lock: File = lock
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|source| CommandError::file("lock", &lock_path, source))?;
        if is_served(store, &self.agent)? {
            return Ok(None);
        }
        let log = self.state.join("worker.log");
        let begins_at = fs::metadata(&log).map_or(0, |meta| meta.len());
        let detached = Detached {
            places: &self.places,
            agent: &self.agent,
            concurrency: (self.served.at_most > 1).then_some(self.served.at_most),
            folder: &self.root,
            log: &log,
            environment: &self.environment,
        };
        let mut child = worker::start_detached(&detached).map_err(|source| {
            CommandError::internal("a worker cannot be started").with_source(source)
        })?;
        let started = self.signed_on(store, &mut child, log, begins_at)?;
        // Whoever started it may live longer than it does, as el mcp: then nothing of it is to stay
        // behind.
        std::thread::spawn(move || child.wait());
        drop(lock);
        Ok(Some(started))
    }

    /// Waits until it has signed on, which takes some ten milliseconds; the lock holds for so long.
    fn signed_on(
        &self,
        store: &Store,
        child: &mut Child,
        log: PathBuf,
        begins_at: u64,
    ) -> Result<Started> {
        let pid = child.id();
        let until = Instant::now() + SIGN_ON;
        loop {
            let workers = ops::workers(store)?;
            if let Some(found) =
                workers.iter().find(|w| w.process.pid == i64::from(pid) && worker::is_there(w))
            {
                return Ok(Started { pid, worker_id: Some(found.id.clone()), log });
            }
            match child.try_wait() {
                // Somebody else has done everything already.
                Ok(Some(status)) if status.success() => {
                    return Ok(Started { pid, worker_id: None, log });
                }
                Ok(Some(status)) => {
                    return Err(CommandError::config(
                        "worker",
                        format!("the task is filed, but a worker cannot work here ({status})"),
                    )
                    .with_detail("log", log.display().to_string())
                    .with_listing(last_lines(&log, begins_at))
                    .with_hint("el work says what is wrong; el doctor looks at what is needed"));
                }
                _ if Instant::now() > until => return Ok(Started { pid, worker_id: None, log }),
                _ => std::thread::sleep(LOOK),
            }
        }
    }
}

/// What the worker said since then.
fn last_lines(log: &PathBuf, begins_at: u64) -> Vec<String> {
    let read = || -> io::Result<String> {
        let bytes = fs::read(log)?;
        let from = usize::try_from(begins_at).unwrap_or(0).min(bytes.len());
        Ok(String::from_utf8_lossy(&bytes[from..]).into_owned())
    };
    let text = read().unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].iter().map(|line| (*line).to_owned()).collect()
}

/// Whether a live worker can be relied on to take what is assigned to this agent.
pub(crate) fn is_served(store: &Store, agent: &str) -> Result<bool> {
    let serves = |worker: &Worker| {
        worker.takes != Takes::Some
            && !worker.stop_requested
            && worker.agents.iter().any(|name| name == agent)
            && worker::is_there(worker)
    };
    Ok(ops::workers(store)?.iter().any(serves))
}
