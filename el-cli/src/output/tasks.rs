//! Human output of delegated tasks and of the agents' queues.

use el_core::model::{TaskStatus, Timestamp, Verify, VerifyStatus};
use el_core::ops::{AgentQueue, QueuePlace, Task};
use el_core::protocol::words;

use super::page::Page;
use super::table::{Cell, Column, Table};
use super::{atoms, pauses, runs, sanitize, style, time};

/// The number of waiting tasks that are listed for an agent; more are counted.
const LISTED: usize = 20;

fn status_style(status: TaskStatus) -> anstyle::Style {
    match status {
        TaskStatus::Queued => style::status_style("open"),
        TaskStatus::Running => style::status_style("in_progress"),
        TaskStatus::Review => style::status_style("review"),
        TaskStatus::Completed => style::GOOD,
        TaskStatus::Failed => style::outcome_style("failed"),
        TaskStatus::Deferred | TaskStatus::Declined | TaskStatus::Cancelled => style::DIM,
    }
}

/// A table of tasks; only the ids with `-q`.
pub(crate) fn print_table(page: &mut Page, tasks: &[Task], now: Timestamp) {
    if page.is_quiet() {
        return tasks.iter().for_each(|task| page.push_line(&task.id));
    }
    if tasks.is_empty() {
        return;
    }
    let mut table = Table::new([
        Column::new("TASK"),
        Column::new("STATUS"),
        Column::new("PRI").hide_when_narrow(4),
        Column::new("AGENT").hide_when_narrow(2),
        Column::new("TITLE").flexible(),
        Column::new("TRY").align_right().hide_when_narrow(5),
        Column::new("CHECK").hide_when_narrow(3),
        Column::new("TOOK").align_right(),
        Column::new("FILED").hide_when_narrow(1),
    ]);
    for task in tasks {
        let took =
            task.started_at.map(|at| time::format_span(task.completed_at.unwrap_or(now).since(at)));
        let check = task.verify.as_ref().filter(|check| check.status != VerifyStatus::Pending);
        table.push_row([
            Cell::styled(style::ID, &task.id),
            Cell::styled(status_style(task.status), task.status.as_str()),
            Cell::priority(task.priority),
            Cell::styled(style::PERSON, task.agent.as_deref().unwrap_or_default()),
            Cell::new(&task.title),
            Cell::new(if task.attempts > 1 { task.attempts.to_string() } else { String::new() }),
            check.map_or_else(Cell::empty, |check| {
                Cell::styled(check_colour(check.status), check.status.as_str())
            }),
            Cell::new(took.filter(|_| task.status != TaskStatus::Queued).unwrap_or_default()),
            Cell::styled(style::DIM, time::relative_time(now, task.created_at)),
        ]);
    }
    table.print_table(page);
}

fn check_colour(status: VerifyStatus) -> anstyle::Style {
    match status {
        VerifyStatus::Passed => style::GOOD,
        VerifyStatus::Pending => style::DIM,
        VerifyStatus::Failed => style::outcome_style("failed"),
        VerifyStatus::TimedOut | VerifyStatus::NotRun => style::WARNING,
    }
}

