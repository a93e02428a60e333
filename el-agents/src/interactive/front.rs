//! Drives a client with a screen: looks at the screen, types the instruction, and reports the
//! state.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_core::model::{Cost, EndKind, ExitRecord, Progress};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::conversation::{Conversation, ConversationFacts};
use super::history::History;
use super::screen::{Question, Screen, ScreenState};
use super::terminal::{PaneJob, Terminal, exit_client};
use super::typing::{Act, REMEDY, Typing, sanitize_for_paste};
use crate::claude::{ErrorCause, ErrorReport, classify_error};
use crate::process::ProcessId;
use crate::rundir::write_private;
use crate::tmux::{OwnPane, PaneLook};

/// Interval between looks: while typing, and afterwards.
const LOOK_TYPING: Duration = Duration::from_millis(400);
const LOOK: Duration = Duration::from_secs(1);
/// The time after which a client that waits at its input line counts as finished.
const IDLE: Duration = Duration::from_secs(10);
/// The idle time that suffices after the end of the atom, when only a last line may be missing.
const IDLE_FINISHED: Duration = Duration::from_secs(2);
/// The time after which a last error counts. The client retries by itself meanwhile.
const ERROR_STANDS: Duration = Duration::from_secs(10);
/// The time limit for failing looks before the instruction was typed.
const BLIND: Duration = Duration::from_secs(60);

/// The news of a look, and of the client's record.
#[derive(Debug, Default)]
pub(crate) struct ScreenUpdate {
    /// The screen or the conversation has changed.
    pub(crate) acted: bool,
    /// Lines for the log of the pane.
    pub(crate) log: Vec<String>,
    /// Messages of the conversation, as in the event stream.
    pub(crate) messages: Vec<u8>,
}

/// A client on the pane's terminal.
#[derive(Debug)]
pub(crate) struct ScreenDriver {
    pane: OwnPane,
    terminal: Terminal,
    conversation: Conversation,
    history: History,
    /// The file with the text to type.
    typed: PathBuf,
    typing: Option<Typing>,
    job: Option<PaneJob>,
    screen: Screen,
    text: String,
    attached: u32,
    looked: Option<Instant>,
    blind_since: Instant,
    /// Since when the client waits at its input line without any change.
    idle_since: Option<Instant>,
    asked_since: Option<Instant>,
    is_submitted: bool,
    prompts: u32,
    nudges: u32,
    failure: Option<String>,
}

impl ScreenDriver {
    /// `prompt`: the instruction. `typed`: a file in the run's folder. `environment`: the client's
    /// environment.
    pub(crate) fn new(
        pane: OwnPane,
        prompt: &str,
        typed: PathBuf,
        environment: &[(OsString, OsString)],
        conversation: &str,
    ) -> std::io::Result<ScreenDriver> {
        let now = Instant::now();
        let mut front = ScreenDriver {
            terminal: Terminal::new(pane.clone()),
            pane,
            conversation: Conversation::new(config_folder(environment).as_deref(), conversation),
            history: History::default(),
            typed,
            typing: None,
            job: None,
            screen: Screen::from_capture(""),
            text: String::new(),
            attached: 0,
            looked: None,
            blind_since: now,
            idle_since: None,
            asked_since: None,
            is_submitted: false,
            prompts: 0,
            nudges: 0,
            failure: None,
        };
        front.begin_typing(prompt, now)?;
        Ok(front)
    }

    fn begin_typing(&mut self, text: &str, now: Instant) -> std::io::Result<()> {
        let text = sanitize_for_paste(text);
        write_private(&self.typed, text.as_bytes()).map_err(std::io::Error::other)?;
        self.prompts = self.conversation.known_facts().prompts;
        self.typing = Some(Typing::new(&text, now));
        Ok(())
    }

    /// Takes a tick, ten times a second. Never blocks.
    pub(crate) fn tick(&mut self, now: Instant) -> ScreenUpdate {
        let mut seen = ScreenUpdate {
            messages: self.conversation.read_new_messages(now),
            ..ScreenUpdate::default()
        };
        seen.acted = !seen.messages.is_empty();
        match self.terminal.take_look() {
            Some(Ok(look)) => {
                self.blind_since = now;
                self.handle_look(look, &mut seen, now);
            }
            Some(Err(_)) if !self.is_submitted && now.duration_since(self.blind_since) > BLIND => {
                self.failure
                    .get_or_insert_with(|| "tmux does not tell what the screen shows".to_owned());
            }
            // A failed look tells nothing; a pane that is gone comes as a hang-up.
            Some(Err(_)) | None => {}
        }
        if seen.acted {
            self.idle_since = None;
        }
        let pause = if self.typing.is_some() { LOOK_TYPING } else { LOOK };
        if !self.terminal.is_busy()
            && (self.job.is_some() || self.looked.is_none_or(|at| now.duration_since(at) >= pause))
        {
            self.looked = Some(now);
            self.terminal.begin_job(self.job.take().unwrap_or(PaneJob::Look));
        }
        seen
    }

