//! A plan drawn: its phases, its tasks by layers, its checks, and what comes next.

use anstyle::Style;
use el_core::model::Timestamp;
use el_core::ops::{Overview, PhaseView, TaskView};
use el_core::protocol::words::join;
use el_core::rules::orchestrate::{Question, Standing};

use super::ending::Ending;
use super::{status, words};
use crate::output::page::Page;
use crate::output::{atoms, runs, sanitize, style, time};

/// Lines of a failed check's output that are shown.
const TAIL: usize = 8;

pub(super) fn view(page: &mut Page, overview: &Overview, ending: &Ending, driven: bool, now: Timestamp) {
    let epic = &overview.epic;
    if page.quiet() {
        return overview.tasks.iter().for_each(|task| page.line(&task.atom_id));
    }
    let head = atoms::one_line(page, epic.status.as_str(), &epic.id, &epic.title);
    page.line(head);
    let state = if driven { format!("{}, driven just now", ending.state.words()) } else { ending.state.words().to_owned() };
    let figures = page.paint(style::DIM, &status::figures(overview));
    page.line(format!("  {} · {figures}", page.paint(ending.style(), &state)));
    page.blank();
    phases(page, overview, now);
    if !overview.tasks.is_empty() {
        page.blank();
        tasks(page, overview);
    }
    checks(page, overview, now);
    page.blank();
    ending.print(page);
}

fn phases(page: &mut Page, overview: &Overview, now: Timestamp) {
    page.heading("Phases");
    let wide = overview.phases.iter().map(|phase| words::phase(&phase.name).len()).max().unwrap_or(0);
    for phase in &overview.phases {
        let (mark, painted) = match phase.state {
            "answered" | "in_words" => ("✓", style::GOOD),
            "running" => ("◐", style::status("in_progress")),
            "asked" => ("▶", style::PLAIN),
            "stopped" => ("✗", style::ERROR),
            _ => ("○", style::DIM),
        };
        let name = words::phase(&phase.name);
        let atom = phase.atom_id.as_deref().unwrap_or_default();
        let head = format!("  {mark} {name:<wide$} ");
        let told = phase_words(phase, overview, now);
        let room = page.width().map(|width| width.saturating_sub(head.chars().count() + atom.len() + 1));
        let told = sanitize::line(&told).into_owned();
        let told = room.map_or_else(|| told.clone(), |room| sanitize::truncate(&told, room).into());
        let gap = if atom.is_empty() { "" } else { " " };
        let line = format!("  {} {name:<wide$} {}{gap}{told}", page.paint(painted, mark), page.paint(style::ID, atom));
        page.line(line.trim_end());
        if Question::named(&phase.name) == Some(Question::TaskList) && !overview.tasks.is_empty() {
            let (mark, painted) = work_mark(overview);
            page.line(format!("  {} {:<wide$} {}", page.paint(painted, mark), "work", words::tally(overview)));
        }
    }
    if !overview.settings.check.is_empty() && overview.checks.is_empty() {
        let command = sanitize::line(&join(&overview.settings.check)).into_owned();
        page.line(format!("  {} {:<wide$} {command}", page.paint(style::DIM, "○"), "check"));
    }
}

fn work_mark(overview: &Overview) -> (&'static str, Style) {
    let is_any = |standings: &[Standing]| overview.tasks.iter().any(|task| standings.contains(&task.standing));
    if is_any(&[Standing::Running]) {
        ("◐", style::status("in_progress"))
    } else if is_any(&[Standing::Ready, Standing::Waiting, Standing::Review]) {
        ("○", style::DIM)
    } else if is_any(&[Standing::Failed, Standing::Stuck, Standing::Held]) {
        ("!", style::WARNING)
    } else {
        ("✓", style::GOOD)
    }
}

/// What a phase gave, or why it did not.
fn phase_words(phase: &PhaseView, overview: &Overview, now: Timestamp) -> String {
    let result = words::result(phase, overview);
    match (phase.state, &phase.fault) {
        ("answered", _) => match (&phase.answered_by, phase.run_id.is_none()) {
            (Some(by), true) => {
                let when = phase.answered_at.map_or_else(String::new, |at| format!(" {}", time::relative(now, at)));
                format!("{result} (supplied by {by}{when})")
            }
            _ => result,
        },
        ("in_words", _) => format!("{result} (in words only)"),
        ("stopped", Some(why)) => format!("stopped: {why}"),
        ("waiting", None) => String::new(),
        (state, Some(why)) => format!("{state}; the last answer could not be used: {why}"),
        (state, None) => state.to_owned(),
    }
}

