use std::path::PathBuf;

use el_agents::land::LandOutcome;
use el_agents::worker::is_there;
use el_core::model::{BondKind, Outcome, PullRequest, Run, Status, Timestamp};
use el_core::ops::{self, Explanation};
use el_core::rules::budget::format_usd;
use el_core::rules::ready::Hold;
use el_core::{Store, text};
use schemars::JsonSchema;
use serde::Serialize;

use super::freed::offer;
use crate::output::names::first_few;
use crate::output::{Page, artifacts, atoms, pauses, pull_requests, runs, sanitize, style, time};
use crate::{App, Exit, Result, complete};

pub(super) mod landing;
mod place;

use place::{AgentPlace, shell_word};

/// Explain an atom's status: its holds, and the end of each attempt
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

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    explained: Explanation,
    /// The files that `el land` brings in with `--allow-config` alone.
    decisive_files: Vec<String>,
    /// The reason why a closed atom's branch has not reached its target, with the next command.
    landing: Option<String>,
    /// The last pull request of its branch.
    pull_request: Option<PullRequest>,
    /// Where its agent works, if no worker there runs it; `null` if the agent works anywhere.
    agent_place: Option<AgentPlace>,
}

/// The characters that are quoted of a text.
const QUOTE_MAX: usize = 300;

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let now = app.now();
    let explained = ops::explain_placed(&store, &args.id, now, &is_there)?;
    let pull_request = ops::pull_requests_of(&store, &explained.atom.id)?.pop();
    let item = landing::item_to_land(app, &explained.atom);
    let landing = match &pull_request {
        Some(_) => None,
        None => landing::describe_landing(&store, &explained.atom, item.as_ref())?,
    };
    let held = item.filter(|item| item.outcome == LandOutcome::ChangesConfiguration);
    let decisive_files = held.map(|item| item.files).unwrap_or_default();
    let agent_place = place::find_unmet(app, &store, &explained.atom)?;
    let answer = Answer { explained, decisive_files, landing, pull_request, agent_place };
    let explained = &answer.explained;
    let own_id = std::slice::from_ref(&explained.atom.id);
    let finished = ops::finished_among(&store, own_id)?;
    app.printer.emit(&answer, |page| {
        let place = answer.agent_place.as_ref();
        print_explanation(page, explained, worktree_branch(app, explained).as_deref(), place, now);
        finished.iter().for_each(|epic| page.push_paragraph(&offer(epic), 2));
        if let Some(one) = &answer.pull_request {
            page.push_paragraph(&pull_requests::describe_pull_request(one, now), 2);
        }
        if let Some(landing) = &answer.landing {
            page.push_paragraph(&sanitize::one_line(landing), 2);
        }
        if !answer.decisive_files.is_empty() {
            let id = &explained.atom.id;
            let text = format!(
                "Its branch changes what decides about agents or hooks ({}), so el land leaves it \
                 out: look at it (el diff {id}), then el land {id} --allow-config.",
                first_few(&answer.decisive_files)
            );
            page.push_paragraph(&sanitize::one_line(&text), 2);
        }
        if !explained.ready && !page.is_quiet() {
            repository_locks(app).iter().for_each(|lock| {
                let path = sanitize::path_line(lock);
                page.push_paragraph(&format!("A git holds, or left behind, the lock {path}"), 2);
            });
        }
    })
}

/// Git locks in the project's repository, which keep agents from committing.
fn repository_locks(app: &App) -> Vec<PathBuf> {
    let repository = super::worktrees::find_repository(app);
    repository.ok().and_then(|found| found.find_locks().ok()).unwrap_or_default()
}

/// Describes the holds of an atom to people.
pub(crate) fn explain_holds(store: &Store, id: &str, now: Timestamp) -> Result<String> {
    let mut page = Page::new(false, None, false);
    print_holds(&mut page, &ops::explain_placed(store, id, now, &is_there)?, None, None, now);
    Ok(page.into_text())
}

fn print_explanation(
    page: &mut Page,
    explained: &Explanation,
    branch: Option<&str>,
    place: Option<&AgentPlace>,
    now: Timestamp,
) {
    let atom = &explained.atom;
    let head = atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
    page.push_line(head);
    print_holds(page, explained, branch, place, now);
    if explained.attempts.is_empty() {
        return;
    }
    page.push_section("Attempts");
    for run in &explained.attempts {
        let told = attempt_sentence(run, branch, now);
        page.push_paragraph(&told, 2);
    }
    if let Some(comment) = &explained.last_comment {
        page.push_section("Last comment");
        crate::output::comments::print_comments(page, std::slice::from_ref(comment), now);
    }
}

