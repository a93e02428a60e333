//! `el run --wait`: follows a task to its end.

use std::time::{Duration, Instant};

use el_agents::worker::is_there;
use el_core::Store;
use el_core::model::{Outcome, TaskStatus, Timestamp, VerifyStatus};
use el_core::ops::{self, Task};
use el_core::text::last_lines;

use super::Answer;
use super::start::{self, BackgroundWorker};
use crate::output::{runs, sanitize, style, tasks, time};
use crate::read_age::ReadAge;
use crate::{App, CommandError, Exit, Result};

/// Between two looks for changes; a look costs microseconds.
const LOOK: Duration = Duration::from_millis(100);
/// The interval at which the line on the terminal is renewed and, in a file, the workers are looked
/// at.
const SECOND: Duration = Duration::from_secs(1);
/// The longest wait for a server that does not answer.
const SERVER_PATIENCE: Duration = Duration::from_secs(10 * 60);

pub(super) fn run(
    app: &App,
    store: &Store,
    background: &BackgroundWorker,
    id: &str,
) -> Result<Exit> {
    let task = wait_for_task(app, store, background, id)?;
    match failed_verdict(&task) {
        None => app.printer.emit(&Answer::Ended(&task), |page| tasks::print_ended(page, &task)),
        Some(error) => Err(error),
    }
}

fn wait_for_task(
    app: &App,
    store: &Store,
    background: &BackgroundWorker,
    id: &str,
) -> Result<Task> {
    let mut line = Line {
        shown: String::new(),
        is_live: !app.printer.is_robot() && app.printer.is_terminal(),
    };
    store.look_at_ease();
    let again = store.look_again_after(SECOND);
    let pulse = store.look_again_after(Duration::ZERO);
    let mut known: Option<(Task, ReadAge)> = None;
    let mut served: Option<Instant> = None;
    let mut away: Option<Instant> = None;
    loop {
        // If this fails, the next question makes a new connection, or fails.
        let version = store.data_version().ok();
        let is_due = match (&mut known, version) {
            (Some((_, age)), Some(version)) => {
                age.read_at.elapsed() >= again || age.is_over(store, version, pulse).unwrap_or(true)
            }
            _ => true,
        };
        if is_due {
            let read = ops::last_event(store).and_then(|seq| Ok((seq, ops::get_task(store, id)?)));
            let (seq, task) = match read {
                Err(error)
                    if error.is_server_away()
                        && away.is_none_or(|since| since.elapsed() < SERVER_PATIENCE) =>
                {
                    if away.is_none() {
                        line.clear_line(app)?;
                        app.printer.note(&format!("waiting for the server: {error}"));
                        away = Some(Instant::now());
                    }
                    std::thread::sleep(SECOND);
                    continue;
                }
                read => read?,
            };
            if away.take().is_some() {
                app.printer.note("the server answers again");
            }
            if !task.status.is_under_way() {
                line.clear_line(app)?;
                return Ok(task);
            }
            if served.is_none_or(|at| at.elapsed() >= again) {
                served = Some(Instant::now());
                keep_served(app, store, background, &task)?;
            }
            line.show_progress(app, store, &task)?;
            known = Some((task, ReadAge::new(version.unwrap_or_default(), seq)));
        } else if let Some((task, _)) = &known
            && task.status == TaskStatus::Running
        {
            // The time goes on.
            line.show_progress(app, store, task)?;
        }
        std::thread::sleep(LOOK);
    }
}

/// Replaces a vanished worker; otherwise the task and its caller would wait for ever.
fn keep_served(app: &App, store: &Store, background: &BackgroundWorker, task: &Task) -> Result<()> {
    match agent_without_worker(app, store, task)? {
        Some(_) => background.serve_task(store, task),
        None => Ok(()),
    }
}

