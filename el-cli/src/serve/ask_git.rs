//! One thread asks git for all browsers: a slow git must not hold up news of the tracker.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use el_core::{Store, ops};

use super::board::{self, Board};
use crate::commands::status::InGit;
use crate::read_age::ReadAge;
use crate::{App, Result};

/// Between two questions to git.
const CALM: Duration = Duration::from_secs(2);
/// A project that does not change is asked about again after this time.
const REFRESH: Duration = Duration::from_secs(30);

/// Starts the thread. It ends with the board.
pub(super) fn start(board: &Arc<Board>) -> Result<()> {
    board::start_thread(board, "git", ask_again)
}

fn ask_again(board: &Weak<Board>) {
    let mut asked = Asked::default();
    let mut is_first = true;
    while let Some(board) = board.upgrade() {
        // Git is not asked again while no browser looks. The watcher reports a tracker that cannot
        // be read.
        let is_watched = is_first || board.told.receiver_count() > 0;
        is_first = false;
        match is_watched.then(|| asked.ask_if_changed(&board.open_app())) {
            Some(Ok(Some(found))) => board.in_git.set(found),
            Some(Ok(None)) => {}
            Some(Err(_)) | None => asked = Asked::default(),
        }
        drop(board);
        thread::sleep(CALM);
    }
}

/// The state of the tracker that git was asked about last.
#[derive(Debug, Default)]
struct Asked(Option<(Store, ReadAge)>);

impl Asked {
    fn ask_if_changed(&mut self, app: &App) -> Result<Option<InGit>> {
        let (store, known) = match self.0.take() {
            Some((store, age)) => {
                store.ensure_in_place()?;
                (store, Some(age))
            }
            None => (app.open_for_reading()?, None),
        };
        store.look_at_ease();
        let version = store.data_version()?;
        // On a server, somebody always writes: heartbeats are nothing to git.
        let pulse = if store.is_on_server() { REFRESH } else { Duration::ZERO };
        if let Some(mut age) = known
            && age.read_at.elapsed() < REFRESH
            && !age.is_over(&store, version, pulse)?
        {
            self.0 = Some((store, age));
            return Ok(None);
        }
        // A change during these questions is looked at next time.
        let seq = ops::last_event(&store)?;
        let found = InGit::ask(app, &store)?;
        self.0 = Some((store, ReadAge::new(version, seq)));
        Ok(Some(found))
    }
}
