//! Texts made shorter.

/// The first bytes of a text, at most `max`, up to the end of a character.
pub fn head_bytes(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The last bytes of a text, at most `max`, from the beginning of a character.
pub fn tail_bytes(text: &str, max: usize) -> &str {
    let mut start = text.len().saturating_sub(max);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// The last lines of a text, at most `most`.
pub fn last_lines(text: &str, most: usize) -> impl Iterator<Item = &str> {
    text.lines().skip(text.lines().count().saturating_sub(most))
}

/// Splits a text longer than `max` bytes into the beginning and the end; a shorter text is returned
/// whole, with an empty end. Both parts are whole lines, except of longer lines.
pub fn head_and_tail(text: &str, max: usize) -> (&str, &str) {
    if text.len() <= max {
        return (text, "");
    }
    let (head, tail) = (head_bytes(text, max / 2), tail_bytes(text, max / 2));
    let head = head.rfind('\n').map_or(head, |at| &head[..=at]);
    let tail = tail.find('\n').map_or(tail, |at| &tail[at + 1..]);
    (head, tail)
}

/// Shortens a line to `width` characters: keeps the beginning and more of the end, since errors
/// stand at the end.
pub fn middle_out(line: &str, width: usize) -> String {
    let length = line.chars().count();
    if length <= width {
        return line.to_owned();
    }
    let kept = width.saturating_sub(1);
    let first = kept / 3;
    let head: String = line.chars().take(first).collect();
    let tail: String = line.chars().skip(length - (kept - first)).collect();
    if width == 0 { String::new() } else { format!("{head}…{tail}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_end_is_kept() {
        assert_eq!(middle_out("a short one", 20), "a short one");
        assert_eq!(middle_out("abcdefghijklmnop", 7), "ab…mnop");
        assert_eq!((middle_out("abc", 1), middle_out("abc", 0)), ("…".to_owned(), String::new()));
    }

    #[test]
    fn a_text_is_cut_between_characters_and_lines() {
        assert_eq!(
            (head_bytes("aé", 2), tail_bytes("éa", 2), head_bytes("a", 9), tail_bytes("a", 9)),
            ("a", "a", "a", "a")
        );
        assert_eq!(head_and_tail("a\nb\nc\nd\n", 20), ("a\nb\nc\nd\n", ""));
        assert_eq!(head_and_tail("aa\nbb\ncc\ndd\n", 8), ("aa\n", "dd\n"));
        assert_eq!(head_and_tail("éééé", 4), ("é", "é"));
    }
}