/// The agent of a task without a worker, if a worker may be started here.
pub(super) fn agent_without_worker<'a>(
    app: &App,
    store: &Store,
    task: &'a Task,
) -> Result<Option<&'a str>> {
    let Some(agent) = task.agent.as_deref() else { return Ok(None) };
    let is_left_alone = match task.status {
        TaskStatus::Queued => true,
        TaskStatus::Running => {
            // A supervisor settles its run by itself; a run whose lease is over has no supervisor.
            task.run_id
                .as_deref()
                .and_then(|run| ops::get_run(store, run).ok())
                .is_some_and(|run| run.lease_until < app.now())
        }
        _ => false,
    };
    let is_abandoned = is_left_alone
        && app.session().is_none()
        && !start::is_served(store, agent, &ops::get_atom(store, &task.id)?.needs)?;
    Ok(is_abandoned.then_some(agent))
}

/// The state of the task in a line. A terminal shows the line in place; elsewhere each change is
/// printed.
struct Line {
    shown: String,
    is_live: bool,
}

impl Line {
    fn show_progress(&mut self, app: &App, store: &Store, task: &Task) -> Result<()> {
        if app.printer.is_robot() {
            return Ok(());
        }
        let now = app.now();
        let words = progress_words(store, task, now)?;
        if !self.is_live {
            // Figures and times would make a new line each second.
            let stable = format!("{} {}", task.id, words.head);
            if self.shown != stable {
                app.printer.note(&sanitize::one_line(&stable));
                self.shown = stable;
            }
            return Ok(());
        }
        let page = app.printer.new_page();
        let width = page.width().unwrap_or(80).saturating_sub(1);
        let rest = sanitize::one_line(&format!("{}{}", words.head, words.figures)).into_owned();
        let room = width.saturating_sub(task.id.chars().count() + 3);
        let mark = page.paint(style::status_style("in_progress"), "◐");
        let line = format!(
            "{mark} {} {}",
            page.paint(style::ID, &task.id),
            sanitize::truncate_to(&rest, room)
        );
        if line != self.shown {
            app.printer.write_bytes(format!("\r\x1b[2K{line}").as_bytes())?;
            self.shown = line;
        }
        Ok(())
    }

    fn clear_line(&mut self, app: &App) -> Result<()> {
        if self.is_live && !self.shown.is_empty() {
            app.printer.write_bytes(b"\r\x1b[2K")?;
        }
        Ok(())
    }
}

struct Words {
    head: String,
    figures: String,
}

fn progress_words(store: &Store, task: &Task, now: Timestamp) -> Result<Words> {
    if task.status == TaskStatus::Queued {
        let position = ops::task_position(store, task, now, &is_there)?;
        let retry_at = task.retry_at.filter(|at| *at > now);
        let figures =
            retry_at.map_or_else(String::new, |at| format!(", {}", time::relative_time(now, at)));
        let head = match (position, retry_at) {
            (_, Some(_)) => format!("waits for attempt {}", task.attempts + 1),
            (Some(1), None) => "is next".to_owned(),
            (Some(at), None) => format!("waits at place {at}"),
            (None, None) => "is held back (el why says by what)".to_owned(),
        };
        return Ok(Words { head, figures });
    }
    let again =
        if task.attempts > 1 { format!(", attempt {}", task.attempts) } else { String::new() };
    let mut figures = String::new();
    if let Some(at) = task.started_at {
        figures.push_str(&format!(" {}", time::format_span(now.since(at))));
    }
    if task.turns > 0 {
        figures.push_str(&format!(" · turn {}", task.turns));
    }
    if task.cost.cost_micros > 0 {
        figures.push_str(&format!(" · {}", runs::format_cost(task.cost)));
    }
    if let Some(action) = &task.action {
        figures.push_str(&format!(" · {action}"));
    }
    Ok(Words { head: format!("is being worked on{again}"), figures })
}

