//! When a person will probably be needed next, and what runs out first, from how past runs went.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::budget::next_day;
use crate::count_noun;
use crate::model::{AtWork, Forecast, IssueType, PastRun, RunsOut, Shortage, Timestamp};

/// Fewer runs of a type tell nothing of it.
const FEW: usize = 3;
/// A run that takes longer than usual is given this part of the usual time more.
const OVERTIME: u32 = 4;

/// The facts at a moment.
#[derive(Debug, Clone)]
pub struct Known<'a> {
    pub now: Timestamp,
    /// Something needs a person now.
    pub is_needed: bool,
    pub past: &'a [PastRun],
    pub running: &'a [AtWork],
    /// Atoms that can begin.
    pub ready: i64,
    /// The cost of the day, and its budget.
    pub spent_micros: i64,
    pub budget_micros: Option<i64>,
}

/// The middle of what past runs of a type took, or of all runs if there were too few of the type;
/// `None` if there were too few of all.
pub fn usual<T: Ord + Copy>(
    past: &[PastRun],
    issue_type: IssueType,
    value: impl Fn(&PastRun) -> T,
) -> Option<T> {
    let middle = |runs: Vec<&PastRun>| {
        let mut values: Vec<T> = runs.into_iter().map(&value).collect();
        values.sort_unstable();
        (values.len() >= FEW).then(|| values[values.len() / 2])
    };
    middle(past.iter().filter(|run| run.issue_type == issue_type).collect())
        .or_else(|| middle(past.iter().collect()))
}

/// Looks ahead.
pub fn look_ahead(known: &Known<'_>) -> Forecast {
    let mut forecast = Forecast {
        is_needed: known.is_needed,
        needed_at: None,
        needed_for: String::new(),
        runs_out: first_shortage(known),
    };
    if known.is_needed {
        forecast.needed_for = "something needs you now".to_owned();
        return forecast;
    }
    if known.running.is_empty() {
        forecast.needed_for = "nothing runs".to_owned();
        return forecast;
    }
    let ends = expected_ends(known);
    let Some(last) = ends.last().copied() else {
        forecast.needed_for = "too few runs have ended to tell".to_owned();
        return forecast;
    };
    let review = known
        .running
        .iter()
        .filter(|run| run.is_reviewed)
        .filter_map(|run| Some((end_of(known, run)?, run)))
        .min_by_key(|(end, _)| *end);
    let asked = known.past.iter().filter(|run| run.asked).count();
    // The average number of runs that end until one of them asks.
    let until_asked = known.past.len().div_ceil(asked.max(1));
    let by_rate = (asked > 0).then(|| ends.get(until_asked - 1).copied()).flatten();
    (forecast.needed_at, forecast.needed_for) = match (review, by_rate) {
        (Some((end, run)), rate) if rate.is_none_or(|rate| end <= rate) => {
            (Some(end), format!("the review of {}, by {}", run.atom, run.agent))
        }
        (_, Some(at)) => {
            let why = match until_asked {
                1 => "most runs end with something for you".to_owned(),
                many => format!("1 of {many} runs ends with something for you"),
            };
            (Some(at), why)
        }
        _ => (Some(last), "all that can begin is done then".to_owned()),
    };
    forecast.needed_at = forecast.needed_at.map(to_minute);
    forecast
}

/// The next whole minute: what is foreseen does not change with every look.
fn to_minute(at: Timestamp) -> Timestamp {
    const MINUTE: i64 = 60_000_000;
    let minutes = at.as_micros().saturating_add(MINUTE - 1).div_euclid(MINUTE);
    Timestamp::from_micros(minutes.saturating_mul(MINUTE))
}

/// The expected end of a run.
fn end_of(known: &Known<'_>, run: &AtWork) -> Option<Timestamp> {
    let usual = usual(known.past, run.issue_type, |past| past.took)?;
    let end = run.started.plus(usual);
    Some(if end > known.now { end } else { known.now.plus(usual / OVERTIME) })
}

