//! The state of a plan in words, and the next commands.

use std::time::Duration;

use el_agents::worker::StoppedBy;
use el_core::count_noun;
use el_core::ops::{Overview, TaskView};
use el_core::rules::budget::format_usd;
use el_core::rules::orchestrate::{Question, Standing, Step, Work};
use schemars::JsonSchema;
use serde::Serialize;

use super::state::State;
use super::words;
use crate::output::names::first_few;
use crate::output::{Page, sanitize, style, time, wrap};

/// The state of a plan, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(in crate::commands) struct Ending {
    pub(in crate::commands) state: State,
    /// In a sentence.
    pub(in crate::commands) says: String,
    /// Commands that go on from here, each whole.
    pub(in crate::commands) commands: Vec<String>,
}

impl Ending {
    fn new(state: State, says: String, commands: impl IntoIterator<Item = String>) -> Ending {
        Ending { state, says, commands: commands.into_iter().collect() }
    }

    /// The ending after a stop request.
    pub(super) fn broken_off(overview: &Overview, by: StoppedBy) -> Ending {
        if let Some(ending) = used_up(overview) {
            return ending;
        }
        let epic = &overview.epic.id;
        let running =
            overview.tasks.iter().filter(|task| task.standing == Standing::Running).count();
        let left = match running {
            0 => String::new(),
            1 => "; 1 run goes on with its own supervisor".to_owned(),
            many => format!("; {many} runs go on with their own supervisors"),
        };
        let by = match by {
            StoppedBy::Interrupt => "by Ctrl-C",
            StoppedBy::Signal => "by a signal",
            StoppedBy::Request => "by el work --stop",
        };
        let says = format!("{epic} was broken off {by} ({}){left}", words::tally_tasks(overview));
        Ending::new(State::Underway, says, [resume_command(epic), status_command(epic)])
    }

    /// The ending while another process drives the plan.
    pub(super) fn while_driven(overview: &Overview) -> Ending {
        let says =
            format!("{} is driven just now ({})", overview.epic.id, words::tally_tasks(overview));
        Ending::new(State::Underway, says, [])
    }

    /// The ending while no process drives the plan: a state that would go on by itself does not.
    pub(super) fn without_driver(overview: &Overview, ending: Ending) -> Ending {
        let goes_on = match &overview.next {
            Step::AwaitWork { work } => !work.ready.is_empty() || work.review.is_empty(),
            Step::AwaitAnswer { .. } => true,
            _ => false,
        };
        if !goes_on || used_up(overview).is_some() {
            return ending;
        }
        let is_fresh = |task: &TaskView| {
            task.tries.attempts == 0 && matches!(task.standing, Standing::Ready | Standing::Waiting)
        };
        if !overview.tasks.is_empty() && overview.tasks.iter().all(is_fresh) {
            return ending_of_step(overview, &Step::PlanFiled);
        }
        let epic = &overview.epic.id;
        Ending::new(
            State::Underway,
            format!("{epic} is under way, and nobody drives it just now"),
            [resume_command(epic)],
        )
    }

    /// The colour of the state.
    pub(in crate::commands) fn style(&self) -> anstyle::Style {
        match self.state {
            State::Done | State::Planned => style::GOOD,
            State::Underway => style::PLAIN,
            _ => style::WARNING,
        }
    }

    pub(in crate::commands) fn print_ending(&self, page: &mut Page) {
        let mark = match self.state {
            State::Done => "✓",
            State::Planned | State::Underway => "·",
            _ => "!",
        };
        let head = page.paint(self.style(), mark);
        let clean = sanitize::multi_line(&self.says);
        // The first line has the mark; the others are indented to match.
        let mut lines =
            wrap::wrap_text(&clean, page.width().map(|width| width.saturating_sub(2))).into_iter();
        page.push_line(format!("{head} {}", lines.next().unwrap_or_default()));
        for line in lines {
            page.push_line(format!("  {line}"));
        }
        for command in &self.commands {
            let command = page.paint(style::HINT, command);
            page.push_line(format!("    {command}"));
        }
    }
}

fn resume_command(epic: &str) -> String {
    format!("el orchestrate resume {epic}")
}

pub(super) fn status_command(epic: &str) -> String {
    format!("el orchestrate show {epic}")
}

