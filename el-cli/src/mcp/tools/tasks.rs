//! Delegated tasks: `el run` and `el tasks` as tools.

use std::path::Path;
use std::time::Duration;

use el_agents::worker::is_there;
use el_core::Store;
use el_core::model::TaskStatus;
use el_core::ops::{self, Task, TaskFilter};
use el_core::protocol::words;

use crate::Result;
use crate::commands::run::{self, is_served};
use crate::mcp::arguments::Arguments;
use crate::mcp::call::Call;
use crate::mcp::rows;
use crate::output::{Page, sanitize, tasks};
use crate::read_age::ReadAge;

/// The longest that a call waits for a task.
const WAIT_MAX: Duration = Duration::from_secs(3600);
/// Between two looks for changes; a look costs microseconds.
const LOOK: Duration = Duration::from_millis(100);
/// Figures change without a change that the database tells; in a file, they are read again.
const SECOND: Duration = Duration::from_secs(1);

pub(super) fn claude_code(call: &Call, mut given: Arguments) -> Result<String> {
    let (task, workdir) = (given.required_text("task")?, given.optional_text("workdir")?);
    given.ensure_all_used("claude_code")?;
    let workdir = workdir.filter(|text| !text.trim().is_empty());
    let done = run::hand_over_plain(&call.app, task, workdir.as_deref().map(Path::new))?;
    let task = &done.delegated.task;
    let agent = sanitize::one_line(task.agent.as_deref().unwrap_or_default()).into_owned();
    let mut page = Page::new(false, None, false);
    page.push_line(format!("Task {} for {agent}: {}", task.id, sanitize::one_line(&task.title)));
    tasks::print_place(&mut page, &done.delegated.queue);
    if let Some(started) = &done.started {
        page.push_line(format!("A worker was started for it (pid {}).", started.pid));
    }
    for warning in &done.warnings {
        page.push_line(format!("warning: {}", sanitize::one_line(warning)));
    }
    page.push_line("Its end comes to your inbox; claude_code_result tells what it handed back.");
    Ok(page.into_text())
}

/// The state of a task in a row, with a note if no worker is there to take the task.
fn task_row(call: &Call, store: &Store, task: &Task) -> Result<String> {
    let now = call.app.now();
    let mut row = rows::task_row(task, ops::task_position(store, task, now, &is_there)?, now);
    if let Some(agent) = task.agent.as_deref().filter(|_| task.status == TaskStatus::Queued)
        && !is_served(store, agent, &ops::get_atom(store, &task.id)?.needs)?
    {
        row.push_str(
            "\n  no worker is there to take it: el work is one, and the next claude_code starts \
             one",
        );
    }
    Ok(row)
}

pub(super) fn task_status(call: &Call, mut given: Arguments) -> Result<String> {
    let id = given.optional_text("task_id")?;
    given.ensure_all_used("claude_code_status")?;
    let store = call.app.open_for_reading()?;
    if let Some(id) = id {
        return task_row(call, &store, &ops::get_task(&store, &id)?);
    }
    let under_way: Vec<TaskStatus> =
        TaskStatus::ALL.iter().copied().filter(|status| status.is_under_way()).collect();
    let found =
        ops::list_tasks(&store, &TaskFilter { agent: None, statuses: under_way, limit: Some(50) })?;
    let rows =
        found.items.iter().map(|task| task_row(call, &store, task)).collect::<Result<Vec<_>>>()?;
    Ok(match rows.len() {
        0 => "no task is under way".to_owned(),
        here if i64::try_from(here).is_ok_and(|here| here < found.total) => {
            format!("{}\n({here} of {}; el tasks shows all)", rows.join("\n"), found.total)
        }
        _ => rows.join("\n"),
    })
}

pub(super) fn task_result(call: &Call, mut given: Arguments) -> Result<String> {
    let id = given.required_text("task_id")?;
    let wait =
        Duration::from_secs(given.optional_number("wait")?.unwrap_or(0).into()).min(WAIT_MAX);
    let offset = given.optional_number("offset")?.unwrap_or(0);
    given.ensure_all_used("claude_code_result")?;
    let store = call.app.open_for_reading()?;
    let task = wait_for_end(call, &store, &id, wait)?;
    let mut text = task_row(call, &store, &task)?;
    text.push('\n');
    if task.status.is_under_way() {
        text.push_str("It has not ended yet.\n");
    }
    if let Some(check) = &task.verify {
        text.push_str(&format!(
            "Check {}: {}\n",
            sanitize::one_line(&words::join_command(&check.command)),
            check.status
        ));
    }
    let said = task.verify.as_ref().and_then(|check| check.output.as_deref());
    for (heading, part) in [
        ("Result", task.result_summary.as_deref()),
        (
            "Detail",
            task.detail.as_deref().filter(|detail| task.result_summary.as_deref() != Some(detail)),
        ),
        ("The check's output", said),
        ("Errors", task.error_lines.as_deref()),
        ("Last output", task.output.as_deref()),
    ] {
        text.push_str(&rows::text_section(heading, part));
    }
    Ok(rows::text_window(&text, usize::try_from(offset).unwrap_or(usize::MAX)))
}

/// Waits until the task has ended, the time is up, or waiting has become pointless. Holds no
/// transaction while waiting. As with `el run --wait`, a vanished worker is replaced.
fn wait_for_end(call: &Call, store: &Store, id: &str, wait: Duration) -> Result<Task> {
    store.look_at_ease();
    let again = store.look_again_after(SECOND);
    let pulse = store.look_again_after(Duration::ZERO);
    let mut age = ReadAge::new(store.data_version()?, ops::last_event(store)?);
    let mut task = ops::get_task(store, id)?;
    if !wait.is_zero() {
        run::may_wait_for(&call.app, &task)?;
    }
    while task.status.is_under_way() && call.elapsed() < wait && call.goes_on() {
        std::thread::sleep(LOOK.min(wait.saturating_sub(call.elapsed())));
        let version = store.data_version()?;
        if age.read_at.elapsed() >= again || age.is_over(store, version, pulse)? {
            age = ReadAge::new(version, ops::last_event(store)?);
            task = ops::get_task(store, id)?;
            run::keep_served(&call.app, store, &task)?;
            let now = call.app.now();
            call.report_progress(|| rows::task_row(&task, None, now));
        }
    }
    Ok(task)
}

pub(super) fn cancel_task(call: &Call, mut given: Arguments) -> Result<String> {
    let (id, reason) = (given.required_text("task_id")?, given.optional_text("reason")?);
    given.ensure_all_used("claude_code_cancel")?;
    let cancelled = ops::cancel_task(
        &mut call.app.open_for_writing()?,
        &call.app.ctx(),
        &id,
        reason.as_deref(),
    )?;
    let task = &cancelled.task;
    let then = match cancelled.was {
        TaskStatus::Running => "its agent is being ended, and it is held then",
        _ => "it is held",
    };
    Ok(format!("Called off {}: {then}, until el reopen {}", task.id, task.id))
}
