use std::path::PathBuf;

use el_core::ops::{self, Overview};
use el_core::rules::orchestrate::Question;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::becomes::Becomes;
use super::{PhaseSelector, read};
use crate::commands::orchestrate::{self, Ending, is_driven};
use crate::output::{sanitize, style};
use crate::{App, CommandError, Exit, Result, input};

/// Supply the data of a phase, in an agent's place
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el phase set q5e6 --phase task_list --file plan.json
  jq 'del(.tasks[2])' plan.json | el phase set q5e6 --phase task_list --file -
  el phase set q5e6 --phase task_list --file plan.json --dry-run
  el phase set q5e6 --phase task_list --round 0 --file fixes.json

The file holds the data object, or {\"phase\": …, \"data\": …}, or what an agent said, with its
block, a code fence, or words around the data; slips in the JSON are put right, and told. It
replaces the data that is there. Of a list whose tasks have atoms, those that are new are filed
when the plan goes on, the others stay as they are. While an agent answers just now, it is
refused, unless --supersede ends that run.")]
pub(crate) struct Args {
    #[command(flatten)]
    which: PhaseSelector,
    /// The data; `-` is stdin
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Show the effect without any change
    #[arg(long)]
    dry_run: bool,
    /// Also while an agent is answering: its run is ended
    #[arg(long)]
    supersede: bool,
}

/// The answer of the command.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Supplied<'a> {
    epic_id: &'a str,
    phase: &'a str,
    round: Option<usize>,
    dry_run: bool,
    /// Repairs of the file.
    repaired: &'a [String],
    /// The effect on the tasks, for a task list.
    tasks: Option<&'a Becomes>,
    /// True if a process drives the plan now, and goes on with the new answer.
    driven: bool,
    /// Fields that do not fit and were left out, and why.
    left_out: &'a [String],
    #[serde(flatten)]
    ending: &'a Ending,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let question = args.which.parse_question()?;
    let text = input::read_file(app, "file", &args.file)?;
    let given = read::read_answer(&text, question.phase())?;
    let mut left_out = given.left_out;
    let data = match serde_json::to_value(&given.payload) {
        Ok(Value::Object(mut whole)) => whole.remove("data").unwrap_or_default(),
        _ => Value::Null,
    };
    let mut store = app.open_for_writing()?;
    let before = ops::plan_overview(&store, &args.which.epic)?;
    if !args.supersede {
        nobody_answers(&before, question)?;
    }
    let tasks = Becomes::from_payload(&before, question, &given.payload);
    let (ctx, epic) = (app.ctx(), &args.which.epic);
    let (epic, also) = ops::supply_answer(&mut store, &ctx, epic, question, &data, args.dry_run)?;
    left_out.extend(also.into_iter().filter(|line| !left_out.contains(line)).collect::<Vec<_>>());
    let overview = ops::plan_overview(&store, &epic.id)?;
    let driven = is_driven(app, &epic.id);
    let ending = orchestrate::status::current_ending(&overview, driven);
    let answer = Supplied {
        epic_id: &epic.id,
        phase: &args.which.phase,
        round: args.which.round,
        dry_run: args.dry_run,
        repaired: &given.repaired,
        tasks: tasks.as_ref(),
        driven,
        left_out: &left_out,
        ending: &ending,
    };
    app.printer.emit(&answer, |page| {
        if page.is_quiet() {
            return page.push_line(&epic.id);
        }
        let done = if args.dry_run { "Would set" } else { "Set" };
        let name = orchestrate::phase_name(&question.storage_name());
        page.push_done(done, &format!("the {name} of {}", page.paint(style::ID, &epic.id)));
        let told = [("repaired", &given.repaired), ("left out", &left_out)];
        for (what, line) in
            told.iter().flat_map(|(what, lines)| lines.iter().map(move |line| (what, line)))
        {
            let head = page.paint(style::WARNING, &format!("{what}:"));
            page.push_line(format!("  {head} {}", sanitize::one_line(line)));
        }
        for line in tasks.iter().flat_map(|tasks| tasks.describe_changes(driven)) {
            page.push_paragraph(&line, 2);
        }
        if !args.dry_run {
            ending.print_ending(page);
        }
    })
}

/// Refuses an answer that would make the work of a live run worthless: a run that answers the
/// question, or an analysis that a task list makes needless.
fn nobody_answers(before: &Overview, question: Question) -> Result<()> {
    let epic = &before.epic.id;
    let mut ended = vec![question.storage_name()];
    if question == Question::TaskList {
        ended.push(Question::Analysis.storage_name());
    }
    let Some(phase) =
        before.phases.iter().find(|phase| phase.state == "running" && ended.contains(&phase.name))
    else {
        return Ok(());
    };
    let (run, name) =
        (phase.run_id.as_deref().unwrap_or("a run"), orchestrate::phase_name(&phase.name));
    Err(CommandError::conflict(
        "answering",
        format!("{run} is at work on the {name} of {epic} just now"),
    )
    .with_detail("run_id", phase.run_id.clone())
    .with_hint(format!("el logs {run} shows how far it is; --supersede ends it and takes yours")))
}