/// The expected ends of the runs at work, and of the ready atoms after them: as many at a time as
/// run now. In order; empty if nothing can be told.
fn expected_ends(known: &Known<'_>) -> Vec<Timestamp> {
    let Some(usual) = usual(known.past, IssueType::Task, |past| past.took) else {
        return Vec::new();
    };
    let mut open: BinaryHeap<Reverse<i64>> = known
        .running
        .iter()
        .filter_map(|run| end_of(known, run))
        .map(|end| Reverse(end.as_micros()))
        .collect();
    let mut ready = known.ready;
    let mut ends = Vec::new();
    while let Some(Reverse(end)) = open.pop() {
        let end = Timestamp::from_micros(end);
        ends.push(end);
        if ready > 0 {
            ready -= 1;
            open.push(Reverse(end.plus(usual).as_micros()));
        }
    }
    ends
}

/// Returns the shortage that comes first: of the day's budget, or of work.
fn first_shortage(known: &Known<'_>) -> Option<RunsOut> {
    let work = expected_ends(known);
    let taken = usize::try_from(known.ready).unwrap_or(usize::MAX);
    // The last ready atom begins when as many runs have ended.
    let dry = match taken {
        _ if known.running.is_empty() => None,
        0 => work.last().map(|at| (*at, "nothing is left to work on".to_owned())),
        many => work
            .get(many - 1)
            .map(|at| (*at, format!("the last of {} begins", count_noun(many, "ready atom")))),
    };
    let work = dry.map(|(at, says)| RunsOut { what: Shortage::Work, at, says });
    let budget = budget_end(known);
    let first = [work, budget].into_iter().flatten().min_by_key(|shortage| shortage.at)?;
    Some(RunsOut { at: to_minute(first.at), ..first })
}

/// When the day's budget is spent, if the runs go on as they do: none if the day ends before.
fn budget_end(known: &Known<'_>) -> Option<RunsOut> {
    let left = known.budget_micros?.saturating_sub(known.spent_micros).max(0);
    // Millionths of a dollar for each second.
    let rate: f64 = known
        .running
        .iter()
        .map(|run| {
            let seconds = known.now.since(run.started).as_secs_f64().max(60.0);
            run.cost_micros as f64 / seconds
        })
        .sum();
    if rate <= 0.0 {
        return None;
    }
    let seconds = (left as f64 / rate).min(86_400.0);
    let at = known.now.plus(Duration::from_secs_f64(seconds));
    (at < next_day(known.now)).then(|| RunsOut {
        what: Shortage::Budget,
        at,
        says: "the budget of the day is spent".to_owned(),
    })
}

/// A run that has cost less is no worry, whatever others cost: a quarter of a dollar.
const CHEAP: i64 = 250_000;

