//! The holds of an atom, in a few words.

use el_core::model::{BondKind, Timestamp};
use el_core::rules::ready::Hold;

use super::time;

/// Things that are named; the rest is counted.
const NAMED: usize = 2;

/// The words of a table's cell; empty if nothing holds the atom.
pub(crate) fn briefly(holds: &[Hold], now: Timestamp) -> String {
    let mut words: Vec<String> = Vec::new();
    for hold in holds {
        let text = one(hold, now);
        if !words.contains(&text) {
            words.push(text);
        }
    }
    let more = words.len().saturating_sub(NAMED);
    words.truncate(NAMED);
    let told = words.join(", ");
    if more > 0 { format!("{told} and {more} more") } else { told }
}

fn one(hold: &Hold, now: Timestamp) -> String {
    match hold {
        Hold::Status { status } => status.to_string(),
        Hold::Abstract { issue_type } => issue_type.to_string(),
        Hold::Deferred { until: None } => "el reopen".to_owned(),
        Hold::Deferred { until: Some(until) } => {
            format!("its date, {}", time::relative_time(now, *until))
        }
        Hold::BackOff { until } => format!("another try, {}", time::relative_time(now, *until)),
        Hold::Running { run } => run.clone(),
        Hold::Ending { run, via, .. } => through(run, via.as_deref()),
        Hold::Unmerged { of, via } => through(&format!("the merge of {of}"), via.as_deref()),
        Hold::Parent { parent, status } => format!("{parent} ({status})"),
        Hold::Needs { needs } => format!("a worker that offers {}", needs.join(",")),
        Hold::Plan { epic } => format!("the plan {epic}"),
        Hold::Blocked { by, bond, via } => {
            let what = match bond {
                BondKind::WaitsFor => format!("{by} and below"),
                BondKind::ConditionalBlocks => format!("a failure of {by}"),
                _ => by.clone(),
            };
            through(&what, via.as_deref())
        }
    }
}

fn through(what: &str, parent: Option<&str>) -> String {
    match parent {
        Some(parent) => format!("{what} (holds {parent})"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use el_core::model::Status;

    use super::*;

    #[test]
    fn two_holds_are_named_and_the_rest_is_counted() {
        let now = Timestamp::from_micros(0);
        let by = |by: &str, via: Option<&str>| Hold::Blocked {
            by: by.to_owned(),
            bond: BondKind::Blocks,
            via: via.map(str::to_owned),
        };
        assert_eq!(briefly(&[], now), "");
        assert_eq!(briefly(&[by("a-1", None), by("a-1", None)], now), "a-1");
        let parent = Hold::Parent { parent: "a-9".to_owned(), status: Status::Blocked };
        let holds = [by("a-1", Some("a-0")), parent, by("a-2", None), by("a-3", None)];
        assert_eq!(briefly(&holds, now), "a-1 (holds a-0), a-9 (blocked) and 2 more");
    }
}
