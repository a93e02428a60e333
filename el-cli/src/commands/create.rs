use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use el_core::model::{IssueType, Priority};
use el_core::ops::{self, NewAtom};

use super::freed::tell_of_over_parents;
use super::run_options::RunOptionArgs;
use crate::output::time::{self, Towards};
use crate::output::{List, OneOrMany, atoms};
use crate::values::word_parser;
use crate::{App, CommandError, Exit, Result, complete, input};

mod batch;
mod edit;
mod jsonl;
mod markdown;

/// File an atom, or many at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el create \"Fix the parser of dates\" --type bug --priority high
  el create -t \"Write the docs\" -d - --blocked-by q5e6 < notes.md
  el create \"Split the module\" --parent x2 -l refactoring
  el create \"Prove it\" --model opus --effort max --base release-2
  el create \"Train it\" --needs gpu   Only for a worker of el work --offers gpu
  el create --edit                   Write it in your editor
  el create --file plan.md
  jq -c '.[]' plan.json | el create --file -

Many at once, all or none, from JSON Lines:
  {\"key\":\"db\",\"title\":\"Schema\",\"priority\":\"high\"}
  {\"title\":\"Queries\",\"blocked_by\":[\"db\"],\"labels\":[\"sql\"]}
or from a Markdown task list, where deeper items are children, an item with children becomes an
epic, indented text is the description, and ticked items are left out (el import takes them):
  - [ ] Storage
    - [ ] Schema
      STRICT tables.
The other flags then hold for every atom that says nothing else.")]
pub(crate) struct Args {
    /// The title, a single line
    #[arg(value_name = "TITLE")]
    title_words: Option<String>,
    /// The title, as a flag
    #[arg(short, long, value_name = "TITLE", conflicts_with = "title_words")]
    title: Option<String>,
    /// The work to do; `-` reads the text from stdin
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// A file that holds the description
    #[arg(long, value_name = "FILE", conflicts_with = "description",
        value_hint = clap::ValueHint::FilePath)]
    description_file: Option<PathBuf>,
    /// How to tell that the work is done; `-` reads the text from stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    acceptance: Option<String>,
    /// The kind of work [default: task]
    #[arg(long = "type", value_parser = word_parser::<IssueType>(), value_name = "TYPE")]
    issue_type: Option<IssueType>,
    /// 0 (critical) to 5 (someday), or a word [default: medium]
    #[arg(short, long, value_parser = word_parser::<Priority>(), value_name = "PRIORITY")]
    priority: Option<Priority>,
    /// The agent or person to do the work
    #[arg(short, long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    assignee: Option<String>,
    /// A label; may be given several times or as a list with commas
    #[arg(short, long, value_delimiter = ',', value_name = "LABEL")]
    label: Vec<String>,
    /// Labels that its worker must offer (el work --offers); several times, or a list with commas
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    needs: Vec<String>,
    /// The atom that contains the new atom
    #[arg(long, value_name = "ATOM", add = complete::complete_atoms())]
    parent: Option<String>,
    /// An atom that has to be over first
    #[arg(long, value_delimiter = ',', value_name = "ATOM", add = complete::complete_atoms())]
    blocked_by: Vec<String>,
    /// An atom that waits for the new atom
    #[arg(long = "blocking", value_delimiter = ',', value_name = "ATOM",
        add = complete::complete_atoms())]
    blocking: Vec<String>,
    /// The atom during whose work the new atom was found
    #[arg(long, value_name = "ATOM", add = complete::all_atoms())]
    discovered_from: Option<String>,
    /// Not before this time (a date, 3d, tomorrow)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    defer_until: Option<String>,
    #[command(flatten)]
    run_options: RunOptionArgs,
    /// Further facts, as a JSON object
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Write it in your editor, begun by the other flags; a text that is saved as it was, or
    /// emptied, files nothing
    #[arg(long, conflicts_with = "file")]
    pub(super) edit: bool,
    /// Many atoms, from JSON Lines or a Markdown task list; `-` is stdin
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath,
        conflicts_with_all = ["title", "title_words", "description", "description_file",
            "acceptance"])]
    file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    match &args.file {
        Some(file) => {
            let text = input::read_file(app, "file", file)?;
            let mut store = app.open_for_writing()?;
            let list = batch::read_batch(file, &text, &atom_defaults(args, app)?, app.now())?;
            let made = ops::create_many(&mut store, &app.ctx(), &list.news)?;
            app.printer
                .emit(&OneOrMany::Many(List::complete(&made)), |page| print_created(page, &made))?;
            tell_of_over_parents(app, &store, &made);
            for passed in &list.passed {
                app.printer.note(&format!("line {}: {}", passed.line, passed.what.as_text()));
            }
        }
        None if args.edit => return edit::run(args, app),
        None => {
            let mut store = app.open_for_writing()?;
            let new = atom_from_flags(args, app)?;
            let made = ops::create(&mut store, &app.ctx(), &new)?;
            app.printer.emit(&OneOrMany::One(&made), |page| {
                print_created(page, std::slice::from_ref(&made))
            })?;
            tell_of_over_parents(app, &store, [&made]);
        }
    }
    Ok(Exit::Done)
}

fn print_created(page: &mut crate::output::Page, made: &[el_core::model::Atom]) {
    for atom in made {
        if page.is_quiet() {
            page.push_line(&atom.id);
        } else {
            atoms::print_done(page, &format!("Created {}", atom.issue_type), atom);
        }
    }
}

fn atom_from_flags(args: &Args, app: &App) -> Result<NewAtom> {
    let title = args.title.as_ref().or(args.title_words.as_ref());
    if title.is_none() && !args.edit {
        return Err(CommandError::usage_error("a title is missing")
            .with_hint("el create \"what is to be done\", or --file for many"));
    }
    let file = args.description_file.as_deref().and_then(Path::to_str);
    input::only_one_stdin(&[
        ("description", args.description.as_deref().or(file)),
        ("acceptance", args.acceptance.as_deref()),
    ])?;
    let description = match (&args.description, &args.description_file) {
        (Some(text), _) => input::read_text(app, "description", text)?,
        (None, Some(path)) => input::read_file(app, "description", path)?,
        (None, None) => String::new(),
    };
    let acceptance = input::read_optional(app, "acceptance", args.acceptance.as_deref())?;
    let title = title.cloned().unwrap_or_default();
    Ok(NewAtom { title, description, acceptance, ..atom_defaults(args, app)? })
}

/// The values of the flags, for every atom.
fn atom_defaults(args: &Args, app: &App) -> Result<NewAtom> {
    let defer = args
        .defer_until
        .as_deref()
        .map(|text| time::parse_time("defer-until", text, app.now(), Towards::Future));
    Ok(NewAtom {
        issue_type: args.issue_type,
        priority: args.priority,
        labels: args.label.clone(),
        needs: args.needs.clone(),
        assignee: args.assignee.clone(),
        parent: args.parent.clone(),
        blocked_by: args.blocked_by.clone(),
        blocks: args.blocking.clone(),
        discovered_from: args.discovered_from.clone(),
        defer_until: defer.transpose()?,
        metadata: args.metadata.as_deref().map(input::parse_metadata).transpose()?,
        run_options: args.run_options.patch()?,
        ..NewAtom::default()
    })
}
