use std::path::PathBuf;

use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Which, read};
use crate::app::App;
use crate::commands::orchestrate::{Ending, judge};
use crate::error::Result;
use crate::exit::Exit;
use crate::input;
use crate::output::{sanitize, style};

/// Supply the data of a phase, in an agent's place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el phase set q5e6 --phase task_list --file plan.json
  jq 'del(.tasks[2])' plan.json | el phase set q5e6 --phase task_list --file -
  el phase set q5e6 --phase task_list --round 0 --file fixes.json

The file holds the data object, or {\"phase\": …, \"data\": …}, or a text with the block that an
agent was to write. What is there is replaced; a run that answers just now is superseded.
Of a list whose tasks have atoms, those that are new are filed on --resume, the others stay.")]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,
    /// The data; `-` is stdin
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
}

/// What it answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Supplied<'a> {
    epic_id: &'a str,
    phase: &'a str,
    round: Option<usize>,
    /// Fields that do not fit and were left out, and why.
    left_out: &'a [String],
    #[serde(flatten)]
    ending: &'a Ending,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let question = args.which.question()?;
    let text = input::file(app, "file", &args.file)?;
    let (payload, mut left_out) = read::data(&text, question.phase())?;
    let data = match serde_json::to_value(&payload) {
        Ok(Value::Object(mut whole)) => whole.remove("data").unwrap_or_default(),
        _ => Value::Null,
    };
    let mut store = app.writer()?;
    let (epic, also) = ops::supply(&mut store, &app.ctx(), &args.which.epic, question, &data)?;
    left_out.extend(also.into_iter().filter(|line| !left_out.contains(line)).collect::<Vec<_>>());
    let overview = ops::overview(&store, &epic.id)?;
    let ending = judge(&overview, &overview.next);
    let answer =
        Supplied { epic_id: &epic.id, phase: &args.which.phase, round: args.which.round, left_out: &left_out, ending: &ending };
    app.printer.emit(&answer, |page| {
        if page.quiet() {
            return page.line(&epic.id);
        }
        let done = page.paint(style::GOOD, "Set");
        let id = page.paint(style::ID, &epic.id);
        page.line(format!("{done} the {} of {id}", args.which.phase));
        for line in &left_out {
            let head = page.paint(style::WARNING, "left out:");
            page.line(format!("  {head} {}", sanitize::line(line)));
        }
        ending.print(page);
    })?;
    Ok(Exit::Done)
}
