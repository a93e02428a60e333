//! Times for people: ages, spans, and local times.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use el_core::model::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use crate::settings::duration;
use crate::{CommandError, Result};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// `3m ago`, `in 2d`, `now`; a date if the time is more than eight weeks away.
pub(crate) fn relative_time(now: Timestamp, then: Timestamp) -> String {
    let seconds = then.as_secs().saturating_sub(now.as_secs());
    let size = seconds.saturating_abs();
    if size < 5 {
        return "now".to_owned();
    }
    let text = match size {
        _ if size < MINUTE => format!("{size}s"),
        _ if size < HOUR => format!("{}m", size / MINUTE),
        _ if size < DAY => format!("{}h", size / HOUR),
        _ if size < 14 * DAY => format!("{}d", size / DAY),
        _ if size < 56 * DAY => format!("{}w", size / (7 * DAY)),
        _ => return local_time(then).chars().take(10).collect(),
    };
    if seconds < 0 { format!("{text} ago") } else { format!("in {text}") }
}

/// A span: `0.4s`, `42s`, `3m 05s`, `2h 10m`, `3d 4h`.
pub(crate) fn format_span(duration: Duration) -> String {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match seconds {
        0..10 => format!("{:.1}s", duration.as_secs_f64()),
        10..60 => format!("{seconds}s"),
        _ if seconds < HOUR => format!("{}m {:02}s", seconds / MINUTE, seconds % MINUTE),
        _ if seconds < DAY => format!("{}h {:02}m", seconds / HOUR, seconds % HOUR / MINUTE),
        _ => format!("{}d {}h", seconds / DAY, seconds % DAY / HOUR),
    }
}

/// A span that is known in whole seconds: `<1s`, `4s`, `3m 05s`.
pub(crate) fn format_seconds(seconds: u64) -> String {
    match seconds {
        0 => "<1s".to_owned(),
        1..10 => format!("{seconds}s"),
        _ => format_span(Duration::from_secs(seconds)),
    }
}

/// `2026-11-28 09:30 CET` in the machine's zone, or in the zone of `TZ`.
pub(crate) fn local_time(time: Timestamp) -> String {
    match jiff::Timestamp::from_microsecond(time.as_micros()) {
        Ok(stamp) => {
            stamp.to_zoned_datetime(local_zone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
        }
        Err(_) => time.to_string(),
    }
}

/// How many minutes local clocks are ahead of UTC at a time.
pub(crate) fn minutes_ahead(time: Timestamp) -> i32 {
    jiff::Timestamp::from_microsecond(time.as_micros())
        .map_or(0, |stamp| local_zone().to_offset(stamp).seconds() / 60)
}

/// The system's zone, or UTC if the zone is unknown.
fn local_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| {
        zone_of_file().or_else(|| TimeZone::try_system().ok()).unwrap_or(TimeZone::UTC)
    })
    .clone()
}

/// Reads the zone from the zone's file. jiff would list all folders of zones for a name that is not
/// printed here, by a hundred system calls. `None` for a zone that only jiff can read.
fn zone_of_file() -> Option<TimeZone> {
    let file = match std::env::var_os("TZ") {
        None => PathBuf::from("/etc/localtime"),
        Some(name) => Path::new("/usr/share/zoneinfo").join(name),
    };
    TimeZone::tzif("", &fs::read(file).ok()?).ok()
}

/// `09:30` in the machine's zone, with the date if not today.
pub(crate) fn time_of_day(now: Timestamp, time: Timestamp) -> String {
    let (today, then) = (local_time(now), local_time(time));
    match then.split_once(' ') {
        Some((date, clock)) if today.starts_with(date) => clock.to_owned(),
        _ => then,
    }
}

/// The direction of a bare span such as `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    Past,
    Future,
}

/// Parses a time as people type times: RFC 3339, a date, a local date and time, `today`,
/// `tomorrow`, `yesterday`, or a span (`7d`, `3h`, `in 2d`, `2d ago`).
pub(crate) fn parse_time(
    field: &str,
    text: &str,
    now: Timestamp,
    towards: Towards,
) -> Result<Timestamp> {
    let wrong =
        |what: &str| CommandError::invalid_value(field, format!("{field}: '{text}' is {what}"));
    match parse_in(text, now, towards, &local_zone()) {
        Some(time) if is_in_calendar(time) => Ok(time),
        Some(_) => Err(wrong("further away than el reckons: its years end with 9999")),
        None => Err(wrong("no time that el can read").with_hint(
            "give a date (2026-12-01), a time (2026-12-01T09:30 or with Z), a span (3h, 7d, 2w), \
             or today, tomorrow, yesterday",
        )),
    }
}

/// Returns true if the time can be printed exactly, and read again.
fn is_in_calendar(time: Timestamp) -> bool {
    jiff::Timestamp::from_microsecond(time.as_micros()).is_ok()
}

