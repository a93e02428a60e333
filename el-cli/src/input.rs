//! Text that comes from a file or from stdin.

use std::fs::{self, File};
use std::io::{self, BufRead as _, IsTerminal as _, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use el_core::exchange::Stored;

use crate::{App, CommandError, Result, strict_json};

/// More than any text that the tracker takes; a guard against a stream that never ends.
const LIMIT: u64 = 64 << 20;

/// An argument's text; `-` stands for all of stdin. `field` in the words of the command line.
pub(crate) fn read_text(app: &App, field: &str, argument: &str) -> Result<String> {
    if argument == "-" { read_stdin(app, field) } else { Ok(argument.to_owned()) }
}

/// The text of an argument that may be missing.
pub(crate) fn read_optional(app: &App, field: &str, given: Option<&str>) -> Result<Option<String>> {
    given.map(|text| read_text(app, field, text)).transpose()
}

/// Returns true if a person at the terminal can be asked.
pub(crate) fn can_ask(app: &App) -> bool {
    !app.printer.is_robot() && io::stdin().is_terminal()
}

/// Asks the person at the terminal; returns true for a yes.
pub(crate) fn ask_yes_no(app: &App, question: &str) -> Result<bool> {
    app.printer.note(&format!("{question} [y/N]"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|source| {
        CommandError::internal_error("cannot read the answer").with_source(source)
    })?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Opens a file that the caller names, with the caller's rights.
pub(crate) fn open(app: &App, path: &Path) -> Result<File> {
    let Some(caller) = app.caller() else {
        return File::open(path).map_err(|source| CommandError::file_error("read", path, source));
    };
    caller.open(path).map_err(|source| {
        let is_outside =
            source.kind() == io::ErrorKind::PermissionDenied && source.raw_os_error().is_none();
        let error = CommandError::file_error("read", path, source);
        if !is_outside {
            return error;
        }
        error.with_hint(format!(
            "a session's el reads files, none of them hidden, below the folder in which its run \
             works or {}; others come by stdin: el … - < FILE",
            std::env::temp_dir().display()
        ))
    })
}

/// A file's text; `-` stands for stdin.
pub(crate) fn read_file(app: &App, field: &str, path: &Path) -> Result<String> {
    if path == Path::new("-") {
        return read_stdin(app, field);
    }
    let unreadable = |source| CommandError::file_error("read", path, source);
    let opened = open(app, path)?;
    if opened.metadata().map_err(unreadable)?.is_dir() {
        return Err(CommandError::invalid_value(
            field,
            format!("{field}: {} is a folder", path.display()),
        ));
    }
    let mut bytes = Vec::new();
    opened.take(LIMIT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LIMIT {
        return Err(CommandError::invalid_value(
            field,
            format!("{field}: {} has more than {} MiB", path.display(), LIMIT >> 20),
        ));
    }
    decode_utf8(field, &path.display().to_string(), bytes)
}

/// Makes a file without a name, for this process alone.
pub(crate) fn spare_file() -> io::Result<Box<dyn Stored>> {
    let mut attempt = 0;
    loop {
        let name = format!("el-{}-{attempt}", std::process::id());
        let path = std::env::temp_dir().join(name);
        match File::options().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(Box::new(file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Refuses stdin (`-`) as the value of more than a single argument.
pub(crate) fn only_one_stdin(arguments: &[(&str, Option<&str>)]) -> Result<()> {
    let from_stdin: Vec<&str> =
        arguments.iter().filter(|(_, given)| *given == Some("-")).map(|(name, _)| *name).collect();
    if from_stdin.len() > 1 {
        return Err(CommandError::usage_error(format!(
            "{} cannot both be read from stdin",
            from_stdin.join(" and ")
        )));
    }
    Ok(())
}

fn read_stdin(app: &App, field: &str) -> Result<String> {
    if io::stdin().is_terminal() {
        app.printer.note(&format!("reading the {field} from the terminal; Ctrl-D ends it"));
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| CommandError::internal_error("cannot read stdin").with_source(source))?;
    if bytes.len() as u64 > LIMIT {
        return Err(CommandError::invalid_value(
            field,
            format!("{field}: stdin has more than {} MiB", LIMIT >> 20),
        ));
    }
    decode_utf8(field, "stdin", bytes)
}

fn decode_utf8(field: &str, from: &str, bytes: Vec<u8>) -> Result<String> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        CommandError::invalid_value(field, format!("{field}: {from} is no UTF-8 text (byte {at})"))
    })?;
    // The newline that ends a file is not part of the text.
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// A JSON object from the command line.
pub(crate) fn parse_metadata(text: &str) -> Result<serde_json::Value> {
    match strict_json::parse_strict(text) {
        Ok(value @ serde_json::Value::Object(_)) => Ok(value),
        Ok(_) => Err(CommandError::invalid_value(
            "metadata",
            "metadata: a JSON object is needed, such as {\"key\":\"value\"}",
        )),
        Err(source) => Err(CommandError::invalid_value("metadata", format!("metadata: {source}"))),
    }
}
