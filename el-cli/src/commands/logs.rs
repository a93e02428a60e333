use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_core::model::Run;
use el_core::{Store, ops};
use serde::Serialize;

use crate::commands::runs::bring_run_files;
use crate::output::{List, runs};
use crate::{App, CommandError, Exit, Result, complete};

mod feed;
mod tail;

use feed::{Feed, Show};

/// Show an agent's words and actions in a run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el logs q5e6                   The atom's live run, or its last one
  el logs run-7kq2m9xd -f        Follow it until it ends
  el logs q5e6 --raw | jq .type  The event stream as it came
  el logs q5e6 --file stderr

The files outlive the session; el runs show tells where they are.")]
pub(crate) struct Args {
    /// A run, or an atom
    #[arg(value_name = "RUN|ATOM", add = complete::complete_runs())]
    target: String,
    /// Go on until the run ends
    #[arg(short, long)]
    follow: bool,
    /// Copy the bytes unchanged, if stdout is a pipe
    #[arg(long)]
    raw: bool,
    /// Only the last lines
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
    /// The file of the run to show: the agent's output, its pane, or its prompt; by default the
    /// transcript if there is one, and of a program its pane, which has its errors, too
    #[arg(long, value_enum, value_name = "FILE")]
    file: Option<LogFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LogFile {
    // The agent's standard output and standard error.
    Transcript,
    Stderr,
    // The output of the session's pane.
    Pane,
    // The supervisor's own log.
    Supervisor,
    // The prompt of the agent.
    Prompt,
}

impl LogFile {
    const fn file_name(self) -> &'static str {
        match self {
            LogFile::Transcript => "transcript.jsonl",
            LogFile::Stderr => "stderr.log",
            LogFile::Pane => "pane.log",
            LogFile::Supervisor => "supervisor.log",
            LogFile::Prompt => "prompt.md",
        }
    }
}

/// The interval between two looks at a followed file.
const LOOK: Duration = Duration::from_millis(150);
/// The interval between two looks at what a server has of another machine's run.
const BRING_EVERY: Duration = Duration::from_secs(1);

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let run = choose_run(args, app, &store)?;
    let folder = bring_run_files(app, &store, &run)?;
    let is_data = args.raw || app.printer.is_robot();
    let which = args.file.unwrap_or_else(|| match is_data && run.executor == "command" {
        true => LogFile::Transcript,
        false => most_telling_file(&run, &folder),
    });
    let source = LogSource { store, path: folder.join(which.file_name()), which, run };
    if app.printer.is_robot() {
        return print_lines(args, app, &source);
    }
    let ended = copy_log(args, app, &source)?;
    if args.follow {
        app.printer.note(&format!("{} {}", ended.id, runs::state_word(&ended, app.now())));
    }
    Ok(Exit::Done)
}

/// The requested run. With `--follow`, waits for the first run of an atom.
fn choose_run(args: &Args, app: &App, store: &Store) -> Result<Run> {
    let mut is_told = false;
    loop {
        match ops::target_run(store, &args.target) {
            Err(error) if args.follow && error.code() == "no_run" => {
                let atom = ops::get_atom(store, &args.target)?;
                if atom.status.is_over() {
                    return Err(error.into());
                }
                if !std::mem::replace(&mut is_told, true) {
                    app.printer.note(&format!("{} has not begun; waiting for it", atom.id));
                }
                std::thread::sleep(LOOK);
            }
            found => return Ok(found?),
        }
    }
}

/// The most telling file of a run. An interactive client has no output of its own, but a
/// conversation once the conversation has begun, and always a screen. The pane of a program has
/// both its streams.
fn most_telling_file(run: &Run, folder: &Path) -> LogFile {
    let has_begun =
        |file: LogFile| folder.join(file.file_name()).metadata().is_ok_and(|file| file.len() > 0);
    let is_pane = match run.executor.as_str() {
        "interactive" => !has_begun(LogFile::Transcript),
        "command" => has_begun(LogFile::Pane) || !has_begun(LogFile::Transcript),
        _ => false,
    };
    if is_pane { LogFile::Pane } else { LogFile::Transcript }
}

/// The file that tells most of a run, and whether it is Claude Code's stream of events.
pub(crate) fn telling_file(run: &Run, folder: &Path) -> (PathBuf, bool) {
    let which = most_telling_file(run, folder);
    (folder.join(which.file_name()), which == LogFile::Transcript && has_stream(run))
}

