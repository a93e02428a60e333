//! The state shared by all commands: the printer, the global flags, and the project with its store,
//! which is found on first use.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use el_agents::clock;
use el_core::model::Timestamp;
use el_core::{Ctx, Durability, SessionCredentials, Store, ops};

use crate::globals::Globals;
use crate::output::Printer;
use crate::owner::ForeignTracker;
use crate::project::{self, Project};
use crate::session::Session;
use crate::settings::Settings;
use crate::{Result, actor, backups, in_git, locate, modes};

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) printer: Printer,
    globals: Globals,
    project: OnceCell<Project>,
    actor: OnceCell<String>,
    session: Option<Arc<Session>>,
    has_written: Cell<bool>,
    /// Set once the tracker may start agents.
    is_safe: Cell<bool>,
    /// The faults in the settings that were told.
    warned: RefCell<BTreeSet<String>>,
}

impl App {
    /// `session`: the session of an agent that this process answers for.
    pub(crate) fn new(globals: Globals, printer: Printer, session: Option<Arc<Session>>) -> App {
        App {
            printer,
            globals,
            project: OnceCell::new(),
            actor: OnceCell::new(),
            session,
            has_written: Cell::new(false),
            is_safe: Cell::new(false),
            warned: RefCell::default(),
        }
    }

    /// Returns this app for a project that was found before.
    pub(crate) fn with_project(self, project: Project) -> App {
        App { project: project.into(), ..self }
    }

    /// The flags that all commands share.
    pub(crate) fn globals(&self) -> &Globals {
        &self.globals
    }

    /// `-v`: how much more a person wants to see.
    pub(crate) fn verbosity(&self) -> u8 {
        self.globals.verbose
    }

    /// `--db`, as given.
    pub(crate) fn db_flag(&self) -> Option<&Path> {
        self.globals.db.as_deref()
    }

    pub(crate) fn now(&self) -> Timestamp {
        clock::now()
    }

    /// The project of the current folder.
    pub(crate) fn project(&self) -> Result<&Project> {
        if let Some(project) = self.project.get() {
            return Ok(project);
        }
        let found = match &self.session {
            Some(session) => Project::of_session(session, self.globals.db.as_deref())?,
            None => locate::find_project(self.globals.db.as_deref())?,
        };
        Ok(self.project.get_or_init(|| found))
    }