fn print_holds(
    page: &mut Page,
    explained: &Explanation,
    branch: Option<&str>,
    place: Option<&AgentPlace>,
    now: Timestamp,
) {
    if let Some(place) = place {
        page.push_paragraph(&place.sentence(), 2);
    }
    if explained.ready && explained.holds.is_empty() && place.is_none() {
        let text = "It is ready: el work or el next takes it when its turn comes.";
        page.push_painted(style::GOOD, text);
    }
    for hold in &explained.holds {
        if !is_told_already(hold, explained) {
            page.push_paragraph(&hold_sentence(hold, explained, branch, now), 2);
        }
    }
    if let Some(pause) = &explained.pause {
        page.push_paragraph(&pauses::pause_sentence(pause), 2);
    }
    if let Some(spent) = &explained.spent_budget {
        let (amount, cap) = (format_usd(spent.spent_micros), format_usd(spent.budget_micros));
        let text = format!(
            "Its budget is spent: {amount} of the {cap} that {} and what is below it may cost. \
             Raise it (el update {} --metadata \
             '{{\"budget_usd\": …}}', or budget_per_epic), then el reopen what is deferred for it.",
            spent.atom_id, spent.atom_id
        );
        page.push_paragraph(&text, 2);
    }
    if let Some(reason) = explained.held_back.as_ref().filter(|_| explained.ready) {
        page.push_paragraph(&format!("The worker holds back: {}", sanitize::one_line(reason)), 2);
    }
}

/// Returns true if another sentence covers the hold: a live run says more than its status.
fn is_told_already(hold: &Hold, explained: &Explanation) -> bool {
    matches!(hold, Hold::Status { status: Status::InProgress })
        && explained.holds.iter().any(|other| matches!(other, Hold::Running { .. }))
}

/// A hold in a sentence.
fn hold_sentence(
    hold: &Hold,
    explained: &Explanation,
    branch: Option<&str>,
    now: Timestamp,
) -> String {
    match hold {
        Hold::Status { status } => {
            let atom = &explained.atom;
            let reason = atom.close_reason.as_deref().filter(|reason| !reason.trim().is_empty());
            of_status(*status, &atom.id, atom.assignee.as_deref(), reason)
        }
        Hold::Running { run } => running_sentence(run, &explained.attempts, branch),
        hold => of_others(hold, now),
    }
}

fn of_status(status: Status, id: &str, assignee: Option<&str>, reason: Option<&str>) -> String {
    let reason = reason.map(sanitize::one_line);
    match (status, reason) {
        (status, Some(reason)) if status.is_over() => format!("It is {status}: {reason}"),
        (status, None) if status.is_over() => {
            format!("It is {status}; el reopen {id} makes it open again.")
        }
        (Status::InProgress, _) => {
            let who = sanitize::one_line(assignee.unwrap_or("somebody"));
            format!("{who} claimed it, and no run works on it; el release {id} gives it back.")
        }
        (Status::Review, _) => {
            format!(
                "It waits for a review: el review lists what was handed over, el diff {id} the \
                 changes."
            )
        }
        (Status::Blocked, Some(reason)) => {
            format!("It is blocked: “{reason}” el retry {id} begins anew.")
        }
        _ => format!("It is {status}; el {} {id} makes it open again.", status.opening_verb()),
    }
}

/// The worker of the atom, the session, and the current action.
fn running_sentence(run: &str, attempts: &[Run], branch: Option<&str>) -> String {
    let found = attempts.iter().find(|found| found.id == run);
    let place = branch.filter(|_| found.is_some_and(has_worktree));
    let place = place.map_or_else(String::new, |branch| format!(" on {branch}"));
    let agent = found.map_or_else(|| "an agent".to_owned(), runs::agent_and_host);
    let doing = found.and_then(|found| found.progress.action.as_deref());
    let sentence = |action: &str| format!(" Its last step: {}.", action.trim_end_matches('.'));
    let doing = doing.map_or_else(String::new, sentence);
    let told = format!("{agent} is working on it in {run}{place}.{doing}");
    format!("{} el logs {run} shows what it does.", sanitize::one_line(&told))
}

