//! The parts of the project that need a person, as entries with their cause and the ways to settle
//! them.

use std::collections::BTreeMap;

use super::denied::{allow_ways, denial_of, is_denied};
use super::entry::{about_all, look_way, way};
use super::found::{Found, RANKED, about_atom};
use super::odd::{Working, odd_runs};
use super::plans::add_plans;
use super::pulls::{PullRow, add_pulls};
use crate::model::{
    AtomRow, Cost, LastRun, NeedKind, Outcome, Pause, PauseKind, RunRow, Timestamp, Way,
};
use crate::ops::budget::spent_here;
use crate::ops::pause::holding_pauses;
use crate::rules::budget::format_usd;
use crate::rules::verdict::NO_BRANCHES;
use crate::store::board::{self as rows, Waits};
use crate::store::{Tx, review};
use crate::{Result, count_noun};

/// The most held epics that are checked for a spent budget.
const HELD_EPICS: i64 = 20;

pub(super) fn list_needs(
    tx: &Tx<'_>,
    running: &[RunRow],
    at_work: &Working,
    pulls: &[PullRow],
    workers: usize,
    ready: i64,
    now: Timestamp,
) -> Result<Found> {
    let mut found = Found::default();
    add_stops(tx, workers, ready, now, &mut found)?;
    add_questions(tx, &mut found)?;
    add_plans(tx, now, &mut found)?;
    add_reviews(tx, &mut found)?;
    add_landings(tx, &mut found)?;
    add_pulls(tx, pulls, now, &mut found)?;
    add_blocked(tx, &mut found)?;
    add_budgets(tx, &mut found)?;
    for need in odd_runs(at_work, running, now) {
        found.push(need);
    }
    Ok(found)
}

fn again(id: &str) -> Way {
    way("R", "retry", format!("el retry {id}"))
}

/// Adds the causes that stop all agents, or one account.
fn add_stops(
    tx: &Tx<'_>,
    workers: usize,
    ready: i64,
    now: Timestamp,
    found: &mut Found,
) -> Result<()> {
    let resume = || way("s", "resume", "el work --resume".to_owned());
    for (account, since, pause) in holding_pauses(tx, now)? {
        let kind = match pause.kind {
            PauseKind::Budget => NeedKind::DayBudget,
            _ => NeedKind::Paused,
        };
        let mut need = about_all(kind, &account, title_of(&pause), pause.reason.clone(), since);
        need.frees = ready;
        need.weight = ready;
        need.ways = vec![resume()];
        found.push(need);
    }
    if workers == 0 && ready > 0 && rows::has_runs(tx)? {
        let atoms = count_noun(usize::try_from(ready).unwrap_or(usize::MAX), "atom");
        let why = format!("{atoms} can begin, and no worker takes them");
        let mut need = about_all(NeedKind::NoWorker, "all", "No worker runs", why, now);
        need.frees = ready;
        need.weight = ready;
        need.ways = vec![way("s", "start", "el work --background".to_owned())];
        found.push(need);
    }
    Ok(())
}

/// Atoms whose last attempt did not begin, for want of branches of other machines: so it goes on,
/// with longer and longer waits, until somebody brings the branches.
pub(super) fn add_branchless<'r>(
    tx: &Tx<'_>,
    atoms: impl Iterator<Item = &'r AtomRow>,
    found: &mut Found,
) -> Result<()> {
    for atom in atoms {
        let last = rows::last_run(tx, &atom.id)?;
        let detail = last.as_ref().filter(|run| run.outcome == Some(Outcome::Interrupted));
        let detail = detail.and_then(|run| run.detail.clone());
        let Some(why) = detail.filter(|detail| detail.starts_with(NO_BRANCHES)) else { continue };
        let mut need = about_atom(tx, NeedKind::Blocked, atom, last.as_ref(), &why, found)?;
        let id = &atom.id;
        need.ways = vec![again(id), way("w", "why", format!("el why {id}"))];
        found.push(need);
    }
    Ok(())
}

