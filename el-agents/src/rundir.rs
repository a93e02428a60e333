//! A run's folder, `.eluent/runs/<run>/`, which outlives the session. The folder and all files are
//! private to the owner.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use el_core::ServerAddress;
use el_core::model::ExitRecord;

use crate::preparation::{PreparationFailure, Workplace};
use crate::process::Marker;
use crate::session;

/// The name and the value of a variable, which need not be UTF-8.
type BytePair = (Vec<u8>, Vec<u8>);

/// The files of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
}

/// A file of a run that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}", path.display())]
pub struct RunDirError {
    doing: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl RunDir {
    /// The folder of a run in the folder of all runs.
    pub fn new(runs: &Path, run: &str) -> RunDir {
        RunDir { path: runs.join(run) }
    }

    /// The folder of a run, beside the database.
    #[must_use]
    pub fn of_run(database: &Path, run: &str) -> RunDir {
        RunDir::new(&database.parent().unwrap_or(Path::new(".")).join("runs"), run)
    }

    /// The folder of a supervisor's run, by its command line: `el supervise RUN --db DATABASE`.
    #[must_use]
    pub fn of_supervisor(pid: u32) -> Option<RunDir> {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        let [_, b"supervise", run, b"--db", database, ..] = words.as_slice() else { return None };
        let run = std::str::from_utf8(run).ok()?;
        let database = Path::new(OsStr::from_bytes(database));
        Some(RunDir::of_run(database, run))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The agent's unmodified standard output: Claude Code's event stream.
    pub fn transcript_path(&self) -> PathBuf {
        self.path.join("transcript.jsonl")
    }

    /// The agent's standard error.
    pub fn stderr_path(&self) -> PathBuf {
        self.path.join("stderr.log")
    }

    /// The text shown in the session's pane.
    pub fn pane_path(&self) -> PathBuf {
        self.path.join("pane.log")
    }

    /// The output of the process that prepares the worktree.
    pub(crate) fn preparation_log(&self) -> PathBuf {
        self.path.join("preparation.log")
    }

    /// The prompt, kept after the context file is gone.
    pub fn prompt_path(&self) -> PathBuf {
        self.path.join("prompt.md")
    }

    /// The folder of what the agent's session may reach of the run: its socket.
    pub fn session(&self) -> PathBuf {
        self.path.join("session")
    }

    /// The folder that the agent's summary is written to in a sandbox. There it takes the place of
    /// the folder of all summaries.
    pub(crate) fn handover(&self) -> PathBuf {
        self.path.join("handover")
    }

    /// The session socket.
    pub fn session_socket(&self) -> PathBuf {
        self.session().join("socket")
    }

    /// Returns the marker in the environment of all processes of the run.
    pub(crate) fn marker(&self) -> Marker {
        Marker::new(session::VARIABLE, self.session_socket().to_string_lossy())
    }

    /// Claude Code's `--settings`.
    pub(crate) fn settings_path(&self) -> PathBuf {
        self.path.join("settings.json")
    }

    /// The copies of the run's artifacts.
    pub fn artifacts_path(&self) -> PathBuf {
        self.path.join("artifacts")
    }

    /// The end of the run as a JSON document: `docs/results-schema.md`.
    pub fn results_path(&self) -> PathBuf {
        self.path.join("RESULTS.json")
    }

    /// The state of the running run, in words.
    pub fn status_path(&self) -> PathBuf {
        self.path.join("STATUS.txt")
    }

    /// The reasons of a failure.
    pub fn errors_path(&self) -> PathBuf {
        self.path.join("ERRORS.md")
    }

    /// How the agent ended.
    pub fn exit_path(&self) -> PathBuf {
        self.path.join("exit.json")
    }

    fn environment_path(&self) -> PathBuf {
        self.path.join("env.json")
    }

    pub(crate) fn create(&self) -> Result<(), RunDirError> {
        private_folder(&self.path)
    }

    /// Writes the run's token, and the agent's whole environment, keys included, for the supervisor
    /// alone.
    pub(crate) fn write_environment(
        &self,
        token: &str,
        environment: &[(OsString, OsString)],
    ) -> Result<(), RunDirError> {
        // Bytes, since names and values need not be UTF-8.
        let pairs: Vec<(&[u8], &[u8])> =
            environment.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let text = serde_json::to_vec(&(token, pairs)).expect("pairs of bytes are plain JSON");
        write_private(&self.environment_path(), &text)
    }

    /// Reads the token and the environment, and removes the file. From then on only the
    /// supervisor's memory has them.
    pub(crate) fn take_environment(
        &self,
    ) -> Result<(String, Vec<(OsString, OsString)>), RunDirError> {
        let path = self.environment_path();
        let text = fs::read(&path).map_err(io_error("read", &path))?;
        self.forget_environment();
        let (token, pairs): (String, Vec<BytePair>) = serde_json::from_slice(&text)
            .map_err(io::Error::from)
            .map_err(io_error("understand", &path))?;
        let pairs = pairs
            .into_iter()
            .map(|(name, value)| (OsString::from_vec(name), OsString::from_vec(value)));
        Ok((token, pairs.collect()))
    }

    /// Removes the files that no supervisor has taken.
    pub(crate) fn forget_environment(&self) {
        // They may be gone already.
        let _ = fs::remove_file(self.environment_path());
        let _ = fs::remove_file(self.server_path());
    }

    fn server_path(&self) -> PathBuf {
        self.path.join("server.json")
    }

    /// Writes the address of the project's server, if it is on one, for the process that is
    /// started next. A password may be in it.
    pub(crate) fn write_server(&self, server: Option<&ServerAddress>) -> Result<(), RunDirError> {
        let Some(server) = server else { return Ok(()) };
        let text = serde_json::to_vec(server).expect("it has string keys only");
        write_private(&self.server_path(), &text)
    }

    /// Returns true if the project is on a server, and this process was started for the run.
    #[must_use]
    pub fn names_server(&self) -> bool {
        self.server_path().is_file()
    }

    /// Reads the address of the project's server, and removes the file. `None`: it is on none.
    pub(crate) fn take_server(&self) -> Result<Option<ServerAddress>, RunDirError> {
        let path = self.server_path();
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(io_error("read", &path))?,
        };
        // Its reader has it now.
        let _ = fs::remove_file(&path);
        let parsed = serde_json::from_slice(&text).map_err(io::Error::from);
        parsed.map(Some).map_err(io_error("understand", &path))
    }

    /// Writes the exit record atomically and durably.
    pub(crate) fn write_exit(&self, record: &ExitRecord) -> Result<(), RunDirError> {
        let path = self.exit_path();
        let text = serde_json::to_vec_pretty(record).expect("an exit record has string keys only");
        let draft = self.path.join("exit.json.new");
        write_private(&draft, &text)?;
        File::open(&draft).and_then(|file| file.sync_all()).map_err(io_error("write", &draft))?;
        fs::rename(&draft, &path).map_err(io_error("write", &path))?;
        File::open(&self.path)
            .and_then(|folder| folder.sync_all())
            .map_err(io_error("write", &path))
    }

    fn workplace_path(&self) -> PathBuf {
        self.path.join("workplace.json")
    }

    pub(crate) fn write_workplace(
        &self,
        prepared: &Result<Workplace, PreparationFailure>,
    ) -> Result<(), RunDirError> {
        let text = serde_json::to_vec_pretty(prepared).expect("it has string keys only");
        replace_private(&self.workplace_path(), &text)
    }

    /// Reads the result of preparing the run's worktree; `None` without a finished preparation.
    pub(crate) fn read_workplace(&self) -> Option<Result<Workplace, PreparationFailure>> {
        serde_json::from_slice(&fs::read(self.workplace_path()).ok()?).ok()
    }

    /// Reads the exit record; `None` if missing or unreadable.
    pub fn read_exit(&self) -> Option<ExitRecord> {
        serde_json::from_slice(&fs::read(self.exit_path()).ok()?).ok()
    }

    /// Opens a file of the run for appending.
    pub(crate) fn open_to_append(&self, path: &Path) -> Result<File, RunDirError> {
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .map_err(io_error("write", path))
    }
}

/// Makes a folder, and those above, for the owner alone.
pub(crate) fn private_folder(path: &Path) -> Result<(), RunDirError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(io_error("make the folder", path))
}