/// `None` if all is well.
fn failed_verdict(task: &Task) -> Option<CommandError> {
    let id = &task.id;
    let detail = task
        .detail
        .as_deref()
        .or(task.result_summary.as_deref())
        .unwrap_or("nothing more is known");
    let failed_check = task
        .verify
        .as_ref()
        .filter(|check| !matches!(check.status, VerifyStatus::Passed | VerifyStatus::Pending));
    let (exit, code, message) = match task.status {
        TaskStatus::Completed | TaskStatus::Review => {
            let check = failed_check?;
            (
                Exit::Internal,
                "verify_failed",
                format!("{id} is {}, but its check ended as {}", task.status, check.status),
            )
        }
        TaskStatus::Failed if task.outcome == Some(Outcome::TimedOut) => {
            (Exit::TimedOut, "timed_out", format!("{id}: its time was up ({detail})"))
        }
        TaskStatus::Failed => (Exit::Internal, "task_failed", format!("{id} failed: {detail}")),
        status => {
            (Exit::Conflict, "task_ended", format!("{id} was not done: it is {status} ({detail})"))
        }
    };
    let row = serde_json::to_value(task).unwrap_or_default();
    let told = match failed_check {
        Some(check) => check.output.as_deref(),
        None => {
            task.error_lines.as_deref().filter(|text| !text.is_empty()).or(task.output.as_deref())
        }
    };
    let last = last_lines(told.unwrap_or_default(), 10).map(str::to_owned);
    Some(
        CommandError::new(exit, code, message)
            .with_detail("task", row)
            .with_listing(last)
            .with_hint(format!(
                "el tasks show {id} tells more; el logs {id} is what the agent said; el {} {id} \
                 has it done anew",
                task.atom_status.opening_verb()
            )),
    )
}

#[cfg(test)]
mod tests {
    use el_core::model::{Priority, Status, Verify};

    use super::*;

    fn task(status: TaskStatus, outcome: Outcome, check: Option<VerifyStatus>) -> Task {
        Task {
            record_type: Task::RECORD_TYPE,
            id: "t-ab12".to_owned(),
            agent: None,
            task_prompt: String::new(),
            workdir: None,
            status,
            pid: None,
            started_at: None,
            completed_at: None,
            exit_code: None,
            output: None,
            result_summary: None,
            error_lines: None,
            title: String::new(),
            priority: Priority::DEFAULT,
            atom_status: Status::Open,
            outcome: Some(outcome),
            detail: None,
            run_id: None,
            attempts: 1,
            action: None,
            delegated_by: None,
            created_at: Timestamp::from_micros(0),
            retry_at: None,
            timeout_ms: None,
            verify: check.map(|status| Verify { status, ..Verify::pending(Vec::new(), false, 0) }),
            turns: 0,
            cost: el_core::model::Cost::default(),
        }
    }

    #[test]
    fn the_exit_code_is_the_outcome() {
        for (status, outcome, check, code) in [
            (TaskStatus::Completed, Outcome::Closed, None, 0),
            (TaskStatus::Completed, Outcome::Closed, Some(VerifyStatus::Passed), 0),
            (TaskStatus::Completed, Outcome::Closed, Some(VerifyStatus::Failed), 1),
            (TaskStatus::Completed, Outcome::Closed, Some(VerifyStatus::TimedOut), 1),
            (TaskStatus::Review, Outcome::Review, None, 0),
            (TaskStatus::Failed, Outcome::Violation, None, 1),
            (TaskStatus::Failed, Outcome::TimedOut, None, 7),
            (TaskStatus::Deferred, Outcome::Deferred, None, 4),
            (TaskStatus::Declined, Outcome::WontDo, None, 4),
            (TaskStatus::Cancelled, Outcome::Cancelled, None, 4),
        ] {
            let exit = failed_verdict(&task(status, outcome, check))
                .map_or(Exit::Done, |error| error.exit());
            assert_eq!(exit.code(), code, "{status} {outcome} {check:?}");
        }
    }
}