/// A time beyond the calendar's ends is the last or first that can be counted.
fn parse_in(text: &str, now: Timestamp, towards: Towards, zone: &TimeZone) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp::from_micros(stamp.as_microsecond()));
    }
    let today = jiff::Timestamp::from_microsecond(now.as_micros())
        .ok()?
        .to_zoned_datetime(zone.clone())
        .date();
    let midnight = |date: Date| date.to_datetime(Time::midnight());
    let civil = match text.to_ascii_lowercase().as_str() {
        "now" => return Some(now),
        "today" => Some(midnight(today)),
        "tomorrow" => Some(midnight(today.tomorrow().ok()?)),
        "yesterday" => Some(midnight(today.yesterday().ok()?)),
        lower => {
            if let Some(time) = parse_span(lower, now, towards) {
                return Some(time);
            }
            // A bare time of day or a malformed text is neither.
            text.parse::<DateTime>().ok()
        }
    };
    let civil = civil?;
    let beyond = if civil.year() < 0 { i64::MIN } else { i64::MAX };
    let micros = civil
        .to_zoned_datetime(zone.clone())
        .map_or(beyond, |zoned| zoned.timestamp().as_microsecond());
    Some(Timestamp::from_micros(micros))
}

fn parse_span(text: &str, now: Timestamp, towards: Towards) -> Option<Timestamp> {
    let (text, towards) =
        if let Some(span) = text.strip_prefix("in ").or_else(|| text.strip_prefix('+')) {
            (span, Towards::Future)
        } else if let Some(span) = text.strip_suffix(" ago") {
            (span, Towards::Past)
        } else {
            (text, towards)
        };
    // A bare number is no span here, unlike in the configuration.
    if !text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let span = duration::parse_duration(text).ok()?;
    Some(match towards {
        Towards::Past => now.minus(span),
        Towards::Future => now.plus(span),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_764_295_200_000_000); // 2025-11-28T02:00:00Z

    fn after(seconds: i64) -> Timestamp {
        Timestamp::from_micros(NOW.as_micros() + seconds * 1_000_000)
    }

    #[test]
    fn relative_times_use_the_largest_unit_that_fits() {
        for (seconds, want) in [
            (0, "now"),
            (-42, "42s ago"),
            (-3 * MINUTE - 20, "3m ago"),
            (-5 * HOUR, "5h ago"),
            (2 * DAY, "in 2d"),
            (-20 * DAY, "2w ago"),
        ] {
            assert_eq!(relative_time(NOW, after(seconds)), want);
        }
        assert_eq!(relative_time(NOW, after(-100 * DAY)).len(), 10);
        assert!(!relative_time(NOW, Timestamp::from_micros(i64::MIN)).is_empty());
    }

    #[test]
    fn spans_keep_two_units() {
        assert_eq!(format_span(Duration::from_millis(420)), "0.4s");
        assert_eq!([0, 4, 185].map(format_seconds), ["<1s", "4s", "3m 05s"]);
        assert_eq!(format_span(Duration::from_secs(185)), "3m 05s");
        assert_eq!(format_span(Duration::from_secs(7_800)), "2h 10m");
        assert_eq!(format_span(Duration::from_secs(90_000)), "1d 1h");
    }

    #[test]
    fn people_may_type_times_in_several_ways() {
        let parse = |text: &str, towards| {
            parse_in(text, NOW, towards, &TimeZone::UTC).map(|t| t.to_string())
        };
        let future = |text: &str| parse(text, Towards::Future);
        assert_eq!(future("2025-12-01").as_deref(), Some("2025-12-01T00:00:00Z"));
        assert_eq!(future("2025-12-01T09:30").as_deref(), Some("2025-12-01T09:30:00Z"));
        assert_eq!(future("2025-12-01 09:30:15").as_deref(), Some("2025-12-01T09:30:15Z"));
        assert_eq!(future("2025-12-01T09:30:00+01:00").as_deref(), Some("2025-12-01T08:30:00Z"));
        assert_eq!(future("tomorrow").as_deref(), Some("2025-11-29T00:00:00Z"));
        assert_eq!(future("2d").as_deref(), Some("2025-11-30T02:00:00Z"));
        assert_eq!(future("+3h").as_deref(), Some("2025-11-28T05:00:00Z"));
        assert_eq!(future("2d ago").as_deref(), Some("2025-11-26T02:00:00Z"));
        assert_eq!(parse("7d", Towards::Past).as_deref(), Some("2025-11-21T02:00:00Z"));
        for far in ["9999-12-31", "9999-12-31T23:59", "300000000d"] {
            let time = parse_in(far, NOW, Towards::Future, &TimeZone::UTC);
            assert!(!is_in_calendar(time.expect("it is a time")), "{far}");
        }
        assert_eq!(future("9999-12-30").as_deref(), Some("9999-12-30T00:00:00Z"));
        assert_eq!(future("12"), None);
        assert_eq!(future("banana"), None);
        assert_eq!(future(""), None);
    }
}
