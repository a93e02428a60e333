use proptest::prelude::*;

use super::*;
use crate::model::Outcome;

const NOW: Timestamp = Timestamp::from_micros(1_764_295_200_000_000);

fn ago(hours: u64) -> Timestamp {
    NOW.minus(Duration::from_secs(hours * HOUR))
}

fn attempt(hours: u64, outcome: Outcome, micros: i64) -> AttemptFact {
    AttemptFact {
        atom: "a".to_owned(),
        agent: "claude".to_owned(),
        model: None,
        started: ago(hours),
        attempt: 1,
        outcome: Some(outcome),
        cost: Cost { cost_micros: micros, estimated_micros: 0 },
        was_denied: false,
        was_over_budget: false,
        stands_as: None,
    }
}

fn over(hours: u64, status: Status, lead: u64) -> DoneFact {
    DoneFact { status, ready: ago(hours + lead), closed: ago(hours) }
}

/// The values of a series under this name.
fn values(points: &[Point], name: &str) -> Vec<Option<i64>> {
    points.iter().map(|point| point.values[name]).collect()
}

fn keys(points: &[Point]) -> Vec<&str> {
    points.iter().map(|point| point.key.as_deref().unwrap_or("none")).collect()
}

#[test]
fn every_day_has_a_point_and_what_is_older_has_none() {
    let days = Days::ending(NOW, 3, 0);
    let facts = [
        over(0, Status::Closed, 5),
        over(1, Status::WontDo, 1),
        over(3, Status::Closed, 1),
        over(500, Status::Closed, 1),
    ];
    let points = done(days, &facts);
    assert_eq!(keys(&points), ["2025-11-26", "2025-11-27", "2025-11-28"]);
    // It is two o'clock in the night.
    assert_eq!(values(&points, "closed"), [Some(0), Some(1), Some(1)]);
    assert_eq!(values(&points, "wont_do"), [Some(0), Some(0), Some(1)]);
    assert!(days.start() <= NOW && days.start().to_string().starts_with("2025-11-26T00:00:00"));
}

#[test]
fn a_day_begins_at_the_viewers_midnight() {
    // It is two o'clock in the night in UTC: still the evening before in New York.
    let facts = [over(0, Status::Closed, 1), over(5, Status::Closed, 1)];
    let days = Days::ending(NOW, 2, -300);
    let points = done(days, &facts);
    assert_eq!(keys(&points), ["2025-11-26", "2025-11-27"]);
    assert_eq!(values(&points, "closed"), [Some(0), Some(2)]);
    assert!(days.start().to_string().starts_with("2025-11-26T05:00:00"), "{}", days.start());
    let points = done(Days::ending(NOW, 2, 13 * 60), &facts);
    assert_eq!(values(&points, "closed"), [Some(0), Some(2)], "it is three in the afternoon");
}

#[test]
fn a_time_to_done_is_that_of_a_real_atom_and_none_where_nothing_was_closed() {
    let facts: Vec<DoneFact> = [1, 2, 3, 40].map(|lead| over(1, Status::Closed, lead)).into();
    let points = lead_time(Days::ending(NOW, 2, 0), &facts);
    let hour = |hours: i64| Some(hours * 3600);
    assert_eq!(values(&points, "median_s"), [None, hour(2)]);
    assert_eq!(values(&points, "slowest_tenth_s"), [None, hour(40)]);
}

#[test]
fn costs_are_told_by_who_caused_them_with_what_is_estimated() {
    let mut guessed = attempt(1, Outcome::Closed, 500);
    guessed.cost.estimated_micros = 200;
    guessed.agent = "gendry".to_owned();
    let facts = [attempt(1, Outcome::Closed, 100), guessed, attempt(2, Outcome::Failed, 50)];
    let points = cost_by(&facts, |fact| Some(fact.agent.clone()), |key| Some(key.to_uppercase()));
    assert_eq!(keys(&points), ["gendry", "claude"]);
    assert_eq!(values(&points, "cost_micros"), [Some(500), Some(150)]);
    assert_eq!(values(&points, "estimated_micros"), [Some(200), Some(0)]);
    assert_eq!(points[0].label.as_deref(), Some("GENDRY"));
}

