use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use el_core::model::{IssueType, Priority, Status};
use el_core::ops::{self, AtomPatch, Updated};
use serde_json::Value;

use super::close::{self, GuardArgs, Ids};
use super::freed::{Waiting, tell_of_over_parents};
use super::history::value_words;
use super::run_options::RunOptionArgs;
use crate::backups::Reason;
use crate::output::time::{self, Towards};
use crate::output::{OneOrMany, Page, atoms, sanitize, style};
use crate::values::word_parser;
use crate::{App, CommandError, Exit, Result, backup_hooks, complete, input};

/// Change atoms
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el update q5e6 --priority high -l parser
  el update q5e6 --status deferred --defer-until 2026-12-01
  el update q5e6 --status wont_do --reason \"superseded by x2\"
  el update q5e6 x2 --assignee gendry --if-status open
  el update q5e6 --blocked-by x2     q5e6 now waits for x2, too
  el update q5e6 --needs gpu,macos   Only for a worker that offers both
  el update q5e6 --model opus --env RUST_LOG=debug

Several ids are changed together or not at all. In a session of el work, the statuses closed,
deferred, wont_do, discard and review end the session's work; blocked and testing only report;
open is refused for the session's own atom.")]
pub(crate) struct Args {
    #[command(flatten)]
    ids: Ids,
    /// The title
    #[arg(short, long, value_name = "TITLE")]
    title: Option<String>,
    /// The work to do; `-` reads the text from stdin
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// A file that holds the description
    #[arg(long, value_name = "FILE", conflicts_with = "description",
        value_hint = clap::ValueHint::FilePath)]
    description_file: Option<PathBuf>,
    /// How to tell that the work is done; empty removes the text, `-` reads the text from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    acceptance: Option<String>,
    /// The kind of work
    #[arg(long = "type", value_parser = word_parser::<IssueType>(), value_name = "TYPE")]
    issue_type: Option<IssueType>,
    /// 0 (critical) to 5 (someday), or a word
    #[arg(short, long, value_parser = word_parser::<Priority>(), value_name = "PRIORITY")]
    priority: Option<Priority>,
    /// The status
    #[arg(short, long, value_parser = word_parser::<Status>(), value_name = "STATUS")]
    status: Option<Status>,
    /// The reason, with --status; `-` reads the text from stdin
    #[arg(short, long, value_name = "TEXT")]
    reason: Option<String>,
    /// The agent or person to do the work
    #[arg(short, long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    assignee: Option<String>,
    /// Remove the assignee
    #[arg(long, conflicts_with = "assignee")]
    clear_assignee: bool,
    /// Add a label
    #[arg(short, long, value_delimiter = ',', value_name = "LABEL")]
    label: Vec<String>,
    /// Remove a label
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    remove_label: Vec<String>,
    /// Labels that its worker must offer, in place of all before
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    needs: Vec<String>,
    /// Any worker may take it
    #[arg(long, conflicts_with = "needs")]
    clear_needs: bool,
    /// The atom that contains the updated atom
    #[arg(long, value_name = "ATOM", add = complete::complete_atoms())]
    parent: Option<String>,
    /// Remove the parent
    #[arg(long, conflicts_with = "parent")]
    clear_parent: bool,
    /// Add an atom that has to be over first
    #[arg(long, value_delimiter = ',', value_name = "ATOM", add = complete::complete_atoms())]
    blocked_by: Vec<String>,
    /// Remove an atom that had to be over first
    #[arg(long, value_delimiter = ',', value_name = "ATOM", add = complete::all_atoms())]
    remove_blocked_by: Vec<String>,
    /// Not before this time (a date, 3d, tomorrow); an open atom becomes deferred
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    defer_until: Option<String>,
    /// No date any more
    #[arg(long, conflicts_with = "defer_until")]
    clear_defer: bool,
    #[command(flatten)]
    run_options: RunOptionArgs,
    /// Keys to set, as a JSON object; null removes a key
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Also if somebody else claimed the atom, or an epic has open children
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    guard: GuardArgs,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let mut store = app.open_for_writing()?;
    let patch = atom_patch(args, app)?;
    if args.force && args.ids.ids.len() > 1 {
        backup_hooks::before(app, Reason::BeforeForce);
    }
    if matches!(patch.status, Some(Status::Closed | Status::Review)) && !args.force {
        close::ensure_committed(app, &mut store, &args.ids.ids)?;
    }
    let waiting = match patch.status {
        Some(status) if status.is_over() => Waiting::find_waiting(app, &store, &args.ids.ids),
        _ => Waiting::default(),
    };
    let updated = ops::update(
        &mut store,
        &app.ctx(),
        &args.ids.ids,
        &patch,
        &args.guard.close_guard(app, args.force),
    )?;
    let human = |page: &mut Page| updated.iter().for_each(|one| print_updated(page, one));
    app.printer.emit(&OneOrMany::for_request(args.ids.ids.len(), &updated), human)?;
    let ended = updated.iter().map(|one| &one.atom).filter(|atom| atom.status.is_over());
    waiting.report_freed(app, &store, ended)?;
    if patch.status.is_some() || patch.parent.is_some() {
        tell_of_over_parents(app, &store, updated.iter().map(|one| &one.atom));
    }
    Ok(Exit::Done)
}