/// Explains a step of a plan to a person.
pub(in crate::commands) fn ending_of_step(overview: &Overview, step: &Step) -> Ending {
    let epic = overview.epic.id.as_str();
    let is_settled = matches!(step, Step::Done { .. } | Step::PlanFiled | Step::Stop { .. });
    if let Some(ending) = used_up(overview).filter(|_| !is_settled) {
        return ending;
    }
    match step {
        Step::Done { missing } => done_ending(overview, missing),
        Step::PlanFiled => {
            let says = format!(
                "The plan of {epic} is filed ({}); change its atoms as you like",
                tasks_and_layers(overview)
            );
            let next =
                [status_command(epic), format!("el list --parent {epic}"), resume_command(epic)];
            Ending::new(State::Planned, says, next)
        }
        Step::Stop { question: Some(question), why } => unanswered_ending(overview, *question, why),
        Step::Stop { question: None, why } => stopped_ending(overview, why),
        Step::AwaitWork { work } => awaited_work_ending(overview, work),
        Step::AwaitAnswer { question } => awaits_answer(overview, *question),
        Step::Check { round } => Ending::new(
            State::Underway,
            format!("The check of {epic} is next (number {round})"),
            [resume_command(epic)],
        ),
        Step::Ask { .. } | Step::File { .. } | Step::MarkFiled { .. } => Ending::new(
            State::Underway,
            format!("{epic} goes on as soon as somebody drives it"),
            [resume_command(epic)],
        ),
    }
}

fn spent_as_i64(overview: &Overview) -> i64 {
    i64::try_from(overview.spent_micros).unwrap_or(i64::MAX)
}

/// Returns true if the budget of the whole plan is used up. The epic may be deferred for that
/// reason; `--budget-per-epic` reopens the epic.
pub(super) fn is_spent(overview: &Overview) -> bool {
    overview.budget_micros.is_some_and(|budget| spent_as_i64(overview) >= budget)
}

/// The ending if the budget or the time of the whole plan is used up; no new run begins then.
fn used_up(overview: &Overview) -> Option<Ending> {
    let epic = overview.epic.id.as_str();
    let (state, why, flag) = if is_spent(overview) {
        let (spent, budget) = (spent_as_i64(overview), overview.budget_micros.unwrap_or_default());
        (
            State::BudgetUsedUp,
            format!(
                "its budget is used up: {} of {} are spent",
                format_usd(spent),
                format_usd(budget)
            ),
            "--budget-per-epic USD",
        )
    } else {
        let limit = overview.settings.time_s.filter(|limit| overview.worked_s >= *limit)?;
        let span = |seconds| time::format_span(Duration::from_secs(seconds));
        let why =
            format!("its time is over: {} of {} have passed", span(overview.worked_s), span(limit));
        (State::TimeOver, why, "--plan-timeout TIME")
    };
    let commands = [format!("{} {flag}", resume_command(epic)), status_command(epic)];
    Some(Ending::new(
        state,
        format!("{epic} stopped ({}): {why}", words::tally_tasks(overview)),
        commands,
    ))
}

fn tasks_and_layers(overview: &Overview) -> String {
    let layers = overview.tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0);
    format!("{} in {}", count_noun(overview.tasks.len(), "task"), count_noun(layers, "layer"))
}

fn done_ending(overview: &Overview, missing: &[String]) -> Ending {
    let epic = overview.epic.id.as_str();
    if !missing.is_empty() {
        let says =
            format!("{epic} is brought together, and these gave no result: {}", first_few(missing));
        let mut next = look_into(overview);
        next.push(resume_command(epic));
        return Ending::new(State::Incomplete, says, next);
    }
    if !overview.epic.status.is_over() {
        let says = format!("{epic} is brought together, but its last run says that it failed");
        return Ending::new(
            State::Incomplete,
            says,
            [format!("el show {epic}"), status_command(epic)],
        );
    }
    let reason = overview
        .epic
        .close_reason
        .as_deref()
        .map_or_else(String::new, |reason| format!(": {reason}"));
    let mut next = vec![format!("el show {epic}")];
    let last = atom_of(overview, Question::Aggregation);
    next.extend(last.map(|atom| format!("el artifacts show {atom}")));
    Ending::new(State::Done, format!("{epic} is done{reason}"), next)
}

fn unanswered_ending(overview: &Overview, question: Question, why: &str) -> Ending {
    let epic = overview.epic.id.as_str();
    let phase = words::phase_name(&question.storage_name());
    let says =
        format!("{epic} stopped: there is no {phase} that can be used. {}", with_full_stop(why));
    let atom = atom_of(overview, question);
    let mut next = Vec::new();
    if let Some(atom) = atom {
        let is_over = overview
            .phases
            .iter()
            .any(|phase| phase.atom_id.as_deref() == Some(atom) && phase.is_over);
        next.push(format!("el {} {atom}", if is_over { "reopen" } else { "retry" }));
    }
    next.push(words::command_of(epic, question));
    next.push(resume_command(epic));
    Ending::new(State::Stopped, says, next)
}

