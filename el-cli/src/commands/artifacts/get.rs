use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use el_agents::artifacts::{open, sha256};
use el_core::model::{Artifact, ArtifactState, Run};
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::export::replace_file;
use crate::commands::runs::bring_run_files;
use crate::output::{artifacts, sanitize};
use crate::{App, CommandError, Exit, Result, complete};

/// Print a file that was handed over, or write the file to disk
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el artifacts get q5e6 summary
  el artifacts get q5e6 2               By its number in el artifacts
  el artifacts get q5e6 src/Button.tsx
  el artifacts get run-7kq2m9xd Button.tsx -o /tmp/Button.tsx

A file that was handed over by reference is read from the working folder, and refused if it has
changed since.")]
pub(crate) struct Args {
    /// A run, or an atom
    #[arg(value_name = "RUN|ATOM", add = complete::complete_runs())]
    target: String,
    /// A path, a name, a number, or 'summary'
    #[arg(value_name = "NAME|N")]
    wanted: String,
    /// Write to this file, which must not exist yet
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    force: bool,
}

/// With `--robot`, the largest text, in bytes, that the answer includes.
const CONTENT_MAX: u64 = 4 << 20;

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Answer<'a> {
    #[serde(flatten)]
    artifact: &'a Artifact,
    /// The file that was read.
    source: &'a Path,
    /// The text; `null` if the file is binary, too long, or was written to a file.
    content: Option<String>,
    written_to: Option<&'a Path>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let found = ops::artifacts(&store, &args.target)?;
    let artifact = found.find_artifact(&args.wanted)?;
    let folder = bring_run_files(app, &store, &found.run)?;
    let (mut file, source) = open_source(artifact, &found.run, &folder)?;
    if let Some(output) = args.output.as_deref().filter(|path| *path != Path::new("-")) {
        let length = copy_to_file(app, &mut file, output, args.force)?;
        let answer = Answer { artifact, source: &source, content: None, written_to: Some(output) };
        return app.printer.emit_sentence(&answer, |page| {
            let size = artifacts::format_size(i64::try_from(length).unwrap_or(i64::MAX));
            page.push_done("Wrote", &format!("{} ({size})", sanitize::path_line(output)));
        });
    }
    let unreadable = |error| CommandError::file_error("read", &source, error);
    if app.printer.is_robot() {
        let mut bytes = Vec::new();
        (&mut file).take(CONTENT_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        let is_whole = bytes.len() as u64 <= CONTENT_MAX;
        let content = if is_whole { String::from_utf8(bytes).ok() } else { None };
        return app
            .printer
            .emit(&Answer { artifact, source: &source, content, written_to: None }, |_| {});
    }
    if app.printer.is_terminal() {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            CommandError::usage_error(format!(
                "{} is not a text",
                sanitize::one_line(&artifact.path)
            ))
            .with_hint("-o FILE writes it to a file")
        })?;
        app.printer.write_bytes(sanitize::multi_line(&text).as_bytes())?;
        return Ok(Exit::Done);
    }
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Exit::Done),
            Ok(length) => app.printer.write_bytes(&buffer[..length])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// Opens the copy, or the original file if the file is unchanged.
fn open_source(artifact: &Artifact, run: &Run, folder: &Path) -> Result<(File, PathBuf)> {
    if let Some(file) = artifact.file.as_deref().filter(|_| artifact.state == ArtifactState::Copied)
    {
        let path = folder.join(file);
        let file = File::open(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CommandError::not_found(format!(
                "the copy of {} is gone",
                sanitize::one_line(&artifact.path)
            ))
            .with_path(&path),
            _ => CommandError::file_error("read", &path, error),
        })?;
        return Ok((file, path));
    }
    let path = Path::new(&run.workdir).join(&artifact.path);
    let named = sanitize::one_line(&artifact.path).into_owned();
    let relative = el_core::protocol::workspace::lexical_path(&artifact.path, &run.workdir)
        .map_err(|why| CommandError::not_found(format!("{named} {}", why.reason_text())))?;
    let mut file = open(Path::new(&run.workdir), &relative)
        .map_err(|error| {
            CommandError::not_found(format!(
                "{named} was handed over by reference, and now {}",
                error.why.reason_text()
            ))
            .with_path(&path)
        })?
        .file;
    if let Some(wanted) = &artifact.sha256 {
        let failed = |error| CommandError::file_error("read", &path, error);
        let (found, _) = sha256(&mut file).map_err(failed)?;
        if found != *wanted {
            return Err(CommandError::conflict(
                "changed",
                format!("{named} has changed since it was handed over"),
            )
            .with_path(&path)
            .with_detail("sha256", found));
        }
        file.rewind().map_err(failed)?;
    }
    Ok((file, path))
}

fn copy_to_file(app: &App, from: &mut File, to: &Path, force: bool) -> Result<u64> {
    let exists = || {
        let message = format!("{} is there already", sanitize::path_line(to));
        CommandError::conflict("exists", message).with_hint("--force writes over it")
    };
    if app.caller().is_some() {
        if !force && fs::symlink_metadata(to).is_ok() {
            return Err(exists());
        }
        return replace_file(app, to, |out| {
            io::copy(from, out).map_err(|source| CommandError::file_error("write", to, source))
        });
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !force {
        options.create_new(true);
    }
    let mut file = options.open(to).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(),
        _ => CommandError::file_error("write", to, error),
    })?;
    let written = io::copy(from, &mut file).and_then(|length| file.flush().map(|()| length));
    written.map_err(|error| {
        if !force {
            // A partial file is worse than no file; the path was free before.
            let _ = fs::remove_file(to);
        }
        CommandError::file_error("write", to, error)
    })
}
