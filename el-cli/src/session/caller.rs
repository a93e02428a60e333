//! `el` in an agent's session: hands the whole command to the supervisor, opens files for the
//! answering `el` with the session's own rights, and ends with the answer's exit code. A caller has
//! no tracker.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use super::wire::{self, Kind, Message};

/// The variables that shape the output of a command, or name the conversation. No other variable of
/// a session counts.
pub(super) const VARIABLES: [&str; 22] = [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "EL_CHECK",
    "EL_DEBUG",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LINES",
    "NO_COLOR",
    "PWD",
    "TERM",
    "TZ",
];
/// The names of git's own copies, which a merge driver is given.
const GIT_MERGES: &[u8] = b".merge_file_";

/// Why a call did not come to its end.
#[derive(Debug)]
pub(super) enum Lost {
    /// Nobody listens.
    Unreachable(io::Error),
    /// The answering process has ended without an exit code.
    BrokenOff(io::Error),
}

/// Hands the command over and returns its exit code.
pub(super) fn call(socket: &Path, argv: &[OsString]) -> Result<ExitCode, Lost> {
    let stream = el_agents::session::connect(socket).map_err(Lost::Unreachable)?;
    send_call(&stream, argv).map_err(Lost::Unreachable)?;
    let mut new_file = None;
    loop {
        let message = match wire::receive(&stream) {
            Ok(Some(message)) => message,
            Ok(None) => return Err(Lost::BrokenOff(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => return Err(Lost::BrokenOff(error)),
        };
        if message.kind == Kind::Exit {
            let code = message.parts.first().and_then(|code| code.to_str()?.parse().ok());
            return Ok(ExitCode::from(code.unwrap_or(1)));
        }
        serve(&stream, &message, &mut new_file).map_err(Lost::BrokenOff)?;
    }
}

fn send_call(stream: &UnixStream, argv: &[OsString]) -> io::Result<()> {
    let folder = env::current_dir().unwrap_or_default();
    let set: Vec<OsString> = VARIABLES
        .iter()
        .filter_map(|name| {
            let mut pair = OsString::from(name);
            pair.push("=");
            pair.push(env::var_os(name)?);
            Some(pair)
        })
        .collect();
    let count = OsString::from(set.len().to_string());
    let parts: Vec<&OsStr> = [folder.as_os_str(), &count]
        .into_iter()
        .chain(set.iter().map(OsString::as_os_str))
        .chain(argv.iter().map(OsString::as_os_str))
        .collect();
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    wire::send(stream, Kind::Call, &parts, &[stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])
}

/// Carries out a request of the answering process.
fn serve(stream: &UnixStream, message: &Message, new_file: &mut Option<NewFile>) -> io::Result<()> {
    let mut paths = message.parts.iter().map(PathBuf::from);
    let path = paths.next().unwrap_or_default();
    let below: Vec<PathBuf> = paths.collect();
    let done = match message.kind {
        Kind::Read => open_below(&path, &below).map(Some),
        Kind::Write => NewFile::create_draft(&path, &below).map(|made| {
            let (file, kept) = made;
            *new_file = Some(kept);
            Some(file)
        }),
        Kind::Keep => new_file.take().map_or(Ok(None), |file| file.replace_target().map(|()| None)),
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    match done {
        Ok(Some(file)) => wire::send(stream, Kind::Done, &[], &[file.as_fd()]),
        Ok(None) => wire::send(stream, Kind::Done, &[], &[]),
        Err(error) => {
            let code = error.raw_os_error().unwrap_or(0).to_string();
            let text = error.to_string();
            wire::send(stream, Kind::Failed, &[OsStr::new(&code), OsStr::new(&text)], &[])
        }
    }
}

/// Opens a file to be read. A file on the disk has to be in one of these folders, and not hidden
/// there: the rights of `el` must not exceed those of the agent's other tools.
fn open_below(path: &Path, below: &[PathBuf]) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_file() && !is_open_to_session(&real_path(&file, path)?, below) {
        return Err(outside());
    }
    Ok(file)
}

fn outside() -> io::Error {
    io::Error::other(OUTSIDE)
}

/// Recognised by the answering process, which knows the folders.
pub(super) const OUTSIDE: &str = "outside of the session's folders";

fn is_open_to_session(path: &Path, below: &[PathBuf]) -> bool {
    let is_open = |name: &OsStr| {
        !name.as_encoded_bytes().starts_with(b".")
            || name.as_encoded_bytes().starts_with(GIT_MERGES)
    };
    below.iter().any(|folder| {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
        path.strip_prefix(folder).is_ok_and(|rest| {
            rest.components().all(|part| matches!(part, Component::Normal(name) if is_open(name)))
        })
    })
}

/// The real path of an open file, without the links that led there.
fn real_path(file: &File, path: &Path) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd as _;
    let link = Path::new("/proc/self/fd").join(file.as_raw_fd().to_string());
    fs::read_link(link).or_else(|_| fs::canonicalize(path))
}

/// A new file, written beside the file to be replaced.
#[derive(Debug)]
struct NewFile {
    draft: PathBuf,
    target: PathBuf,
    is_kept: bool,
}

impl NewFile {
    fn create_draft(path: &Path, below: &[PathBuf]) -> io::Result<(File, NewFile)> {
        let target = match fs::symlink_metadata(path) {
            // A link is written through; one that leads nowhere fails.
            Ok(_) => fs::canonicalize(path)?,
            Err(_) => {
                let whole = std::path::absolute(path)?;
                let name = whole.file_name().ok_or(io::ErrorKind::InvalidInput)?;
                let parent = whole.parent().ok_or(io::ErrorKind::InvalidInput)?;
                fs::canonicalize(parent)?.join(name)
            }
        };
        if !is_open_to_session(&target, below) {
            return Err(outside());
        }
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
        let draft = target.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
        Ok((file, NewFile { draft, target, is_kept: false }))
    }

    fn replace_target(mut self) -> io::Result<()> {
        if let Ok(old) = fs::metadata(&self.target) {
            fs::set_permissions(&self.draft, old.permissions())?;
        }
        fs::rename(&self.draft, &self.target)?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_kept {
            // The draft may be gone with its folder.
            let _ = fs::remove_file(&self.draft);
        }
    }
}