/// Ready atoms that no worker can take, by what none offers.
pub(super) fn add_unplaced(
    atoms: impl Iterator<Item = Vec<String>>,
    now: Timestamp,
    found: &mut Found,
) {
    let mut by_needs: BTreeMap<String, i64> = BTreeMap::new();
    atoms.for_each(|needs| *by_needs.entry(needs.join(",")).or_default() += 1);
    for (needs, count) in by_needs {
        let atoms = count_noun(usize::try_from(count).unwrap_or(usize::MAX), "atom");
        let (title, why) = (format!("No worker offers {needs}"), format!("{atoms} could begin"));
        let mut need = about_all(NeedKind::NoWorker, &needs, &title, why, now);
        (need.frees, need.weight) = (count, count);
        need.ways = vec![way("s", "start", format!("el work --background --offers {needs}"))];
        found.push(need);
    }
}

fn title_of(pause: &Pause) -> &'static str {
    match pause.kind {
        PauseKind::UsageLimit => "The usage limit is reached",
        PauseKind::Account => "The account is refused",
        PauseKind::Outage => "The service does not answer",
        PauseKind::Budget => "The budget of the day is spent",
        PauseKind::EmptyRuns => "Runs fail without doing anything",
    }
}

/// Atoms that their agents deferred, with the last comment.
fn add_questions(tx: &Tx<'_>, found: &mut Found) -> Result<()> {
    let asking = rows::list_waiting(tx, Waits::Asking, RANKED)?;
    for (atom, _) in &asking {
        let last = rows::last_run(tx, &atom.id)?;
        let mut why = match rows::last_comment(tx, &atom.id)? {
            Some((author, said)) => format!("{author}: {said}"),
            None => "the agent put it off and said nothing".to_owned(),
        };
        let denial = last.as_ref().and_then(denial_of);
        if let Some(denial) = &denial {
            why = format!("{denial}; {why}");
        }
        let mut need = about_atom(tx, NeedKind::Question, atom, last.as_ref(), &why, found)?;
        let id = &atom.id;
        need.ways = vec![
            way("c", "answer", format!("el comment add {id} \"…\" && el reopen {id}")),
            look_way(id),
            way("x", "won't do", format!("el update {id} --status wont_do")),
        ];
        need.ways.extend(last.as_ref().map(allow_ways).unwrap_or_default());
        found.push(need);
    }
    found.count_rest(tx, Waits::Asking, asking.len())
}

fn add_reviews(tx: &Tx<'_>, found: &mut Found) -> Result<()> {
    let waiting = rows::list_waiting(tx, Waits::Review, RANKED)?;
    for (atom, by_agent) in &waiting {
        let last = rows::last_run(tx, &atom.id)?;
        let handed = review::last_review(tx, &atom.id)?.filter(|review| review.verdict.is_none());
        let why = match (&handed, &last) {
            (Some(review), Some(run)) => {
                format!("handed over by {}, attempt {}{}", review.author, run.attempt, checked(run))
            }
            (Some(review), None) => format!("handed over by {}", review.author),
            (None, Some(run)) if *by_agent => {
                format!("handed over by {}, attempt {}{}", run.agent, run.attempt, checked(run))
            }
            (None, _) => "somebody asks for a look, without a report".to_owned(),
        };
        let mut need = about_atom(tx, NeedKind::Review, atom, last.as_ref(), &why, found)?;
        need.since = handed.map_or(atom.updated_at, |review| review.created_at);
        let id = &atom.id;
        need.ways = vec![
            way("a", "approve", format!("el approve {id}")),
            way("r", "reject", format!("el reject {id} --reason \"…\"")),
            way("d", "diff", format!("el diff {id}")),
            look_way(id),
        ];
        found.push(need);
    }
    found.count_rest(tx, Waits::Review, waiting.len())
}

fn checked(run: &LastRun) -> String {
    run.check.as_ref().map_or_else(String::new, |check| format!("; its check: {check}"))
}

