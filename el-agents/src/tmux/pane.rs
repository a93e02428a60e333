//! A pane, seen and used by the process that runs in the pane.
//!
//! A pane's id is unique for the life of a server. After a server was killed, a new server may give
//! the same id to a stranger's pane. So every call also checks the pid of the pane's process, and
//! does nothing to a foreign pane.

use std::fs::File;
use std::process::Stdio;

use super::call::{self, Answer};
use super::{Failure, SessionError, Tmux};

/// The pane of this process.
#[derive(Debug, Clone)]
pub(crate) struct OwnPane {
    tmux: Tmux,
    /// `%7`
    id: String,
    pid: u32,
}

/// The content of a pane at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PaneLook {
    /// The visible lines, as plain text.
    pub(crate) text: String,
    /// The number of terminals attached to the pane's session.
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

    /// Returns the present content.
    ///
    /// # Errors
    /// [`Failure::Missing`] if the pane is gone or belongs to another process; else if tmux could
    /// not be asked.
    pub(crate) fn read_pane(&self) -> Result<PaneLook, SessionError> {
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
        let answer = self.ask_tmux("look at", &words, Stdio::null())?;
        let (head, text) = answer.out.split_once('\n').unwrap_or_default();
        let mut numbers = head.split(' ').map(str::parse::<u32>);
        let (Some(Ok(pid)), Some(Ok(attached))) = (numbers.next(), numbers.next()) else {
            return Err(SessionError::new(
                &self.id,
                "look at",
                Failure::Refused,
                answer.describe_unexpected(),
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

    /// Pastes a file's content in a single piece, as a terminal would. The content may hold no
    /// control characters except line ends and tabs.
    ///
    /// # Errors
    /// If the file cannot be read, or tmux could not be asked.
    pub(crate) fn paste_file(&self, file: File) -> Result<(), SessionError> {
        let buffer = format!("el-{}", self.pid);
        self.ask_tmux(
            "fill the buffer of",
            &["load-buffer", "-b", &buffer, "-"],
            Stdio::from(file),
        )?;
        self.if_ours("paste into", &format!("paste-buffer -p -d -b {buffer} -t {}", self.id))
    }

    /// Presses a key, given by tmux's name.
    ///
    /// # Errors
    /// If tmux could not be asked.
    pub(crate) fn press_key(&self, key: &'static str) -> Result<(), SessionError> {
        self.if_ours("press a key in", &format!("send-keys -t {} {key}", self.id))
    }

    /// Types a fixed word of letters and `/`.
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

    /// Runs a command in the server if the pane belongs to this process. Check and command are a
    /// single step, so no change can come between. The command has only fixed words and ids.
    fn if_ours(&self, operation: &'static str, command: &str) -> Result<(), SessionError> {
        let condition = format!("#{{==:#{{pane_pid}},{}}}", self.pid);
        self.ask_tmux(
            operation,
            &["if-shell", "-F", "-t", &self.id, &condition, command],
            Stdio::null(),
        )
        .map(drop)
    }

    fn ask_tmux(
        &self,
        operation: &'static str,
        words: &[&str],
        input: Stdio,
    ) -> Result<Answer, SessionError> {
        let command = self.tmux.build_command(words);
        let answer = call::run_with_input(command, input, self.tmux.timeout)
            .map_err(|error| error.into_error(&self.id, operation))?;
        if answer.ok { Ok(answer) } else { Err(answer.to_error(&self.id, operation)) }
    }
}