#[test]
fn what_a_closed_atom_cost_counts_the_failed_attempts_too() {
    let attempts = [
        attempt(1, Outcome::Failed, 30),
        attempt(1, Outcome::Closed, 70),
        attempt(30, Outcome::TimedOut, 9),
    ];
    let closed = [over(0, Status::Closed, 1), over(1, Status::Closed, 1)];
    let points = cost_per_closed(Days::ending(NOW, 2, 0), &attempts, &closed);
    assert_eq!(values(&points, "per_closed_micros"), [None, Some(50)]);
    // Thirty hours ago was the day before yesterday's end.
    assert_eq!(values(&points, "lost_micros"), [Some(0), Some(30)]);
}

#[test]
fn a_denied_tool_and_a_spent_budget_are_causes_of_their_own() {
    let mut denied = attempt(1, Outcome::Failed, 1);
    denied.was_denied = true;
    let mut spent = attempt(1, Outcome::Failed, 1);
    spent.was_over_budget = true;
    let late = || attempt(1, Outcome::TimedOut, 1);
    let fine = attempt(1, Outcome::Closed, 1);
    let points = failures(&[denied, spent, late(), late(), fine]);
    assert_eq!(keys(&points), ["timed_out", "over_budget", "permission_denied"]);
    assert_eq!(values(&points, "runs"), [Some(2), Some(1), Some(1)]);
}

#[test]
fn a_first_attempt_counts_once_it_is_known_to_have_closed_its_atom_or_not() {
    let first = |outcome, stands_as| AttemptFact { stands_as, ..attempt(1, outcome, 1) };
    let facts = [
        first(Outcome::Closed, Some(Status::Closed)),
        first(Outcome::Review, Some(Status::Closed)),
        first(Outcome::Review, Some(Status::Review)),
        first(Outcome::Review, None),
        first(Outcome::Failed, None),
        first(Outcome::UsageLimit, None),
        first(Outcome::Cancelled, None),
        AttemptFact { attempt: 2, ..first(Outcome::Closed, Some(Status::Closed)) },
    ];
    let points = first_attempts(Days::ending(NOW, 1, 0), &facts);
    assert_eq!(values(&points, "first_attempts"), [Some(4)]);
    assert_eq!(values(&points, "share"), [Some(50)]);
    let none = first_attempts(Days::ending(NOW, 1, 0), &[]);
    assert_eq!(values(&none, "share"), [None]);
}

proptest! {
    #[test]
    fn every_age_is_counted_once(ages in prop::collection::vec(0_u64..10_000_000, 0..50)) {
        let ages: Vec<Duration> = ages.into_iter().map(Duration::from_secs).collect();
        let points = queue_age(&ages);
        let sum: i64 = values(&points, "atoms").into_iter().flatten().sum();
        prop_assert_eq!(usize::try_from(sum).unwrap(), ages.len());
        let oldest = values(&points, "oldest_s").into_iter().flatten().max();
        prop_assert_eq!(oldest, ages.iter().max().map(|age| age.as_secs() as i64));
    }

    #[test]
    fn no_cost_is_lost_on_the_way(costs in prop::collection::vec((0_u64..48, 0_i64..1000), 0..40)) {
        let facts: Vec<AttemptFact> =
            costs.iter().map(|(hours, micros)| attempt(*hours, Outcome::Closed, *micros)).collect();
        let sum: i64 = facts.iter().map(|fact| fact.cost.cost_micros).sum();
        let of = |points: Points| values(&points, "cost_micros").into_iter().flatten().sum::<i64>();
        prop_assert_eq!(of(cost(Days::ending(NOW, 4, 0), &facts)), sum);
        prop_assert_eq!(of(cost_by(&facts, |fact| fact.model.clone(), |_| None)), sum);
    }

    #[test]
    fn a_rank_is_one_of_the_values(
        mut spans in prop::collection::vec(any::<u32>(), 1..40),
        percent in 1_usize..=100,
    ) {
        spans.sort_unstable();
        let found = rank(&spans, percent).unwrap();
        let within = spans.iter().filter(|span| **span <= found).count();
        prop_assert!(within * 100 >= spans.len() * percent);
    }
}