    fn handle_look(&mut self, look: PaneLook, seen: &mut ScreenUpdate, now: Instant) {
        let screen = Screen::from_capture(&look.text);
        seen.acted |= screen.fingerprint != self.screen.fingerprint;
        // Before the client's first screen and after its last, the pane shows other text.
        if screen.state != ScreenState::Unknown {
            seen.log = self.history.record_screen(&screen.body);
        }
        self.screen = screen;
        self.text = look.text;
        self.attached = look.attached;
        self.type_on(now);
        let is_idle =
            matches!(self.screen.state, ScreenState::Prompt { busy: false, background: false, .. })
                && self.typing.is_none();
        self.idle_since =
            if is_idle && !seen.acted { Some(self.idle_since.unwrap_or(now)) } else { None };
        let is_asked = matches!(self.screen.state, ScreenState::Question(_));
        self.asked_since = if is_asked { Some(self.asked_since.unwrap_or(now)) } else { None };
    }

    fn type_on(&mut self, now: Instant) {
        let Some(typing) = &mut self.typing else { return };
        let arrived = self.conversation.known_facts().prompts > self.prompts;
        match typing.next_act(&self.screen, self.attached > 0, arrived, now) {
            Act::Nothing => {}
            Act::Paste => self.job = Some(PaneJob::Paste(self.typed.clone())),
            Act::Enter => self.job = Some(PaneJob::Enter),
            Act::Sent => {
                self.typing = None;
                self.is_submitted = true;
            }
            // A nudge that does not arrive: the client then counts as finished, as without a nudge.
            Act::Fail(_) if self.is_submitted => self.typing = None,
            Act::Fail(why) => {
                self.typing = None;
                self.failure
                    .get_or_insert(format!("Claude Code could not be given its work: {why}"));
            }
        }
    }

    /// The work could not be given to the client, so the run has not begun; why.
    pub(crate) fn typing_failure(&self) -> Option<&str> {
        self.failure.as_deref().filter(|_| !self.is_submitted)
    }

    /// A person is attached and may type.
    pub(crate) fn is_attached(&self) -> bool {
        self.attached > 0
    }

    /// The open question to a person.
    pub(crate) fn open_question(&self) -> Option<&Question> {
        match &self.screen.state {
            ScreenState::Question(question) if self.is_submitted => Some(question),
            _ => None,
        }
    }

    /// The client waits at its input line, ready for typed words.
    pub(crate) fn is_at_prompt(&self) -> bool {
        self.is_submitted
            && self.typing.is_none()
            && matches!(self.screen.state, ScreenState::Prompt { busy: false, .. })
    }

    /// The client has finished: the last turn has ended or a request failed for good, and no person
    /// is attached who may go on.
    pub(crate) fn is_at_its_end(&self, is_finished: bool, now: Instant) -> bool {
        if self.typing.is_some() || !self.is_submitted {
            return false;
        }
        let longer = |since: Option<Instant>, than: Duration| {
            since.is_some_and(|since| now.duration_since(since) >= than)
        };
        if is_finished {
            return longer(self.idle_since, IDLE_FINISHED);
        }
        // After an error the client may ask for a decision.
        let stopped = self.conversation.known_facts().error.is_some()
            && longer(self.asked_since, ERROR_STANDS);
        !self.is_attached() && (longer(self.idle_since, IDLE) || stopped)
    }

    /// Reminds the client of its atom by a further message. Returns false if the reminders are used
    /// up, or a reminder is useless.
    pub(crate) fn type_nudge(&mut self, text: &str, times: u32, now: Instant) -> bool {
        if self.nudges >= times
            || self.conversation.known_facts().error.is_some()
            || self.begin_typing(text, now).is_err()
        {
            return false;
        }
        self.nudges += 1;
        self.idle_since = None;
        true
    }

    /// The number of reminders.
    pub(crate) fn nudge_count(&self) -> u32 {
        self.nudges
    }

