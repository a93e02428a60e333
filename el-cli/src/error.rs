//! The error that reaches people and programs: the failure, the causes, and the next thing to do.
//!
//! Every module below has typed errors. Only this module turns an error into a message, hints, a
//! machine code and an exit code.

use std::error::Error as StdError;
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::Exit;

mod from_agents;
mod from_core;

pub(crate) type Result<T, E = CommandError> = std::result::Result<T, E>;

type BoxedSource = Box<dyn StdError + Send + Sync>;

/// Boxed, because errors are rare and results are everywhere.
#[derive(Debug)]
pub(crate) struct CommandError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    exit: Exit,
    code: &'static str,
    message: String,
    hints: Vec<String>,
    details: Map<String, Value>,
    /// Lines for people under the message, such as the candidates of an ambiguous id. Robots find
    /// the same facts in `details`.
    listing: Vec<String>,
    retryable: bool,
    broken_pipe: bool,
    source: Option<BoxedSource>,
}

impl CommandError {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> CommandError {
        CommandError(Box::new(Inner {
            exit,
            code,
            message: message.into(),
            hints: Vec::new(),
            details: Map::new(),
            listing: Vec::new(),
            retryable: false,
            broken_pipe: false,
            source: None,
        }))
    }

    /// A bug, or a failure of the machine.
    pub(crate) fn internal_error(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Internal, "internal", message)
    }

    /// Flags or arguments that do not go together.
    pub(crate) fn usage_error(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Usage, "usage", message)
    }

    /// A value that is not taken; `field` in the words of the command line.
    pub(crate) fn invalid_value(field: &str, message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Usage, "invalid_value", message).with_detail("field", field)
    }

    /// The state of things is against it: of an atom, of a file, of another process.
    pub(crate) fn conflict(code: &'static str, message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Conflict, code, message)
    }

    /// The caller has no right to it.
    pub(crate) fn refused(code: &'static str, message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Refused, code, message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::NotFound, "not_found", message)
    }

    /// A setting that is wrong, or a program that is missing; `field` is the setting.
    pub(crate) fn config_error(field: &str, message: impl Into<String>) -> CommandError {
        CommandError::new(Exit::Configuration, "config", message).with_detail("field", field)
    }

    /// Says first what was done before it failed.
    pub(crate) fn after(mut self, done: &str) -> CommandError {
        self.0.message = format!("{done}: {}", self.0.message);
        self
    }

    /// Adds the next thing to do. Never a command that destroys something.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> CommandError {
        self.0.hints.push(hint.into());
        self
    }

    pub(crate) fn with_hints<H: Into<String>>(
        mut self,
        hints: impl IntoIterator<Item = H>,
    ) -> CommandError {
        self.0.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    pub(crate) fn with_detail(mut self, key: &str, value: impl Into<Value>) -> CommandError {
        self.0.details.insert(key.to_owned(), value.into());
        self
    }

    /// Names the file or folder that it is about.
    pub(crate) fn with_path(self, path: &Path) -> CommandError {
        self.with_detail("path", path.display().to_string())
    }

    /// A line for people below the message.
    pub(crate) fn with_listing(mut self, lines: impl IntoIterator<Item = String>) -> CommandError {
        self.0.listing.extend(lines);
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxedSource>) -> CommandError {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn with_retryable(mut self, retryable: bool) -> CommandError {
        self.0.retryable = retryable;
        self
    }

    /// A failed write to stdout. The reader that went away is told apart: that is a normal end.
    pub(crate) fn from_stdout(source: io::Error) -> CommandError {
        let broken_pipe = source.kind() == io::ErrorKind::BrokenPipe;
        let mut error =
            CommandError::new(Exit::Internal, "io", "cannot write to stdout").with_source(source);
        error.0.broken_pipe = broken_pipe;
        error
    }

    /// A file that cannot be read or written: `doing` is the step as a verb.
    pub(crate) fn file_error(doing: &str, path: &Path, source: io::Error) -> CommandError {
        let exit =
            if source.kind() == io::ErrorKind::NotFound { Exit::NotFound } else { Exit::Internal };
        let code = if exit == Exit::NotFound { "not_found" } else { "io" };
        let is_full = source.kind() == io::ErrorKind::StorageFull;
        let error = CommandError::new(exit, code, format!("cannot {doing} {}", path.display()))
            .with_path(path)
            .with_source(source);
        if is_full { error.with_hint("make room on that disk, then try again") } else { error }
    }

    /// Returns true if the reader of the output has read enough. The command then ends quietly,
    /// with success.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        self.0.broken_pipe
    }

    pub(crate) fn exit(&self) -> Exit {
        if self.0.broken_pipe { Exit::Done } else { self.0.exit }
    }

    pub(crate) fn code(&self) -> &str {
        self.0.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.0.hints
    }

    pub(crate) fn listed_items(&self) -> &[String] {
        &self.0.listing
    }

    pub(crate) fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The messages of the causes, outermost first.
    pub(crate) fn causes(&self) -> Vec<String> {
        let mut causes = Vec::new();
        let mut next: Option<&(dyn StdError + 'static)> =
            self.0.source.as_deref().map(|source| source as _);
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }

    /// The details for programs, and the causes if there are any.
    pub(crate) fn details(&self) -> Map<String, Value> {
        let mut details = self.0.details.clone();
        let causes = self.causes();
        if !causes.is_empty() {
            details.insert("causes".to_owned(), json!(causes));
        }
        details
    }
}

impl std::fmt::Display for CommandError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl StdError for CommandError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_pipe_is_success_and_a_full_disk_is_not() {
        let gone = CommandError::from_stdout(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!(gone.exit(), Exit::Done);
        let full = CommandError::from_stdout(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.exit(), Exit::Internal);
    }

    #[test]
    fn causes_are_listed_for_programs_but_not_part_of_the_message() {
        let error = CommandError::internal_error("cannot save")
            .with_source(io::Error::other("disk on fire"));
        assert_eq!(error.to_string(), "cannot save");
        assert_eq!(error.details()["causes"], json!(["disk on fire"]));
    }
}
