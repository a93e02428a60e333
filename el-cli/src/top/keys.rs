//! Reads keys, and does what they say.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::action::{Action, Ask, Place, Prompt, Purpose};
use super::detail::View;
use super::screen::Screen;
use super::state::Pane;
use super::{Message, Top, act, carry, no_terminal};
use crate::Result;
use crate::editor::Draft;

/// The interval in which the reader notices that the terminal is lent.
const LOOK: Duration = Duration::from_millis(100);
const TYPED: usize = 500;
const NOTHING_WRITTEN: &str = "nothing was written, and nothing is done";

/// The thread that reads keys; it waits while the terminal is lent.
pub(super) struct KeyReader {
    is_lent: Arc<AtomicBool>,
}

impl KeyReader {
    pub(super) fn spawn(is_lent: Arc<AtomicBool>, messages: SyncSender<Message>) -> KeyReader {
        let lent = Arc::clone(&is_lent);
        std::thread::spawn(move || {
            loop {
                if lent.load(Ordering::SeqCst) {
                    std::thread::sleep(LOOK);
                    continue;
                }
                let read = match event::poll(LOOK) {
                    Ok(false) => continue,
                    Ok(true) if lent.load(Ordering::SeqCst) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                // A terminal that cannot be read any more is gone.
                let message = read.map_or(Message::End, Message::Key);
                let is_end = matches!(message, Message::End);
                if messages.send(message).is_err() || is_end {
                    return;
                }
            }
        });
        KeyReader { is_lent }
    }

    /// Lends the terminal: the reader stays away from it.
    fn lend<T>(&self, screen: &mut Screen, work: impl FnOnce() -> T) -> Result<T> {
        self.is_lent.store(true, Ordering::SeqCst);
        // The reader may be in the middle of a look.
        std::thread::sleep(LOOK + LOOK / 2);
        let done = screen.lend(work);
        self.is_lent.store(false, Ordering::SeqCst);
        done.map_err(no_terminal)
    }
}

impl Top<'_> {
    pub(super) fn press(
        &mut self,
        key: KeyEvent,
        screen: &mut Screen,
        keys: &KeyReader,
    ) -> Result<()> {
        if key.kind == KeyEventKind::Release {
            return Ok(());
        }
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return self.press_control(key.code, screen);
        }
        if self.state.prompt.is_some() {
            return self.type_key(key.code, screen, keys);
        }
        self.state.news.clear();
        if std::mem::take(&mut self.state.shows_help) {
            return Ok(());
        }
        let in_detail = self.state.focus == Pane::Detail;
        let page = self.page();
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc if in_detail => {
                self.state.focus_on(self.state.source);
            }
            KeyCode::Char('q') => self.is_over = true,
            KeyCode::Char('?') => self.state.shows_help = true,
            KeyCode::Char('j') | KeyCode::Down => self.go(1, in_detail),
            KeyCode::Char('k') | KeyCode::Up => self.go(-1, in_detail),
            KeyCode::PageDown | KeyCode::Char(' ') => self.go(page, in_detail),
            KeyCode::PageUp => self.go(-page, in_detail),
            KeyCode::Home => self.go(isize::MIN / 2, in_detail),
            KeyCode::End | KeyCode::Char('G') if in_detail => self.detail.scroll_to_end(),
            KeyCode::End | KeyCode::Char('G') => self.go(isize::MAX / 2, in_detail),
            KeyCode::Tab => self.state.next_pane(false),
            KeyCode::BackTab => self.state.next_pane(true),
            KeyCode::Enter => self.state.focus_on(Pane::Detail),
            KeyCode::Esc => self.state.filter.clear(),
            KeyCode::Char('m') => self.note_look(),
            KeyCode::Char('n') => self.state.next_need(1),
            KeyCode::Char('N') => self.state.next_need(-1),
            KeyCode::Char('1') => self.state.focus_on(Pane::Needs),
            KeyCode::Char('2') => self.state.focus_on(Pane::Running),
            KeyCode::Char('3') => self.state.focus_on(Pane::Ready),
            KeyCode::Char('4') => self.state.focus_on(Pane::Detail),
            KeyCode::Char('/') => {
                let typed = self.state.filter.clone();
                let question = "/".to_owned();
                self.state.prompt = Some(Prompt { question, typed, purpose: Purpose::Filter });
            }
            KeyCode::Char(key) => return self.press_letter(key, screen, keys),
            _ => {}
        }
        Ok(())
    }

    fn page(&self) -> isize {
        isize::try_from(self.height.max(2) - 1).unwrap_or(1)
    }

    fn press_control(&mut self, key: KeyCode, screen: &mut Screen) -> Result<()> {
        if let Some(prompt) = &mut self.state.prompt {
            match key {
                KeyCode::Char('c') => self.state.prompt = None,
                KeyCode::Char('u') => prompt.typed.clear(),
                _ => {}
            }
            return Ok(());
        }
        let in_detail = self.state.focus == Pane::Detail;
        let page = self.page();
        match key {
            KeyCode::Char('c') => self.is_over = true,
            KeyCode::Char('d') => self.go((page / 2).max(1), in_detail),
            KeyCode::Char('u') => self.go(-(page / 2).max(1), in_detail),
            KeyCode::Char('f') => self.go(page, in_detail),
            KeyCode::Char('b') => self.go(-page, in_detail),
            // Another program may have written on the screen.
            KeyCode::Char('l') => screen.terminal.clear().map_err(no_terminal)?,
            _ => {}
        }
        Ok(())
    }

    /// The key of a view, which it opens, or of an action.
    fn press_letter(&mut self, key: char, screen: &mut Screen, keys: &KeyReader) -> Result<()> {
        if let Some((view, _, _)) = View::ALL.into_iter().find(|(_, _, of)| *of == key) {
            self.view = view;
            self.read = None;
            self.state.focus_on(Pane::Detail);
        } else if let Some(command) = act::shown_command(key, self.state.chosen()) {
            self.state.news = command;
        } else {
            match act::action_of(key, self.state.chosen()) {
                Some(Ok(action)) => return self.begin(action, screen, keys),
                Some(Err(why)) => self.state.news = why,
                None => self.state.news = format!("{key} does nothing here; ? lists the keys"),
            }
        }
        Ok(())
    }

    fn go(&mut self, by: isize, in_detail: bool) {
        match in_detail {
            true => self.detail.scroll_by(by, usize::from(self.height)),
            false => self.state.move_by(by),
        }
    }

    /// Asks what the action asks, or does it.
    fn begin(&mut self, action: Action, screen: &mut Screen, keys: &KeyReader) -> Result<()> {
        match action.ask.clone() {
            Ask::Nothing => self.carry_out(action, None, screen, keys),
            Ask::Confirm(question) => {
                self.confirm(&question, action);
                Ok(())
            }
            Ask::Undo => {
                self.state.is_busy = true;
                carry::ask_undo(self.program(), action, self.messages.clone());
                Ok(())
            }
            Ask::Line(question) => {
                let purpose = Purpose::Line(action);
                self.state.prompt = Some(Prompt { question, typed: String::new(), purpose });
                Ok(())
            }
            Ask::Text { file, about } => {
                let (app, form) = (self.app, carry::blank_form(&about));
                match keys.lend(screen, || Draft::edit(app, &file, &form))? {
                    Ok(Some((draft, text))) => {
                        let text = carry::written_part(&text).to_owned();
                        if !text.is_empty() {
                            return self.carry_out(action, Some((draft, text)), screen, keys);
                        }
                        draft.remove();
                        self.state.news = NOTHING_WRITTEN.to_owned();
                    }
                    Ok(None) => self.state.news = NOTHING_WRITTEN.to_owned(),
                    // The hint tells where the text is kept.
                    Err(error) => {
                        self.state.news = format!("{error}; {}", error.hints().join("; "));
                    }
                }
                Ok(())
            }
        }
    }

    pub(super) fn confirm(&mut self, question: &str, action: Action) {
        let question = format!("{question} (y/N) ");
        let purpose = Purpose::Confirm(action);
        self.state.prompt = Some(Prompt { question, typed: String::new(), purpose });
    }

    /// A key while something is asked.
    fn type_key(&mut self, key: KeyCode, screen: &mut Screen, keys: &KeyReader) -> Result<()> {
        let Some(mut prompt) = self.state.prompt.take() else { return Ok(()) };
        match (key, &mut prompt.purpose) {
            (KeyCode::Char('y' | 'Y'), Purpose::Confirm(action)) => {
                let action = action.clone();
                return self.carry_out(action, None, screen, keys);
            }
            (_, Purpose::Confirm(_)) => return Ok(()),
            (KeyCode::Esc, Purpose::Filter) => {
                self.state.filter.clear();
                return Ok(());
            }
            (KeyCode::Esc, _) => return Ok(()),
            (KeyCode::Enter, Purpose::Filter) => return Ok(()),
            (KeyCode::Enter, Purpose::Line(action)) => {
                let mut action = action.clone();
                if prompt.typed.trim().is_empty() {
                    return Ok(());
                }
                if let Some(line) = action.commands.last_mut() {
                    line.push(prompt.typed.clone());
                }
                return self.carry_out(action, None, screen, keys);
            }
            (KeyCode::Backspace, _) => drop(prompt.typed.pop()),
            (KeyCode::Char(typed), _) if prompt.typed.len() < TYPED => prompt.typed.push(typed),
            _ => {}
        }
        if prompt.purpose == Purpose::Filter {
            self.state.filter.clone_from(&prompt.typed);
        }
        self.state.prompt = Some(prompt);
        Ok(())
    }

    fn carry_out(
        &mut self,
        action: Action,
        draft: Option<(Draft, String)>,
        screen: &mut Screen,
        keys: &KeyReader,
    ) -> Result<()> {
        let program = self.program();
        match action.place {
            Place::Aside => {
                self.state.is_busy = true;
                carry::run_aside(program, action.commands, draft, self.messages.clone());
            }
            Place::Terminal => {
                let done =
                    keys.lend(screen, || carry::run_on_terminal(program, &action.commands))?;
                if let Err(error) = done {
                    self.state.news = error.to_string();
                }
                self.read = None;
                self.look_in_git();
            }
        }
        Ok(())
    }
}