/// A run whose cost is more than three times the usual, with the usual cost.
pub fn costs_too_much(past: &[PastRun], run: &AtWork) -> Option<i64> {
    let usual = usual(past, run.issue_type, |past| past.cost_micros)?;
    let most = usual.saturating_mul(3).max(CHEAP);
    (usual > 0 && run.cost_micros > most).then_some(usual)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_764_295_200_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn past(minutes: u32, asked: bool) -> PastRun {
        PastRun { issue_type: IssueType::Task, took: MINUTE * minutes, cost_micros: 1_000, asked }
    }

    fn run(atom: &str, minutes_ago: u32) -> AtWork {
        AtWork {
            atom: atom.to_owned(),
            agent: "claude".to_owned(),
            issue_type: IssueType::Task,
            started: NOW.minus(MINUTE * minutes_ago),
            cost_micros: 0,
            is_reviewed: false,
        }
    }

    fn known<'a>(past: &'a [PastRun], running: &'a [AtWork], ready: i64) -> Known<'a> {
        Known {
            now: NOW,
            is_needed: false,
            past,
            running,
            ready,
            spent_micros: 0,
            budget_micros: None,
        }
    }

    fn minutes(at: Option<Timestamp>) -> Option<u64> {
        at.map(|at| at.since(NOW).as_secs() / 60)
    }

    #[test]
    fn what_needs_a_person_now_comes_first_and_too_little_tells_nothing() {
        let found = look_ahead(&Known { is_needed: true, ..known(&[], &[], 0) });
        assert_eq!((found.is_needed, found.needed_at), (true, None));
        let running = [run("a", 1)];
        let found = look_ahead(&known(&[past(9, false)], &running, 0));
        assert_eq!((found.needed_at, found.runs_out), (None, None));
        assert_eq!(found.needed_for, "too few runs have ended to tell");
        assert_eq!(look_ahead(&known(&[], &[], 3)).needed_for, "nothing runs");
    }

    #[test]
    fn a_review_is_expected_when_its_run_usually_ends() {
        let past = [past(20, false), past(30, false), past(40, false)];
        let reviewed = AtWork { is_reviewed: true, ..run("el-1", 10) };
        let running = [run("el-0", 29), reviewed];
        let found = look_ahead(&known(&past, &running, 0));
        assert_eq!(minutes(found.needed_at), Some(20));
        assert_eq!(found.needed_for, "the review of el-1, by claude");
        // The longer run of the two.
        assert_eq!(minutes(found.runs_out.map(|out| out.at)), Some(20));
    }

    #[test]
    fn where_half_of_the_runs_ask_the_second_end_is_when() {
        let past = [past(30, true), past(30, false), past(30, true), past(30, false)];
        let running = [run("a", 20)];
        let found = look_ahead(&known(&past, &running, 5));
        // Ten minutes, and then another run.
        assert_eq!(minutes(found.needed_at), Some(40));
        assert_eq!(found.needed_for, "1 of 2 runs ends with something for you");
        // Five more begin one after the other, the last after five ends.
        let out = found.runs_out.unwrap();
        assert_eq!((out.what, minutes(Some(out.at))), (Shortage::Work, Some(130)));
    }

    #[test]
    fn a_budget_that_is_spent_before_the_work_is_told_unless_the_day_ends_first() {
        let past = [past(600, false), past(600, false), past(600, false)];
        let dear = [AtWork { cost_micros: 10_000_000, ..run("a", 100) }];
        let spent = Known {
            spent_micros: 10_000_000,
            budget_micros: Some(16_000_000),
            ..known(&past, &dear, 0)
        };
        let out = look_ahead(&spent).runs_out.unwrap();
        assert_eq!((out.what, minutes(Some(out.at))), (Shortage::Budget, Some(60)));
        let rich = Known { budget_micros: Some(900_000_000), ..spent };
        assert_eq!(look_ahead(&rich).runs_out.unwrap().what, Shortage::Work);
    }

    #[test]
    fn a_cost_is_too_much_beyond_three_times_the_middle() {
        let past = |cost_micros| [(); 3].map(|()| PastRun { cost_micros, ..past(1, false) });
        let cost = |past: &[PastRun], cost_micros| {
            costs_too_much(past, &AtWork { cost_micros, ..run("a", 1) })
        };
        let dear = past(100_000);
        assert_eq!((cost(&dear, 300_000), cost(&dear, 300_001)), (None, Some(100_000)));
        assert_eq!(cost(&dear[1..], 999_999), None, "two tell nothing");
        let cheap = past(1_000);
        assert_eq!((cost(&cheap, CHEAP), cost(&cheap, CHEAP + 1)), (None, Some(1_000)));
    }

    proptest! {
        #[test]
        fn nothing_is_foreseen_for_the_past(
            took in prop::collection::vec((0_u32..500, any::<bool>()), 0..20),
            ago in prop::collection::vec((0_u32..900, any::<bool>()), 0..8),
            ready in 0_i64..1000,
            budget in prop::option::of(0_i64..5_000_000),
        ) {
            let past: Vec<PastRun> =
                took.into_iter().map(|(took, asked)| past(took, asked)).collect();
            let running: Vec<AtWork> = ago
                .into_iter()
                .map(|(ago, is_reviewed)| {
                    AtWork { is_reviewed, cost_micros: 9_000, ..run("a", ago) }
                })
                .collect();
            let known = Known { budget_micros: budget, ..known(&past, &running, ready) };
            let found = look_ahead(&known);
            prop_assert!(found.needed_at.is_none_or(|at| at >= NOW));
            prop_assert!(found.runs_out.is_none_or(|out| out.at >= NOW));
            prop_assert!(!found.needed_for.is_empty());
        }
    }
}
