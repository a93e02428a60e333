//! One thread looks for changes of the database, for all browsers. The message of a change holds
//! the board, and the rows of the atoms that changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use el_agents::worker;
use el_core::model::{AtomRow, Timestamp};
use el_core::{Store, ops};
use serde::Serialize;

use super::board::{self, Board, Told};
use crate::commands::status::{self, InGit};
use crate::looked::last_look;
use crate::project::Project;
use crate::read_age::ReadAge;
use crate::{App, CommandError, Result};

/// Between two looks: a look costs microseconds.
const LOOK: Duration = Duration::from_millis(40);
/// Between two messages, however much changes.
const CALM: Duration = Duration::from_millis(150);
/// The board changes by the mere passing of time, too. On a server, heartbeats and costs alone are
/// shown no earlier than this.
const REFRESH: Duration = Duration::from_secs(5);
/// The same on a server that does not change: the board is some fifty questions.
const SERVER_REFRESH: Duration = Duration::from_secs(30);
/// The rows of each part that are sent.
pub(super) const ROWS: usize = 50;

/// The changes since an event, and the board as it is now.
#[derive(Debug, Serialize)]
pub(super) struct Change {
    pub(super) seq: i64,
    pub(super) since: i64,
    /// The atoms that changed, as they are now.
    pub(super) atoms: Vec<AtomRow>,
    pub(super) gone: Vec<String>,
    pub(super) board: ops::Board,
}

/// Starts the thread. It ends with the board.
pub(super) fn start(board: &Arc<Board>) -> Result<()> {
    board::start_thread(board, "watch", watch)
}

fn watch(board: &Weak<Board>) {
    let mut watcher = Watcher::default();
    while let Some(board) = board.upgrade() {
        // Nothing is read while no browser looks.
        if board.told.receiver_count() > 0 {
            if let Some(told) = watcher.tell_changes(&board.open_app(), board.in_git.latest()) {
                // The last browser may be gone.
                drop(board.told.send(told));
            }
        } else {
            watcher = Watcher::default();
        }
        drop(board);
        thread::sleep(LOOK);
    }
}

impl Watched {
    /// Returns true if the board may be another by now.
    fn is_board_due(&mut self, version: i64) -> Result<bool> {
        let (pulse, refresh) = match self.store.is_on_server() {
            true => (REFRESH, SERVER_REFRESH),
            false => (Duration::ZERO, REFRESH),
        };
        let is_old = self.age.read_at.elapsed() >= refresh;
        Ok(is_old || self.age.is_over(&self.store, version, pulse)?)
    }
}

#[derive(Debug, Default)]
struct Watcher {
    open: Option<Watched>,
    /// The trouble that was reported last.
    trouble: Option<String>,
}

/// The database that is being watched.
#[derive(Debug)]
struct Watched {
    store: Store,
    /// A server has none.
    file: Option<(u64, u64)>,
    /// Of the last board that was read. A page that a browser loaded before it was opened may be
    /// old by now.
    age: ReadAge,
    /// The last board that was sent, without its time.
    shown: Option<ops::Board>,
    in_git: InGit,
    /// The last event that the person had seen, as it was sent last.
    look: Option<i64>,
}

impl Watcher {
    fn tell_changes(&mut self, app: &App, in_git: InGit) -> Option<Told> {
        let seen = self.try_look(app, in_git);
        match seen {
            Ok(told) => {
                let is_back = self.trouble.take().is_some();
                told.or_else(|| is_back.then(reset))
            }
            Err(error) => {
                self.open = None;
                let text = error.to_string();
                if self.trouble.replace(text.clone()).as_ref() == Some(&text) {
                    return None;
                }
                let data = serde_json::json!({ "message": text }).to_string();
                Some(Told { seq: 0, kind: "trouble", data: data.into() })
            }
        }
    }

    fn try_look(&mut self, app: &App, in_git: InGit) -> Result<Option<Told>> {
        let project = app.project()?;
        let Some(open) = &mut self.open else {
            let store = app.open_for_reading()?;
            store.look_at_ease();
            let version = store.data_version()?;
            let seq = ops::last_event(&store)?;
            let file = file_at(project)?;
            let (age, shown, look) = (ReadAge::new(version, seq), None, last_look(app));
            self.open = Some(Watched { store, file, age, shown, in_git, look });
            return Ok(None);
        };
        if open.age.read_at.elapsed() < CALM {
            return Ok(None);
        }
        let version = open.store.data_version()?;
        let look = last_look(app);
        let is_told = in_git != open.in_git || look != open.look;
        if !is_told && !open.is_board_due(version)? {
            return Ok(None);
        }
        open.age = ReadAge::new(version, open.age.seq);
        open.look = look;
        if file_at(project)? != open.file {
            self.open = None;
            return Ok(Some(reset()));
        }
        let mut read = ops::board(&open.store, ROWS, app.now(), &worker::is_there)?;
        in_git.add_to(&mut read);
        open.in_git = in_git;
        ops::mark_fresh(&open.store, &mut read, look, app.actor())?;
        let Some(change) = change_since(&open.store, open.age.seq, read)? else {
            self.open = None;
            return Ok(Some(reset()));
        };
        open.age.seq = change.seq;
        let board = ops::Board { now: Timestamp::from_micros(0), ..change.board.clone() };
        if change.atoms.is_empty() && change.gone.is_empty() && open.shown.as_ref() == Some(&board)
        {
            return Ok(None);
        }
        open.shown = Some(board);
        Ok(Some(told_of(&change)?))
    }
}

/// Finds the changes since the event `since`; `None` if the browser has to load everything anew.
pub(super) fn find_change(store: &Store, since: i64, app: &App) -> Result<Option<Change>> {
    change_since(store, since, status::read_board(app, store, ROWS, last_look(app))?)
}

/// The board is read first, so a change after that is sent once more.
fn change_since(store: &Store, since: i64, board: ops::Board) -> Result<Option<Change>> {
    let delta = ops::board_changes(store, since)?;
    if delta.reset {
        return Ok(None);
    }
    let (seq, atoms, gone) = (delta.seq.min(board.seq), delta.atoms, delta.gone);
    Ok(Some(Change { seq, since, atoms, gone, board }))
}

pub(super) fn told_of(change: &Change) -> Result<Told> {
    let data = serde_json::to_string(change).map_err(|source| {
        CommandError::internal_error("cannot write a change as JSON").with_source(source)
    })?;
    Ok(Told { seq: change.seq, kind: "change", data: data.into() })
}

/// Tells the browsers to load everything anew.
pub(super) fn reset() -> Told {
    Told { seq: 0, kind: "reset", data: "{}".into() }
}

fn file_at(project: &Project) -> Result<Option<(u64, u64)>> {
    if project.server.is_some() {
        return Ok(None);
    }
    let path = &project.db;
    let meta =
        fs::metadata(path).map_err(|source| CommandError::file_error("read", path, source))?;
    Ok(Some((meta.dev(), meta.ino())))
}
