//! The goal of a plan, from the command line. A possible mistyped command is refused, since a goal
//! costs agents' runs.

use el_core::ops::{self, Goal};

use super::{Args, ResumeArgs, VERBS};
use crate::{App, CommandError, Result, input, mistyped};

/// The goal or the epic of the plan.
#[derive(Debug)]
pub(super) struct PlanGoal {
    /// Words, or the whole id of an atom.
    pub(super) goal: Goal,
    /// True if the atom must have a plan already.
    pub(super) is_resumed: bool,
}

impl From<Goal> for PlanGoal {
    fn from(goal: Goal) -> PlanGoal {
        PlanGoal { goal, is_resumed: false }
    }
}

pub(super) fn to_resume(args: &ResumeArgs, app: &App) -> Result<PlanGoal> {
    let id = ops::resolve_id(&app.open_for_reading()?, &args.epic)?;
    Ok(PlanGoal { goal: Goal::Atom(id), is_resumed: true })
}

pub(super) fn to_begin(args: &Args, app: &App) -> Result<PlanGoal> {
    if let Some(path) = &args.goal_file {
        return goal_from_words(input::read_file(app, "goal-file", path)?);
    }
    if !args.verbatim.is_empty() {
        return goal_from_words(args.verbatim.join(" "));
    }
    match args.goal.as_slice() {
        [] => Err(missing_goal_error()),
        [one] if one.trim().contains(char::is_whitespace) => {
            match mistyped::command_on_id(app, one) {
                Some(meant) => Err(mistyped_error(one.trim(), meant)),
                None => goal_from_words(one.clone()),
            }
        }
        [one] => goal_from_atom(one.trim(), app),
        [first, rest @ ..] => {
            ensure_no_command(first, Some(rest), app)?;
            goal_from_words(args.goal.join(" "))
        }
    }
}

fn missing_goal_error() -> CommandError {
    CommandError::usage_error("what is to be orchestrated is missing").with_hint(
        "say the goal in several words, or name an atom; el orchestrate --help has examples",
    )
}

fn goal_from_atom(one: &str, app: &App) -> Result<PlanGoal> {
    if one.is_empty() {
        return Err(missing_goal_error());
    }
    match ops::resolve_id(&app.open_for_reading()?, one) {
        Ok(id) => Ok(Goal::Atom(id).into()),
        Err(el_core::Error::NotFound { .. }) => {
            ensure_no_command(one, None, app)?;
            Err(CommandError::not_found(format!(
                "'{one}' is the id of no atom, and as a goal it is too short"
            ))
            .with_detail("goal", one)
            .with_hint("say the goal in a sentence: el orchestrate \"Document the REST API\"")
            .with_hint("el list --all shows every atom; --goal-file takes a goal of any length"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Refuses a goal in several words whose first word is nearly a command or names an atom, and any
/// command of `el` before an atom's id. A word and an id are no goal, whatever the word is.
fn ensure_no_command(first: &str, rest: Option<&[String]>, app: &App) -> Result<()> {
    let rest = rest.unwrap_or_default();
    let id = rest.first().and_then(|word| {
        let of_beginning = || mistyped::id_of_beginning(app, word).filter(|_| rest.len() == 1);
        mistyped::named_id(app, word).or_else(of_beginning)
    });
    let epic = id.as_deref().unwrap_or("EPIC");
    let meant = match mistyped::nearest_verb(first, VERBS) {
        Some("list") => Some("el orchestrate list".to_owned()),
        Some("help") => Some("el orchestrate --help".to_owned()),
        Some(verb) => Some(format!("el orchestrate {verb} {epic}")),
        None => None,
    };
    let meant = meant
        .or_else(|| {
            let id = id.as_ref()?;
            let help = || (rest.len() == 1).then(|| "el orchestrate --help".to_owned());
            mistyped::call_on_id(first, id).or_else(help)
        })
        .or_else(|| {
            let id = mistyped::named_id(app, first)?;
            Some(format!("el orchestrate resume {id}"))
        });
    meant.map_or(Ok(()), |meant| Err(mistyped_error(first, meant)))
}

fn mistyped_error(words: &str, meant: String) -> CommandError {
    CommandError::usage_error(format!(
        "'{words}' looks like a mistyped command or an id, not like the beginning of a goal"
    ))
    .with_detail("meant", meant.as_str())
    .with_hint(meant)
    .with_hint("if it is a goal: el orchestrate -- WORDS, or one sentence in quotes")
}

fn goal_from_words(text: String) -> Result<PlanGoal> {
    if text.trim().is_empty() {
        return Err(CommandError::invalid_value("goal", "goal: it is empty"));
    }
    Ok(Goal::Words(text).into())
}