/// The words for holds that need no look at the atom.
fn of_others(hold: &Hold, now: Timestamp) -> String {
    match hold {
        Hold::Status { status } => format!("It is {status}."),
        Hold::Running { run } => format!("{run} is working on it."),
        Hold::Abstract { issue_type } => {
            format!("It is an {issue_type}, which holds work and is never worked on itself.")
                .replace("an formula", "a formula")
        }
        Hold::Deferred { until: None } => {
            "It is deferred without a date: el reopen brings it back.".to_owned()
        }
        Hold::Deferred { until: Some(until) } => {
            format!(
                "It is deferred until {} ({}).",
                time::local_time(*until),
                time::relative_time(now, *until)
            )
        }
        Hold::BackOff { until } => {
            format!(
                "An attempt failed, or was over at once; the next one begins {}.",
                time::relative_time(now, *until)
            )
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
            format!(
                "{} waits until {run} has ended: {of}, which it did, is over, and its agent \
                 may still be writing.",
                name_waiting(via.as_deref())
            )
        }
        Hold::Unmerged { of, via } => {
            format!(
                "{} waits until the branch of {of} is merged (pr_gate is 'merged'); el pr {of} \
                 opens its pull request or says how far it is.",
                name_waiting(via.as_deref())
            )
        }
        Hold::Needs { needs } => {
            let needs = needs.join(",");
            let quoted = shell_word(&needs);
            format!("No worker that is there offers {needs}: el work --offers {quoted} takes it.")
        }
        Hold::Plan { epic } => {
            format!(
                "Its plan {epic} is held: nobody drives it. el orchestrate resume {epic} goes on \
                 with it."
            )
        }
        Hold::Parent { parent, status } => {
            format!("Its parent {parent} is {status}, which holds what is in it.")
        }
    }
}

fn name_waiting(parent: Option<&str>) -> String {
    parent.map_or_else(|| "It".to_owned(), |parent| format!("Its parent {parent}"))
}

/// An attempt in a sentence.
fn attempt_sentence(run: &Run, branch: Option<&str>, now: Timestamp) -> String {
    let took = time::format_span(runs::run_duration(run, now));
    let cost = runs::format_cost(run.progress.cost);
    let cost = if cost.is_empty() { String::new() } else { format!(", {cost}") };
    let head = format!(
        "#{} {} ({}, {took}{cost}): {}",
        run.attempt,
        runs::agent_and_host(run),
        run.id,
        runs::state_word(run, now)
    );
    let mut told = match run.detail.as_deref().or(run.progress.action.as_deref()) {
        Some(detail) => format!("{head}: {}", sanitize::one_line(detail)),
        None => head,
    };
    let is_told = |call: &&String| run.detail.as_ref().is_some_and(|told| told.contains(*call));
    let denied: Vec<_> = run.denied_tools.iter().filter(|call| !is_told(call)).collect();
    if !denied.is_empty() {
        let calls: Vec<_> = denied.iter().map(|call| sanitize::one_line(call)).collect();
        told.push_str(&format!("; its permissions denied {}", calls.join(", ")));
    }
    for (what, words) in last_words(run) {
        told.push_str(&format!("; {what} “{}”", sanitize::one_line(&words)));
    }
    for note in &run.sandbox_notes {
        told.push_str(&format!("; {}", sanitize::one_line(note)));
    }
    if let Some(branch) = branch.filter(|_| has_worktree(run)) {
        told.push_str(&format!("; branch {branch}"));
    }
    match &run.summary {
        Some(summary) => format!("{told}; {}", artifacts::verdict_words(summary, run.artifacts)),
        None => told,
    }
}

/// Returns true if the run has a worktree of its own.
fn has_worktree(run: &Run) -> bool {
    let folder = std::path::Path::new(&run.workdir);
    folder.components().any(|part| part.as_os_str() == run.atom_id.as_str())
}

/// The branch of the atom, if a run had a worktree.
fn worktree_branch(app: &App, explained: &Explanation) -> Option<String> {
    explained.attempts.iter().find(|run| has_worktree(run))?;
    super::worktrees::find_repository(app).ok()?.branch_of(&explained.atom.id).ok()
}

/// The last words of the agent and its client, after an unplanned end.
fn last_words(run: &Run) -> Vec<(&'static str, String)> {
    let is_told = |text: &str| run.detail.as_deref().is_some_and(|detail| detail.contains(text));
    let last = |text: &Option<String>| {
        let line = text.as_deref()?.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
        // The line of the end has the figures of the run, then the reason, if there is one.
        let line = match line.strip_prefix("✗ ended") {
            Some(end) => end.split_once(": ")?.1,
            None => line,
        };
        (!is_told(line.trim_end_matches('.'))).then(|| text::middle_out(line, QUOTE_MAX))
    };
    let mut words = Vec::new();
    match run.outcome {
        Some(Outcome::Violation) => {
            let is_mark =
                |line: &&str| !line.trim_start().starts_with(['✓', '✗', '●', '▶', '↩', '■', '…']);
            let said = run.output.as_deref().and_then(|text| text.lines().rev().find(is_mark));
            let said = said.map(|line| text::middle_out(line.trim(), QUOTE_MAX));
            words.extend(said.map(|said| ("its agent's last words were", said)));
        }
        Some(outcome) if outcome.is_failure() || outcome.is_external() => {
            words.extend(last(&run.error_lines).map(|said| ("the client said", said)));
        }
        _ => {}
    }
    words
}

#[cfg(test)]
mod tests;
