//! A text that a person changes in an editor.

use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use el_agents::git;

use crate::output::sanitize;
use crate::{App, CommandError, Result};

/// A file for one text, in a folder that only the owner may enter.
#[derive(Debug)]
pub(crate) struct Draft {
    folder: PathBuf,
    path: PathBuf,
    before: String,
}

impl Draft {
    /// Lets the person edit `text` in a file of this name. `None` if the text was saved unchanged
    /// or emptied: then there is no change.
    pub(crate) fn edit(app: &App, name: &str, text: &str) -> Result<Option<(Draft, String)>> {
        let draft = Draft::write(name, text).map_err(|source| {
            CommandError::internal_error("cannot write a draft").with_source(source)
        })?;
        if let Err(error) = run(app, &draft.path) {
            return Err(draft.keep_unless_unchanged(error));
        }
        let read = fs::read(&draft.path)
            .map_err(|source| CommandError::file_error("read", &draft.path, source))?;
        let Ok(after) = String::from_utf8(read) else {
            let error = CommandError::invalid_value("text", "the text is not UTF-8");
            return Err(draft.keep_draft(error));
        };
        if after == draft.before || after.trim().is_empty() {
            draft.remove();
            return Ok(None);
        }
        Ok(Some((draft, after)))
    }

    fn write(name: &str, text: &str) -> io::Result<Draft> {
        let now =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let own = format!("el-edit-{}-{}", std::process::id(), now.as_micros());
        let folder = std::env::temp_dir().join(own);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let path = folder.join(name);
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?
            .write_all(text.as_bytes())?;
        Ok(Draft { folder, path, before: text.to_owned() })
    }

    /// Takes the file away: its text is in the tracker now.
    pub(crate) fn remove(self) {
        // A file that stays in the folder for temporary files does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Takes the file away if its text was taken over; keeps the file of a refused text.
    pub(crate) fn remove_if_taken<T>(self, taken: Result<T>) -> Result<T> {
        match taken {
            Ok(value) => {
                self.remove();
                Ok(value)
            }
            Err(error) => Err(self.keep_draft(error)),
        }
    }

    /// Where the text is, in a line that is safe to show.
    pub(crate) fn path_line(&self) -> String {
        sanitize::path_line(&self.path)
    }

    /// Keeps the file of a text that was refused, and says where it is.
    pub(crate) fn keep_draft(self, error: CommandError) -> CommandError {
        let path = self.path.display().to_string();
        error
            .with_hint(format!("your text is kept in {}", self.path_line()))
            .with_detail("draft", path)
    }

    fn keep_unless_unchanged(self, error: CommandError) -> CommandError {
        let is_unchanged = fs::read(&self.path).is_ok_and(|now| now == self.before.as_bytes());
        if is_unchanged {
            self.remove();
            return error;
        }
        self.keep_draft(error)
    }
}

/// The editor if no editor is named.
const FALLBACK: &str = "vi";

/// Starts the editor, as git does: by a shell, so that `code --wait` is a program and its argument.
fn run(app: &App, path: &Path) -> Result<()> {
    let editor = choose();
    let hint = "EDITOR, VISUAL or git config core.editor names the editor";
    // No person chose the fallback, and it would wait for keys that nobody can press.
    if editor == FALLBACK && !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let message = "there is no terminal for an editor, and none is named".to_owned();
        return Err(CommandError::config_error("EDITOR", message).with_hint(hint));
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(&editor).arg(path);
    if app.printer.is_robot() {
        // Stdout is for the answer alone.
        shell.stdout(stderr());
    }
    let ended = shell.status().map_err(|source| {
        CommandError::config_error("EDITOR", format!("cannot start the editor '{editor}'"))
            .with_source(source)
            .with_hint(hint)
    })?;
    match ended.code() {
        Some(0) => Ok(()),
        // A shell's codes for a program that does not exist, or is none.
        Some(126 | 127) => {
            let message = format!("cannot start the editor '{editor}'");
            Err(CommandError::config_error("EDITOR", message).with_hint(hint))
        }
        _ => Err(CommandError::conflict(
            "cancelled",
            format!("the editor '{editor}' failed ({ended}); nothing was changed"),
        )),
    }
}

/// Stderr, as the stdout of another process.
fn stderr() -> Stdio {
    io::stderr().as_fd().try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from)
}

fn choose() -> String {
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let variables = ["GIT_EDITOR", "VISUAL", "EDITOR"];
    let named = || variables.iter().filter_map(|name| std::env::var(name).ok());
    git::editor(&folder)
        .or_else(|| named().find(|editor| !editor.trim().is_empty()))
        .unwrap_or_else(|| FALLBACK.to_owned())
}
