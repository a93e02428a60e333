use super::{Measure, SeriesName, Unit};

const fn measure(name: &'static str, title: &'static str, unit: Unit) -> Measure {
    Measure { name, title, unit, estimated: None }
}

const fn amount(name: &'static str, title: &'static str, estimated: &'static str) -> Measure {
    Measure { name, title, unit: Unit::Micros, estimated: Some(estimated) }
}

const COST: Measure = amount("cost_micros", "cost", "estimated_micros");
const RUNS: Measure = measure("runs", "attempts", Unit::Count);
const CLOSED: Measure = measure("closed", "closed", Unit::Count);

/// Returns a series' title, what its keys name, and its figures: the first is the one to plot.
pub fn measures_of(name: SeriesName) -> (&'static str, &'static str, Vec<Measure>) {
    match name {
        SeriesName::Done => {
            ("Done per day", "day", vec![CLOSED, measure("wont_do", "won't do", Unit::Count)])
        }
        SeriesName::LeadTime => (
            "Time from ready to done",
            "day",
            vec![
                measure("median_s", "median", Unit::Seconds),
                measure("slowest_tenth_s", "nine of ten within", Unit::Seconds),
                CLOSED,
            ],
        ),
        SeriesName::Cost => ("Cost by day", "day", vec![COST, RUNS]),
        SeriesName::CostByAgent => ("Cost by agent", "agent", vec![COST, RUNS]),
        SeriesName::CostByEpic => ("Cost by epic", "epic", vec![COST, RUNS]),
        SeriesName::CostByModel => ("Cost by model", "model", vec![COST, RUNS]),
        SeriesName::CostPerClosed => (
            "Cost for each closed atom",
            "day",
            vec![
                amount("per_closed_micros", "for each closed", "per_closed_estimated_micros"),
                amount("lost_micros", "lost in failed attempts", "lost_estimated_micros"),
                COST,
                CLOSED,
            ],
        ),
        SeriesName::Failures => ("Causes of failed attempts", "cause", vec![RUNS, COST]),
        SeriesName::FirstAttempts => (
            "First attempts that closed their atom",
            "day",
            vec![
                measure("share", "share", Unit::Percent),
                CLOSED,
                measure("first_attempts", "first attempts", Unit::Count),
            ],
        ),
        SeriesName::QueueAge => (
            "How long the ready atoms have waited",
            "age",
            vec![
                measure("atoms", "atoms", Unit::Count),
                measure("oldest_s", "oldest", Unit::Seconds),
            ],
        ),
    }
}
