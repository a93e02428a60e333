//! Series of figures, from what is known of attempts and of atoms that are over.

use std::collections::BTreeMap;
use std::time::Duration;

use super::budget::day_number;
use crate::model::{
    AttemptFact, Cost, DoneFact, Measure, Point, SeriesName, Status, Timestamp, Unit,
};

mod measures;

pub use measures::measures_of;

const MINUTE: i64 = 60 * 1_000_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// The points of a series, in order.
pub type Points = Vec<Point>;

/// A number of days in a row, in a time zone that is `ahead` microseconds ahead of UTC.
#[derive(Debug, Clone, Copy)]
pub struct Days {
    first: i64,
    count: usize,
    ahead: i64,
}

impl Days {
    /// The last `count` days, with the day of `now`, where clocks are `minutes_ahead` of UTC.
    pub fn ending(now: Timestamp, count: usize, minutes_ahead: i32) -> Days {
        let back = i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(1);
        let days = Days { first: 0, count, ahead: i64::from(minutes_ahead) * MINUTE };
        Days { first: days.number_of(now).saturating_sub(back), ..days }
    }

    /// When the first day begins.
    pub fn start(self) -> Timestamp {
        Timestamp::from_micros(self.first.saturating_mul(DAY).saturating_sub(self.ahead))
    }

    fn number_of(self, at: Timestamp) -> i64 {
        day_number(Timestamp::from_micros(at.as_micros().saturating_add(self.ahead)))
    }

    fn index_of(self, at: Timestamp) -> Option<usize> {
        let index = self.number_of(at).checked_sub(self.first)?;
        usize::try_from(index).ok().filter(|at| *at < self.count)
    }

    /// A point for each day; `values` gets the day's facts.
    fn points<T>(
        self,
        facts: &[T],
        at: impl Fn(&T) -> Timestamp,
        values: impl Fn(&[&T]) -> Values,
    ) -> Points {
        let mut days: Vec<Vec<&T>> = vec![Vec::new(); self.count];
        for fact in facts {
            if let Some(index) = self.index_of(at(fact)) {
                days[index].push(fact);
            }
        }
        let day = |index: usize| self.first + i64::try_from(index).unwrap_or(i64::MAX);
        days.iter()
            .enumerate()
            .map(|(index, facts)| Point {
                key: Some(date_of(day(index))),
                label: None,
                values: values(facts).into_iter().collect(),
            })
            .collect()
    }
}

type Values = Vec<(&'static str, Option<i64>)>;

/// A day as `2026-11-29`.
fn date_of(day: i64) -> String {
    let text = Timestamp::from_micros(day.saturating_mul(DAY)).to_string();
    text.split('T').next().unwrap_or_default().to_owned()
}

fn count(number: usize) -> Option<i64> {
    i64::try_from(number).ok()
}

fn count_of<T>(facts: &[&T], is: impl Fn(&T) -> bool) -> Option<i64> {
    count(facts.iter().filter(|fact| is(fact)).count())
}

/// The atoms that were done on each day.
pub fn done(days: Days, facts: &[DoneFact]) -> Points {
    let with = |facts: &[&DoneFact], status| count_of(facts, |fact| fact.status == status);
    days.points(
        facts,
        |fact| fact.closed,
        |facts| {
            vec![("closed", with(facts, Status::Closed)), ("wont_do", with(facts, Status::WontDo))]
        },
    )
}

/// The time from ready to done, of the atoms that were closed on each day.
pub fn lead_time(days: Days, facts: &[DoneFact]) -> Points {
    days.points(
        facts,
        |fact| fact.closed,
        |facts| {
            let mut spans: Vec<Duration> = facts
                .iter()
                .filter(|fact| fact.status == Status::Closed)
                .map(|fact| fact.closed.since(fact.ready))
                .collect();
            spans.sort_unstable();
            vec![
                ("closed", count(spans.len())),
                ("median_s", seconds(rank(&spans, 50))),
                ("slowest_tenth_s", seconds(rank(&spans, 90))),
            ]
        },
    )
}

/// Returns the percentile of the sorted values.
pub(super) fn rank<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let at = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(at - 1).copied()
}

fn seconds(span: Option<Duration>) -> Option<i64> {
    span.and_then(|span| i64::try_from(span.as_secs()).ok())
}

fn cost_of(facts: &[&AttemptFact]) -> Cost {
    facts.iter().map(|fact| fact.cost).sum()
}

fn cost_values(facts: &[&AttemptFact]) -> Values {
    let cost = cost_of(facts);
    vec![
        ("cost_micros", Some(cost.cost_micros)),
        ("estimated_micros", Some(cost.estimated_micros)),
        ("runs", count(facts.len())),
    ]
}

/// The cost of the attempts that began on each day.
pub fn cost(days: Days, facts: &[AttemptFact]) -> Points {
    days.points(facts, |fact| fact.started, cost_values)
}

