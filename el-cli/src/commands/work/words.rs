//! A worker's happenings in words.

use el_agents::worker::{Report, Summary};
use el_core::count_noun;
use el_core::model::{Cost, Timestamp};

use crate::output::{Page, artifacts, pauses, pull_requests, runs, sanitize, style, time};

pub(super) fn print_report(page: &mut Page, report: &Report, now: Timestamp) {
    let id = |page: &Page, text: &str| page.paint(style::ID, text);
    match report {
        Report::Started { agents, concurrency, .. } => {
            let (names, verb) =
                (agents.join(", "), if agents.len() == 1 { "works" } else { "work" });
            let many = if *concurrency == 1 {
                "one at a time".to_owned()
            } else {
                format!("up to {concurrency} at a time")
            };
            page.push_painted(
                style::DIM,
                &format!("{names} {verb}, {many}; Ctrl-C stops claiming"),
            );
        }
        Report::Launched { run, atom, title, attempt, .. } => {
            push_launched(page, run, atom, title, *attempt);
        }
        // Told by the end of its run, which follows.
        Report::LaunchFailed { .. } => {}
        Report::Adopted { run, atom } => {
            page.push_line(format!("↻ {} goes on: {run} is adopted", id(page, atom)))
        }
        Report::Recovered { run, atom } => {
            let what = "is not heard of any more; what it left here is ended";
            let text = format!("{}: the supervisor of {run} {what}", id(page, atom));
            push_warning(page, "!", &text);
        }
        Report::Settled { .. } => push_settled(page, report, now),
        Report::Paused { until, reason, .. } => {
            let until =
                until.map_or_else(String::new, |at| format!(" until {}", time::local_time(at)));
            push_warning(page, "‖", &format!("paused{until}: {}", sanitize::one_line(reason)));
        }
        Report::Resumed {} => page.push_line("▶ claiming goes on"),
        Report::HeldBack { reason } => {
            push_warning(page, "‖", &format!("held back: {}", sanitize::one_line(reason)));
        }
        Report::BeyondOffers { atoms, needs } => {
            let (atoms, needs) = (count_noun(*atoms, "ready atom"), needs.join(","));
            let text = format!(
                "{atoms} not for this worker, which does not offer {needs}: el work --offers \
                 {needs} takes what needs it"
            );
            push_warning(page, "‖", &text);
        }
        Report::Released {} => page.push_line("▶ nothing is held back any more"),
        // Told by the command that drives the plan.
        Report::Step { .. } => {}
        Report::PullRequest { pull_request } => page.push_line(format!(
            "⇄ {} {} {}",
            id(page, &pull_request.atom_id),
            pull_requests::number_text(pull_request),
            pull_requests::state_words(pull_request)
        )),
        Report::AskedFor { atom, is_blocked: false, taken_in } => {
            page.push_line(format!("⇄ {} is open again, for what its review asks", id(page, atom)));
            push_taken_in(page, taken_in);
        }
        Report::AskedFor { atom, is_blocked: true, taken_in } => {
            let text = format!("{} is blocked: its review asks for more", id(page, atom));
            push_warning(page, "!", &text);
            push_taken_in(page, taken_in);
        }
        Report::Answered { atom, fate, taken_in, .. } if !fate.is_failure() => {
            page.push_line(format!("⇄ {} is pushed: its review has an answer", id(page, atom)));
            push_taken_in(page, taken_in);
        }
        Report::Answered { atom, detail, .. } => {
            let why = sanitize::one_line(detail.as_deref().unwrap_or("it cannot be"));
            let of = id(page, atom);
            let text =
                format!("the answer of {of} to its review was not pushed: {why}; el pr {atom}");
            push_warning(page, "!", &text);
        }
        Report::Warning { message } => {
            push_warning(page, "warning:", &sanitize::one_line(message));
        }
        Report::Draining { running: 0 } => page.push_line("Stopping: nothing runs"),
        Report::Draining { running } => page.push_line(format!(
            "Stopping: {running} still running; Ctrl-C again leaves them to their supervisors"
        )),
        Report::Detached { running } => {
            page.push_line(format!(
                "Left running, with their own supervisors: {} (el work adopts them, el work \
                 --stop ends them)",
                running.join(", ")
            ));
        }
        Report::Finished { summary } => print_summary(page, summary),
    }
}