/// The plan by its layers, then the tasks of each check that failed.
fn tasks(page: &mut Page, overview: &Overview) {
    let round = |view: &TaskView| match view.list.as_deref().and_then(Question::named) {
        Some(Question::Failures { round }) => Some(round),
        _ => None,
    };
    let mut places: Vec<(Option<usize>, usize)> = overview.tasks.iter().map(|view| (round(view), view.layer)).collect();
    places.sort_unstable();
    places.dedup();
    let mut last = None;
    for (of, layer) in places {
        match of {
            None => page.heading(&format!("Layer {}", layer + 1)),
            Some(round) if last != Some(round) => page.heading(&format!("Tasks of check {round}")),
            Some(_) => {}
        }
        last = of;
        for view in overview.tasks.iter().filter(|view| round(view) == of && view.layer == layer) {
            task(page, view);
        }
    }
}

fn task(page: &mut Page, task: &TaskView) {
    let (mark, painted, word) = look(task.standing);
    let title = sanitize::line(&task.title).into_owned();
    let indent = 4 + task.atom_id.len() + 1;
    let room = page.width().map(|width| width.saturating_sub(indent));
    let title = room.map_or_else(|| title.clone(), |room| sanitize::truncate(&title, room).into());
    page.line(format!("  {} {} {title}", page.paint(painted, mark), page.paint(style::ID, &task.atom_id)));
    let mut parts = Vec::new();
    match task.standing {
        Standing::Running => {
            let percent = task.percent.map_or_else(String::new, |percent| format!(" {percent}%"));
            parts.push(format!("{word}{percent}"));
            parts.extend(task.action.clone());
        }
        Standing::Waiting => parts.push(format!("waits for {}", task.waits_for.join(", "))),
        Standing::Held => parts.push(format!("held by {}", task.waits_for.join(", "))),
        _ => parts.push(word.to_owned()),
    }
    parts.extend(task.why.clone());
    if task.attempts > 1 {
        parts.push(format!("{} attempts", task.attempts));
    }
    let cost = runs::cost(task.cost_micros);
    if !cost.is_empty() {
        parts.push(cost);
    }
    let text = parts.join(" · ");
    let text = sanitize::line(&text).into_owned();
    let text = page.width().map_or_else(|| text.clone(), |width| sanitize::truncate(&text, width.saturating_sub(6)).into());
    let text = page.paint(if task.standing == Standing::Done { style::DIM } else { painted }, &text);
    page.line(format!("      {text}"));
}

fn look(standing: Standing) -> (&'static str, Style, &'static str) {
    match standing {
        Standing::Done => ("●", style::GOOD, "done"),
        Standing::Running => ("◐", style::status("in_progress"), "running"),
        Standing::Ready => ("○", style::status("open"), "ready"),
        Standing::Waiting => ("○", style::DIM, "waits"),
        Standing::Review => ("◑", style::status("review"), "for review"),
        Standing::Failed => ("✗", style::ERROR, "failed"),
        Standing::Stuck => ("⊘", style::WARNING, "stuck"),
        Standing::Held => ("⊘", style::DIM, "held"),
    }
}

fn checks(page: &mut Page, overview: &Overview, now: Timestamp) {
    if overview.checks.is_empty() {
        return;
    }
    page.blank();
    page.heading("Checks");
    let command = sanitize::line(&join(&overview.settings.check)).into_owned();
    for check in &overview.checks {
        let (mark, painted, word) = if check.passed { ("✓", style::GOOD, "passed") } else { ("✗", style::WARNING, "failed") };
        let when = page.paint(style::DIM, &time::relative(now, check.at));
        page.line(format!("  {} {} {command} {word} {when}", page.paint(painted, mark), check.round));
    }
    if let Some(last) = overview.checks.last().filter(|check| !check.passed) {
        let lines: Vec<&str> = last.output.lines().collect();
        for line in &lines[lines.len().saturating_sub(TAIL)..] {
            page.line(format!("      {}", sanitize::line(line)));
        }
    }
}
