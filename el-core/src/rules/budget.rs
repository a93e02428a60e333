//! Budgets and amounts. Amounts are millionths of a US dollar.

use serde_json::Value;

use crate::model::{IssueType, Timestamp};
use crate::{Error, Result};

const DAY: i64 = 24 * 3600 * 1_000_000;

/// The metadata key of an atom with the budget of everything below, in US dollars: a number, or a
/// number as text.
pub const EPIC_KEY: &str = "budget_usd";

/// Returns the day of a time, counted from the epoch in UTC. All workers and machines share the
/// border between two days, and no change of clocks moves the border.
pub fn day_number(at: Timestamp) -> i64 {
    at.as_micros().div_euclid(DAY)
}

/// When the day of a moment began.
pub fn day_start(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(day_number(at).saturating_mul(DAY))
}

/// When the day of a moment is over.
pub fn next_day(at: Timestamp) -> Timestamp {
    Timestamp::from_micros(day_number(at).saturating_add(1).saturating_mul(DAY))
}

/// Returns true if the budget is used up, so that no new work may begin.
pub fn is_spent(spent: i64, cap: i64) -> bool {
    spent >= cap
}

/// Returns true if running work has to end, because the cost exceeds the budget. A cost equal to
/// the budget is within the budget.
pub fn is_over(spent: i64, cap: i64) -> bool {
    spent > cap
}

/// Returns the budget of everything below an atom: the atom's own, or for an epic without a budget
/// the default. A value that is no amount counts as unset.
pub fn cap_of(issue_type: IssueType, metadata: &Value, default: Option<i64>) -> Option<i64> {
    match metadata.get(EPIC_KEY).and_then(parse_amount) {
        Some(own) => Some(own),
        None if issue_type == IssueType::Epic => default,
        None => None,
    }
}

/// Reads an amount in millionths from the metadata; `None` if the value is no amount.
fn parse_amount(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_start_matches('$').parse().ok(),
        _ => None,
    }
    .and_then(usd_to_micros)
}

/// Checks metadata before a write: an illegal budget would bound nothing.
///
/// # Errors
///
/// If the budget is no amount.
pub fn ensure_valid_budget(metadata: &Value) -> Result<()> {
    match metadata.get(EPIC_KEY) {
        Some(value) if parse_amount(value).is_none() => Err(Error::invalid(
            "metadata",
            format!("{EPIC_KEY} is an amount of US dollars, such as 20 or 2.50, and not {value}"),
        )),
        _ => Ok(()),
    }
}

/// Converts US dollars to millionths; `None` if the number is no amount.
pub fn usd_to_micros(usd: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
    (usd.is_finite() && (0.0..=1e12).contains(&usd)).then(|| (usd * 1e6).round() as i64)
}

/// Formats an amount: `$1.50`, with more digits below a cent.
pub fn format_usd(micros: i64) -> String {
    let (sign, abs) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let (dollars, rest) = (abs / 1_000_000, abs % 1_000_000);
    if rest.is_multiple_of(10_000) {
        format!("{sign}${dollars}.{:02}", rest / 10_000)
    } else {
        format!("{sign}${dollars}.{:04}", rest / 100)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_epics_own_word_outranks_the_setting_and_nonsense_says_nothing() {
        let cap = |value| cap_of(IssueType::Epic, &json!({ "budget_usd": value }), Some(7));
        assert_eq!(
            (cap(json!(2.5)), cap(json!("$3")), cap(json!(0))),
            (Some(2_500_000), Some(3_000_000), Some(0))
        );
        for nonsense in
            [json!("much"), json!(-1), json!([]), json!("nan"), json!(1e300), json!(null)]
        {
            assert_eq!(cap(nonsense), Some(7));
        }
        assert_eq!(cap_of(IssueType::Task, &json!({}), Some(7)), None);
        assert_eq!(cap_of(IssueType::Task, &json!({ "budget_usd": 1 }), Some(7)), Some(1_000_000));
    }

    #[test]
    fn amounts_read_as_people_write_them() {
        assert_eq!(
            [format_usd(0), format_usd(1_500_000), format_usd(1_234_500), format_usd(-20_000)],
            ["$0.00", "$1.50", "$1.2345", "-$0.02"]
        );
    }

    proptest! {
        #[test]
        fn a_moment_lies_within_its_day(at in -4_000_000_000_000_000_i64..4_000_000_000_000_000) {
            let at = Timestamp::from_micros(at);
            prop_assert!(next_day(at) > at && next_day(at).as_micros() - at.as_micros() <= DAY);
            prop_assert_eq!(day_number(next_day(at)), day_number(at) + 1);
        }

        #[test]
        fn what_is_over_is_also_spent(spent in any::<i64>(), cap in any::<i64>()) {
            prop_assert!(!is_over(spent, cap) || is_spent(spent, cap));
        }
    }
}
