//! `el supervise RUN`, the process in a session's pane: starts the agent, reads its output, keeps
//! the lease, ends the process tree, writes the exit record and settles the run.
//!
//! The supervisor depends on no worker: if a worker dies or detaches, every run is still settled.
//! The agent's own word about success is not trusted.

mod agent;
mod answer_listener;
mod answering;
mod checking;
mod end_bell;
mod finish;
mod on_screen;
mod pane;
mod preparing;
mod reader;
mod run_branch;
mod run_lease;
mod screen;
mod session_socket;
mod signals;
mod status_file;
mod watch;
mod watchdog;
mod workplace;

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use el_core::model::{EndKind, ExitRecord, Run, Stamp};
use el_core::{Durability, Error, Store, ops};

use self::pane::Pane;
use self::reader::Reader;
use self::run_lease::RunLease;
use self::session_socket::SessionSocket;
use self::signals::Signals;
use self::status_file::StatusFile;
use self::watch::{CallEnd, Watcher};
use self::watchdog::Bounds;
pub use self::workplace::prepare_workplace;
use crate::account::Account;
use crate::claude::one_line;
use crate::clock;
use crate::git::set_git_environment;
use crate::launch_spec::LaunchSpec;
use crate::preparation::context_file;
use crate::process::{self, ProcessId};
use crate::requirements::ConfigurationError;
use crate::rundir::{RunDir, RunDirError};
use crate::sandbox::{self, Call, LAYOUTS, OwnRun};
use crate::session::Identity;
use crate::settings::Executor;

