use std::collections::HashMap;

use crate::Result;
use crate::model::{AttemptFact, Series, SeriesName, Timestamp};
use crate::rules::series::{self as rules, Days, Points};
use crate::store::{Store, Tx, board, series as facts};

/// The most attempts or atoms that a series reads; the series says if it left some out.
const LOOKED_AT: i64 = 20_000;
/// The most atoms of the queue that a series reads.
const QUEUED: i64 = 1_000;
/// The longest time that a series tells of.
pub const SERIES_DAYS_MAX: usize = 366;

/// Returns a series of figures of the last `days` days, the present one included. Days begin at
/// midnight where clocks are `minutes_ahead` of UTC.
///
/// # Errors
///
/// If the database cannot be read.
pub fn series(
    store: &Store,
    name: SeriesName,
    days: usize,
    minutes_ahead: i32,
    now: Timestamp,
) -> Result<Series> {
    let days = Days::ending(now, days.clamp(1, SERIES_DAYS_MAX), minutes_ahead);
    let (items, is_cut) = store.read(|tx| points_of(tx, name, days, now))?;
    let (title, by, measures) = rules::measures_of(name);
    Ok(Series {
        series: name,
        title,
        by,
        since: days.start(),
        until: now,
        measures,
        count: items.len(),
        total: items.len(),
        truncated: is_cut,
        items,
    })
}

/// Returns the points, and true if some entries were left out.
fn points_of(tx: &Tx<'_>, name: SeriesName, days: Days, now: Timestamp) -> Result<(Points, bool)> {
    let attempts = || facts::list_attempts(tx, days.start(), LOOKED_AT);
    let done = || facts::list_done(tx, days.start(), LOOKED_AT);
    let is_full = |count: usize| i64::try_from(count).is_ok_and(|count| count >= LOOKED_AT);
    Ok(match name {
        SeriesName::Done | SeriesName::LeadTime => {
            let done = done()?;
            let points = match name {
                SeriesName::Done => rules::done(days, &done),
                _ => rules::lead_time(days, &done),
            };
            (points, is_full(done.len()))
        }
        SeriesName::CostPerClosed => {
            let (attempts, done) = (attempts()?, done()?);
            let is_cut = is_full(attempts.len()) || is_full(done.len());
            (rules::cost_per_closed(days, &attempts, &done), is_cut)
        }
        SeriesName::QueueAge => {
            let queue = board::walk_queue(tx, now, QUEUED)?;
            let mut ages = Vec::new();
            for (_, id) in &queue.ready {
                let since = facts::ready_since(tx, id, now)?;
                ages.extend(since.map(|since| now.since(since)));
            }
            (rules::queue_age(&ages), queue.is_cut)
        }
        _ => {
            let attempts = attempts()?;
            let points = match name {
                SeriesName::CostByAgent => {
                    rules::cost_by(&attempts, |fact| Some(fact.agent.clone()), |_| None)
                }
                SeriesName::CostByModel => {
                    rules::cost_by(&attempts, |fact| fact.model.clone(), |_| None)
                }
                SeriesName::CostByEpic => cost_by_epic(tx, &attempts)?,
                SeriesName::Failures => rules::failures(&attempts),
                SeriesName::FirstAttempts => rules::first_attempts(days, &attempts),
                _ => rules::cost(days, &attempts),
            };
            (points, is_full(attempts.len()))
        }
    })
}

fn cost_by_epic(tx: &Tx<'_>, attempts: &[AttemptFact]) -> Result<Points> {
    let mut epics = HashMap::new();
    let mut titles = HashMap::new();
    for fact in attempts {
        if epics.contains_key(&fact.atom) {
            continue;
        }
        let epic = facts::find_epic(tx, &fact.atom)?.map(|(id, title)| {
            titles.insert(id.clone(), title);
            id
        });
        epics.insert(fact.atom.clone(), epic);
    }
    Ok(rules::cost_by(
        attempts,
        |fact| epics.get(&fact.atom).cloned().flatten(),
        |epic| titles.get(epic).cloned(),
    ))
}