/// The cost by something that an attempt has, the dearest first.
pub fn cost_by(
    facts: &[AttemptFact],
    key: impl Fn(&AttemptFact) -> Option<String>,
    label: impl Fn(&str) -> Option<String>,
) -> Points {
    let mut points = group(facts.iter(), &key, cost_values);
    points.sort_by_key(|point| std::cmp::Reverse(point.values["cost_micros"]));
    for point in &mut points {
        point.label = point.key.as_deref().and_then(&label);
    }
    points
}

fn group<'a>(
    facts: impl Iterator<Item = &'a AttemptFact>,
    key: impl Fn(&AttemptFact) -> Option<String>,
    values: impl Fn(&[&AttemptFact]) -> Values,
) -> Points {
    let mut groups: BTreeMap<Option<String>, Vec<&AttemptFact>> = BTreeMap::new();
    for fact in facts {
        groups.entry(key(fact)).or_default().push(fact);
    }
    groups
        .into_iter()
        .map(|(key, facts)| Point {
            key,
            label: None,
            values: values(&facts).into_iter().collect(),
        })
        .collect()
}

fn has_failed(fact: &AttemptFact) -> bool {
    fact.outcome.is_some_and(|outcome| outcome.is_failure())
}

/// Dollars for each atom that was closed on a day, and dollars in attempts that failed.
pub fn cost_per_closed(days: Days, attempts: &[AttemptFact], over: &[DoneFact]) -> Points {
    let closed = done(days, over);
    let mut points = days.points(
        attempts,
        |fact| fact.started,
        |facts| {
            let lost: Vec<&AttemptFact> =
                facts.iter().copied().filter(|fact| has_failed(fact)).collect();
            let lost = cost_of(&lost);
            let mut values = cost_values(facts);
            values.push(("lost_micros", Some(lost.cost_micros)));
            values.push(("lost_estimated_micros", Some(lost.estimated_micros)));
            values
        },
    );
    for (point, closed) in points.iter_mut().zip(closed) {
        let closed = closed.values["closed"];
        let each = |name: &str| match (point.values[name], closed) {
            (Some(cost), Some(closed)) if closed > 0 => Some(cost / closed),
            _ => None,
        };
        let (cost, estimated) = (each("cost_micros"), each("estimated_micros"));
        point.values.insert("closed", closed);
        point.values.insert("per_closed_micros", cost);
        point.values.insert("per_closed_estimated_micros", estimated);
    }
    points
}

/// The causes of failed attempts, the most frequent first.
pub fn failures(facts: &[AttemptFact]) -> Points {
    let cause = |fact: &AttemptFact| {
        let word = match fact.outcome {
            _ if fact.was_denied => "permission_denied",
            _ if fact.was_over_budget => "over_budget",
            Some(outcome) => outcome.as_str(),
            None => return None,
        };
        Some(word.to_owned())
    };
    let mut points = group(facts.iter().filter(|fact| has_failed(fact)), cause, cost_values);
    points.sort_by_key(|point| std::cmp::Reverse(point.values["runs"]));
    points
}

/// The share of first attempts that closed their atom. Attempts that an account, a service, a
/// machine or a person ended say nothing, and neither does work that waits for its verdict.
pub fn first_attempts(days: Days, facts: &[AttemptFact]) -> Points {
    let firsts: Vec<AttemptFact> = facts
        .iter()
        .filter(|fact| {
            let is_told = fact
                .outcome
                .is_some_and(|outcome| outcome.is_said_by_agent() || outcome.is_failure());
            fact.attempt == 1 && is_told && fact.stands_as != Some(Status::Review)
        })
        .cloned()
        .collect();
    days.points(
        &firsts,
        |fact| fact.started,
        |facts| {
            let all = count(facts.len()).unwrap_or(0);
            let closed = count_of(facts, |fact| fact.stands_as == Some(Status::Closed));
            let share = closed.filter(|_| all > 0).map(|closed| closed * 100 / all);
            vec![("first_attempts", Some(all)), ("closed", closed), ("share", share)]
        },
    )
}

const HOUR: u64 = 3600;
/// The borders between ages, in seconds, with their names.
const AGES: [(u64, &str, &str); 6] = [
    (HOUR, "1h", "under 1 hour"),
    (4 * HOUR, "4h", "1 to 4 hours"),
    (24 * HOUR, "1d", "4 hours to 1 day"),
    (72 * HOUR, "3d", "1 to 3 days"),
    (168 * HOUR, "7d", "3 to 7 days"),
    (u64::MAX, "more", "over 7 days"),
];

/// How long the ready atoms have waited, from the youngest.
pub fn queue_age(ages: &[Duration]) -> Points {
    let mut from = 0;
    AGES.iter()
        .map(|(to, key, label)| {
            let within = |age: &&Duration| (from..*to).contains(&age.as_secs());
            let found: Vec<Duration> = ages.iter().filter(within).copied().collect();
            from = *to;
            let oldest = found.iter().max().copied();
            Point {
                key: Some((*key).to_owned()),
                label: Some((*label).to_owned()),
                values: [("atoms", count(found.len())), ("oldest_s", seconds(oldest))].into(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
