//! The order of a person's queue: by what a decision frees.

use std::cmp::Reverse;
use std::collections::HashSet;

use crate::model::{Need, Priority, Timestamp};

/// The weight of an atom that waits: each step of priority doubles it.
pub fn weight_of(priority: Priority) -> i64 {
    1 << (5 - i64::from(priority.value().min(5)))
}

/// The place of an entry: first the class, then the weight of what it frees, then the longest wait.
/// The key decides last, so that equal entries never change places.
fn place_of(need: &Need) -> (u8, Reverse<i64>, Timestamp, &str) {
    (need.class, Reverse(need.weight), need.since, &need.key)
}

/// Sorts the entries, the most urgent first, and keeps one of each key.
pub fn sort_needs(needs: &mut Vec<Need>) {
    needs.sort_by(|a, b| place_of(a).cmp(&place_of(b)));
    let mut seen = HashSet::new();
    needs.retain(|need| seen.insert(need.key.clone()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::NeedKind;

    fn need(kind: NeedKind, name: u8, weight: i64, since: i64) -> Need {
        Need {
            key: format!("{kind}:{name}"),
            kind,
            class: kind.class(),
            atom_id: None,
            title: String::new(),
            priority: None,
            run_id: None,
            agent: None,
            why: String::new(),
            frees: 0,
            weight,
            since: Timestamp::from_micros(since),
            cost: crate::model::Cost::default(),
            attempts: 0,
            ways: Vec::new(),
        }
    }

    fn any_needs() -> impl Strategy<Value = Vec<Need>> {
        let kind = prop::sample::select(NeedKind::ALL.to_vec());
        let one = (kind, any::<u8>(), 0_i64..40, 0_i64..40)
            .prop_map(|(kind, name, weight, since)| need(kind, name, weight, since));
        prop::collection::vec(one, 0..40)
    }

    #[test]
    fn the_larger_release_comes_before_the_longer_wait_and_a_stop_of_all_before_both() {
        let mut needs = vec![
            need(NeedKind::Review, 1, 4, 10),
            need(NeedKind::Review, 2, 9, 20),
            need(NeedKind::Review, 3, 4, 5),
            need(NeedKind::GaveUp, 4, 99, 0),
            need(NeedKind::Paused, 5, 0, 30),
        ];
        sort_needs(&mut needs);
        let keys: Vec<&str> = needs.iter().map(|need| need.key.as_str()).collect();
        assert_eq!(keys, ["paused:5", "review:2", "review:3", "review:1", "gave_up:4"]);
    }

    #[test]
    fn a_higher_priority_outweighs_and_none_weighs_nothing() {
        let weights: Vec<i64> =
            (0..=5).map(|level| weight_of(Priority::new(level).unwrap())).collect();
        assert_eq!(weights, [32, 16, 8, 4, 2, 1]);
    }

    proptest! {
        #[test]
        fn the_order_depends_on_the_entries_alone(needs in any_needs(), turn in any::<usize>()) {
            let mut sorted = needs.clone();
            sort_needs(&mut sorted);
            // Entries of one key tell of one cause.
            let mut once = sorted.clone();
            if !once.is_empty() {
                let by = turn % once.len();
                once.rotate_left(by);
            }
            sort_needs(&mut once);
            prop_assert_eq!(&once, &sorted);
        }

        #[test]
        fn nothing_is_lost_and_each_pair_is_in_order(needs in any_needs()) {
            let keys: HashSet<String> = needs.iter().map(|need| need.key.clone()).collect();
            let mut sorted = needs;
            sort_needs(&mut sorted);
            prop_assert_eq!(sorted.len(), keys.len());
            for pair in sorted.windows(2) {
                prop_assert!(pair[0].class <= pair[1].class);
                if pair[0].class == pair[1].class {
                    prop_assert!(pair[0].weight >= pair[1].weight);
                    if pair[0].weight == pair[1].weight {
                        prop_assert!(pair[0].since <= pair[1].since);
                    }
                }
            }
        }
    }
}