pub(super) fn atom_of(overview: &Overview, question: Question) -> Option<&str> {
    let name = question.storage_name();
    overview
        .phases
        .iter()
        .find(|phase| phase.name == name)
        .and_then(|phase| phase.atom_id.as_deref())
}

fn stopped_ending(overview: &Overview, why: &str) -> Ending {
    let epic = overview.epic.id.as_str();
    if let Some(ending) = used_up(overview) {
        return ending;
    }
    let says = if why.starts_with(epic) {
        with_full_stop(why)
    } else {
        format!("{epic} stopped: {}", with_full_stop(why))
    };
    // The epic is over without its last phase, or is held.
    if overview.epic.status.holds_children() || overview.epic.status.is_over() {
        return Ending::new(
            State::Stopped,
            says,
            [format!("el reopen {epic}"), resume_command(epic)],
        );
    }
    if overview.tasks.is_empty() {
        let next = [
            format!("el list --parent {epic} --all"),
            format!("el create --parent {epic} --title WHAT"),
            words::command_of(epic, Question::TaskList),
            resume_command(epic),
            format!("el close {epic} --reason WHY"),
        ];
        return Ending::new(State::Stopped, says, next);
    }
    let mut next = look_into(overview);
    if overview.checks.last().is_some_and(|check| !check.passed) {
        next.push(status_command(epic));
        next.push(format!("{} --check-rounds N", resume_command(epic)));
    } else {
        next.push(resume_command(epic));
    }
    Ending::new(State::Stopped, says, next)
}

fn awaited_work_ending(overview: &Overview, work: &Work) -> Ending {
    let epic = overview.epic.id.as_str();
    if work.running.is_empty() && !work.review.is_empty() {
        let says = format!("{epic} waits for a person: to review are {}", first_few(&work.review));
        let next = [
            format!("el show {}", work.review[0]),
            format!("el approve {}", work.review.join(" ")),
            format!("el reject {} --reason WHY", work.review[0]),
            resume_command(epic),
        ];
        return Ending::new(State::WaitsForPerson, says, next);
    }
    if work.running.is_empty() && !work.ready.is_empty() {
        let says = format!("{epic}: nobody who works here takes {}", first_few(&work.ready));
        let next = [format!("el why {}", work.ready[0]), resume_command(epic)];
        return Ending::new(State::WaitsForPerson, says, next);
    }
    if !work.running.is_empty() {
        let says = format!("{epic}: others are at work on {}", first_few(&work.running));
        return Ending::new(
            State::WaitsForPerson,
            says,
            [status_command(epic), resume_command(epic)],
        );
    }
    let is_own = |id: &String| overview.tasks.iter().any(|task| task.atom_id == *id);
    let mut outside: Vec<String> = Vec::new();
    for id in overview.tasks.iter().flat_map(|task| &task.waits_for).filter(|id| !is_own(id)) {
        if !outside.contains(id) {
            outside.push(id.clone());
        }
    }
    let next = outside.iter().take(3).map(|id| format!("el why {id}"));
    let says = format!(
        "{epic} waits for what is outside of it: {} (held by it: {})",
        first_few(&outside),
        first_few(&work.waiting)
    );
    Ending::new(State::WaitsForPerson, says, next.chain([resume_command(epic)]))
}

fn awaits_answer(overview: &Overview, question: Question) -> Ending {
    let epic = overview.epic.id.as_str();
    let phase = words::phase_name(&question.storage_name());
    let atom = atom_of(overview, question).unwrap_or(epic);
    let says = format!("{epic} waits for the {phase}, which {atom} asks for and nobody here takes");
    let next = [format!("el why {atom}"), words::command_of(epic, question), resume_command(epic)];
    Ending::new(State::WaitsForPerson, says, next)
}

/// Commands that explain why tasks gave no result, and the command that opens the first such task
/// again; tasks held by the failed tasks follow by themselves.
fn look_into(overview: &Overview) -> Vec<String> {
    let failed = overview
        .tasks
        .iter()
        .filter(|task| matches!(task.standing, Standing::Failed | Standing::Stuck));
    let mut first = failed.take(3).peekable();
    let again =
        first.peek().map(|task| format!("el {} {}", task.status.opening_verb(), task.atom_id));
    first.map(|task| format!("el why {}", task.atom_id)).chain(again).collect()
}

/// Adds a full stop if there is none.
fn with_full_stop(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}
