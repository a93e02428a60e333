//! Finds what looks like a key in a text that is about to leave this machine.

/// How a key begins, how many characters of its alphabet follow at least, and its name.
const FORMS: &[(&str, usize, &str)] = &[
    ("ghp_", 20, "a key of GitHub"),
    ("gho_", 20, "a key of GitHub"),
    ("ghu_", 20, "a key of GitHub"),
    ("ghs_", 20, "a key of GitHub"),
    ("ghr_", 20, "a key of GitHub"),
    ("github_pat_", 20, "a key of GitHub"),
    ("glpat-", 16, "a key of GitLab"),
    ("sk-ant-", 16, "a key of Anthropic"),
    ("sk-", 32, "a key of an API"),
    ("sk_live_", 16, "a key of Stripe"),
    ("rk_live_", 16, "a key of Stripe"),
    ("AKIA", 16, "a key of AWS"),
    ("ASIA", 16, "a key of AWS"),
    ("AIza", 32, "a key of Google"),
    ("xoxb-", 16, "a key of Slack"),
    ("xoxp-", 16, "a key of Slack"),
    ("xoxa-", 16, "a key of Slack"),
    ("npm_", 32, "a key of npm"),
    ("pypi-", 32, "a key of PyPI"),
    ("hf_", 30, "a key of Hugging Face"),
    ("dop_v1_", 32, "a key of DigitalOcean"),
    ("eyJ", 60, "a signed token"),
];

/// The shortest value of a variable that is looked for: `1` and `true` are everywhere.
const VALUE_MIN: usize = 8;

/// Names the key that a text seems to contain, if any. `values`: secret values of variables.
pub fn describe_key(text: &str, values: &[String]) -> Option<&'static str> {
    if text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    if values.iter().any(|value| value.len() >= VALUE_MIN && text.contains(value.as_str())) {
        return Some("the value of a variable that agents do not get");
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    FORMS.iter().find_map(|(begin, least, name)| {
        text.match_indices(begin).find_map(|(at, _)| {
            let is_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
            let follows = text[at + begin.len()..].chars().take_while(|c| is_part(*c)).count();
            (is_word && follows >= *least).then_some(*name)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_and_words_are_not() {
        let long = "a1B2".repeat(20);
        for begin in FORMS.iter().map(|(begin, ..)| begin) {
            assert!(describe_key(&format!("it is {begin}{long}."), &[]).is_some(), "{begin}");
        }
        assert!(describe_key("-----BEGIN OPENSSH PRIVATE KEY-----", &[]).is_some());
        let values = ["s3cret-value".to_owned(), "1".to_owned()];
        assert!(describe_key("say s3cret-value", &values).is_some());
        for fine in
            ["sk-1", "the ghp_ prefix", "task-force", "1 of 2", "eyJ", "desk-ant-hill-long-x"]
        {
            assert_eq!(describe_key(fine, &values), None, "{fine}");
        }
    }
}