/// Writes a file for the owner alone. An existing file or link is replaced, not written through.
pub(crate) fn write_private(path: &Path, content: &[u8]) -> Result<(), RunDirError> {
    let write = || -> io::Result<()> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(content)
    };
    write().map_err(io_error("write", path))
}

/// Replaces a file for the owner alone: a reader finds either the old or the new content. Not
/// synced to the disk.
pub(crate) fn replace_private(path: &Path, content: &[u8]) -> Result<(), RunDirError> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".new");
    let draft = PathBuf::from(draft);
    write_private(&draft, content)?;
    fs::rename(&draft, path).map_err(io_error("write", path))
}

pub(crate) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunDirError {
    let path = path.to_owned();
    move |source| RunDirError { doing, path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use el_core::model::{EndKind, Timestamp};

    use super::*;

    #[test]
    fn the_environment_is_the_owners_alone_and_gone_once_taken() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::new(&dir.path().join("runs"), "run-1");
        run.create().unwrap();
        let odd = vec![
            ("KEY".into(), OsString::from_vec(vec![0xff, b'x'])),
            ("B".into(), "two\nlines".into()),
        ];
        run.write_environment("t", &odd).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(run.path()), mode(&run.environment_path())), (0o700, 0o600));
        assert_eq!(run.take_environment().unwrap(), ("t".to_owned(), odd));
        assert!(!run.environment_path().exists());
        assert!(run.take_environment().is_err());
    }

    #[test]
    fn an_exit_record_comes_back_and_a_torn_one_counts_as_none() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::new(dir.path(), "run-1");
        run.create().unwrap();
        assert_eq!(run.read_exit(), None);
        let record = ExitRecord::new("run-1", EndKind::Exited, Timestamp::from_micros(7));
        run.write_exit(&record).unwrap();
        assert_eq!(run.read_exit(), Some(record));
        fs::write(run.exit_path(), "{\"run\":").unwrap();
        assert_eq!(run.read_exit(), None);
    }

    #[test]
    fn a_link_in_the_way_is_replaced_and_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        let path = dir.path().join("context.md");
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        write_private(&path, b"text").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    }
}
