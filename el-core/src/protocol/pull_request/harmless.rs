//! Words of agents, made so that a forge does nothing with them.

/// Comes between two characters that a forge would read together. It has no width.
const BREAK: char = '\u{200b}';

/// The part before the number in the address of something that can be referred to.
const PLACES: [&str; 9] = [
    "/issues",
    "/work_items",
    "/incident",
    "/epics",
    "/pull",
    "/merge_requests",
    "/discussions",
    "/milestones",
    "/snippets",
];
/// Names of standards, ciphers, licences and lists of flaws, which look like the key of a tracker,
/// and which hardly any tracker has for one: `UTF-8`. They stay whole, since people copy them, and
/// an invisible character in `UTF-8` or `GPL-3.0` breaks what it is pasted into. At worst, a
/// tracker that has a project of such a name gets a link. Every other `KEY-12` is broken: there a
/// tracker would link, or close, an issue.
const STANDARDS: [&str; 28] = [
    "AES", "AGPL", "ANSI", "BSD", "CRC", "CVE", "CWE", "ECMA", "EUPL", "FIPS", "GPL", "HMAC",
    "HTTP", "IEC", "IEEE", "ISO", "LGPL", "MPL", "PEP", "PKCS", "RFC", "RSA", "SHA", "SHA3", "TLS",
    "UCS", "UTF", "WCAG",
];

/// Returns a line in which nobody is named, no issue is closed or linked, and no HTML and no image
/// is shown, by GitHub and GitLab.
///
/// No reference of an issue remains, so that no closing word in any form or language closes one.
/// Entities and escapes are written out, since a forge looks for names and references in what the
/// Markdown became.
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
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied().unwrap_or(' ');
        match character {
            '<' if is_markup => out.push_str("&lt;"),
            '&' if is_markup && (next == '#' || next.is_ascii_alphabetic()) => {
                out.push_str("&amp;");
            }
            '!' if is_markup && next == '[' => out.push_str("!\\"),
            _ => {
                out.push(character);
                let is_command = is_markup && out == "/" && next.is_ascii_alphabetic();
                let is_escape = is_markup && character == '\\' && next.is_ascii_punctuation();
                if is_command || is_escape || is_read_together(&out, next) {
                    out.push(BREAK);
                }
            }
        }
    }
    out
}

/// Returns true if a forge would read the end of a text together with what follows.
fn is_read_together(text: &str, next: char) -> bool {
    let Some(last) = text.chars().next_back() else { return false };
    let before = || {
        let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
        &word[..word.len() - last.len_utf8()]
    };
    let is_name = next.is_alphanumeric() || next == '_' || next == '"';
    match last {
        '@' => !next.is_whitespace(),
        '#' => next.is_alphanumeric(),
        // A merge request, an epic, a snippet.
        '!' | '&' | '$' => next.is_ascii_digit(),
        // A milestone, a label; `%20` in an address is neither.
        '%' | '~' => is_name && !before().contains("://"),
        // `PROJ-12`, `GH-12`.
        '-' => next.is_ascii_digit() && ends_with_key(before()),
        '/' if next.is_ascii_digit() => {
            let before = before().to_ascii_lowercase();
            before.contains("://") || PLACES.iter().any(|place| before.ends_with(place))
        }
        // `[issue:12]`, `*iteration:12`.
        ':' => is_name && ends_with_kind(before()),
        _ => false,
    }
}

/// Returns true if a text ends with the name of a kind of things, as `[issue` is.
fn ends_with_kind(text: &str) -> bool {
    let kind = text.rsplit_once(['[', '*']).map(|(_, kind)| kind);
    kind.is_some_and(|kind| kind.chars().all(|c| c == '_' || c.is_ascii_lowercase()))
}

/// Returns true if a text ends with the key that a tracker has before the number of an issue.
pub(super) fn ends_with_key(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let key = text.rsplit(|c: char| !is_part(c)).next().unwrap_or_default();
    let is_capital = |c: char| !c.is_ascii_lowercase();
    let is_key = key.len() > 1
        && key.starts_with(|c: char| c.is_ascii_uppercase())
        && key.chars().all(is_capital)
        && !STANDARDS.contains(&key);
    is_key || ["GH", "GL"].iter().any(|forge| key.eq_ignore_ascii_case(forge))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::closing::find_closings;
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
            ("Closes PROJ-12", "Closes PROJ-\u{200b}12"),
            ("Implements GL-4", "Implements GL-\u{200b}4"),
            ("closes [issue:1]", "closes [issue:\u{200b}1]"),
            ("[work_item:acme/shop/7]", "[work_item:\u{200b}acme/shop/7]"),
            ("%1 ~bug ~\"a b\" $1", "%\u{200b}1 ~\u{200b}bug ~\u{200b}\"a b\" $\u{200b}1"),
            ("*iteration:3, *not this", "*iteration:\u{200b}3, *not this"),
            ("fixes GH\\-4", "fixes GH\\\u{200b}-4"),
            ("a @_ann", "a @\u{200b}_ann"),
            ("a & b, x-1, v/2, ~/x", "a & b, x-1, v/2, ~/x"),
            ("OUTF-8 and UTF8-1", "OUTF-\u{200b}8 and UTF8-\u{200b}1"),
            ("at http://h/a%20b/~ann: 100%", "at http://h/a%20b/~ann: 100%"),
        ] {
            assert_eq!(make_harmless(said), shown);
        }
        let standards =
            "UTF-8, SHA-256, SHA3-512, ISO-8601, RFC-2119, AES-128, GPL-3.0, CVE-2024-1";
        assert_eq!(make_harmless(standards), standards);
        assert_eq!(make_title_harmless(standards), standards);
        let title = "Return Vec<u8> & @ann, fixes #1";
        assert_eq!(make_title_harmless(title), "Return Vec<u8> & @\u{200b}ann, fixes #\u{200b}1");
    }

    /// As a forge's Markdown shows it: escapes and entities are what they stand for.
    fn rendered(text: &str) -> String {
        let mut out = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let is_escaped = characters.peek().is_some_and(char::is_ascii_punctuation);
            if character != '\\' || !is_escaped {
                out.push(character);
            }
        }
        [("&#35;", "#"), ("&#64;", "@"), ("&lt;", "<"), ("&amp;", "&")]
            .iter()
            .fold(out, |text, (entity, character)| text.replace(entity, character))
    }

    proptest! {
        #[test]
        fn no_name_no_reference_and_no_tag_remains(
            line in "([@#<&!%~$ -/\\\\_\"]|GH-|GL-|PROJ-|/issues/|/work_items/|https://h/o/r|\
                     [Cc]los(e|es|ed|ing):? |[Ff]ix(es|ed|ing)? |[Rr]esolv(e|es|ed|ing) |\
                     [Ii]mplement(s|ed|ing)? issue |\\[issue:|\\[work_item:|acme/shop|&#35;|&#64;|\
                     [a-z0-9A-Z;\\[\\]()]){0,40}"
        ) {
            let shown = make_harmless(&line);
            for text in [&shown, &rendered(&shown), &make_title_harmless(&line)] {
                prop_assert!(find_closings(text).is_empty(), "{}", text);
                let all: Vec<char> = text.chars().collect();
                for pair in all.windows(2) {
                    let [first, then] = pair else { continue };
                    prop_assert!(*first != '@' || then.is_whitespace() || *then == BREAK);
                    prop_assert!(!("#!&$".contains(*first) && then.is_ascii_digit()), "{}", text);
                }
            }
            prop_assert!(!shown.contains('<') && !shown.contains("!["));
        }
    }
}
