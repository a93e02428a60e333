//! Makes foreign text safe to show. Atom text, agent output and file names are data: control
//! sequences and hidden characters are removed before a person sees the text.

use std::borrow::Cow;

pub(crate) use el_core::text::is_deceptive;
use unicode_width::UnicodeWidthStr;

/// Makes a text safe in a single line: control sequences are removed; line breaks and tabs become
/// spaces.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if text.bytes().all(is_plain_byte) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(el_core::text::sanitize_line(text))
    }
}

/// Makes a text of several lines safe: tabs and line breaks stay; `\r\n` and `\r` become `\n`.
pub(crate) fn multi_line(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| is_plain_byte(byte) || byte == b'\n' || byte == b'\t') {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(el_core::text::sanitize(text))
    }
}

/// A path in a single line, safe to show.
pub(crate) fn path_line(path: &std::path::Path) -> String {
    one_line(&path.display().to_string()).into_owned()
}

/// Cuts the text to `columns`, with `…` at the end. The text must come from [`one_line`].
pub(crate) fn truncate_to(text: &str, columns: usize) -> Cow<'_, str> {
    if text.width() <= columns {
        return Cow::Borrowed(text);
    }
    if columns == 0 {
        return Cow::Borrowed("");
    }
    let mut fits = 0;
    for (start, character) in text.char_indices() {
        let end = start + character.len_utf8();
        // Bounds the work for a cell that is stuffed with combining marks.
        if end > columns * 16 + 64 || text[..end].width() > columns - 1 {
            break;
        }
        fits = end;
    }
    Cow::Owned(format!("{}…", text[..fits].trim_end()))
}

/// The display width of a line, not counting colour codes.
pub(crate) fn display_width(text: &str) -> usize {
    one_line(text).width()
}

/// Returns true for printable ASCII.
fn is_plain_byte(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(one_line("fix the parser"), Cow::Borrowed(_)));
        assert!(matches!(multi_line("one\n\ttwo"), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_titles_and_cursor_moves_are_dropped() {
        assert_eq!(one_line("\x1b[31mred\x1b[0m"), "red");
        assert_eq!(one_line("\x1b]0;owned\x07title"), "title");
        assert_eq!(one_line("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\"), "link");
        assert_eq!(one_line("a\x1b[2J\x1b[1;1Hb"), "ab");
        assert_eq!(one_line("\x1b(Bx\x1bcy\x1b7z"), "xyz");
        assert_eq!(one_line("\u{9b}31mred \u{9d}0;t\u{9c}end"), "red end");
    }

    #[test]
    fn an_unterminated_control_string_hides_nothing() {
        assert_eq!(one_line("\x1b]0;the rest stays"), "0;the rest stays");
        assert_eq!(one_line("ends with \x1b"), "ends with ");
        assert_eq!(one_line("\x1bé"), "é");
    }

    #[test]
    fn line_breaks_stay_only_in_blocks() {
        assert_eq!(one_line("a\r\nb\tc\rd"), "a b c d");
        assert_eq!(multi_line("a\r\nb\tc\rd\u{2028}e\x07"), "a\nb\tc\nd\ne");
    }

    #[test]
    fn reordering_and_invisible_characters_are_dropped() {
        assert_eq!(one_line("user\u{202e}txt.exe"), "usertxt.exe");
        assert_eq!(one_line("\u{feff}a\u{2066}b\u{2069}\u{e0041}"), "ab");
        assert_eq!(one_line("family 👩‍👩‍👧 ok"), "family 👩‍👩‍👧 ok");
    }

    #[test]
    fn truncation_counts_columns_not_bytes() {
        assert_eq!(truncate_to("short", 5), "short");
        assert_eq!(truncate_to("longer", 5), "long…");
        assert_eq!(truncate_to("漢字漢字", 5), "漢字…");
        assert_eq!(truncate_to("漢字漢字", 4), "漢…");
        assert_eq!(truncate_to("one two", 5), "one…");
        assert_eq!(truncate_to("x", 0), "");
    }

    #[test]
    fn a_tower_of_combining_marks_is_cut() {
        let tower = format!("a{}b tail", "\u{301}".repeat(10_000));
        assert!(truncate_to(&tower, 5).len() < 300);
    }
}
