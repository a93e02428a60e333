//! Makes foreign text safe for a terminal: text of an agent, a tool or an atom must not move the
//! cursor, change the title, or write into the clipboard.

/// The text without control codes: escape sequences are taken out whole, other controls and the
/// marks that turn the direction of writing are dropped; tabs and newlines stay, a carriage return
/// becomes a newline.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' => clean.push(char),
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    clean.push('\n');
                }
            }
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_csi(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            char if char.is_control() || turns_direction(char) => {}
            char => clean.push(char),
        }
    }
    clean
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

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        // Operating system command, device control, start of string, privacy message, application
        // command.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|char| matches!(char, ' '..='/')).is_some() {}
            chars.next_if(|char| matches!(char, '0'..='~'));
        }
        Some('0'..='~') => drop(chars.next()),
        _ => {}
    }
}

/// Skips parameters, intermediates and a final character; stops early at any other character.
fn skip_csi(chars: &mut Chars<'_>) {
    while chars.next_if(|char| matches!(char, ' '..='?')).is_some() {}
    chars.next_if(|char| matches!(char, '@'..='~'));
}

/// Skips to the terminator, or to the end of the line if the line has no terminator: an endless
/// sequence must not swallow the rest.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(char) = chars.next_if(|char| *char != '\n') {
        match char {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

fn turns_direction(char: char) -> bool {
    matches!(
        char,
        '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
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
            ("\x1b]never ends\nnext line", "\nnext line"),
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
                    matches!(char, '\n' | '\t') || !(char.is_control() || turns_direction(char)),
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
