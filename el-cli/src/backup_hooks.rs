//! Where backups come in by themselves: before a change that takes much along, and where a tracker
//! is lost.

use std::path::Path;
use std::time::SystemTime;

use el_core::inspect_copy;
use el_core::model::Timestamp;

use crate::backups::{Backups, LOCK_WAIT, Reason, no_home};
use crate::output::time;
use crate::project::{self, Project, ensure_in_file};
use crate::{App, CommandError, Result, session};

impl Backups {
    /// The backups of the current tracker, also if its database is missing.
    pub(crate) fn locate(app: &App) -> Result<Backups> {
        match app.project() {
            Ok(project) => {
                let instead =
                    "el db dump FILE copies all of it; its administrator backs the server up";
                ensure_in_file(project, "a backup by el", instead)?;
                Backups::for_database(&project.db).ok_or_else(no_home)
            }
            Err(error) if error.code() == "no_database" => Backups::of_missing(app).ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// The backups of a tracker that is missing where it is looked for.
    fn of_missing(app: &App) -> Option<Backups> {
        let with_some = |project: Project| {
            Backups::for_database(&project.db).filter(|backups| !backups.list().is_empty())
        };
        if let Some(database) = project::named_database(app.db_flag()) {
            return with_some(Project::of_db(database));
        }
        let folder = project::current_folder().ok()?;
        folder.ancestors().find_map(|folder| {
            with_some(Project::in_folder(folder)).or_else(|| {
                project::main_worktree(folder).and_then(|main| with_some(Project::in_folder(&main)))
            })
        })
    }
}

/// Makes a backup before a change that takes much along, if there are changes since the newest
/// backup. A failure is a warning: the change goes on.
pub(crate) fn before(app: &App, reason: Reason) {
    // A server has its own.
    let Some(project) = app.project().ok().filter(|project| project.server.is_none()) else {
        return;
    };
    let Some(backups) = Backups::for_database(&project.db) else { return };
    // The state of an agent's session is its own; its supervisor's worker makes the hourly ones.
    if session::is_answering() {
        return;
    }
    if let Err(error) = backups.make_if_changed(reason, app.now(), LOCK_WAIT) {
        let causes = error.causes().into_iter().map(|cause| format!(": {cause}"));
        app.printer.warn(&format!("no backup was made: {error}{}", causes.collect::<String>()));
    }
}

/// Makes a backup before the schema of a database changes. If the backup fails, the migration goes
/// on, in one transaction.
pub(crate) fn before_migration(database: &Path) {
    if let Some(backups) = Backups::for_database(database) {
        let now = Timestamp::from(SystemTime::now());
        let _ = backups.make_backup(Reason::BeforeMigration, now);
    }
}

/// Returns true if there is a backup of the tracker that would be here.
pub(crate) fn has_backup(app: &App) -> bool {
    Backups::locate(app).is_ok_and(|backups| backups.newest().is_some())
}

/// Adds the newest backup to the error of a tracker that is lost.
pub(crate) fn offer(error: CommandError, app: &App) -> CommandError {
    const LOST: [&str; 3] = ["no_database", "not_a_database", "damaged"];
    if !LOST.contains(&error.code()) || session::is_answering() {
        return error;
    }
    let Some(backups) = Backups::locate(app).ok() else { return error };
    let Some(newest) = backups.newest() else { return error };
    let Ok(facts) = inspect_copy(&newest.path) else { return error };
    let flag = app
        .db_flag()
        .map_or_else(String::new, |_| format!(" --db {}", backups.database().display()));
    let when = time::relative_time(app.now(), newest.at);
    error.with_hint(format!(
        "el restore{flag} brings back the newest backup of {}: {when}, with {} atoms",
        backups.database().display(),
        facts.atoms
    ))
}