/// All facts about a task.
pub(crate) fn print_task(page: &mut Page, task: &Task, position: Option<usize>, now: Timestamp) {
    if page.is_quiet() {
        return page.push_line(&task.id);
    }
    let title = page.paint(style::TITLE, &sanitize::one_line(&task.title));
    page.push_line(format!("{}  {title}", page.paint(style::ID, &task.id)));
    let status = page.paint(status_style(task.status), task.status.as_str());
    let priority = atoms::priority_label(page, task.priority);
    page.push_line(format!(
        "{status} · {priority} · filed {}",
        time::relative_time(now, task.created_at)
    ));
    page.push_blank();
    // A task that waits for another attempt shows no time under way.
    let ended = task.outcome.filter(|_| task.status == TaskStatus::Queued);
    let last = ended.map(|outcome| match &task.detail {
        Some(detail) => format!("{outcome}: {detail}"),
        None => outcome.to_string(),
    });
    let ran = task.started_at.filter(|_| ended.is_none()).map(|at| {
        let end = task.completed_at.unwrap_or(now);
        format!("{} ({})", time::local_time(at), time::format_span(end.since(at)))
    });
    let limit = task.timeout_ms.map(|ms| {
        time::format_span(std::time::Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
    });
    let rows = [
        ("Agent", task.agent.clone()),
        ("Handed over by", task.delegated_by.clone()),
        ("Place in the queue", position.map(|at| at.to_string())),
        (
            "Tried again",
            task.retry_at.filter(|at| *at > now).map(|at| time::relative_time(now, at)),
        ),
        ("Doing", task.action.clone()),
        ("Works in", task.workdir.clone()),
        ("Time limit", limit),
        ("Started", ran),
        ("Last attempt", last),
        ("Attempts", (task.attempts > 1).then(|| task.attempts.to_string())),
        ("Process", task.pid.map(|pid| pid.to_string())),
        (
            "Exit code",
            task.exit_code.filter(|_| !task.status.is_under_way()).map(|code| code.to_string()),
        ),
        ("Cost", Some(runs::format_cost(task.cost)).filter(|text| !text.is_empty())),
        ("Check", task.verify.as_ref().map(check_line)),
        ("Run", task.run_id.clone()),
    ];
    Table::print_facts(page, rows);
    let failed = task
        .verify
        .as_ref()
        .filter(|check| !matches!(check.status, VerifyStatus::Passed | VerifyStatus::Pending));
    page.push_text_section("Result", task.result_summary.as_deref());
    let output = failed.and_then(|check| check.output.as_deref());
    page.push_text_section("The check's output", output);
    page.push_text_section("Errors", task.error_lines.as_deref());
    page.push_text_section("Last lines", task.output.as_deref());
    page.push_text_section("Prompt", Some(&task.task_prompt));
}

/// `cargo test: passed in 3.2s (required)`.
fn check_line(check: &Verify) -> String {
    let took = check
        .took_ms
        .map(|ms| format!(" in {}", time::format_span(std::time::Duration::from_millis(ms))))
        .unwrap_or_default();
    let required = if check.required { ", required" } else { "" };
    let code = check
        .exit_code
        .filter(|code| *code != 0)
        .map(|code| format!(" with code {code}"))
        .unwrap_or_default();
    format!("{}: {}{code}{took}{required}", words::join_command(&check.command), check.status)
}

/// A task that ended well, for the caller that waited.
pub(crate) fn print_ended(page: &mut Page, task: &Task) {
    if page.is_quiet() {
        return page.push_line(&task.id);
    }
    let mark = page.paint(status_style(task.status), &format!("✓ {}", task.status));
    let took = match (task.started_at, task.completed_at) {
        (Some(from), Some(to)) => format!(" after {}", time::format_span(to.since(from))),
        _ => String::new(),
    };
    page.push_line(format!("{mark} {}{took}", page.paint(style::ID, &task.id)));
    if let Some(run) = &task.verify {
        let text = check_line(run);
        page.push_line(format!("  {}", sanitize::one_line(&text)));
    }
    if let Some(summary) = task.result_summary.as_deref().filter(|text| !text.trim().is_empty()) {
        page.push_paragraph(summary, 2);
    }
}

/// The place of a task in its queue, and the tasks or atoms ahead.
pub(crate) fn print_place(page: &mut Page, place: &QueuePlace) {
    let id = |page: &Page, id: &str| page.paint(style::ID, id);
    let text = match (place.position, place.executing.first()) {
        (None, _) => "It is held back; el why says by what.".to_owned(),
        (Some(1), None) => "It is next: nothing else is at work.".to_owned(),
        (Some(1), Some(now)) => format!(
            "It is next: it waits for {} ({}).",
            id(page, &now.task_id),
            sanitize::one_line(&now.title)
        ),
        (Some(at), now) => {
            let ahead = format!("it waits for {} before it", at - 1);
            let and = now.map(|now| {
                format!(" and for {} ({})", id(page, &now.task_id), sanitize::one_line(&now.title))
            });
            format!("It is queued at position {at}: {ahead}{}.", and.unwrap_or_default())
        }
    };
    page.push_line(text);
    if let Some(pause) = &place.pause {
        page.push_painted(style::WARNING, &pauses::pause_sentence(pause));
    }
}

/// An agent and its queue.
pub(crate) fn print_queue(page: &mut Page, queue: &AgentQueue, now: Timestamp) {
    if page.is_quiet() {
        return queue.waiting.iter().for_each(|task| page.push_line(&task.task_id));
    }
    let name = page.paint(style::TITLE, &sanitize::one_line(&queue.agent_name));
    let state = if queue.is_executing {
        page.paint(style::status_style("in_progress"), "executing")
    } else {
        page.paint(style::DIM, "idle")
    };
    let waits = match queue.queued_tasks {
        0 if queue.held.is_empty() => "nothing waits".to_owned(),
        0 => "nothing is ready".to_owned(),
        1 => "1 waits".to_owned(),
        many => format!("{many} wait"),
    };
    page.push_line(format!("{name}  {state} · {waits}"));
    for current in &queue.current {
        let took = page.paint(style::DIM, &time::format_span(now.since(current.started_at)));
        let line = atoms::one_line(page, "in_progress", &current.task_id, &current.title);
        let took = runs::name_and_host(&took, current.host.as_deref());
        page.push_line(format!("  {line}  {took}"));
    }
    let mut table = Table::new([
        Column::new("#").align_right(),
        Column::new("PRI"),
        Column::new("TASK"),
        Column::new("TITLE").flexible(),
        Column::new("NOTE").hide_when_narrow(2),
        Column::new("FILED").hide_when_narrow(1),
    ])
    .without_heading(2);
    for task in queue.waiting.iter().take(LISTED).chain(&queue.held) {
        let note = match (task.position, task.retry_at, &task.assignee) {
            (None, Some(at), _) => format!("tried again {}", time::relative_time(now, at)),
            (None, None, _) => "held back".to_owned(),
            (Some(_), _, None) => "for anyone".to_owned(),
            _ => String::new(),
        };
        table.push_row([
            Cell::styled(
                style::DIM,
                task.position.map_or_else(|| "-".to_owned(), |at| at.to_string()),
            ),
            Cell::priority(task.priority),
            Cell::styled(style::ID, &task.task_id),
            Cell::new(&task.title),
            Cell::styled(style::DIM, note),
            Cell::styled(style::DIM, time::relative_time(now, task.created_at)),
        ]);
    }
    table.print_table(page);
    if queue.waiting.len() > LISTED {
        let text = format!("  and {} more; --robot lists all", queue.waiting.len() - LISTED);
        page.push_painted(style::DIM, &text);
    }
    if !queue.is_served && queue.queued_tasks > 0 {
        let text = "  No worker takes these now: el work does, and the next el run for this agent.";
        page.push_painted(style::WARNING, text);
    }
}