    /// Adds the facts about progress that only the screen and the client's record have.
    pub(crate) fn fill_progress(&self, progress: &mut Progress) {
        if let Some(question) = self.open_question() {
            progress.action = Some(format!("waiting for a person: {}", question.text));
        }
        if let Some(cost) = self.conversation.known_facts().cost_micros {
            progress.cost = Cost::reported(i64::try_from(cost).unwrap_or(i64::MAX));
        }
    }

    /// Adds the known facts about the end to the exit record.
    pub(crate) fn fill_exit_record(&self, record: &mut ExitRecord) {
        let ConversationFacts { error, .. } = self.conversation.known_facts();
        let waited = self.open_question().filter(|_| record.end == EndKind::Stalled);
        if record.end == EndKind::SpawnFailed {
            record.message = self.failure.clone().or_else(|| {
                let words: Vec<&str> = self.text.lines().map(without_ours).collect();
                Some(format!(
                    "its screen said: {}; {REMEDY}",
                    Screen::last_words(&words.join("\n"), 3)
                ))
            });
        } else if let Some(question) = waited {
            record.message = Some(format!("nobody answered: {}", question.text));
        } else if let Some(error) = error {
            record.is_error = true;
            record.api_error_status = error.status;
            record.message = Some(error.text.clone());
            let status = error.status.and_then(|status| u16::try_from(status).ok());
            let report = ErrorReport {
                status,
                kind: &error.kind,
                text: &error.text,
                ..ErrorReport::default()
            };
            match classify_error(&report) {
                ErrorCause::Fault(fault) => record.fault = Some(fault),
                ErrorCause::Permanent => record.is_permanent = true,
                ErrorCause::Unknown => {}
            }
        }
    }

    /// Returns true if the client has received its work.
    pub(crate) fn is_submitted(&self) -> bool {
        self.is_submitted
    }

    /// Looks once more at the screen of a client that ended before taking its work: the last words
    /// name the reason.
    pub(crate) async fn look_back(&mut self) {
        let pane = self.pane.clone();
        if let Ok(Ok(look)) = tokio::task::spawn_blocking(move || pane.read_pane()).await
            && !Screen::last_words(&look.text, 1).is_empty()
        {
            self.text = look.text;
        }
    }

    /// Returns the rest of the conversation and of the screen, after the client's end.
    pub(crate) fn finish(&mut self, now: Instant) -> ScreenUpdate {
        let mut messages = Vec::new();
        loop {
            let more = self.conversation.read_new_messages(now);
            if more.is_empty() {
                break;
            }
            messages.extend(more);
        }
        ScreenUpdate { acted: false, log: self.history.finish(), messages }
    }

    /// How the client is to be asked to leave; to be called from a thread that may block.
    pub(crate) fn exit_request(&self, agent: &ProcessId) -> impl FnOnce() + Send + 'static + use<> {
        let (pane, agent) = (self.pane.clone(), agent.clone());
        let is_wanted = self.is_at_prompt();
        move || {
            if is_wanted {
                exit_client(&pane, &agent);
            }
        }
    }
}

/// Returns the client's own folder, according to its environment.
fn config_folder(environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let get = |key: &str| {
        environment
            .iter()
            .find(|(name, value)| name == key && !value.is_empty())
            .map(|(_, value)| Path::new(value))
    };
    get("CLAUDE_CONFIG_DIR")
        .map(Path::to_owned)
        .or_else(|| get("HOME").map(|home| home.join(".claude")))
}

/// Saves the terminal's settings. The returned function restores them after the client's end.
pub(crate) fn save_terminal() -> impl FnOnce() {
    let before: Option<Termios> = tcgetattr(std::io::stdin()).ok();
    move || {
        if let Some(before) = before {
            // A terminal that is gone needs no restoring.
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
        }
    }
}

/// Cuts off el's own first line, which may follow words of the client without a line end.
fn without_ours(line: &str) -> &str {
    let is_ours = |at: &usize| line[*at..].contains(" works on ");
    line.find("el: ").filter(is_ours).map_or(line, |at| &line[..at])
}

#[cfg(test)]
mod own_words {
    #[test]
    fn our_own_line_is_no_word_of_the_clients() {
        let line = "el: claude works on t-njs3 — Play a script (run-s8a11c1j; detach with C-b d, \
                    end with C-c)";
        assert_eq!(super::without_ours(line), "");
        assert_eq!(super::without_ours(&format!("EAI_AGAIN{line}")), "EAI_AGAIN");
        assert_eq!(super::without_ours("Unable to connect"), "Unable to connect");
    }
}
