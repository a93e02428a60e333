//! The delimiters of a block, and the sloppy forms.

/// Begins a block.
pub const START: &str = "<<<ORCHESTRATOR_RESPONSE>>>";
/// Ends a block.
pub const END: &str = "<<<END_ORCHESTRATOR_RESPONSE>>>";

/// A delimiter that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delimiter {
    pub(super) is_end: bool,
    pub(super) len: usize,
    /// Not exactly as specified.
    pub(super) is_loose: bool,
}

/// The kind of text at a `<`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DelimiterMatch {
    Delimiter(Delimiter),
    /// Possibly a delimiter: the text ends too early to decide.
    Maybe,
    Nothing,
}

/// Looks for a delimiter at the beginning of `text`, within 64 bytes.
pub(super) fn delimiter_at(text: &[u8]) -> DelimiterMatch {
    if text.starts_with(END.as_bytes()) {
        return DelimiterMatch::Delimiter(Delimiter {
            is_end: true,
            len: END.len(),
            is_loose: false,
        });
    }
    if text.starts_with(START.as_bytes()) {
        return DelimiterMatch::Delimiter(Delimiter {
            is_end: false,
            len: START.len(),
            is_loose: false,
        });
    }
    loose_delimiter(text)
}

/// `<<<`, an optional `/` or `END`, the name, an optional `END`, two or three `>`; spaces, `_` and
/// `-` between the words, in any case.
fn loose_delimiter(text: &[u8]) -> DelimiterMatch {
    let mut look = Matcher { text, at: 0 };
    for _ in 0..3 {
        match look.text.get(look.at) {
            Some(b'<') => look.at += 1,
            Some(_) => return DelimiterMatch::Nothing,
            None => return DelimiterMatch::Maybe,
        }
    }
    look.skip_gap();
    let mut is_end = false;
    if look.text.get(look.at) == Some(&b'/') {
        look.at += 1;
        is_end = true;
    }
    for word in ["END", "ORCHESTRATOR", "RESPONSE", "END"] {
        match look.match_word(word) {
            Some(true) => is_end |= word == "END",
            Some(false) if word == "END" => {}
            Some(false) => return DelimiterMatch::Nothing,
            None => return DelimiterMatch::Maybe,
        }
        look.skip_gap();
    }
    let from = look.at;
    while look.at < from + 3 && look.text.get(look.at) == Some(&b'>') {
        look.at += 1;
    }
    match look.at - from {
        3 => {}
        _ if look.at >= text.len() => return DelimiterMatch::Maybe,
        2 => {}
        _ => return DelimiterMatch::Nothing,
    }
    DelimiterMatch::Delimiter(Delimiter { is_end, len: look.at, is_loose: true })
}

struct Matcher<'a> {
    text: &'a [u8],
    at: usize,
}

impl Matcher<'_> {
    /// At most two characters that may stand between words.
    fn skip_gap(&mut self) {
        let from = self.at;
        while self.at < from + 2
            && matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'_' | b'-'))
        {
            self.at += 1;
        }
    }

    /// Matches and passes a word; `None` if the text ends within the word.
    fn match_word(&mut self, word: &str) -> Option<bool> {
        let rest = &self.text[self.at..];
        let len = rest.len().min(word.len());
        if !rest[..len].eq_ignore_ascii_case(&word.as_bytes()[..len]) {
            return Some(false);
        }
        if len < word.len() {
            return None;
        }
        self.at += len;
        Some(true)
    }
}

/// Returns the first `<` from `from` on that is, or may be, a delimiter.
pub(super) fn find_delimiter(text: &[u8], from: usize) -> Option<(usize, DelimiterMatch)> {
    let mut at_byte = from;
    loop {
        let step = text[at_byte.min(text.len())..].iter().position(|b| *b == b'<')?;
        at_byte += step;
        match delimiter_at(&text[at_byte..]) {
            DelimiterMatch::Nothing => at_byte += 1,
            seen => return Some((at_byte, seen)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sloppy_delimiters_are_seen_and_others_are_not() {
        for (text, is_end) in [
            (START, false),
            (END, true),
            ("<<<ORCHESTRATOR_RESPONSE>>\n", false),
            ("<<< ORCHESTRATOR_RESPONSE >>>", false),
            ("<<<orchestrator_response>>>", false),
            ("<<<END ORCHESTRATOR RESPONSE>>>", true),
            ("<<</ORCHESTRATOR_RESPONSE>>>", true),
            ("<<<ORCHESTRATOR_RESPONSE_END>>>", true),
            ("<<<End-Orchestrator-Response>>>", true),
        ] {
            let DelimiterMatch::Delimiter(seen) = delimiter_at(text.as_bytes()) else {
                panic!("{text}")
            };
            assert_eq!((seen.is_end, seen.len), (is_end, text.trim_end().len()), "{text}");
            assert_eq!(seen.is_loose, text != START && text != END);
        }
        for text in [
            "<<",
            "<<<",
            "<<<ORCH",
            "<<<END_",
            "<<<ORCHESTRATOR_RESPONSE",
            "<<<ORCHESTRATOR_RESPONSE>",
            "<<<ORCHESTRATOR_RESPONSE>>",
        ] {
            assert_eq!(delimiter_at(text.as_bytes()), DelimiterMatch::Maybe, "{text}");
        }
        for text in [
            "<<x",
            "<<<x",
            "<<<<ORCHESTRATOR_RESPONSE>>>",
            "<<<ORCHESTRATOR_RESPONSE> ",
            "<<<ORCHESTRATOR>>>",
            "<<ORCHESTRATOR_RESPONSE>>",
        ] {
            assert_eq!(delimiter_at(text.as_bytes()), DelimiterMatch::Nothing, "{text}");
        }
    }

    #[test]
    fn the_longest_form_fits() {
        let longest = b"<<<  /END--ORCHESTRATOR__RESPONSE  END  >>>";
        let DelimiterMatch::Delimiter(found) = delimiter_at(longest) else { panic!() };
        assert!(found.len == longest.len() && found.len < 64);
    }
}
