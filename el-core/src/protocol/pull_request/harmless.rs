//! Words of agents, made so that a forge does nothing with them.

/// Comes between two characters that a forge would read together. It has no width.
const BREAK: char = '\u{200b}';

/// The part before the number in the address of an issue, a request or a discussion.
const REFERENCES: [&str; 5] =
    ["/issues", "/pull", "/merge_requests", "/discussions", "/work_items"];

/// Returns a line in which nobody is named, no issue is closed or linked, and no HTML and no image
/// is shown.
///
/// No reference of an issue remains, so that no closing word in any form or language closes one.
/// Entities are written out, since a forge looks for names and references in what the Markdown
/// became.
#[must_use]
pub fn make_harmless(line: &str) -> String {
    rewrite(line, true)
}

/// Makes a title harmless, which a forge shows without Markdown: `Vec<u8>` stays as it is.
#[must_use]
pub fn make_title_harmless(line: &str) -> String {
    rewrite(line, false)
}

fn rewrite(line: &str, is_markup: bool) -> String {
    let mut out = String::with_capacity(line.len());
    let characters: Vec<char> = line.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        let next = characters.get(at + 1).copied().unwrap_or(' ');
        match character {
            '<' if is_markup => out.push_str("&lt;"),
            '&' if is_markup && (next == '#' || next.is_ascii_alphabetic()) => {
                out.push_str("&amp;");
            }
            '!' if is_markup && next == '[' => out.push_str("!\\"),
            // References of GitLab, and its commands: `/merge` at the begin of a line.
            '!' | '&' if next.is_ascii_digit() => {
                out.push(character);
                out.push(BREAK);
            }
            '/' if is_markup && at == 0 && next.is_ascii_alphabetic() => {
                out.push(character);
                out.push(BREAK);
            }
            '@' | '#' => {
                out.push(character);
                if next.is_alphanumeric() {
                    out.push(BREAK);
                }
            }
            // `GH-12`, and an address that ends with /issues/12.
            '-' if next.is_ascii_digit() && ends_with(&out, &["gh"]) => {
                out.push(character);
                out.push(BREAK);
            }
            '/' if next.is_ascii_digit() && ends_with(&out, &REFERENCES) => {
                out.push(character);
                out.push(BREAK);
            }
            _ => out.push(character),
        }
    }
    out
}

fn ends_with(text: &str, endings: &[&str]) -> bool {
    let tail: String = text.chars().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
    let tail = tail.to_ascii_lowercase();
    endings.iter().any(|ending| tail.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_forge_acts_on_is_broken() {
        for (said, shown) in [
            ("@everyone", "@\u{200b}everyone"),
            ("Fixes: #12", "Fixes: #\u{200b}12"),
            ("closes acme/shop#3", "closes acme/shop#\u{200b}3"),
            ("resolves GH-4", "resolves GH-\u{200b}4"),
            ("closes https://h/o/r/issues/5", "closes https://h/o/r/issues/\u{200b}5"),
            ("<script>", "&lt;script>"),
            ("&#64;ann &#x23;1 &num;1", "&amp;#\u{200b}64;ann &amp;#\u{200b}x23;1 &amp;num;1"),
            ("![a](b)", "!\\[a](b)"),
            ("/merge now", "/\u{200b}merge now"),
            ("see !12 and &3", "see !\u{200b}12 and &\u{200b}3"),
            ("closes h/o/r/-/work_items/5", "closes h/o/r/-/work_items/\u{200b}5"),
            ("a & b, x-1, v/2", "a & b, x-1, v/2"),
        ] {
            assert_eq!(make_harmless(said), shown);
        }
        let title = "Return Vec<u8> & @ann, fixes #1";
        assert_eq!(make_title_harmless(title), "Return Vec<u8> & @\u{200b}ann, fixes #\u{200b}1");
    }

    proptest! {
        #[test]
        fn no_name_no_reference_and_no_tag_remains(
            line in "([@#<&! -/]|GH-|/issues/|closes |[a-z0-9;\\[\\]()]){0,40}"
        ) {
            let shown = make_harmless(&line);
            let all: Vec<char> = shown.chars().collect();
            for pair in all.windows(2) {
                prop_assert!(!(pair[0] == '@' && pair[1].is_alphanumeric()), "{}", shown);
                prop_assert!(!(pair[0] == '#' && pair[1].is_ascii_digit()), "{}", shown);
                prop_assert!(!(pair[0] == '!' && pair[1] == '['), "{}", shown);
            }
            prop_assert!(!shown.contains('<'));
        }
    }
}
