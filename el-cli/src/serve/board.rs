//! The state that all requests share.

use std::sync::{Arc, Weak};
use std::thread;

use tokio::sync::{Semaphore, broadcast};

use super::address::Name;
use super::answer::Failure;
use super::in_git;
use super::sign_in::SignIn;
use crate::globals::Globals;
use crate::output::printer::{Format, Printer};
use crate::output::terminal::ColorWhen;
use crate::project::Project;
use crate::{App, CommandError, Result};

/// The most connections at a time; a further one is closed at once.
const CONNECTIONS: usize = 64;
/// The most streams of events among the connections.
const STREAMS: usize = 16;
/// The messages that a slow browser may lag behind before it has to load everything anew.
const LAG: usize = 64;

/// A message for all browsers.
#[derive(Debug, Clone)]
pub(super) struct Told {
    /// The last event that it covers.
    pub(super) seq: i64,
    pub(super) kind: &'static str,
    pub(super) data: Arc<str>,
}

/// Starts a thread of the board. The thread holds the board by a weak reference alone, so both end
/// together.
pub(super) fn start_thread(board: &Arc<Board>, name: &str, run: fn(&Weak<Board>)) -> Result<()> {
    let watched = Arc::downgrade(board);
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || run(&watched))
        .map(drop)
        .map_err(|source| CommandError::internal_error("cannot start a thread").with_source(source))
}

/// The state of the server.
#[derive(Debug)]
pub(super) struct Board {
    /// The flags of the command.
    globals: Globals,
    /// The tracker that was found.
    tracker: Project,
    /// The project's name, for people.
    pub(super) project: String,
    /// The author of the changes that are made in the browser.
    pub(super) actor: String,
    pub(super) name: Name,
    pub(super) is_read_only: bool,
    pub(super) sign_in: SignIn,
    pub(super) slots: Arc<Semaphore>,
    pub(super) streams: Arc<Semaphore>,
    pub(super) in_git: in_git::Shared,
    /// The messages of the watcher.
    pub(super) told: broadcast::Sender<Told>,
}

impl Board {
    pub(super) fn new(app: &App, name: Name, is_read_only: bool) -> Result<Board> {
        let project = app.project()?;
        let root = project.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let globals = Globals {
            robot: false,
            db: project.server.is_none().then(|| project.db.clone()),
            actor: Some(app.actor().to_owned()),
            color: ColorWhen::Never,
            quiet: true,
            ..app.globals().clone()
        };
        Ok(Board {
            globals,
            tracker: project.clone(),
            project: root,
            actor: app.actor().to_owned(),
            name,
            is_read_only,
            sign_in: SignIn::open(&project.state)?,
            slots: Arc::new(Semaphore::new(CONNECTIONS)),
            streams: Arc::new(Semaphore::new(STREAMS)),
            in_git: in_git::Shared::default(),
            told: broadcast::channel(LAG).0,
        })
    }

    /// The state of a command, for one request.
    pub(super) fn open_app(&self) -> App {
        let printer = Printer::new(Format::Human, ColorWhen::Never, true);
        App::new(self.globals.clone(), printer, None).with_project(self.tracker.clone())
    }

    /// Does the work of a request on a thread of its own.
    pub(super) async fn run_call<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&App) -> Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let done = tokio::task::spawn_blocking(move || {
            let app = self.open_app();
            let done = work(&app);
            app.back_up_if_due();
            done
        });
        match done.await {
            Ok(done) => done.map_err(Failure::from),
            Err(_) => Err(CommandError::internal_error("the request could not be done").into()),
        }
    }
}
