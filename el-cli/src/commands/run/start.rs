//! Starts a worker in the background if none serves the agent, and only once, however many `el run`
//! processes start at the same moment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use el_agents::file_lock::FileLock;
use el_agents::git::Isolation;
use el_agents::worker::{self, Detached, Served, WorkOptions};
use el_core::Store;
use el_core::model::{Takes, Worker};
use el_core::ops::{self, Task};

use crate::commands::work::{self, Started};
use crate::settings::{Place, Settings, WorkSettings};
use crate::{App, CommandError, Result};

/// The arguments and settings of a background worker for a single agent.
pub(super) struct BackgroundWorker {
    agent: String,
    served: Served,
    options: WorkOptions,
    place: Place,
    state: PathBuf,
    root: PathBuf,
    /// The words that name the project to the worker.
    words: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

impl BackgroundWorker {
    pub(super) fn new(
        app: &App,
        settings: &Settings,
        work: &WorkSettings,
        agent: &str,
    ) -> Result<BackgroundWorker> {
        let alone = WorkSettings { agents: vec![agent.to_owned()], ..work.clone() };
        let served = settings.served_agents(&alone)?.remove(0);
        let project = app.project()?;
        let options = WorkOptions {
            concurrency: served.at_most,
            resources: el_agents::worker::Resources::default(),
            ..work::draining_worker(app, settings, work, vec![served.clone()])?
        };
        Ok(BackgroundWorker {
            agent: agent.to_owned(),
            served,
            options,
            place: settings.place_of(agent)?,
            state: project.state.clone(),
            root: project.root.clone(),
            words: project.database_flag(),
            environment: std::env::vars_os().collect(),
        })
    }

    /// The folder of the repository that holds the worktrees, and their settings, for tasks
    /// without a folder. `None` if runs share the folder.
    pub(super) fn worktree_of(&self) -> Option<(&Path, &Isolation)> {
        let agent = &self.served.agent;
        let isolation = agent.isolation.as_ref().or(agent.task_isolation.as_ref());
        isolation.map(|made| (agent.working_directory.as_path(), made))
    }

    /// Why a worker that is started here could not do what needs this; `None`: it could.
    pub(super) fn find_lack(&self, needs: &[String]) -> Option<String> {
        let mut needs: Vec<String> = self.place.needs.iter().chain(needs).cloned().collect();
        needs.sort();
        needs.dedup();
        Place { needs, ..self.place.clone() }.find_lack(&self.options.offers)
    }

    /// Checks that a worker could work: tmux, the agent's program, the folders.
    pub(super) fn ensure_can_work(&self) -> Result<()> {
        Ok(worker::preflight(&self.options)?)
    }

    /// Starts a worker unless one has come meanwhile. Concurrent starters wait for each other, and
    /// all but the first find the worker of the first.
    pub(super) fn start_worker(&self, store: &Store, needs: &[String]) -> Result<Option<Started>> {
        let lock_path = self.state.join("worker.lock");
        let lock = FileLock::acquire_blocking(&lock_path)
            .map_err(|source| CommandError::file_error("lock", &lock_path, source))?;
        if is_served(store, &self.agent, needs)? {
            return Ok(None);
        }
        let log = self.state.join("worker.log");
        let detached = Detached {
            places: &self.options.places,
            arguments: &self.worker_arguments(),
            folder: &self.root,
            log: &log,
            environment: &self.environment,
        };
        let (started, mut child) =
            work::start_worker(store, &detached, "a worker cannot be started")?;
        // A long-lived starter, such as el mcp, must not keep a zombie of the worker.
        std::thread::spawn(move || child.wait());
        drop(lock);
        Ok(Some(started))
    }

    /// Starts a worker for a task that has none, if one here could do the task.
    pub(super) fn serve_task(&self, store: &Store, task: &Task) -> Result<()> {
        let needs = ops::get_atom(store, &task.id)?.needs;
        if self.find_lack(&needs).is_none() {
            self.start_worker(store, &needs)?;
        }
        Ok(())
    }

    /// The arguments of a worker that serves only the tasks assigned to this agent.
    fn worker_arguments(&self) -> Vec<OsString> {
        let mut words = self.words.clone();
        words.extend(["work".into(), "--drain".into()]);
        words.push(format!("--agent={}", self.agent).into());
        words.push(format!("--assignee={}", self.agent).into());
        if self.served.at_most > 1 {
            words.push(format!("--concurrency={}", self.served.at_most).into());
        }
        words
    }
}

/// Returns true if a live worker will take a task assigned to this agent that needs this.
pub(crate) fn is_served(store: &Store, agent: &str, needs: &[String]) -> Result<bool> {
    let serves = |worker: &Worker| {
        worker.takes != Takes::Some
            && !worker.stop_requested
            && worker.agents.iter().any(|name| name == agent)
            && worker.offers_all(needs)
            && worker::is_there(worker)
    };
    Ok(ops::list_workers(store)?.iter().any(serves))
}
