//! Durations as people write them in the configuration: `3600`, `90m`, `1h30m`, `1h 30m`, `500ms`.

use std::time::Duration;

/// Largest unit first, in the order of [`format_duration`]. `w` is only read.
const UNITS: [(&str, u64); 6] = [
    ("w", 604_800_000),
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

/// Parses a duration. A bare number counts seconds and may have a fraction.
///
/// # Errors
///
/// A text that says which forms are right.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong =
        || format!("'{text}' is no length of time; write seconds (3600) or units (90m, 1h30m)");
    let text_trimmed = text.trim();
    if text_trimmed.starts_with(|c: char| c.is_ascii_digit())
        && text_trimmed.ends_with(|c: char| c.is_ascii_digit())
        && let Ok(seconds) = text_trimmed.parse::<f64>()
    {
        return Duration::try_from_secs_f64(seconds).map_err(|_| wrong());
    }
    let mut rest = text_trimmed;
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = unit_millis(&rest[..letters]).ok_or_else(wrong)?;
        millis =
            number.checked_mul(unit).and_then(|part| millis.checked_add(part)).ok_or_else(wrong)?;
        rest = rest[letters..].trim_start();
    }
    if text_trimmed.is_empty() { Err(wrong()) } else { Ok(Duration::from_millis(millis)) }
}

fn unit_millis(word: &str) -> Option<u64> {
    let short = match word.to_ascii_lowercase().as_str() {
        "week" | "weeks" => "w",
        "day" | "days" => "d",
        "hour" | "hours" | "hr" | "hrs" => "h",
        "minute" | "minutes" | "min" | "mins" => "m",
        "second" | "seconds" | "sec" | "secs" => "s",
        other => return UNITS.iter().find(|(unit, _)| *unit == other).map(|(_, millis)| *millis),
    };
    UNITS.iter().find(|(unit, _)| *unit == short).map(|(_, millis)| *millis)
}

/// Writes a length of time so that [`parse_duration`] reads the same: `1h30m`, `45s`, `0s`.
pub(crate) fn format_duration(duration: Duration) -> String {
    let mut millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let mut text = String::new();
    for (unit, size) in &UNITS[1..] {
        if millis >= *size {
            text.push_str(&format!("{}{unit}", millis / size));
            millis %= size;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_units_are_read() {
        for (text, millis) in [
            ("3600", 3_600_000),
            ("1.5", 1_500),
            ("90m", 5_400_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("1 hour", 3_600_000),
            ("2d", 172_800_000),
            ("1w", 604_800_000),
            ("500ms", 500),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "h",
            "1x",
            "-5",
            "1h-",
            "5m3",
            "ten",
            "99999999999999999999h",
            "1e400",
            "inf",
            "nan",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["1h", "1h30m", "45s", "1d1ms", "0s"] {
            assert_eq!(format_duration(parse_duration(text).unwrap()), text);
        }
    }
}
