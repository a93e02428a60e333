use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use el_core::exchange::{self, BadLine, Input, RecordFile, Stored, Tracker};
use el_core::ops::{self, ImportOptions, Imported};
use schemars::JsonSchema;
use serde::Serialize;

use crate::backups::Reason;
use crate::output::Progress;
use crate::{App, CommandError, Exit, Result, backup_hooks, input};

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
which from then on are names of them here. Changes made there since the last import are taken
over; changes made here in the meantime stand. Values that did not fit are listed, and kept
under metadata.source.")]
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
    // Without a tracker, reading the file is useless.
    app.project()?;
    let file = if args.file == Path::new("-") {
        "stdin".to_owned()
    } else {
        args.file.display().to_string()
    };
    let mut input = open_input(app, &args.file)?;
    if input.is_blank() {
        return Err(empty_file_error(&file));
    }
    let failed = |source| CommandError::file_error("read", &args.file, source);
    let tracker = source_tracker(args, &mut input, &file)?;
    let mut text = String::new();
    let mut records = if tracker == Tracker::Markdown {
        let bytes = input.read_text().map_err(failed)?;
        text = String::from_utf8_lossy(&bytes).into_owned();
        let name = args.file.file_name().filter(|name| *name != "-");
        let name = name.map_or_else(|| "stdin".into(), |name| name.to_string_lossy());
        RecordFile::from(exchange::read_records(&bytes, tracker, &name, &mut |_, _| {}))
    } else {
        let progress = Progress::new(&app.printer, "reading");
        let mut show = |done, total| progress.show_counts(done, total);
        RecordFile::index_records(input, tracker, &mut show).map_err(failed)?
    };
    if let Some(name) = &args.name {
        records.source = format!("{}:{name}", tracker.as_str());
    }
    let bad = std::mem::take(&mut records.bad);
    // An unsettled merge would bring in both of its sides.
    let is_in_conflict = bad.iter().any(|line| line.message == exchange::OPEN_CONFLICT);
    if is_in_conflict || (!bad.is_empty() && !args.skip_bad) {
        return Err(bad_lines(&file, &bad));
    }
    if records.is_empty() {
        return Err(match tracker {
            Tracker::Markdown => no_tasks(&file, &text),
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
            records,
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
    })
}

fn empty_file_error(file: &str) -> CommandError {
    CommandError::invalid_value("file", format!("{file} has nothing to import in it"))
}

/// Opens the file. A stream is copied first: records are read twice.
fn open_input(app: &App, path: &Path) -> Result<Input> {
    let failed = |source| CommandError::file_error("read", path, source);
    let file: Box<dyn Stored> = if path == Path::new("-") {
        if io::stdin().is_terminal() {
            app.printer.note("reading from the terminal; Ctrl-D ends it");
        }
        copy_stream(app, io::stdin().lock()).map_err(|source| {
            CommandError::internal_error("cannot read stdin").with_source(source)
        })?
    } else if path.is_dir() {
        return Err(CommandError::invalid_value("file", format!("{} is a folder", path.display()))
            .with_hint("name the file in it, such as .beads/issues.jsonl or .eluent/data.jsonl"));
    } else {
        let file = input::open(app, path)?;
        match file.metadata().map_err(failed)?.is_file() {
            true => Box::new(file),
            false => copy_stream(app, file).map_err(failed)?,
        }
    };
    Input::open(file, &mut input::spare_file).map_err(failed)
}

/// Copies a stream to a file without a name.
fn copy_stream(app: &App, mut from: impl io::Read) -> io::Result<Box<dyn Stored>> {
    let progress = Progress::new(&app.printer, "loading");
    let mut file = input::spare_file()?;
    let mut buffer = Vec::new();
    let mut done = 0;
    while from.by_ref().take(CHUNK).read_to_end(&mut buffer)? > 0 {
        file.write_all(&buffer)?;
        done += buffer.len();
        buffer.clear();
        progress.show_counts(done, 0);
    }
    Ok(file)
}

fn source_tracker(args: &Args, input: &mut Input, file: &str) -> Result<Tracker> {
    let failed = |source| CommandError::file_error("read", &args.file, source);
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
            let bytes = input.read_text().map_err(failed)?;
            let text = String::from_utf8_lossy(&bytes);
            if exchange::is_plan(&text) {
                Ok(Tracker::Markdown)
            } else {
                Err(no_tasks(file, &text))
            }
        }
        None => exchange::detect_tracker(input).map_err(failed)?.ok_or_else(|| {
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
    let lines = if bad.len() == 1 { "a line".to_owned() } else { format!("{} lines", bad.len()) };
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
        format!("{lines} of {file} cannot be read; nothing was imported"),
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