/// Returns true if the agent's output is a stream of events.
fn has_stream(run: &Run) -> bool {
    matches!(run.executor.as_str(), "claude" | "interactive")
}

struct LogSource {
    store: Store,
    run: Run,
    which: LogFile,
    path: PathBuf,
}

impl LogSource {
    /// Opens the file; `None` while the file does not exist.
    fn open_file(&self) -> Result<Option<File>> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CommandError::file_error("read", &self.path, source)),
        }
    }

    fn missing_file_error(&self) -> CommandError {
        let (run, name) =
            (&self.run.id, self.path.file_name().unwrap_or_default().to_string_lossy());
        let error = CommandError::not_found(format!("{run} has no {name}")).with_path(&self.path);
        match self.run.is_live() {
            true => error.with_hint("it has only just begun; -f waits for it"),
            false => error.with_hint(
                "--file supervisor or --file stderr may tell why; el runs show tells where the \
                 files are",
            ),
        }
    }
}

/// Copies the file to stdout, rendered or raw. Returns the run as of the last look.
fn copy_log(args: &Args, app: &App, source: &LogSource) -> Result<Run> {
    let is_stream = has_stream(&source.run);
    let show = || match source.which {
        // A terminal never gets control codes, not even with `--raw`.
        _ if args.raw && !app.printer.is_terminal() => Show::Raw,
        LogFile::Transcript if is_stream && !args.raw => {
            Show::events(app.printer.new_page().width(), app.printer.has_color())
        }
        _ => Show::Text,
    };
    let mut feed = Feed::new(show(), args.limit);
    let mut file = None;
    let mut brought_at = Instant::now();
    loop {
        // The state of the run is read before the file, so that no output before the end is missed.
        let run = ops::get_run(&source.store, &source.run.id)?;
        let last = !args.follow || !run.is_live();
        if args.follow && (last || brought_at.elapsed() > BRING_EVERY) {
            bring_run_files(app, &source.store, &run)?;
            brought_at = Instant::now();
        }
        if file.is_none() {
            file = source.open_file()?;
            if let (Some(file), Some(lines)) = (&mut file, args.limit) {
                tail::seek_to_last(file, lines, show)
                    .map_err(|error| CommandError::file_error("read", &source.path, error))?;
            }
        }
        match &mut file {
            Some(file) => read_on(app, source, file, &mut feed)?,
            None if last => return Err(source.missing_file_error()),
            None => {}
        }
        if last {
            app.printer.write_bytes(&feed.finish())?;
            return Ok(run);
        }
        app.printer.write_bytes(&feed.caught_up())?;
        std::thread::sleep(LOOK);
    }
}

/// Reads the bytes that were added to the file.
fn read_on(app: &App, source: &LogSource, file: &mut File, feed: &mut Feed) -> Result<()> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => app.printer.write_bytes(&feed.push(&buffer[..length]))?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(CommandError::file_error("read", &source.path, error)),
        }
    }
}

#[derive(Serialize)]
struct Log<'a> {
    run_id: &'a str,
    atom_id: &'a str,
    path: &'a std::path::Path,
    #[serde(flatten)]
    list: List<'a, serde_json::Value>,
}

/// Prints the lines of the file: JSON lines unchanged, others as texts.
fn print_lines(args: &Args, app: &App, source: &LogSource) -> Result<Exit> {
    if args.follow {
        return Err(CommandError::usage_error(
            "--follow has no end, and --robot prints one document",
        )
        .with_hint("el logs --raw -f streams the events"));
    }
    let mut file = source.open_file()?.ok_or_else(|| source.missing_file_error())?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| CommandError::file_error("read", &source.path, error))?;
    let mut total = 0;
    let mut items: VecDeque<serde_json::Value> = VecDeque::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        total += 1;
        items.push_back(serde_json::from_str(line).unwrap_or_else(|_| line.into()));
        if args.limit.is_some_and(|tail| items.len() > tail) {
            items.pop_front();
        }
    }
    let page = ops::Page::of_total(items.into(), total);
    let log = Log {
        run_id: &source.run.id,
        atom_id: &source.run.atom_id,
        path: &source.path,
        list: List::from_page(&page),
    };
    app.printer.emit(&log, |_| {})
}
