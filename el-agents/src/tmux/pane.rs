//! One pane, seen and typed into from inside: by the process that runs in it.
//!
//! A pane's id is unique for the life of a server, but servers come and go: after one was killed, a
//! new one may have given the same id to a stranger's pane. Every call here therefore asks for the
//! pid of the pane's process too, and does nothing to a pane that is not ours.

use std::fs::File;
use std::process::Stdio;

use super::call::{self, Answer};
use super::{Failure, SessionError, Tmux};

/// The pane that this process runs in.
#[derive(Debug, Clone)]
pub(crate) struct OwnPane {
    tmux: Tmux,
    /// `%7`
    id: String,
    pid: u32,
}

/// What a pane shows at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PaneLook {
    /// The visible lines, as plain text.
    pub(crate) text: String,
    /// How many terminals show its session.
    pub(crate) attached: u32,
}

impl OwnPane {
    /// From `$TMUX_PANE`; `None` if that is no pane's id.
    pub(crate) fn new(tmux: Tmux, id: &str) -> Option<OwnPane> {
        let number = id.strip_prefix('%')?;
        (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then(|| OwnPane {
            tmux,
            id: id.to_owned(),
            pid: std::process::id(),
        })
    }

    /// What it shows now.
    ///
    /// # Errors
    /// [`Failure::Missing`] if the pane is gone, or not ours any more; else if tmux could not be
    /// asked.
    pub(crate) fn look(&self) -> Result<PaneLook, SessionError> {
        let format = "#{pane_pid} #{session_attached}";
        let words = [
            "display-message",
            "-p",
            "-t",
            &self.id,
            format,
            ";",
            "capture-pane",
            "-p",
            "-t",
            &self.id,
        ];
        let answer = self.ask("look at", &words, Stdio::null())?;
        let (head, text) = answer.out.split_once('\n').unwrap_or_default();
        let mut numbers = head.split(' ').map(str::parse::<u32>);
        let (Some(Ok(pid)), Some(Ok(attached))) = (numbers.next(), numbers.next()) else {
            return Err(SessionError::new(
                &self.id,
                "look at",
                Failure::Refused,
                answer.unexpected(),
            ));
        };
        if pid != self.pid {
            return Err(SessionError::new(
                &self.id,
                "look at",
                Failure::Missing,
                "the pane is another process's".to_owned(),
            ));
        }
        Ok(PaneLook { text: text.to_owned(), attached })
    }

    /// Pastes the content of a file as one piece, as a terminal would. The content must hold no
    /// control characters but line ends and tabs.
    ///
    /// # Errors
    /// If the file cannot be read, or tmux could not be asked.
    pub(crate) fn paste(&self, file: File) -> Result<(), SessionError> {
        let buffer = format!("el-{}", self.pid);
        self.ask("fill the buffer of", &["load-buffer", "-b", &buffer, "-"], Stdio::from(file))?;
        self.if_ours("paste into", &format!("paste-buffer -p -d -b {buffer} -t {}", self.id))
    }

    /// Presses a key, by tmux's name for it.
    ///
    /// # Errors
    /// If tmux could not be asked.
    pub(crate) fn press(&self, key: &'static str) -> Result<(), SessionError> {
        self.if_ours("press a key in", &format!("send-keys -t {} {key}", self.id))
    }

    /// Types a word of ours: letters and `/` only.
    ///
    /// # Errors
    /// If tmux could not be asked.
    pub(crate) fn type_word(&self, word: &'static str) -> Result<(), SessionError> {
        debug_assert!(
            word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'/'),
            "tmux would read it as a command"
        );
        self.if_ours("type into", &format!("send-keys -t {} -l {word}", self.id))
    }

    /// One step in the server, so that nothing can come between the question and the act. The
    /// command is made of our own words and ids.
    fn if_ours(&self, operation: &'static str, command: &str) -> Result<(), SessionError> {
        let condition = format!("#{{==:#{{pane_pid}},{}}}", self.pid);
        self.ask(operation, &["if-shell", "-F", "-t", &self.id, &condition, command], Stdio::null())
            .map(drop)
    }

    fn ask(
        &self,
        operation: &'static str,
        words: &[&str],
        input: Stdio,
    ) -> Result<Answer, SessionError> {
        let command = self.tmux.command(words);
        let answer = call::run_with_input(command, input, self.tmux.timeout)
            .map_err(|error| error.of(&self.id, operation))?;
        if answer.ok { Ok(answer) } else { Err(answer.error(&self.id, operation)) }
    }
}
