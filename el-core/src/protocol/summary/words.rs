//! The meaning of words and signs, for status and tests.

/// The meaning of a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Green,
    Amber,
    Red,
}

impl Colour {
    pub(super) fn from_sign(c: char) -> Option<Colour> {
        match c {
            '✅' | '✔' | '✓' | '☑' | '🎉' | '🟢' | '🟩' => Some(Colour::Green),
            '⚠' | '🟡' | '🟨' | '🚧' | '⏳' | '⌛' | '🟠' | '🟧' | '🔶' => {
                Some(Colour::Amber)
            }
            '❌' | '❎' | '✕' | '✖' | '✗' | '✘' | '🔴' | '🟥' | '⛔' | '🛑' | '🚫' | '💥'
            | '👎' => Some(Colour::Red),
            _ => None,
        }
    }
}

/// The signs of a line.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Colours {
    pub(super) green: bool,
    pub(super) amber: bool,
    pub(super) red: bool,
}

/// Returns the signs of a line. A sign before a zero (`❌ 0`) has no meaning.
pub(super) fn read_colours(text: &str) -> Colours {
    let mut found = Colours::default();
    for (at, c) in text.char_indices() {
        let Some(colour) = Colour::from_sign(c) else { continue };
        let after = text[at + c.len_utf8()..].trim_start_matches(['\u{fe0f}', ' ', ':', '*']);
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        match colour {
            _ if digits > 0 && after[..digits].bytes().all(|b| b == b'0') => {}
            Colour::Green => found.green = true,
            Colour::Amber => found.amber = true,
            Colour::Red => found.red = true,
        }
    }
    found
}

pub(super) fn is_pass(word: &str) -> bool {
    matches!(word, "passed" | "pass" | "passes" | "passing" | "green" | "succeeded" | "ok")
}

pub(super) fn is_failure(word: &str) -> bool {
    matches!(
        word,
        "failed"
            | "failure"
            | "failures"
            | "fail"
            | "fails"
            | "failing"
            | "aborted"
            | "unsuccessful"
            | "unsuccessfully"
    )
}

/// Denies a failure that follows.
pub(super) fn is_denial(word: &str) -> bool {
    matches!(
        word,
        "no" | "zero" | "0" | "none" | "nothing" | "without" | "never" | "not" | "nor" | "neither"
    ) || word.ends_with("n't")
}

/// `3 of 5` or `3/5` that begins at a word.
pub(super) fn parse_fraction(words: &[&str], at: usize) -> Option<(u64, u64)> {
    let number = |text: &str| text.parse::<u64>().ok();
    if let Some((part, whole)) = words[at].split_once('/') {
        return Some((number(part)?, number(whole)?));
    }
    let part = number(words[at])?;
    let behind = words.get(at + 1..)?;
    let whole = match behind {
        ["of", "the", whole, ..] | ["out", "of", whole, ..] | ["of", whole, ..] => number(whole)?,
        _ => return None,
    };
    Some((part, whole))
}

/// The words of a text in lower case.
pub(super) fn lower_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '/' | '%'))
        .map(|word| word.trim_matches(['\'', '/']).replace('’', "'").to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}
