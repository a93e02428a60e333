//! `el top`: the board on a terminal. One thread draws and reads keys, and never waits for
//! anything else: the tracker, git, and every other `el` are read by threads of their own.

use std::process::Command;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use el_agents::end_signal;
use el_core::model::Timestamp;
use el_core::ops::Board;
use ratatui::crossterm::event::{self, Event};

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::sanitize;

mod act;
mod action;
mod detail;
mod draw;
mod feed;
mod keys;
mod screen;
mod state;

use detail::{Detail, View};
use screen::Screen;
use state::State;

/// What the threads tell the one that draws.
#[derive(Debug)]
enum Message {
    Board(Box<Board>),
    Branches(Vec<(String, Timestamp)>),
    /// Why the tracker cannot be read.
    Lost(String),
    /// Lines of a detail, by its number.
    Lines(u64, Vec<String>),
    /// What a command said at its end.
    Done(String),
    Key(Event),
    /// Somebody asks for the end.
    End,
}

/// A screen is drawn again after this time at the latest, for the ages in it.
const AGES: Duration = Duration::from_secs(5);
/// The interval between two looks at the parent.
const PARENT: Duration = Duration::from_secs(1);
/// A detail is read again no sooner.
const AGAIN: Duration = Duration::from_secs(2);

/// The board while it is shown.
struct Top<'a> {
    app: &'a App,
    state: State,
    detail: Detail,
    known: feed::Known,
    messages: Sender<Message>,
    /// When the detail was read, and of which event.
    read: Option<(Instant, i64)>,
    view: View,
    /// The rows of the detail when it was drawn last.
    height: u16,
    is_over: bool,
}

pub(crate) fn show(app: &App) -> Result<Exit> {
    let name = app.project()?.root.file_name().unwrap_or_default().to_owned();
    let name = sanitize::path_line(std::path::Path::new(&name));
    let (messages, inbox) = mpsc::channel();
    let (ended, globals) = (messages.clone(), app.globals().clone());
    end_signal::spawn_listener(move || ended.send(Message::End).is_ok()).map_err(no_terminal)?;
    for read in [feed::send_boards, feed::send_branches] {
        let (globals, messages) = (globals.clone(), messages.clone());
        std::thread::spawn(move || read(&globals, &messages));
    }
    let mut screen = Screen::take().map_err(no_terminal)?;
    let keys = keys::KeyReader::spawn(messages.clone());
    let mut top = Top {
        app,
        state: State::new(name, app.printer.has_color()),
        detail: Detail::default(),
        known: feed::Known::default(),
        messages,
        read: None,
        view: View::Why,
        height: 1,
        is_over: false,
    };
    top.run(&mut screen, &inbox, &keys)?;
    Ok(Exit::Done)
}

fn no_terminal(source: std::io::Error) -> CommandError {
    CommandError::config_error("TERM", "the terminal cannot be used").with_source(source)
}

impl Top<'_> {
    fn run(
        &mut self,
        screen: &mut Screen,
        inbox: &Receiver<Message>,
        keys: &keys::KeyReader,
    ) -> Result<()> {
        let parent = rustix::process::getppid();
        let mut drawn: Option<Instant> = None;
        while !self.is_over {
            let is_old = drawn.is_none_or(|at| at.elapsed() >= AGES);
            if is_old {
                screen
                    .terminal
                    .draw(|frame| {
                        self.height = draw::draw_state(frame, &self.state, &self.detail);
                    })
                    .map_err(no_terminal)?;
                drawn = Some(Instant::now());
            }
            match inbox.recv_timeout(PARENT) {
                Ok(message) => {
                    self.take(message, screen, keys)?;
                    // What came meanwhile is drawn with it.
                    while let Ok(message) = inbox.try_recv() {
                        self.take(message, screen, keys)?;
                    }
                    self.read_detail();
                    drawn = None;
                }
                Err(RecvTimeoutError::Timeout) => self.read_detail(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            // Whoever started the board is gone, and nobody reads it.
            self.is_over |= rustix::process::getppid() != parent;
        }
        Ok(())
    }

    fn take(
        &mut self,
        message: Message,
        screen: &mut Screen,
        keys: &keys::KeyReader,
    ) -> Result<()> {
        match message {
            Message::Board(board) => self.state.set_board(self.known.with_board(board)),
            Message::Branches(branches) => {
                if let Some(board) = self.known.with_branches(branches) {
                    self.state.set_board(board);
                }
            }
            Message::Lost(why) => {
                self.state.is_lost = true;
                self.state.news = format!("the tracker cannot be read: {why}");
            }
            Message::Lines(number, lines) => drop(self.detail.push_lines(number, lines)),
            Message::Done(told) => {
                self.state.is_busy = false;
                self.state.news = told;
                self.read = None;
            }
            Message::Key(Event::Key(key)) => self.press(key, screen, keys)?,
            Message::Key(_) => {}
            Message::End => self.is_over = true,
        }
        Ok(())
    }

    /// Reads the detail of the chosen row, if another row is chosen or something has happened.
    fn read_detail(&mut self) {
        let Some(atom) = self.state.chosen().and_then(|row| row.atom.clone()) else { return };
        let seq = self.state.board.as_ref().map_or(0, |board| board.seq);
        let is_same = self.detail.atom == atom && self.detail.view == Some(self.view);
        let is_known = self.read.is_some_and(|(at, read)| {
            // A log goes on by itself, and a diff is not read again under the eyes.
            read == seq || at.elapsed() < AGAIN || matches!(self.view, View::Log | View::Diff)
        });
        if is_same && is_known {
            return;
        }
        self.detail.open(self.program(), &atom, self.view, &self.messages);
        self.read = Some((Instant::now(), seq));
    }

    /// An `el` that works on this very tracker, in this person's name.
    fn program(&self) -> impl Fn() -> Command + Send + 'static + use<> {
        let el = std::env::current_exe().unwrap_or_else(|_| "el".into());
        let db = self.app.project().map(|project| project.db.clone()).ok();
        let actor = self.app.actor().to_owned();
        move || {
            let mut command = Command::new(&el);
            command.args(["--actor", &actor]);
            if let Some(db) = &db {
                command.arg("--db").arg(db);
            }
            command
        }
    }
}

/// Waits until a key may be pressed, no longer than this.
fn has_key(within: Duration) -> std::io::Result<bool> {
    event::poll(within)
}