/// Branches that could not be landed.
fn add_landings(tx: &Tx<'_>, found: &mut Found) -> Result<()> {
    for failed in rows::list_not_landed(tx, RANKED)? {
        let Some(atom) = rows::atom_row(tx, &failed.atom)? else { continue };
        let last = rows::last_run(tx, &atom.id)?;
        let (kind, cause) = match failed.outcome.as_str() {
            "conflict" => (NeedKind::Conflict, "is in conflict with"),
            _ => (NeedKind::LandCheck, "fails the check on"),
        };
        // The end of what a check printed says the most.
        let detail = failed.detail.as_deref().unwrap_or_default().trim();
        let detail = detail.lines().next_back().unwrap_or_default();
        let mut why = match detail {
            "" => format!("it {cause} {}", failed.onto),
            detail => format!("it {cause} {}: {detail}", failed.onto),
        };
        // Landing again is of no use until the conflict is resolved.
        let resolving = match &failed.conflict_atom {
            Some(conflict) => rows::atom_row(tx, conflict)?.filter(|row| !row.status.is_over()),
            None => None,
        };
        if let Some(conflict) = &resolving {
            why = format!("{} is filed to resolve it; {why}", conflict.id);
        }
        let mut need = about_atom(tx, kind, &atom, last.as_ref(), &why, found)?;
        need.since = failed.at;
        let id = &atom.id;
        let shown = resolving.map(|conflict| format!("el show {}", conflict.id));
        need.ways.extend(shown.map(|command| way("w", "resolve", command)));
        need.ways.extend([
            way("L", "land", format!("el land {id}")),
            way("d", "diff", format!("el diff {id}")),
            way("c", "reopen", format!("el reopen {id}")),
        ]);
        if kind == NeedKind::LandCheck {
            // The same check of the same work fails again.
            need.ways.rotate_right(1);
        }
        found.push(need);
    }
    Ok(())
}

/// Blocked atoms: by what the permissions or the sandbox denied, by used-up attempts, or by a
/// report.
fn add_blocked(tx: &Tx<'_>, found: &mut Found) -> Result<()> {
    let blocked = rows::list_waiting(tx, Waits::Blocked, RANKED)?;
    for (atom, by_agent) in &blocked {
        let last = rows::last_run(tx, &atom.id)?;
        let failed = last.as_ref().filter(|run| {
            !by_agent && run.outcome.is_some_and(|outcome: Outcome| outcome.is_failure())
        });
        let id = &atom.id;
        let mut ways = vec![
            again(id),
            look_way(id),
            way("w", "why", format!("el why {id}")),
            way("x", "won't do", format!("el update {id} --status wont_do")),
        ];
        let (kind, why) = match (failed, &last) {
            (_, Some(run)) if is_denied(run, failed.is_some() || *by_agent) => {
                ways.splice(0..0, allow_ways(run));
                let said = rows::last_comment(tx, id)?.filter(|_| *by_agent);
                let said = said.map_or_else(String::new, |(who, said)| format!("; {who}: {said}"));
                (NeedKind::Denied, denial_of(run).unwrap_or_default() + &said)
            }
            (Some(run), _) => {
                let attempts = count_noun(usize::try_from(run.attempt).unwrap_or(0), "attempt");
                let detail = run.detail.as_deref().unwrap_or("no cause was told");
                (NeedKind::GaveUp, format!("{attempts}; the last: {detail}"))
            }
            (None, _) => match rows::last_comment(tx, id)? {
                Some((author, said)) => (NeedKind::Blocked, format!("{author}: {said}")),
                None => (NeedKind::Blocked, "nobody said why".to_owned()),
            },
        };
        let mut need = about_atom(tx, kind, atom, last.as_ref(), &why, found)?;
        need.ways = ways;
        found.push(need);
    }
    found.count_rest(tx, Waits::Blocked, blocked.len())
}

/// Epics that are held since their budget is spent.
fn add_budgets(tx: &Tx<'_>, found: &mut Found) -> Result<()> {
    for (atom, _) in rows::list_waiting(tx, Waits::HeldEpic, HELD_EPICS)? {
        let Some(spent) = spent_here(tx, &atom.id)? else { continue };
        let id = &atom.id;
        let why = format!(
            "{} of the budget of {} are spent",
            format_usd(spent.spent_micros),
            format_usd(spent.budget_micros)
        );
        let mut need = about_atom(tx, NeedKind::Budget, &atom, None, &why, found)?;
        need.cost = Cost::reported(spent.spent_micros);
        need.ways = vec![way(
            "e",
            "raise",
            format!("el update {id} --metadata '{{\"budget_usd\": …}}' && el reopen {id}"),
        )];
        found.push(need);
    }
    Ok(())
}