    /// The current configuration. Read on demand only, so that plain reads never pay for the
    /// configuration.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let project = self.project()?;
        let address = project.server.as_ref().and_then(|server| server.address().ok());
        Ok(Settings::load(&project.root, &project.config_path()).with_server(address.cloned()))
    }

    /// The user's own settings, where there is no project.
    pub(crate) fn user_settings() -> Result<Settings> {
        Ok(Settings::load(&project::current_folder()?, Path::new("")))
    }

    /// The current configuration, with warnings on stderr about faults in the files.
    pub(crate) fn settings_with_warnings(&self) -> Result<Settings> {
        let settings = self.settings()?;
        self.warn_of_problems(&settings);
        Ok(settings)
    }

    /// Warns of each fault once, however often the settings are read.
    fn warn_of_problems(&self, settings: &Settings) {
        for problem in settings.problems().map(ToString::to_string) {
            if self.warned.borrow_mut().insert(problem.clone()) {
                self.printer.warn(&problem);
            }
        }
    }

    /// The part of the tracker that belongs to another user, if the tracker was found by search. A
    /// named tracker is the caller's own choice.
    pub(crate) fn foreign_tracker(&self) -> Result<Option<ForeignTracker>> {
        if self.session.is_some() || project::named_database(self.globals.db.as_deref()).is_some() {
            return Ok(None);
        }
        let Some(found) = ForeignTracker::find_foreign(self.project()?) else { return Ok(None) };
        // An unreadable list trusts no folder.
        let safe = self.settings()?.safe_directories().unwrap_or_default();
        Ok((!found.is_trusted(&safe)).then_some(found))
    }

    /// Refuses a foreign tracker before any agent is started or ended.
    pub(crate) fn refuse_foreign(&self) -> Result<()> {
        self.foreign_tracker()?.map_or(Ok(()), |foreign| Err(foreign.refusal_error()))
    }

    /// The settings for starting agents.
    ///
    /// # Errors
    ///
    /// If a configuration file has a fault that could lift a limit.
    pub(crate) fn settings_for_agents(&self) -> Result<Settings> {
        if !self.is_safe.get() {
            self.refuse_foreign()?;
            modes::ensure_closed(self.project()?)?;
            if let Some(told) = modes::describe_link(self.project()?) {
                self.printer.warn(&told);
            }
            in_git::ensure_untracked(self.project()?)?;
            self.is_safe.set(true);
        }
        let settings = self.settings()?.reliable()?;
        self.warn_of_problems(&settings);
        Ok(settings)
    }

    /// Warns of settings in the project's file that have no effect before `el trust`.
    pub(crate) fn warn_of_inert(&self, settings: &Settings) {
        if let Some(sentence) = settings.inert_sentence() {
            self.printer.warn(&sentence);
        }
    }

    /// The store, for reading.
    pub(crate) fn open_for_reading(&self) -> Result<Store> {
        let store = self.project()?.open_store(Durability::Normal)?;
        if let Some(sentence) = store.closed() {
            self.printer.warn(&format!("{sentence}; what you see here is what was left behind"));
        }
        Ok(store)
    }

    /// The store, for a change.
    pub(crate) fn open_for_writing(&self) -> Result<Store> {
        // A mistake in the configuration must not keep an agent from closing its atom.
        let settings = self.settings()?;
        let durability = settings.durability().unwrap_or_else(|error| {
            self.printer.warn(&format!("{error}; going on with 'normal'"));
            Durability::Normal
        });
        self.has_written.set(true);
        let project = self.project()?;
        if project.server.is_some() && self.session().is_none() {
            // A fresh clone lacks the folder, which holds the runs and other local files. A command
            // that needs the folder says why there is none.
            let _ = modes::create_state_folder(&project.state);
        }
        let mut store = project.open_store(durability)?;
        // A session's environment is its agent's to choose, and says nothing of the project.
        if self.session().is_none() {
            ops::set_epic_autoclose(&mut store, settings.epic_autoclose())?;
            ops::set_merge_gate(&mut store, &self.ctx(), settings.waits_for_merges())?;
        }
        Ok(store)
    }

    /// Starts the hourly backup, if a backup is due and this process may have changed the tracker.
    /// Called after the answer, which does not wait.
    pub(crate) fn back_up_if_due(&self) {
        if self.has_written.get()
            && self.session.is_none()
            && let Ok(project) = self.project()
        {
            drop(backups::start_if_due(project));
        }
    }

    /// The whole ids of atoms that were named.
    pub(crate) fn resolve_ids(&self, named: &[String]) -> Result<Vec<String>> {
        let store = self.open_for_reading()?;
        named.iter().map(|text| Ok(ops::resolve_id(&store, text)?)).collect()
    }

    /// The author of this process's changes.
    pub(crate) fn actor(&self) -> &str {
        self.actor.get_or_init(|| match &self.session {
            // An agent speaks for itself, whichever name is given.
            Some(session) => session.agent.clone(),
            None => actor::resolve_actor(self.globals.actor.as_deref()),
        })
    }

    /// The run of the agent's session that this process answers for.
    pub(crate) fn session(&self) -> Option<&SessionCredentials> {
        self.session.as_ref().map(|session| &session.credentials)
    }

    /// The agent's session that this process answers for, with the files of the caller.
    pub(crate) fn caller(&self) -> Option<&Arc<Session>> {
        self.session.as_ref()
    }

    /// The caller's identity and the current time, for a verb of the store.
    pub(crate) fn ctx(&self) -> Ctx<'_> {
        Ctx { now: self.now(), actor: self.actor(), session: self.session() }
    }
}
