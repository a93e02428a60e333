//! Reads the board beside the screen: a slow disk or a slow git never holds a key up.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use el_agents::worker;
use el_core::model::Timestamp;
use el_core::ops::{self, Board};

use super::Message;
use crate::commands::status::InGit;
use crate::globals::Globals;
use crate::looked::last_look;
use crate::read_age::ReadAge;
use crate::{App, Result};

/// The interval between two looks at the database.
const LOOK: Duration = Duration::from_millis(200);
/// Heartbeats and costs write no event: they are shown no later than this, in a file.
const PULSE: Duration = Duration::from_secs(2);
/// The longest interval between two questions to git, and the shortest.
const GIT: Duration = Duration::from_secs(30);
const GIT_AGAIN: Duration = Duration::from_millis(500);
/// Rows of a part.
const ROWS: usize = 500;

/// An `App` of a thread's own.
pub(super) fn open_app(globals: &Globals) -> App {
    App::new(globals.clone(), globals.new_printer(), None)
}

/// Sends the board whenever it has changed, for as long as somebody listens.
pub(super) fn send_boards(globals: &Globals, messages: &SyncSender<Message>) {
    let app = open_app(globals);
    loop {
        let failed = watch_store(&app, messages).err();
        let Some(error) = failed else { return };
        if messages.send(Message::Lost(error.to_string())).is_err() {
            return;
        }
        std::thread::sleep(PULSE);
    }
}

/// Returns once nobody listens.
fn watch_store(app: &App, messages: &SyncSender<Message>) -> Result<()> {
    let store = app.open_for_reading()?;
    store.look_at_ease();
    let pulse = store.look_again_after(PULSE);
    let mut seen: Option<(ReadAge, Option<i64>)> = None;
    loop {
        store.ensure_in_place()?;
        let (version, look) = (store.data_version()?, last_look(app));
        let is_due = match &mut seen {
            // The person looked at this board or at another.
            Some((age, told_look)) if look == *told_look => age.is_over(&store, version, pulse)?,
            _ => true,
        };
        if is_due {
            let mut board = ops::board(&store, ROWS, app.now(), &worker::is_there)?;
            ops::mark_fresh(&store, &mut board, look, app.actor())?;
            seen = Some((ReadAge::new(version, board.seq), look));
            if messages.send(Message::Board(Box::new(board))).is_err() {
                return Ok(());
            }
        }
        std::thread::sleep(LOOK);
    }
}

/// Sends what git knows: now and then, and when somebody asks. Git has nine tenths of the time for
/// others.
pub(super) fn send_in_git(globals: &Globals, asked: &Receiver<()>, messages: &SyncSender<Message>) {
    let app = open_app(globals);
    loop {
        let begun = Instant::now();
        let found = app.open_for_reading().ok();
        let found = found.and_then(|store| InGit::ask(&app, &store).ok());
        if messages.send(Message::InGit(found.unwrap_or_default())).is_err() {
            return;
        }
        std::thread::sleep(GIT_AGAIN.max(begun.elapsed() * 9));
        if asked.recv_timeout(GIT) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// The facts that the threads have read so far.
#[derive(Debug, Default)]
pub(super) struct Known {
    bare: Option<Box<Board>>,
    in_git: InGit,
    /// The last event that the person has seen here.
    seen: Option<i64>,
}

impl Known {
    pub(super) fn with_board(&mut self, mut board: Box<Board>) -> Board {
        // This board was read before the person marked all as seen; a newer one follows.
        if board.looked < self.seen && Some(board.seq) <= self.seen {
            board.fresh.clear();
        }
        self.bare = Some(board);
        self.board().expect("it was just set")
    }

    pub(super) fn with_git(&mut self, in_git: InGit) -> Option<Board> {
        self.in_git = in_git;
        self.board()
    }

    /// Returns the board with all atoms marked as seen.
    pub(super) fn mark_all_seen(&mut self) -> Option<Board> {
        let bare = self.bare.as_mut()?;
        self.seen = Some(bare.seq);
        bare.looked = self.seen;
        bare.fresh.clear();
        self.board()
    }

    /// Returns the board as of a later time, for the ages in it.
    pub(super) fn aged(&self, now: Timestamp) -> Option<Board> {
        let mut board = self.board()?;
        board.now = now;
        Some(board)
    }

    fn board(&self) -> Option<Board> {
        let mut board = Board::clone(self.bare.as_ref()?);
        self.in_git.add_to(&mut board);
        Some(board)
    }
}
