use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use el_core::exchange::{self, BadLine, Batch, Tracker};
use el_core::ops::{self, ImportOptions, Imported};
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::backup_hooks;
use crate::backups::Reason;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::input;
use crate::output::progress::Progress;

mod report;

use report::LISTED;
pub(super) use report::print_imported;

/// Import a file of another tracker
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el import .beads/issues.jsonl
  el import old/.eluent/data.jsonl --dry-run
  gh issue list --state all --limit 9999 --json \\
    number,title,body,state,stateReason,labels,assignees,author,comments,\\
    milestone,createdAt,updatedAt,closedAt,url,parent,subIssues,blockedBy,\\
    blocking,issueType | el import -
  el import plan.md --from markdown
  el import backup.jsonl --robot

All or nothing, and again without doing anything twice: atoms are found by their ids there,
which from then on are names of them here. What changed there since the last import is taken
over; what was done here in the meantime stands. What did not fit is listed, and kept under
metadata.source.")]
pub(crate) struct Args {
    /// The file; `-` is stdin
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// The tracker that wrote the file [default: told from the text]
    #[arg(long, value_name = "TRACKER",
        value_parser = ["el", "bd", "br", "eluent", "github", "markdown"])]
    from: Option<String>,
    /// A name that tells the ids from the ids of another project of the same tracker
    #[arg(long = "as", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: Option<String>,
    /// Show the result without any change
    #[arg(long)]
    dry_run: bool,
    /// Leave out unreadable records, and import the rest
    #[arg(long)]
    skip_bad: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Report<'a> {
    file: &'a str,
    format: Tracker,
    dry_run: bool,
    #[serde(flatten)]
    imported: &'a Imported,
    bad: &'a [BadLine],
}

/// The bytes that are read between two progress updates.
const CHUNK: u64 = 1 << 20;

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    // Asked for first: without a tracker there is no use in reading.
    app.project()?;
    let bytes = read_file(app, &args.file)?;
    let file = if args.file == Path::new("-") {
        "stdin".to_owned()
    } else {
        args.file.display().to_string()
    };
    if bytes.trim_ascii().is_empty() {
        return Err(empty_file_error(&file));
    }
    let tracker = source_tracker(args, &bytes, &file)?;
    let name = args
        .file
        .file_name()
        .filter(|name| *name != "-")
        .map_or_else(|| "stdin".into(), |name| name.to_string_lossy());
    let mut batch = {
        let progress = Progress::new(&app.printer, "reading");
        exchange::read_records(&bytes, tracker, &name, &mut |done, total| {
            progress.show_counts(done, total)
        })
    };
    let is_markdown = tracker == Tracker::Markdown;
    let markdown = is_markdown.then(|| String::from_utf8_lossy(&bytes).into_owned());
    let markdown = markdown.unwrap_or_default();
    drop(bytes);
    if let Some(name) = &args.name {
        batch.source = format!("{}:{name}", tracker.as_str());
    }
    let bad = std::mem::take(&mut batch.bad);
    // Of a merge that is not settled, both sides would be taken.
    let is_in_conflict = bad.iter().any(|line| line.message == exchange::OPEN_CONFLICT);
    if is_in_conflict || (!bad.is_empty() && !args.skip_bad) {
        return Err(bad_lines(&file, &bad));
    }
    if is_empty(&batch) {
        return Err(match tracker {
            Tracker::Markdown => no_tasks(&file, &markdown),
            _ => empty_file_error(&file),
        });
    }
    if !args.dry_run {
        backup_hooks::before(app, Reason::BeforeImport);
    }
    let imported = {
        let progress = Progress::new(&app.printer, "importing");
        ops::import(
            &mut app.open_for_writing()?,
            &app.ctx(),
            batch,
            &ImportOptions::with_dry_run(args.dry_run),
            &mut |done, total| progress.show_counts(done, total),
        )?
    };
    let report = Report {
        file: &file,
        format: tracker,
        dry_run: args.dry_run,
        imported: &imported,
        bad: &bad,
    };
    app.printer.emit(&report, |page| {
        print_imported(page, &imported, tracker, tracker.as_str(), args.dry_run, &bad);
    })?;
    Ok(Exit::Done)
}

