//! The client's screen, as seen by a program that types from outside: the alternate screen, an
//! input line between two rulers, bracketed paste, a spinner, and questions that wait for a key.
//!
//! `FAKE_AGENT_SCREEN` adds difficulties: `trust`, `key`, `bypass` (a question at the start for a
//! person), `onboarding` (ends at once), `slow=MS` (a late input line), `drop-paste=N` and
//! `swallow-enter=N` (the first N are lost).

use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};

use crate::signals;

const START: &str = "\x1b[200~";
const END: &str = "\x1b[201~";
const TICK: Duration = Duration::from_millis(50);

pub(crate) struct Tui {
    keys: Receiver<Vec<u8>>,
    /// Bytes that came and are not used up.
    pending: Vec<u8>,
    lines: Vec<String>,
    input: String,
    shown: String,
    busy: bool,
    question: Option<Vec<String>>,
    drop_pastes: usize,
    swallow_enters: usize,
}

/// The meaning of a key or key sequence.
enum Key {
    Paste(String),
    Text(char),
    Enter,
    Escape,
}

impl Tui {
    /// Takes the terminal over. `Err`: ends at once with this text on the screen.
    pub(crate) fn open() -> Result<Self, String> {
        let manner = std::env::var("FAKE_AGENT_SCREEN").unwrap_or_default();
        let number = |name: &str| {
            manner
                .split_whitespace()
                .find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse::<usize>().ok())
                .unwrap_or(0)
        };
        if manner.contains("onboarding") {
            return Err(" Unable to connect to Anthropic services\n Failed to connect to \
                api.anthropic.com: EAI_AGAIN"
                .to_owned());
        }
        let input = std::io::stdin();
        let mut raw = tcgetattr(&input).map_err(|e| e.to_string())?;
        raw.make_raw();
        tcsetattr(&input, OptionalActions::Now, &raw).map_err(|e| e.to_string())?;
        let (send, keys) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = std::io::stdin().read(&mut buffer) {
                if send.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut tui = Self {
            keys,
            pending: Vec::new(),
            lines: Vec::new(),
            input: String::new(),
            shown: String::new(),
            busy: false,
            question: None,
            drop_pastes: number("drop-paste"),
            swallow_enters: number("swallow-enter"),
        };
        tui.write("\x1b[?1049h\x1b[?2004h");
        std::thread::sleep(Duration::from_millis(u64::try_from(number("slow")).unwrap_or(0)));
        for (name, text) in QUESTIONS {
            if manner.contains(name) && !tui.asks(text) {
                tui.close();
                return Err(String::new());
            }
        }
        tui.draw();
        Ok(tui)
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.lines.extend(text.lines().map(str::to_owned));
        self.draw();
    }

    /// Waits for submitted input; `None` after SIGINT.
    pub(crate) fn submission(&mut self) -> Option<String> {
        self.busy = false;
        self.draw();
        loop {
            match self.key()? {
                Key::Paste(_) if self.drop_pastes > 0 => self.drop_pastes -= 1,
                Key::Paste(text) => {
                    let lines = text.matches('\n').count();
                    self.shown = if lines > 2 {
                        format!("[Pasted text #1 +{lines} lines]")
                    } else {
                        text.clone()
                    };
                    self.input.push_str(&text);
                }
                Key::Text(char) => {
                    self.input.push(char);
                    self.shown.push(char);
                }
                Key::Enter if self.input.is_empty() => {}
                Key::Enter if self.swallow_enters > 0 => self.swallow_enters -= 1,
                Key::Enter => {
                    let text = std::mem::take(&mut self.input);
                    self.shown.clear();
                    self.busy = true;
                    self.say(&format!("❯ {text}"));
                    return Some(text);
                }
                Key::Escape => {}
            }
            self.draw();
        }
    }

    /// Asks a person: Enter or `1` is the first choice, any other key is not. `false` after SIGINT,
    /// too.
    pub(crate) fn asks(&mut self, lines: &[&str]) -> bool {
        self.question = Some(lines.iter().map(|line| (*line).to_owned()).collect());
        self.draw();
        let answer = self.key();
        self.question = None;
        self.draw();
        matches!(answer, Some(Key::Enter | Key::Text('1')))
    }

    pub(crate) fn close(&mut self) {
        self.write("\x1b[?2004l\x1b[?1049l\r\nResume this session with:\r\n");
    }

    /// The next key; `None` after SIGINT, or when the terminal is gone.
    fn key(&mut self) -> Option<Key> {
        loop {
            if signals::interrupted() {
                return None;
            }
            if let Some(key) = self.parse() {
                return Some(key);
            }
            match self.keys.recv_timeout(TICK) {
                Ok(bytes) => self.pending.extend(bytes),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn parse(&mut self) -> Option<Key> {
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        if let Some(rest) = text.strip_prefix(START) {
            let (paste, rest) = rest.split_once(END)?;
            let key = Key::Paste(paste.replace('\r', "\n"));
            self.pending = rest.as_bytes().to_vec();
            return Some(key);
        }
        if !text.is_empty() && START.starts_with(&text) && text.len() > 1 {
            return None;
        }
        let char = text.chars().next()?;
        self.pending.drain(..char.len_utf8().min(self.pending.len()));
        Some(match char {
            '\r' | '\n' => Key::Enter,
            '\x1b' => Key::Escape,
            char => Key::Text(char),
        })
    }

    fn draw(&self) {
        let rows =
            tcgetwinsize(std::io::stdout()).map_or(50, |size| usize::from(size.ws_row)).max(12);
        let ruler = "─".repeat(60);
        let below = match &self.question {
            Some(lines) => [&[ruler][..], lines].concat(),
            None => {
                let spinner = if self.busy { "✶ Playing…" } else { "" };
                let footer = if self.busy {
                    "  ⏵⏵ accept edits on · esc to interrupt"
                } else {
                    "  ⏵⏵ accept edits on (shift+tab to cycle)"
                };
                vec![
                    spinner.to_owned(),
                    ruler.clone(),
                    format!("❯ {}", self.shown.replace('\n', "\r\n  ")),
                    ruler,
                    footer.to_owned(),
                ]
            }
        };
        let room = rows.saturating_sub(below.len() + 1);
        let above = &self.lines[self.lines.len().saturating_sub(room)..];
        let screen: Vec<&str> = above.iter().chain(&below).map(String::as_str).collect();
        self.write(&format!("\x1b[H\x1b[2J{}", screen.join("\r\n")));
    }

    fn write(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

const QUESTIONS: [(&str, &[&str]); 3] = [
    (
        "trust",
        &[
            " Accessing workspace:",
            " Quick safety check: Is this a project you created or one you trust?",
            " ❯ No, exit",
            "   Yes, I trust this folder",
            " Enter to confirm · Esc to cancel",
        ],
    ),
    (
        "key",
        &[
            "  Detected a custom API key in your environment",
            "  Do you want to use this API key?",
            "    Yes",
            "  ❯ No (recommended)",
            "  Enter to confirm · Esc to cancel",
        ],
    ),
    (
        "bypass",
        &[
            "  WARNING: Claude Code running in Bypass Permissions mode",
            "  By proceeding, you accept all responsibility.",
            "  ❯ No, exit",
            "    Yes, I accept",
            "  Enter to confirm · Esc to cancel",
        ],
    ),
];

/// The question before a tool without a rule.
pub(crate) const PROCEED: [&str; 5] = [
    " This command requires approval",
    " Do you want to proceed?",
    " ❯ 1. Yes",
    "   2. No",
    " Esc to cancel",
];
