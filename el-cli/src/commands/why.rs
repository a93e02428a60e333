use std::path::PathBuf;

use el_core::model::{BondKind, Run, Timestamp};
use el_core::ops::{self, Explanation};
use el_core::rules::budget::usd;
use el_core::rules::ready::Hold;

use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::page::Page;
use crate::output::{artifacts, atoms, pauses, runs, sanitize, style, time};

/// Say why an atom stands where it stands: what holds it, and how each attempt ended
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el why q5e6
  el why q5e6 --robot")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let now = app.now();
    let explained = ops::explain(&app.reader()?, &args.id, now)?;
    app.printer.emit(&explained, |page| {
        view(page, &explained, now);
        if !explained.ready && !page.quiet() {
            locks(app).iter().for_each(|lock| {
                let path = sanitize::path(lock);
                page.paragraph(&format!("A git holds, or left behind, the lock {path}"), 2);
            });
        }
    })?;
    Ok(Exit::Done)
}

/// Locks in the repository of this project, which keep agents from committing.
fn locks(app: &App) -> Vec<PathBuf> {
    let repository = super::worktrees::find_repository(app);
    repository.ok().and_then(|found| found.locks().ok()).unwrap_or_default()
}

fn view(page: &mut Page, explained: &Explanation, now: Timestamp) {
    let atom = &explained.atom;
    let head = atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
    page.line(head);
    if explained.ready {
        let text = page
            .paint(style::GOOD, "It is ready: el work or el next takes it when its turn comes.");
        page.line(text);
    }
    for hold in &explained.holds {
        page.paragraph(&words(hold, atom.close_reason.as_deref(), now), 2);
    }
    if let Some(pause) = &explained.pause {
        page.paragraph(&pauses::sentence(pause), 2);
    }
    if let Some(spent) = &explained.spent_budget {
        let (amount, cap) = (usd(spent.spent_micros), usd(spent.budget_micros));
        let text = format!(
            "Its budget is spent: {amount} of the {cap} that {} and what is below it may cost. Raise it (el update {} --metadata \
             '{{\"budget_usd\": …}}', or budget_per_epic), then el reopen what is deferred for it.",
            spent.atom_id, spent.atom_id
        );
        page.paragraph(&text, 2);
    }
    if let Some(reason) = explained.held_back.as_ref().filter(|_| explained.ready) {
        page.paragraph(&format!("The worker holds back: {}", sanitize::line(reason)), 2);
    }
    if explained.attempts.is_empty() {
        return;
    }
    page.blank();
    page.heading("Attempts");
    for run in &explained.attempts {
        let told = told(run, now);
        page.paragraph(&told, 2);
    }
    if let Some(comment) = &explained.last_comment {
        page.blank();
        page.heading("Last comment");
        crate::output::comments::print(page, std::slice::from_ref(comment), now);
    }
}

/// A hold in a sentence.
fn words(hold: &Hold, reason: Option<&str>, now: Timestamp) -> String {
    match hold {
        Hold::Status { status } => match reason.filter(|_| status.is_over()) {
            Some(reason) => format!("It is {status}: {reason}"),
            None => format!(
                "It is {status}; work begins from open, or from deferred when its time has come."
            ),
        },
        Hold::Abstract { issue_type } => {
            format!("It is an {issue_type}, which holds work and is never worked on itself.")
                .replace("an formula", "a formula")
        }
        Hold::Deferred { until: None } => {
            "It is deferred without a date: el reopen or el retry brings it back.".to_owned()
        }
        Hold::Deferred { until: Some(until) } => {
            format!(
                "It is deferred until {} ({}).",
                time::local(*until),
                time::relative(now, *until)
            )
        }
        Hold::BackOff { until } => {
            format!(
                "An attempt failed, or was over at once; the next one begins {}.",
                time::relative(now, *until)
            )
        }
        Hold::Running { run } => {
            format!("{run} is working on it; el logs {run} shows what it does.")
        }
        Hold::Blocked { by, bond, via } => {
            let holds = match bond {
                BondKind::WaitsFor => format!("waits for {by} and everything below it"),
                BondKind::ConditionalBlocks => format!("is needed only if {by} fails"),
                _ => format!("is blocked by {by}"),
            };
            match via {
                Some(parent) => format!("Its parent {parent} {holds}."),
                None => format!("It {holds}."),
            }
        }
        Hold::Ending { of, run, via } => {
            let who = via
                .as_ref()
                .map_or_else(|| "It".to_owned(), |parent| format!("Its parent {parent}"));
            format!(
                "{who} waits until {run} has ended: {of}, which it did, is over, and its agent may still be writing."
            )
        }
        Hold::Plan { epic } => {
            format!(
                "Its plan {epic} is held: nobody drives it. el orchestrate resume {epic} goes on with it."
            )
        }
        Hold::Parent { parent, status } => {
            format!("Its parent {parent} is {status}, which holds what is in it.")
        }
    }
}

/// An attempt in a sentence.
fn told(run: &Run, now: Timestamp) -> String {
    let took = time::span(runs::length(run, now));
    let cost = runs::cost(run.progress.cost_micros);
    let cost = if cost.is_empty() { String::new() } else { format!(", {cost}") };
    let head = format!(
        "#{} {} ({}, {took}{cost}): {}",
        run.attempt,
        run.agent,
        run.id,
        runs::state(run, now)
    );
    let told = match run.detail.as_deref().or(run.progress.action.as_deref()) {
        Some(detail) => format!("{head}: {}", sanitize::line(detail)),
        None => head,
    };
    match &run.summary {
        Some(summary) => format!("{told}; {}", artifacts::words(summary, run.artifacts)),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use el_core::model::Status;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_764_295_200_000_000);

    #[test]
    fn each_hold_is_a_sentence() {
        let blocked = Hold::Blocked {
            by: "app-1".into(),
            bond: BondKind::WaitsFor,
            via: Some("app-0".into()),
        };
        assert_eq!(
            words(&blocked, None, NOW),
            "Its parent app-0 waits for app-1 and everything below it."
        );
        let closed = Hold::Status { status: Status::Closed };
        assert_eq!(words(&closed, Some("did it"), NOW), "It is closed: did it");
        let formula = Hold::Abstract { issue_type: el_core::model::IssueType::Formula };
        assert!(words(&formula, None, NOW).starts_with("It is a formula,"));
        let soon = Hold::BackOff { until: NOW.plus(std::time::Duration::from_secs(90)) };
        assert_eq!(
            words(&soon, None, NOW),
            "An attempt failed, or was over at once; the next one begins in 1m."
        );
    }
}
