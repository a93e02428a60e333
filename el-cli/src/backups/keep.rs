//! The backups that newer backups supersede.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use el_core::model::Timestamp;

use super::{Backup, Reason};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The age at which every backup goes.
const DAYS: u32 = 14;
/// The most backups that were made for a reason of their own.
const SPECIAL: usize = 20;
/// The most bytes of all backups together.
const BYTES: u64 = 1 << 30;
/// The number of backups that stay however large they are.
const ALWAYS: usize = 3;

/// The hourly backups of the last 24 hours and the daily ones of the last 14 days stay, and so do
/// at most 20 others; the newest always. Beyond 1 GiB, hourly ones go first, then the oldest, down
/// to three. `backups` are in order, newest first.
pub(super) fn superseded(backups: &[Backup], now: Timestamp) -> Vec<Backup> {
    let mut slots = HashSet::new();
    let mut special = 0;
    let (mut kept, mut gone): (Vec<&Backup>, Vec<&Backup>) = (Vec::new(), Vec::new());
    for backup in backups {
        let age = now.since(backup.at);
        let is_kept = match backup.reason {
            _ if kept.is_empty() => true,
            _ if age > DAY * DAYS => false,
            Reason::Hourly => {
                let length = if age <= DAY { HOUR } else { DAY };
                slots.insert((length, slot(backup.at, length)))
            }
            _ => {
                special += 1;
                special <= SPECIAL
            }
        };
        if is_kept { kept.push(backup) } else { gone.push(backup) }
    }
    let mut bytes: u64 = kept.iter().map(|backup| backup.size).sum();
    // The first backup of a day stands for the day, once its hours have gone.
    let mut days: HashMap<i64, Timestamp> = HashMap::new();
    for backup in &kept {
        days.insert(slot(backup.at, DAY), backup.at);
    }
    while bytes > BYTES && kept.len() > ALWAYS {
        let is_spare = |backup: &&Backup| {
            backup.reason == Reason::Hourly && days[&slot(backup.at, DAY)] != backup.at
        };
        // The newest, at 0, is never a candidate.
        let at = kept[1..].iter().rposition(is_spare).map_or(kept.len() - 1, |at| at + 1);
        let dropped = kept.remove(at);
        bytes -= dropped.size;
        gone.push(dropped);
    }
    gone.into_iter().cloned().collect()
}

/// The number of the hour or day that a time is in.
fn slot(at: Timestamp, length: Duration) -> i64 {
    let length = i64::try_from(length.as_micros()).unwrap_or(i64::MAX);
    at.as_micros().div_euclid(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_764_000_000_000_000;

    fn backup(hours_ago: f64, reason: Reason, size: u64) -> Backup {
        #[expect(clippy::cast_possible_truncation, reason = "a test's small numbers")]
        let at = Timestamp::from_micros(NOW - (hours_ago * 3.6e9) as i64);
        Backup { path: format!("{hours_ago}").into(), at, reason, size }
    }

    /// Backups made every hour for `days`, thinned out after each; what stays, in hours ago.
    fn after(days: u32, size: u64) -> Vec<Backup> {
        let mut kept: Vec<Backup> = Vec::new();
        for hour in (0..days * 24).rev() {
            kept.insert(0, backup(f64::from(hour), Reason::Hourly, size));
            let now = kept[0].at;
            let gone = superseded(&kept, now);
            kept.retain(|backup| !gone.contains(backup));
        }
        kept
    }

    #[test]
    fn a_month_leaves_a_day_of_hours_and_a_fortnight_of_days() {
        let kept = after(30, 1);
        let now = Timestamp::from_micros(NOW);
        let hours = kept.iter().filter(|backup| now.since(backup.at) <= DAY).count();
        assert!((24..=25).contains(&hours), "{hours}");
        let days = kept.len() - hours;
        assert!((12..=14).contains(&days), "{days}");
        assert!(kept.iter().all(|backup| now.since(backup.at) <= DAY * DAYS));
    }

    #[test]
    fn a_large_tracker_keeps_three_that_spread() {
        let kept = after(30, 1 << 30);
        let now = Timestamp::from_micros(NOW);
        assert_eq!(kept.len(), 3);
        assert_eq!(now.since(kept[0].at), Duration::ZERO);
        assert!(now.since(kept[2].at) > DAY, "{kept:?}");
        let bytes: u64 = after(30, 100 << 20).iter().map(|backup| backup.size).sum();
        assert!(bytes <= BYTES);
    }

    #[test]
    fn what_was_made_for_a_reason_stays_for_a_fortnight_and_the_newest_always() {
        let now = Timestamp::from_micros(NOW);
        let old = [backup(10_000.0, Reason::Manual, 1)];
        assert!(superseded(&old, now).is_empty());
        let many: Vec<Backup> =
            (0..50).map(|n| backup(f64::from(n) / 10.0, Reason::BeforeImport, 1)).collect();
        assert_eq!(many.len() - superseded(&many, now).len(), SPECIAL + 1);
        let two = [backup(0.0, Reason::Hourly, 1), backup(15.0 * 24.0, Reason::Replaced, 1)];
        assert_eq!(superseded(&two, now), [two[1].clone()]);
    }
}