fn empty_file_error(file: &str) -> CommandError {
    CommandError::invalid_value("file", format!("{file} has nothing to import in it"))
}

fn is_empty(batch: &Batch) -> bool {
    batch.records.is_empty() && batch.bonds.is_empty() && batch.comments.is_empty()
}

/// The whole file: an export may be larger than any text that the tracker takes.
fn read_file(app: &App, path: &Path) -> Result<Vec<u8>> {
    let progress = Progress::new(&app.printer, "loading");
    if path != Path::new("-") {
        if path.is_dir() {
            return Err(CommandError::invalid_value(
                "file",
                format!("{} is a folder", path.display()),
            )
            .with_hint("name the file in it, such as .beads/issues.jsonl or .eluent/data.jsonl"));
        }
        let failed = |source| CommandError::file_error("read", path, source);
        let file = input::open(app, path)?;
        let size = usize::try_from(file.metadata().map_err(failed)?.len()).unwrap_or(0);
        return read_all(file, size, &progress).map_err(failed);
    }
    if io::stdin().is_terminal() {
        app.printer.note("reading from the terminal; Ctrl-D ends it");
    }
    read_all(io::stdin().lock(), 0, &progress)
        .map_err(|source| CommandError::internal_error("cannot read stdin").with_source(source))
}

/// Reads the whole stream. `size` is the expected length, or 0 if unknown.
fn read_all(mut from: impl io::Read, size: usize, progress: &Progress<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(size);
    while from.by_ref().take(CHUNK).read_to_end(&mut bytes)? > 0 {
        progress.show_counts(bytes.len(), size);
    }
    Ok(bytes)
}

fn source_tracker(args: &Args, bytes: &[u8], file: &str) -> Result<Tracker> {
    let is_markdown =
        args.file.extension().is_some_and(|extension| extension == "md" || extension == "markdown");
    match args.from.as_deref() {
        Some("br") => Ok(Tracker::Bd),
        Some(word) => Ok(Tracker::ALL
            .iter()
            .copied()
            .find(|tracker| tracker.as_str() == word)
            .unwrap_or(Tracker::El)),
        None if is_markdown => {
            let text = String::from_utf8_lossy(bytes);
            if exchange::is_plan(&text) {
                Ok(Tracker::Markdown)
            } else {
                Err(no_tasks(file, &text))
            }
        }
        None => exchange::detect_tracker(bytes).ok_or_else(|| {
            CommandError::invalid_value(
                "from",
                format!("whose format {file} has cannot be told from its text"),
            )
            .with_hint("--from el, bd, eluent, github or markdown says it")
        }),
    }
}

/// The error for a document without a task list: prose is not work.
fn no_tasks(file: &str, text: &str) -> CommandError {
    let error =
        CommandError::invalid_value("file", format!("{file} has no task list (- [ ] title)"));
    error.with_hint(
        exchange::outline::bullet_hint(file, text)
            .unwrap_or_else(|| "--from markdown makes an atom of each heading".to_owned()),
    )
}

fn bad_lines(file: &str, bad: &[BadLine]) -> CommandError {
    let lines = if bad.len() == 1 { "a line of" } else { "lines of" };
    let mut listing: Vec<String> = bad
        .iter()
        .take(LISTED)
        .map(|bad| format!("{file}:{}: {}", bad.line, bad.message))
        .collect();
    if bad.len() > LISTED {
        listing.push(format!("and {} more", bad.len() - LISTED));
    }
    CommandError::invalid_value(
        "file",
        format!("{} {lines} {file} cannot be read; nothing was imported", bad.len()),
    )
    .with_listing(listing)
    .with_detail("bad", serde_json::json!(bad))
    .with_hint(match bad.iter().any(|line| line.message == exchange::OPEN_CONFLICT) {
        true => format!(
            "settle the merge in {file} first, and import it then; el merge-driver has git \
             merge exports field by field"
        ),
        false => "--skip-bad imports the rest".to_owned(),
    })
}