fn atom_patch(args: &Args, app: &App) -> Result<AtomPatch> {
    let file = args.description_file.as_deref().and_then(Path::to_str);
    input::only_one_stdin(&[
        ("description", args.description.as_deref().or(file)),
        ("acceptance", args.acceptance.as_deref()),
        ("reason", args.reason.as_deref()),
    ])?;
    if args.reason.is_some() && args.status.is_none() {
        return Err(CommandError::usage_error("--reason goes with --status")
            .with_hint("el comment add says something without changing the status"));
    }
    let description = match &args.description_file {
        Some(path) => Some(input::read_file(app, "description", path)?),
        None => input::read_optional(app, "description", args.description.as_deref())?,
    };
    let date = args
        .defer_until
        .as_deref()
        .map(|text| time::parse_time("defer-until", text, app.now(), Towards::Future))
        .transpose()?;
    let metadata = match args.metadata.as_deref().map(input::parse_metadata).transpose()? {
        Some(Value::Object(map)) => map,
        _ => serde_json::Map::new(),
    };
    let patch = AtomPatch {
        title: args.title.clone(),
        description,
        acceptance: input::read_optional(app, "acceptance", args.acceptance.as_deref())?
            .map(|text| (!text.trim().is_empty()).then_some(text)),
        issue_type: args.issue_type,
        priority: args.priority,
        assignee: args.assignee.clone().map(Some).or(args.clear_assignee.then_some(None)),
        parent: args.parent.clone().map(Some).or(args.clear_parent.then_some(None)),
        add_labels: args.label.clone(),
        remove_labels: args.remove_label.clone(),
        needs: (args.clear_needs || !args.needs.is_empty()).then(|| args.needs.clone()),
        run_options: args.run_options.patch()?,
        add_blockers: args.blocked_by.clone(),
        remove_blockers: args.remove_blocked_by.clone(),
        status: args.status,
        reason: input::read_optional(app, "reason", args.reason.as_deref())?,
        defer_until: date.map(Some).or(args.clear_defer.then_some(None)),
        metadata,
    };
    if patch == AtomPatch::default() {
        return Err(CommandError::usage_error("nothing to change was given")
            .with_hint("el update --help lists what can be changed"));
    }
    Ok(patch)
}

/// `Updated app-q5e6 title`, and a line for each changed field.
pub(super) fn print_updated(page: &mut Page, updated: &Updated) {
    if page.is_quiet() {
        return;
    }
    atoms::print_done(
        page,
        if updated.changes.is_empty() { "Unchanged" } else { "Updated" },
        &updated.atom,
    );
    for (field, change) in &updated.changes {
        let [from, to] = ["from", "to"].map(|key| value_words(&change[key], ", "));
        let (from, to) = (sanitize::one_line(&from), sanitize::one_line(&to));
        let line = if change["from"].is_string() && from.chars().count() + to.chars().count() > 80 {
            format!("  {field}")
        } else {
            format!("  {field}: {from} → {to}")
        };
        page.push_painted(style::DIM, &line);
    }
}
