//! PostgreSQL's `numeric` as it is sent: the type of its sums of whole numbers.

/// The whole part of a number in the binary format: the count of digits, the weight of the first,
/// the sign, the scale, and the digits to the base 10,000. `None` if it is none, or too large.
pub(super) fn whole_part(raw: &[u8]) -> Option<i64> {
    let word = |at: usize| Some(i16::from_be_bytes(raw.get(at * 2..at * 2 + 2)?.try_into().ok()?));
    let (count, weight) = (word(0)?, word(1)?);
    let is_negative = match word(2)?.cast_unsigned() {
        0x0000 => false,
        0x4000 => true,
        _ => return None,
    };
    let mut whole: i64 = 0;
    for place in 0..=weight {
        let digit = if place < count { word(4 + usize::try_from(place).ok()?)? } else { 0 };
        // Below zero from the beginning, since the least number has no positive counterpart.
        whole = whole.checked_mul(10_000)?.checked_sub(i64::from(digit))?;
    }
    if is_negative { Some(whole) } else { whole.checked_neg() }
}

#[cfg(test)]
mod tests {
    use super::whole_part;

    fn number(weight: i16, sign: u16, digits: &[i16]) -> Vec<u8> {
        let count = i16::try_from(digits.len()).unwrap();
        let head = [count, weight, sign.cast_signed(), 0];
        head.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_sum_is_read_as_the_number_that_it_is() {
        assert_eq!(whole_part(&number(0, 0, &[])), Some(0));
        assert_eq!(whole_part(&number(0, 0, &[7])), Some(7));
        assert_eq!(whole_part(&number(1, 0, &[3])), Some(30_000), "zeros at the end are not sent");
        assert_eq!(whole_part(&number(1, 0x4000, &[12, 3456])), Some(-123_456));
        assert_eq!(whole_part(&number(-1, 0, &[5000])), Some(0), "half");
        let least = number(4, 0x4000, &[922, 3372, 368, 5477, 5808]);
        assert_eq!(whole_part(&least), Some(i64::MIN));
        assert_eq!(whole_part(&number(4, 0, &[922, 3372, 368, 5477, 5808])), None);
        assert_eq!(whole_part(&number(0, 0xc000, &[])), None, "not a number");
        assert_eq!(whole_part(&[0, 1]), None);
    }
}
