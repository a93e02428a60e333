//! Takes back what a person changed, step by step.

use el_core::ops::{self, Step};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{List, Page, sanitize, style, time};
use crate::{App, CommandError, Exit, Result};

/// Take back your last change; again, the one before
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el undo                    Your last change, whatever it was
  el undo --dry-run          Say what it would take back
  el undo --list             Your last changes, each with its number
  el undo 214                One of them

One call is one step, however many atoms it changed. Changes of agents and of other people are
not yours to take back, and if one of them changed the same since, the step is refused and says
who. An import, a prune, a landing, a review and the end of a run cannot be taken back; el undo
names the way instead. Settings are no part of it: el config set changes them back.

Exit codes: 3 there is no such step; 4 nothing to undo, or changed since.")]
pub(crate) struct Args {
    /// The number of a step in `el undo --list` [default: the last one]
    #[arg(value_name = "STEP", conflicts_with = "list")]
    step: Option<i64>,
    /// Say what would be taken back, and change nothing
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,
    /// List your last changes
    #[arg(long)]
    list: bool,
}

/// The steps that `--list` shows.
const LISTED: usize = 20;

/// `--list` answers with the steps, an undo with one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Steps(List<'a, Step>),
    Undone {
        dry_run: bool,
        #[serde(flatten)]
        step: &'a Step,
    },
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if args.list {
        let steps = ops::undo_steps(&app.open_for_reading()?, app.actor(), LISTED)?;
        return app.printer.emit(&Answer::Steps(List::complete(&steps)), |page| {
            for step in &steps {
                print_step(page, "", step, app);
            }
        });
    }
    let step = ops::undo(&mut app.open_for_writing()?, &app.ctx(), args.step, args.dry_run)
        .map_err(|error| match CommandError::from(error) {
            told if told.hints().is_empty() => told.with_hint("el undo --list shows your steps"),
            told => told,
        })?;
    let answer = Answer::Undone { dry_run: args.dry_run, step: &step };
    app.printer.emit(&answer, |page| {
        let head = match (page.is_quiet(), args.dry_run) {
            (true, _) => "",
            (false, true) => "Would take back step",
            (false, false) => "Took back step",
        };
        print_step(page, head, &step, app);
    })
}

fn print_step(page: &mut Page, head: &str, step: &Step, app: &App) {
    let head = page.paint(style::GOOD, head);
    let number = page.paint(style::ID, &step.step.to_string());
    let line = format!("{head} {number} {}", time::relative_time(app.now(), step.at));
    page.push_line(line.trim_start());
    for change in &step.changes {
        let atom = change.atom_id.as_deref().unwrap_or_default();
        page.push_line(format!("  {atom} {}", sanitize::one_line(&change.what)));
    }
    if let Some(why) = &step.cannot {
        page.push_painted(style::DIM, &format!("  cannot be taken back: {why}"));
    }
}