/// The reason why a supervisor could not take its run. A worker then settles the run.
#[derive(Debug, thiserror::Error)]
pub enum SuperviseError {
    /// The store refused: the run is over, or has a supervisor.
    #[error("the store refused")]
    Store(#[from] Error),
    /// The worker's files for the run are missing.
    #[error("the run's files cannot be used")]
    Files(#[from] RunDirError),
    /// The agent could not reach the tracker.
    #[error(transparent)]
    Session(Box<dyn std::error::Error + Send + Sync>),
    /// A process other than the run's supervisor asked for the worktree.
    #[error("only the run's own supervisor may prepare its worktree")]
    NotItsSupervisor,
    /// The system refused.
    #[error("cannot {doing}")]
    System {
        /// The step.
        doing: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// Supervises a run to the end. Blocks; starts a runtime on this thread. The thread must be the
/// main thread of the process, since the agent dies with the thread.
///
/// # Errors
/// If the run could not be taken. Any later failure ends in an exit record.
pub fn supervise(database: &Path, run: &str) -> Result<(), SuperviseError> {
    let system = |doing| move |source| SuperviseError::System { doing, source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"))?;
    runtime.block_on(async {
        process::reset_ignored_signals().map_err(system("listen to signals"))?;
        let signals = Signals::new().map_err(system("listen to signals"))?;
        let supervisor = Supervisor::take_run(database, run, signals)?;
        supervisor.run().await;
        Ok(())
    })
}

type Environment = Vec<(OsString, OsString)>;

/// A run registered to this process.
struct Supervisor {
    spec: LaunchSpec,
    /// The run at the time of registration.
    claimed: Run,
    folder: RunDir,
    environment: Vec<(OsString, OsString)>,
    watcher: Watcher,
    /// `None` once the session is over.
    session: Option<SessionSocket>,
}

impl Supervisor {
    fn take_run(
        database: &Path,
        run: &str,
        signals: Signals,
    ) -> Result<Supervisor, SuperviseError> {
        let system = |doing| move |source| SuperviseError::System { doing, source };
        // On systems without subreapers, only the marker finds processes that left the tree.
        if let Err(error) = process::become_subreaper()
            && error.kind() != std::io::ErrorKind::Unsupported
        {
            return Err(system("adopt orphans")(error));
        }
        let folder = RunDir::of_run(database, run);
        let server = folder.take_server()?;
        let mut store = Store::open_at(database, server.as_ref(), Durability::Normal)?;
        clock::follow(&store);
        let mut spec = folder.read_launch()?;
        spec.places.server = server;
        let (token, environment) = folder.take_environment()?;
        set_git_environment(environment.clone());
        let id = ProcessId::current().map_err(system("tell who this process is"))?;
        let stamp = stamp_of(&id, store.is_on_server());
        let claimed = ops::register_supervisor(
            &mut store,
            run,
            &token,
            &stamp,
            clock::now(),
            spec.rules.lease,
        )?;
        let identity = Identity {
            run: run.to_owned(),
            token: token.clone(),
            database: database.to_owned(),
            server: spec.places.server.clone(),
            agent: claimed.agent.clone(),
        };
        let session = SessionSocket::open(&folder, &spec.places.el, &identity, &environment)
            .map_err(|error| SuperviseError::Session(error.into()))?;
        let bounds = Bounds {
            execution_timeout: spec.agent.execution_timeout,
            stall_timeout: spec.agent.stall_timeout,
            close_grace: spec.agent.close_grace,
            lease: spec.rules.lease,
        };
        let open = |path: &Path| folder.open_to_append(path).ok();
        let watcher = Watcher::new(
            RunLease::new(store, (run, &token), &folder, spec.rules.lease, session.answered()),
            // For an agent on a screen, the client's record of the conversation replaces the
            // stream.
            Reader::new(matches!(spec.agent.executor, Executor::Claude | Executor::Interactive)),
            Pane::new(open(&folder.pane_path())),
            signals,
            bounds,
            folder.marker(),
            (open(&folder.transcript_path()), open(&folder.stderr_path())),
        );
        Ok(Supervisor { spec, claimed, folder, environment, watcher, session: Some(session) })
    }

    async fn run(mut self) {
        let title = ops::get_atom(self.watcher.lease.store(), &self.spec.atom)
            .map(|atom| atom.title)
            .unwrap_or_default();
        let spec = &self.spec;
        self.watcher.pane.show(&format!(
            "el: {} works on {} — {} ({}; detach with C-b d, end with C-c)",
            spec.agent.name,
            spec.atom,
            one_line(&title, 120),
            spec.run
        ));
        self.watcher.status = Some(StatusFile::new(
            self.folder.status_path(),
            &spec.run,
            &spec.atom,
            &title,
            &spec.agent.name,
            self.claimed.started_at,
        ));
        let record = match self.prepare_start().await {
            Ok(prompt) => self.converse(prompt).await,
            Err(record) => record,
        };
        self.finish(record).await;
    }

    /// Calls the agent until no prompt is left. Returns the exit record.
    async fn converse(&mut self, prompt: File) -> ExitRecord {
        let (mut prompt, mut resumes) = (Ok(prompt), 0);
        loop {
            let end = match prompt {
                Ok(prompt) => self.call_agent(prompt, resumes > 0).await,
                Err(error) => Err(error),
            };
            let record = self.exit_record(end, resumes);
            let Some(again) = self.next_prompt(&record) else { return record };
            resumes += 1;
            prompt = self.begin_next_call(&again);
        }
    }

    /// Makes a call of the agent. Starts the agent again if a path of the sandbox just vanished.
    async fn call_agent(&mut self, prompt: File, resume: bool) -> std::io::Result<CallEnd> {
        let resumed_at = resume.then(|| self.watcher.reader.progress().cost.cost_micros);
        let argv = self
            .spec
            .argv(&self.folder, resumed_at)
            .map_err(|error: ConfigurationError| std::io::Error::other(error.to_string()))?;
        if self.spec.agent.executor == Executor::Interactive {
            return self.call_on_screen(&argv, prompt).await;
        }
        let mut layouts = 1;
        loop {
            let known = std::fs::metadata(self.folder.stderr_path()).map_or(0, |file| file.len());
            let end = self.call_headless(&argv, prompt.try_clone()?).await?;
            let code = end.status.and_then(|status| status.code());
            let has_lost = || {
                let said = read_from(&self.folder.stderr_path(), known).unwrap_or_default();
                sandbox::has_lost_a_path(code, &said)
            };
            let may_go_on = end.kind == EndKind::Exited && !self.watcher.signals.hung_up();
            if !may_go_on || self.spec.sandbox.is_none() || layouts == LAYOUTS || !has_lost() {
                return Ok(end);
            }
            layouts += 1;
            self.watcher.pane.show("el: a path of the sandbox is gone; it is laid out anew");
        }
    }

    /// Makes a call of the agent, from the start to the end of the process tree.
    async fn call_headless(&mut self, argv: &[OsString], prompt: File) -> std::io::Result<CallEnd> {
        let (argv, environment) = self.confined(argv)?;
        let mut agent =
            agent::start_headless(&argv, &environment, &self.spec.agent.working_directory, prompt)?;
        // On macOS, the sandbox becomes the program.
        agent.is_confined = self.spec.sandbox.is_some() && !cfg!(target_os = "macos");
        let (store, run, token) = self.watcher.lease.store_and_token();
        // For people only; no decision depends on the pid.
        let _ = ops::set_agent_pid(store, run, token, i64::from(agent.id.pid));
        Ok(self.watcher.watch_call(agent).await)
    }

    /// The words and the environment of a call, in the run's sandbox if there is one.
    fn confined(&mut self, argv: &[OsString]) -> std::io::Result<(Vec<OsString>, Environment)> {
        let Some(sandbox) = &self.spec.sandbox else {
            return Ok((argv.to_vec(), self.environment.clone()));
        };
        let context = context_file(&self.spec.places, &self.spec.atom);
        let confined = sandbox.confine(&Call {
            argv,
            environment: &self.environment,
            workdir: &self.spec.agent.working_directory,
            places: &self.spec.places,
            run: Some(OwnRun { folder: &self.folder, context: &context }),
        })?;
        self.watcher.branch.confined = confined.branch;
        Ok((confined.argv, confined.environment))
    }

    /// Records the denials of the sandbox, or why there was no sandbox.
    fn note_sandbox(&mut self, record: &mut ExitRecord) {
        let missing = self.spec.missing_sandbox.as_ref();
        record.sandbox_notes.extend(missing.map(|why| format!("it ran without a sandbox: {why}")));
        let Some(sandbox) = &self.spec.sandbox else { return };
        let (out, err) = (self.folder.transcript_path(), self.folder.stderr_path());
        if !cfg!(target_os = "macos") {
            sandbox::read_exit(record, &err);
        }
        let workdir = &self.spec.agent.working_directory;
        for put_aside in sandbox::remove_traps(&self.folder, workdir) {
            self.watcher.pane.show(&format!("! {put_aside}"));
            record.sandbox_notes.push(put_aside);
        }
        let outputs = [out, err, self.folder.pane_path()];
        for denial in sandbox.denials(&self.environment, &outputs) {
            self.watcher.pane.show(&format!("! {denial}"));
            record.sandbox_notes.push(denial);
        }
    }

    fn exit_record(&mut self, end: std::io::Result<CallEnd>, resumes: u32) -> ExitRecord {
        use std::os::unix::process::ExitStatusExt;
        let kind = end.as_ref().map_or(EndKind::SpawnFailed, |end| end.kind);
        let mut record =
            ExitRecord { resumes, ..ExitRecord::new(&self.spec.run, kind, clock::now()) };
        match end {
            Ok(CallEnd { kind, status }) => {
                record.exit_code = status.and_then(|s| s.code());
                record.signal = status.and_then(|s| s.signal());
                self.watcher.branch.take_commits_finally(&mut self.watcher.pane);
                self.note_sandbox(&mut record);
                if kind == EndKind::Exited && self.watcher.signals.hung_up() {
                    // The signal may have reached the agent first.
                    record.end = EndKind::Hangup;
                }
                if record.end == EndKind::Hangup {
                    record.message = self.watcher.signals.hangup_reason().map(str::to_owned);
                }
                let account = Account::for_agent(&self.spec.agent, &self.environment);
                record.account = account.map(|account| account.fingerprint().to_owned());
                self.watcher.reader.fill_exit_record(&mut record, self.watcher.began.elapsed());
                self.watcher.fill_from_screen(&mut record);
            }
            Err(error) => {
                record.message = Some(format!("{}: {error}", self.spec.program.display()))
            }
        }
        record
    }
}

/// Reads a file from byte `start` on, at most the few lines that explain a failed start.
fn read_from(path: &Path, start: u64) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(4 << 10).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The stamp of a process of this machine. `is_shared`: other machines will read the stamp.
pub(crate) fn stamp_of(id: &ProcessId, is_shared: bool) -> Stamp {
    Stamp {
        pid: i64::from(id.pid),
        start: i64::try_from(id.start).unwrap_or(i64::MAX),
        boot: if is_shared { id.boot_with_host() } else { id.boot.clone() },
    }
}

/// The process that a stamp in the store stands for.
pub(crate) fn process_of(stamp: &Stamp) -> Option<ProcessId> {
    let (pid, start) = (u32::try_from(stamp.pid).ok()?, u64::try_from(stamp.start).ok()?);
    Some(ProcessId::from_shared(pid, start, &stamp.boot))
}
