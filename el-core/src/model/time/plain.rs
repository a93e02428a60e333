//! The form of nearly all times, from 1970 to 9998 in UTC: read and written without a calendar's
//! other cases, since lists and imports have hundreds of thousands of them. A test compares it with
//! jiff.

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// The first moment of 9999.
const END: i64 = 253_370_764_800 * SECOND;

/// The room for `2026-11-28T09:30:00.123456Z`.
pub(super) type Buffer = [u8; 27];

/// Writes a time; `None` if it is not of these years.
pub(super) fn write(micros: i64, out: &mut Buffer) -> Option<&str> {
    if !(0..END).contains(&micros) {
        return None;
    }
    let (year, month, day) = date_of(micros / DAY);
    let second = micros % DAY / SECOND;
    *out = *b"0000-00-00T00:00:00.000000Z";
    put(&mut out[0..4], year);
    put(&mut out[5..7], month);
    put(&mut out[8..10], day);
    put(&mut out[11..13], second / 3600);
    put(&mut out[14..16], second / 60 % 60);
    put(&mut out[17..19], second % 60);
    put(&mut out[20..26], micros % SECOND);
    let mut length = out.len();
    if micros % SECOND == 0 {
        length = 20;
    } else {
        while out[length - 2] == b'0' {
            length -= 1;
        }
    }
    out[length - 1] = b'Z';
    std::str::from_utf8(&out[..length]).ok()
}

/// Reads a time with `T` and `Z`; `None` if it has another form, or is not of these years.
pub(super) fn read(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (head, tail) = bytes.split_at_checked(19)?;
    let marks = [head[4], head[7], head[10], head[13], head[16]];
    if marks != *b"--T::" {
        return None;
    }
    let (year, month, day) = (get(&head[0..4])?, get(&head[5..7])?, get(&head[8..10])?);
    let (hour, minute, second) = (get(&head[11..13])?, get(&head[14..16])?, get(&head[17..19])?);
    let is_time = hour < 24 && minute < 60 && second < 60;
    if !(1970..9999).contains(&year) || !(1..=12).contains(&month) || !is_time {
        return None;
    }
    let days = days_to(year, month, day);
    // A day beyond the end of the month is a day of the next.
    if date_of(days) != (year, month, day) {
        return None;
    }
    let fraction = match tail.strip_suffix(b"Z")? {
        [] => 0,
        [b'.', digits @ ..] if (1..=9).contains(&digits.len()) => {
            let kept = &digits[..digits.len().min(6)];
            let scale = 10_i64.pow(6 - u32::try_from(kept.len()).ok()?);
            get(&digits[kept.len()..])?;
            get(kept)? * scale
        }
        _ => return None,
    };
    Some(days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND + fraction)
}

/// Writes a number with zeros before it.
fn put(out: &mut [u8], mut number: i64) {
    for digit in out.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// The number of nothing but digits.
fn get(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0'))
    })
}

/// Year, month and day of so many days after the first of 1970, counted from March, so that the day
/// of a leap year is the last (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The reverse of [`date_of`].
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_jiff(micros: i64) -> String {
        jiff::Timestamp::from_microsecond(micros).unwrap().to_string()
    }

    fn parsed_by_jiff(text: &str) -> Option<i64> {
        text.parse::<jiff::Timestamp>().ok().map(|time| time.as_microsecond())
    }

    #[test]
    fn the_ends_of_months_and_years_are_those_of_the_calendar() {
        for days in (0..40_000).chain(2_932_000..2_932_531) {
            for micros in [days * DAY, (days + 1) * DAY - 1] {
                let mut buffer = Buffer::default();
                assert_eq!(write(micros, &mut buffer), Some(&*by_jiff(micros)));
                assert_eq!(read(&by_jiff(micros)), Some(micros));
            }
        }
        for micros in [-1, END, i64::MIN, i64::MAX] {
            assert_eq!(write(micros, &mut Buffer::default()), None);
        }
    }

    #[test]
    fn what_is_read_is_what_jiff_reads() {
        for text in [
            "2025-02-29T00:00:00Z",
            "2024-02-29T00:00:00Z",
            "2025-13-01T00:00:00Z",
            "2025-00-01T00:00:00Z",
            "2025-04-31T00:00:00Z",
            "2025-04-00T00:00:00Z",
            "2025-04-01T24:00:00Z",
            "2025-04-01T23:59:60Z",
            "2025-04-01T23:59:59.Z",
            "2025-04-01T23:59:59.1234567891Z",
            "2025-04-01T23:59:59.123456789Z",
            "2025-04-01T23:59:59.12345x789Z",
            "2025-04-01T23:59:59.1234567+9Z",
            "2025-04-01 23:59:59Z",
            "2025-04-01t23:59:59z",
            "2025-04-01T23:59:59+01:00",
            "2025-04-01T23:59:59",
            "2025-04-01",
            "1969-12-31T23:59:59.999Z",
            "9999-01-01T00:00:00Z",
            "+025-04-01T23:59:59Z",
            "",
        ] {
            if let Some(micros) = read(text) {
                assert_eq!(Some(micros), parsed_by_jiff(text), "{text}");
            }
        }
        assert_eq!(read("2025-11-28T02:00:00.123456Z"), Some(1_764_295_200_123_456));
    }

    proptest! {
        #[test]
        fn any_time_is_written_as_jiff_writes_it(micros in 0..END) {
            let mut buffer = Buffer::default();
            let text = write(micros, &mut buffer).unwrap();
            prop_assert_eq!(text, by_jiff(micros));
            prop_assert_eq!(read(text), Some(micros));
        }

        #[test]
        fn any_text_is_read_as_jiff_reads_it(
            date in "[0-9]{4}-[01][0-9]-[0-3][0-9]",
            time in "[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?",
        ) {
            let text = format!("{date}T{time}Z");
            if let Some(micros) = read(&text) {
                prop_assert_eq!(Some(micros), parsed_by_jiff(&text));
            }
        }
    }
}
