//! `el top`: the board on a terminal. One thread draws and reads keys, and never waits: other
//! threads read the tracker, git, and every other `el`.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use el_agents::end_signal::{self, EndSignal};
use el_core::ops::Board;
use ratatui::crossterm::event::Event;

use crate::commands::status::InGit;
use crate::looked::note_look;
use crate::output::sanitize;
use crate::{App, CommandError, Exit, Result};

mod act;
mod action;
mod carry;
mod detail;
mod draw;
mod feed;
mod keys;
mod lines;
mod reading;
mod screen;
mod state;

use action::Action;
use detail::{Detail, Subject, View};
use screen::Screen;
use state::State;

/// A message of the threads to the one that draws.
#[derive(Debug)]
enum Message {
    Board(Box<Board>),
    InGit(InGit),
    /// Why the tracker cannot be read.
    Lost(String),
    Lines(reading::Batch),
    /// The words of a command at its end.
    Done(String),
    /// A question before an action.
    Ask(String, Action),
    Key(Event),
    /// Somebody asks for the end.
    End,
}

/// The most messages that wait to be drawn. Further senders wait, so a flood takes no memory.
const WAITING: usize = 64;
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
    messages: SyncSender<Message>,
    /// Asks for git's facts.
    ask_git: SyncSender<()>,
    /// The time and the event of the last reading of the detail.
    read: Option<(Instant, i64)>,
    view: View,
    /// The rows of the detail when it was drawn last.
    height: u16,
    is_over: bool,
}

pub(crate) fn show(app: &App) -> Result<Exit> {
    let name = app.project()?.root.file_name().unwrap_or_default().to_owned();
    let name = sanitize::path_line(std::path::Path::new(&name));
    let (messages, inbox) = mpsc::sync_channel(WAITING);
    let is_lent = Arc::<AtomicBool>::default();
    let (ended, lent) = (messages.clone(), Arc::clone(&is_lent));
    end_signal::spawn_listener(move |signal| {
        // Ctrl-C is for the program that has the terminal now.
        let is_others = signal == EndSignal::Interrupt && lent.load(Ordering::SeqCst);
        is_others || ended.send(Message::End).is_ok()
    })
    .map_err(no_terminal)?;
    let (ask_git, asked) = mpsc::sync_channel(1);
    let (globals, told) = (app.globals().clone(), messages.clone());
    std::thread::spawn(move || feed::send_boards(&globals, &told));
    let (globals, told) = (app.globals().clone(), messages.clone());
    std::thread::spawn(move || feed::send_in_git(&globals, &asked, &told));
    let mut screen = Screen::take().map_err(no_terminal)?;
    let keys = keys::KeyReader::spawn(is_lent, messages.clone());
    let mut top = Top {
        app,
        state: State::new(name, app.printer.has_color()),
        detail: Detail::new(),
        known: feed::Known::default(),
        messages,
        ask_git,
        read: None,
        view: View::Why,
        height: 1,
        is_over: false,
    };
    let ended = top.run(&mut screen, &inbox, &keys);
    top.note_look();
    ended.map(|()| Exit::Done)
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
            let is_old = drawn.is_some_and(|at| at.elapsed() >= AGES);
            if is_old && let Some(board) = self.known.aged(self.app.now()) {
                self.state.show_board(board);
            }
            if is_old || drawn.is_none() {
                screen
                    .terminal
                    .draw(|frame| {
                        self.height = draw::draw_state(frame, &self.state, &mut self.detail);
                    })
                    .map_err(no_terminal)?;
                drawn = Some(Instant::now());
            }
            match inbox.recv_timeout(PARENT) {
                Ok(message) => {
                    self.take(message, screen, keys)?;
                    // Messages that wait are drawn with it, but no endless stream of them.
                    for message in inbox.try_iter().take(WAITING) {
                        self.take(message, screen, keys)?;
                    }
                    self.read_detail();
                    drawn = None;
                }
                Err(RecvTimeoutError::Timeout) => self.read_detail(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            // The parent of the board is gone, so nobody reads it.
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
            Message::Board(board) => {
                let known = self.state.board.as_ref().map(|board| board.done.items.first());
                let is_done = known.is_some_and(|known| known != board.done.items.first());
                self.state.set_board(self.known.with_board(board));
                if is_done {
                    self.look_in_git();
                }
            }
            Message::InGit(in_git) => {
                if let Some(board) = self.known.with_git(in_git) {
                    self.state.show_board(board);
                }
            }
            Message::Lost(why) => {
                self.state.is_lost = true;
                self.state.news = format!("the tracker cannot be read: {why}");
            }
            Message::Lines(batch) => self.detail.push_lines(batch),
            Message::Done(told) => {
                self.state.is_busy = false;
                self.state.news = told;
                self.read = None;
                self.look_in_git();
            }
            Message::Ask(question, action) => {
                self.state.is_busy = false;
                // A person who types something else meanwhile is not interrupted.
                if self.state.prompt.is_none() {
                    self.confirm(&question, action);
                }
            }
            Message::Key(Event::Key(key)) => self.press(key, screen, keys)?,
            Message::Key(_) => {}
            Message::End => self.is_over = true,
        }
        Ok(())
    }

    /// Everything that was on the screen is seen.
    fn note_look(&mut self) {
        if let Some(board) = self.known.mark_all_seen() {
            note_look(self.app, board.seq);
            self.state.show_board(board);
        }
    }

    /// Asks git again: an action may have made a branch ready, or landed one.
    fn look_in_git(&self) {
        // A question that waits already asks for the same.
        let _ = self.ask_git.try_send(());
    }

    /// Reads the detail of the chosen row, if another row is chosen or something has happened.
    fn read_detail(&mut self) {
        let subject = self.state.chosen().map(|row| Subject::of(row, self.view));
        let Some(subject) = subject else { return self.detail.close() };
        let seq = self.state.board.as_ref().map_or(0, |board| board.seq);
        let is_known = self.read.is_some_and(|(at, read)| {
            // A log goes on by itself, and a diff is not read again under the eyes.
            read == seq || at.elapsed() < AGAIN || matches!(self.view, View::Log | View::Diff)
        });
        if is_known && self.detail.subject.as_ref() == Some(&subject) {
            return;
        }
        self.detail.open(self.program(), subject, &self.messages);
        self.read = Some((Instant::now(), seq));
    }

    /// An `el` that works on this very tracker, in this person's name.
    fn program(&self) -> impl Fn() -> Command + Send + 'static + use<> {
        let el = std::env::current_exe().unwrap_or_else(|_| "el".into());
        let project = self.app.project().map(|project| project.database_flag());
        let words = project.unwrap_or_default();
        let actor = self.app.actor().to_owned();
        move || {
            let mut command = Command::new(&el);
            command.args(["--actor", &actor]).args(&words);
            command
        }
    }
}
