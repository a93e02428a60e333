//! Makes foreign text safe for a terminal: text of an agent, a tool or an atom must not move the
//! cursor, change the title, or write into the clipboard.

/// The most bytes that an unterminated control string (an OSC without an end) hides. Past the limit
/// only the introducer is dropped, so that a stray byte cannot swallow a whole text.
const LONGEST_CONTROL_STRING: usize = 4096;

/// The text without control codes: escape sequences are taken out whole, other controls and
/// characters that hide or reorder others are dropped; tabs and newlines stay, a carriage return
/// and the separators of lines become a newline.
#[must_use]
pub fn sanitize(text: &str) -> String {
    strip_control_codes(text, ['\n', '\t'])
}

/// Sanitises a text as a single line: line breaks and tabs become spaces.
#[must_use]
pub fn sanitize_line(text: &str) -> String {
    strip_control_codes(text, [' ', ' '])
}

/// Returns the text as a single line of at most `width` characters: sanitised, white space folded,
/// cut with `…`.
#[must_use]
pub fn one_line(text: &str, width: usize) -> String {
    // Only as much as can be seen is looked at; control codes take little of it.
    let start: String = text.chars().take(width.saturating_mul(8).saturating_add(256)).collect();
    cut_width(&fold_line(&start), width)
}

/// Returns the text as a single line of any length: sanitised, white space folded.
#[must_use]
pub fn fold_line(text: &str) -> String {
    sanitize(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most `width` characters; the last is `…` if there were more.
pub fn cut_width(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let mut short: String = line.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        short.push('…');
    }
    short
}

/// Characters that reorder or hide the surrounding text: bidirectional controls, tags, the byte
/// order mark.
pub fn is_deceptive(character: char) -> bool {
    matches!(character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn strip_control_codes(text: &str, [newline, tab]: [char; 2]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = after;
        match character {
            '\r' => {
                rest = after.strip_prefix('\n').unwrap_or(after);
                out.push(newline);
            }
            '\n' | '\u{2028}' | '\u{2029}' => out.push(newline),
            '\t' => out.push(tab),
            '\u{1b}' => rest = skip_escape(after),
            '\u{9b}' => rest = skip_csi(after),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => rest = skip_string(after),
            _ if character.is_control() || is_deceptive(character) => {}
            _ => out.push(character),
        }
    }
    out
}

/// Skips the rest of an escape sequence: a CSI sequence, a control string, or intermediates and a
/// final byte.
fn skip_escape(text: &str) -> &str {
    match text.chars().next() {
        Some('[') => skip_csi(&text[1..]),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(&text[1..]),
        _ => {
            let rest = text.trim_start_matches(|c| matches!(c, ' '..='/'));
            match rest.chars().next() {
                Some('0'..='~') => &rest[1..],
                // This is no sequence: only the ESC itself is dropped.
                _ => text,
            }
        }
    }
}

/// Skips parameter bytes, intermediate bytes and the final byte.
fn skip_csi(text: &str) -> &str {
    let rest = text.trim_start_matches(|c| matches!(c, '0'..='?'));
    let rest = rest.trim_start_matches(|c| matches!(c, ' '..='/'));
    match rest.chars().next() {
        Some('@'..='~') => &rest[1..],
        _ => rest,
    }
}

/// Skips to BEL, ST or ESC-backslash. If the end is missing, nothing more is dropped.
fn skip_string(text: &str) -> &str {
    let mut previous = '\0';
    for (start, character) in text.char_indices() {
        if start > LONGEST_CONTROL_STRING {
            break;
        }
        let ended = match character {
            '\u{07}' | '\u{9c}' => true,
            '\\' => previous == '\u{1b}',
            _ => false,
        };
        if ended {
            return &text[start + character.len_utf8()..];
        }
        previous = character;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_are_taken_out_whole() {
        for (dirty, clean) in [
            ("a\x1b[31mred\x1b[0m b", "ared b"),
            ("\x1b[2J\x1b[1;1Hx", "x"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]52;c;c2VjcmV0\x1b\\x", "x"),
            ("\x1bPq...\x1b\\x", "x"),
            ("\x1b(Bx\x1b=y\x1bcz", "xyz"),
            ("\u{9b}31mx\u{9d}0;t\u{9c}y", "xy"),
            ("x\x1b", "x"),
            ("x\x1b[", "x"),
            ("\x1b]never ends\nnext line", "never ends\nnext line"),
            ("\x1b[38;5\nx", "\nx"),
        ] {
            assert_eq!(sanitize(dirty), clean, "{dirty:?}");
        }
    }

    #[test]
    fn text_of_any_language_stays_and_layout_too() {
        let text = "tab\there\nüber 日本語 👩‍👩‍👧 e\u{301}";
        assert_eq!(sanitize(text), text);
        assert_eq!(sanitize("a\r\nb\rc"), "a\nb\nc");
        assert_eq!(sanitize("a\x00b\x08c\x7fd\u{85}e"), "abcde");
        assert_eq!(sanitize("user\u{202e}gpj.exe"), "usergpj.exe");
    }

    #[test]
    fn one_line_is_one_line_of_its_width() {
        assert_eq!(one_line("  a\n\n b\t c ", 20), "a b c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(one_line("日本語日本語", 3), "日本…");
        assert_eq!(one_line("abc", 0), "");
        assert_eq!(one_line(&"x".repeat(1 << 20), 4), "xxx…");
    }

    proptest! {
        #[test]
        fn nothing_that_controls_a_terminal_is_left(text in any::<String>(), width in 0_usize..50) {
            for char in sanitize(&text).chars() {
                prop_assert!(
                    matches!(char, '\n' | '\t') || !(char.is_control() || is_deceptive(char)),
                    "{char:?}"
                );
            }
            prop_assert_eq!(sanitize(&sanitize(&text)), sanitize(&text));
            let line = one_line(&text, width);
            prop_assert!(line.chars().count() <= width && !line.contains('\n'));
        }

        #[test]
        fn sequences_of_escapes_are_sanitised(
            text in "[\\x1b\\[\\]P\\\\0-9;mH\\x07a\\n\u{9b}\u{9d}\u{9c}]{0,40}",
        ) {
            let left = sanitize(&text).contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{9c}', '\u{9d}']);
            prop_assert!(!left);
        }
    }
}
