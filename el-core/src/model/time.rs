use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Error, Result};

mod plain;

/// A moment, in microseconds since the Unix epoch, UTC. Printed and read as RFC 3339.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Converts microseconds since the epoch. Values beyond jiff's calendar are printed as the
    /// first or last moment of the calendar.
    pub const fn from_micros(micros: i64) -> Self {
        Timestamp(micros)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch.
    pub const fn as_secs(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// Parses an RFC 3339 time such as `2026-11-28T09:30:00Z`.
    ///
    /// # Errors
    ///
    /// If the text is no time.
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(micros) = plain::read(text.trim()) {
            return Ok(Timestamp(micros));
        }
        let stamp: jiff::Timestamp = text.trim().parse().map_err(|_| {
            Error::invalid(
                "time",
                format!("'{text}' is not an RFC 3339 time, such as 2026-11-28T09:30:00Z"),
            )
        })?;
        Ok(Timestamp(stamp.as_microsecond()))
    }

    /// Formats the time as JavaScript does, for the protocols of other programs:
    /// `2024-01-01T00:00:00.000Z`.
    pub fn to_millis_text(self) -> String {
        let millis = Timestamp(self.0.div_euclid(1000).saturating_mul(1000));
        let text = millis.to_string();
        let (whole, fraction) =
            text.trim_end_matches('Z').split_once('.').unwrap_or((text.trim_end_matches('Z'), ""));
        format!("{whole}.{fraction:0<3.3}Z")
    }

    /// Returns a later time.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Timestamp(self.0.saturating_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Returns an earlier time.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Timestamp(self.0.saturating_sub(i64::try_from(by.as_micros()).unwrap_or(i64::MAX)))
    }

    /// Returns the time since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let micros = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
        };
        Timestamp(micros)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buffer = plain::Buffer::default();
        if let Some(text) = plain::write(self.0, &mut buffer).filter(|_| f.precision().is_none()) {
            return f.write_str(text);
        }
        let stamp = jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        });
        fmt::Display::fmt(&stamp, f)
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match plain::write(self.0, &mut plain::Buffer::default()) {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

impl schemars::JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Timestamp::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_and_reads_rfc_3339_in_utc() {
        let t = Timestamp::from_micros(1_764_295_200_123_456);
        assert_eq!(t.to_string(), "2025-11-28T02:00:00.123456Z");
        assert_eq!(Timestamp::parse(&t.to_string()).unwrap(), t);
        assert_eq!(Timestamp::parse("2025-11-28T03:00:00.123456+01:00").unwrap(), t);
        assert!(Timestamp::parse("tomorrow").is_err());
    }

    #[test]
    fn milliseconds_have_three_digits() {
        for (micros, want) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (1_500_000, "1970-01-01T00:00:01.500Z"),
            (12_345, "1970-01-01T00:00:00.012Z"),
        ] {
            assert_eq!(Timestamp::from_micros(micros).to_millis_text(), want);
        }
        assert!(!Timestamp::from_micros(i64::MIN).to_millis_text().is_empty());
    }

    #[test]
    fn extreme_values_print_without_a_panic() {
        for micros in [i64::MIN, -1, 0, i64::MAX] {
            assert!(!Timestamp::from_micros(micros).to_string().is_empty());
        }
        assert_eq!(Timestamp::from_micros(5).since(Timestamp::from_micros(9)), Duration::ZERO);
    }
}
