//! Finds where a text would close an issue at GitHub or GitLab.

use super::harmless::ends_with_key;

/// The verbs with which both forges close issues, without their endings.
const VERBS: [(&str, &[&str]); 4] = [
    ("clos", &["e", "es", "ed", "ing"]),
    ("fix", &["", "es", "ed", "ing"]),
    ("resolv", &["e", "es", "ed", "ing"]),
    ("implement", &["", "s", "ed", "ing"]),
];

/// Returns each closing verb with its issue, such as `Fixes #12`. Of several issues behind a verb,
/// such as `Closes #1, #2 and #3`, each is named.
#[must_use]
pub fn find_closings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let verb = word.strip_suffix(':').unwrap_or(word);
        let verb = verb.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if !is_verb(verb) {
            continue;
        }
        let is_noun = |next: &&str| ["issue", "issues"].contains(next);
        let noun = words.next_if(is_noun).map(|noun| format!("{noun} ")).unwrap_or_default();
        while let Some(issue) = words.next_if(|next| is_issue(next)) {
            found.push(format!("{verb} {noun}{}", issue.trim_end_matches([',', '.', ';', ')'])));
            if words.next_if(|next| ["and", "&"].contains(next)).is_none() && !issue.ends_with(',')
            {
                break;
            }
        }
    }
    found
}

fn is_verb(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    VERBS.iter().any(|(stem, endings)| {
        word.strip_prefix(stem).is_some_and(|ending| endings.contains(&ending))
    })
}

/// `#12`, `acme/shop#12`, `GH-12`, `PROJ-12`, `[issue:12]`, and an address.
fn is_issue(word: &str) -> bool {
    let before_number = |mark: &str, has_key: bool| {
        word.match_indices(mark).any(|(at, _)| {
            let is_number = word[at + mark.len()..].starts_with(|c: char| c.is_ascii_digit());
            is_number && (!has_key || ends_with_key(&word[..at]))
        })
    };
    let is_named = |mark: &str| {
        let mut all = word.match_indices(mark);
        all.any(|(at, _)| word[at + mark.len()..].starts_with(char::is_alphanumeric))
    };
    ["#", "/issues/", "/work_items/"].iter().any(|mark| before_number(mark, false))
        || before_number("-", true)
        || ["[issue:", "[work_item:"].iter().any(|mark| is_named(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_and_every_reference_is_found() {
        let verbs = "Close closes CLOSED closing Fix fixes fixed fixing Resolve resolves resolved \
                     resolving implement Implements implemented implementing";
        for verb in verbs.split(' ') {
            for issue in [
                "#12",
                "acme/shop#12",
                "GH-12",
                "GL-12",
                "PROJ-12",
                "[issue:12]",
                "[work_item:acme/shop/12]",
                "https://gitlab.com/acme/shop/-/issues/12",
                "https://gitlab.com/acme/shop/-/work_items/12",
            ] {
                let wanted = [format!("{verb} {issue}")];
                assert_eq!(find_closings(&format!("Bake. ({verb} {issue}, too)")), wanted);
                let with_noun = find_closings(&format!("{verb}: issue {issue}"));
                assert_eq!(with_noun, [format!("{verb} issue {issue}")]);
            }
        }
        for fine in ["See #12", "Fix the oven", "Fixes UTF-8", "prefix #12", "closes [issue: x]"] {
            assert_eq!(find_closings(fine), Vec::<String>::new(), "{fine}");
        }
    }

    #[test]
    fn all_of_a_text_are_found_and_no_more() {
        let text = "This closes PROJ-12 and resolves acme/shop#3; fix: h/acme/shop/issues/4\n\n\
                    Closes: #5, #6 and #7. See #8, and fix the oven; fixes #9";
        let found = [
            "closes PROJ-12",
            "resolves acme/shop#3",
            "fix h/acme/shop/issues/4",
            "Closes #5",
            "Closes #6",
            "Closes #7",
            "fixes #9",
        ];
        assert_eq!(find_closings(text), found);
        // A word behind `and` that is a verb itself is one of the next.
        assert_eq!(find_closings("Fixes #1 and fixes #2"), ["Fixes #1", "fixes #2"]);
    }
}