/// A line that begins with a mark in the colour of warnings. The caller has sanitized the text.
fn push_warning(page: &mut Page, mark: &str, text: &str) {
    let mark = page.paint(style::WARNING, mark);
    page.push_line(format!("{mark} {text}"));
}

/// `3m 2s`, `4 turns`, `$0.42`: what work took; turns and costs only if there are any.
fn list_figures(seconds: u64, turns: i64, cost: Cost) -> Vec<String> {
    let mut figures = vec![time::format_seconds(seconds)];
    if turns > 0 {
        figures.push(runs::count_turns(turns));
    }
    if cost.cost_micros > 0 {
        figures.push(runs::format_cost(cost));
    }
    figures
}

/// Names an atom whose agent was started; its title fits the page.
fn push_launched(page: &mut Page, run: &str, atom: &str, title: &str, attempt: i64) {
    let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
    let run = format!("({run}{again})");
    let taken = 4 + atom.len() + run.len();
    let title = sanitize::one_line(title);
    let title = page.width().map_or(title.clone(), |width| {
        sanitize::truncate_to(&title, width.saturating_sub(taken)).into_owned().into()
    });
    let (atom, run) = (page.paint(style::ID, atom), page.paint(style::DIM, &run));
    page.push_line(format!("▶ {atom} {title} {run}"));
}

/// Says how a run ended, what it took, and what becomes of its atom unless its agent said so.
fn push_settled(page: &mut Page, settled: &Report, now: Timestamp) {
    let Report::Settled {
        atom,
        outcome,
        detail,
        status,
        retry_at,
        seconds,
        turns,
        cost,
        uncommitted,
        ..
    } = settled
    else {
        return;
    };
    let word = page.paint(
        style::outcome_style(outcome.as_str()),
        &format!("{} {outcome}", style::outcome_mark(*outcome)),
    );
    let mut figures = list_figures(*seconds, *turns, *cost);
    figures.extend(artifacts::uncommitted_remark(*uncommitted));
    let (atom, figures) =
        (page.paint(style::ID, atom), page.paint(style::DIM, &figures.join(", ")));
    page.push_line(format!("{word} {atom} {figures}"));
    if outcome.is_said_by_agent() {
        return;
    }
    if let Some(detail) = detail {
        page.push_line(format!("    {}", sanitize::one_line(detail)));
    }
    match (retry_at.filter(|at| *at > now), status) {
        (Some(at), _) => {
            page.push_line(format!("    tried again {}", time::relative_time(now, at)));
        }
        (None, Some(status)) => page.push_line(format!(
            "    it is {} now",
            page.paint(style::status_style(status.as_str()), status.as_str())
        )),
        (None, None) => {}
    }
}

/// Names the commits of others that came to a branch here.
fn push_taken_in(page: &mut Page, commits: &[String]) {
    if !commits.is_empty() {
        let commits = commits.join(", ");
        let commits = sanitize::one_line(&commits);
        page.push_line(format!("    with commits of others, on its branch here now: {commits}"));
    }
}

fn print_summary(page: &mut Page, summary: &Summary) {
    if summary.claimed == 0 && summary.outcomes.is_empty() {
        match &summary.pause {
            Some(pause) => page.push_line(pauses::pause_sentence(pause)),
            None if summary.beyond_offers > 0 => page.push_line("Nothing else was ready"),
            None => page.push_line("Nothing was ready"),
        }
        return;
    }
    let outcomes: Vec<String> =
        summary.outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    let mut parts =
        vec![if outcomes.is_empty() { "none ended".to_owned() } else { outcomes.join(", ") }];
    if summary.left_running > 0 {
        parts.push(format!("{} left running", summary.left_running));
    }
    let figures = list_figures(summary.seconds, summary.turns, summary.cost);
    let all = summary.outcomes.iter().map(|(_, count)| count).sum::<usize>() + summary.left_running;
    let adopted = match all.saturating_sub(summary.claimed) {
        0 => String::new(),
        adopted => format!(" and {adopted} adopted"),
    };
    page.push_line(format!(
        "Done: {} of {} claimed{adopted} {}",
        parts.join(", "),
        summary.claimed,
        page.paint(style::DIM, &format!("({})", figures.join(", ")))
    ));
}
