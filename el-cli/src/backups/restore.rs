//! Putting a backup in the tracker's place. A kill at any moment leaves the old tracker or the
//! restored one.

use std::fs;
use std::path::{Path, PathBuf};

use el_agents::tmux::{Tmux, socket_name};
use el_agents::worker;
use el_core::model::{Run, Timestamp, Worker};
use el_core::{
    Ctx, Durability, Error, Store, copy_database, ensure_own_schema, files_of, ops,
    replace_contents, seal_database,
};

use super::{Backup, Backups, LOCK_WAIT, Reason, busy, sync_folder};
use crate::replace::remove_if_there;
use crate::{CommandError, Result};

/// The present database, as a restore finds it.
pub(crate) enum Present {
    Sound(Box<Store>),
    Missing,
    /// The file is there and cannot be used; why.
    Damaged(String),
}

/// The result of a restore.
#[derive(Default)]
pub(crate) struct Restored {
    /// The place of the replaced tracker; `None`: there was no tracker.
    pub(crate) replaced: Option<PathBuf>,
    /// The runs that were live in the backup, settled now.
    pub(crate) ended: Vec<Run>,
}

impl Backups {
    /// Looks at the present database.
    pub(crate) fn present(&self) -> Result<Present> {
        let store = match Store::open(&self.database, Durability::Full) {
            Ok(store) => match store.closed() {
                None => store,
                Some(sentence) => {
                    let error = CommandError::from(Error::Moved { sentence });
                    return Err(error.with_hint(
                        "if the tracker is lost there, move this file away first, then el restore",
                    ));
                }
            },
            Err(Error::NoDatabase { .. }) => return Ok(Present::Missing),
            Err(
                error @ (Error::NotADatabase { .. } | Error::Damaged { .. } | Error::Sqlite { .. }),
            ) => {
                return Ok(Present::Damaged(error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        // The replaced database is kept page by page, so no more of it has to be right.
        match store.check_pages() {
            Ok(faults) if faults.is_empty() => Ok(Present::Sound(Box::new(store))),
            Ok(faults) => Ok(Present::Damaged(faults.join("; "))),
            Err(error) => Ok(Present::Damaged(error.to_string())),
        }
    }

    /// Refuses while anybody works on the tracker.
    pub(crate) fn ensure_nobody_works(&self, present: &Present, now: Timestamp) -> Result<()> {
        let (workers, runs) = match present {
            Present::Sound(store) => (
                ops::list_workers(store)?.into_iter().filter(worker::is_there).collect(),
                ops::live_runs(store)?
                    .into_iter()
                    .filter(|run| worker::is_supervised(run, now))
                    .map(|run| format!("{} of {}", run.id, run.atom_id))
                    .collect(),
            ),
            // The database cannot tell; the sessions of agents can.
            Present::Missing | Present::Damaged(_) => (Vec::new(), self.live_sessions()),
        };
        let workers = workers
            .iter()
            .map(|worker: &Worker| format!("the worker with pid {}", worker.process.pid));
        let named: Vec<String> = workers.chain(runs).collect();
        if named.is_empty() {
            return Ok(());
        }
        Err(CommandError::conflict(
            "in_use",
            format!("a restore would pull the tracker from under {}", named.join(", ")),
        )
        .with_detail("live", named)
        .with_hint("el work --stop ends workers and runs cleanly; then restore"))
    }

    fn live_sessions(&self) -> Vec<String> {
        let environment: Vec<_> = std::env::vars_os().collect();
        let Ok(tmux) = Tmux::discover(&socket_name(&self.database), &environment) else {
            return Vec::new();
        };
        let sessions = tmux.list_sessions().unwrap_or_default();
        let live = sessions.into_iter().filter(|session| !session.dead);
        live.map(|session| format!("the session {}", session.name)).collect()
    }

    /// Puts a copy in the tracker's place. `look` sees the old tracker.
    pub(crate) fn restore(
        &self,
        backup: &Backup,
        actor: &str,
        now: Timestamp,
        look: impl FnOnce(&Present) -> Result<()>,
    ) -> Result<Restored> {
        let Some(_lock) = self.lock(LOCK_WAIT)? else { return Err(busy()) };
        let present = self.present()?;
        look(&present)?;
        self.ensure_nobody_works(&present, now)?;
        let state = self.database.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(state)
            .map_err(|source| CommandError::file_error("create", state, source))?;
        let prepared = state.join(".el.db.restored");
        let done = prepare(&backup.path, &prepared, backup.at, actor, now).and_then(|ended| {
            let replaced = self.put_in_place(present, &prepared, now)?;
            Ok(Restored { replaced, ended })
        });
        remove_files(&prepared);
        let _ = el_core::keep_out_of_git(state);
        done
    }

    fn put_in_place(
        &self,
        present: Present,
        prepared: &Path,
        now: Timestamp,
    ) -> Result<Option<PathBuf>> {
        let failed = |source| CommandError::file_error("write", &self.database, source);
        let files = files_of(&self.database);
        let replaced = match present {
            Present::Sound(store) => {
                drop(store);
                let kept = self.make_locked(Reason::Replaced, now)?;
                replace_contents(&self.database, prepared)?;
                return Ok(Some(kept.path));
            }
            Present::Missing if !files[1..].iter().any(|file| file.exists()) => None,
            Present::Missing | Present::Damaged(_) => Some(self.keep_damaged(&files, now)?),
        };
        seal_database(prepared)?;
        // The log of the old file goes first: SQLite would read it into the new file. A copy of all
        // these files was kept above.
        for file in &files[1..] {
            remove_if_there(file).map_err(failed)?;
        }
        let folder = self.database.parent().unwrap_or(Path::new("/"));
        fs::rename(prepared, &self.database).and_then(|()| sync_folder(folder)).map_err(failed)?;
        Ok(replaced)
    }

    /// Copies the files of a database that cannot be read by SQLite.
    fn keep_damaged(&self, files: &[PathBuf], now: Timestamp) -> Result<PathBuf> {
        let kept = self.path_of(Reason::Damaged, now);
        let half = self.folder.join(format!(".new-damaged-{}", std::process::id()));
        let copied = fs::create_dir(&half).and_then(|()| {
            for file in files.iter().filter(|file| file.exists()) {
                let copy = half.join(file.file_name().unwrap_or_default());
                fs::copy(file, &copy)?;
                fs::File::open(&copy)?.sync_all()?;
            }
            fs::rename(&half, &kept)?;
            sync_folder(&self.folder)
        });
        copied.map(|()| kept).map_err(|source| {
            let _ = fs::remove_dir_all(&half);
            CommandError::file_error("keep the damaged files in", &self.folder, source)
        })
    }
}

/// Makes a sound database of a backup, without running work.
fn prepare(
    backup: &Path,
    prepared: &Path,
    at: Timestamp,
    actor: &str,
    now: Timestamp,
) -> Result<Vec<Run>> {
    remove_files(prepared);
    copy_database(backup, prepared)?;
    // Before anything is written: a trigger would act then.
    ensure_own_schema(prepared).map_err(|error| match error {
        Error::NotADatabase { why, .. } => Error::NotADatabase { path: backup.to_owned(), why },
        other => other,
    })?;
    let mut store = Store::open(prepared, Durability::Normal)?;
    let faults = store.check_integrity()?;
    if !faults.is_empty() {
        return Err(CommandError::internal_error(format!("{} is damaged", backup.display()))
            .with_listing(faults)
            .with_hint("el backup list shows the others"));
    }
    let ctx = Ctx { now, actor, session: None };
    Ok(ops::settle_restored(&mut store, &ctx, at)?)
}

fn remove_files(database: &Path) {
    for file in files_of(database) {
        let _ = fs::remove_file(file);
    }
}
