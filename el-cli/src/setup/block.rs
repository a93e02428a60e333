//! A block between two marks in another program's text, such as AGENTS.md.

const BEGIN: &str = "<!-- el:begin -->";
/// The begin mark for a text without a final newline, so that the removal restores the text
/// exactly.
const BEGIN_JOINED: &str = "<!-- el:begin joined -->";
const END: &str = "<!-- el:end -->";

/// The text with the block: in place of an existing block, or else at the end.
pub(crate) fn block_in(text: &str, content: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block =
        |begin: &str| format!("{begin}\n{}\n{END}\n", content.trim_end()).replace('\n', newline);
    if let Some((before, begin, after)) = split_at_block(text) {
        return format!("{before}{}{after}", block(begin));
    }
    match text {
        "" => block(BEGIN),
        _ if text.ends_with('\n') => format!("{text}{newline}{}", block(BEGIN)),
        _ => format!("{text}{newline}{newline}{}", block(BEGIN_JOINED)),
    }
}

/// The text without the block, byte for byte as before; `None` without a block.
pub(crate) fn block_out(text: &str) -> Option<String> {
    let (before, begin, after) = split_at_block(text)?;
    let mut before = before;
    let newlines = if begin == BEGIN_JOINED { 2 } else { 1 };
    for _ in 0..newlines {
        let shorter = before.strip_suffix('\n').unwrap_or(before);
        before = shorter.strip_suffix('\r').unwrap_or(shorter);
    }
    Some(format!("{before}{after}"))
}

/// Splits a text into the part before the block, the begin mark, and the part after the block.
fn split_at_block(text: &str) -> Option<(&str, &str, &str)> {
    // A mark without its other half is part of the user's text.
    let (at, begin, end) = text.match_indices(END).find_map(|(end, _)| {
        let found = [BEGIN, BEGIN_JOINED]
            .iter()
            .filter_map(|mark| text[..end].rfind(mark).map(|at| (at, *mark)));
        found.max_by_key(|(at, _)| *at).map(|(at, mark)| (at, mark, end + END.len()))
    })?;
    let rest = &text[end..];
    let after = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
    Some((&text[..at], begin, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_block_is_put_at_the_end_and_renewed_in_its_place() {
        let once = block_in("# Ours\n", "one\n");
        assert_eq!(once, "# Ours\n\n<!-- el:begin -->\none\n<!-- el:end -->\n");
        let later = format!("{once}\nmore of ours\n");
        assert_eq!(
            block_in(&later, "two"),
            "# Ours\n\n<!-- el:begin -->\ntwo\n<!-- el:end -->\n\nmore of ours\n"
        );
        assert_eq!(block_out(&later).unwrap(), "# Ours\n\nmore of ours\n");
        assert_eq!(block_out("# Ours\n"), None);
    }

    #[test]
    fn half_a_block_is_somebodys_text() {
        for text in [
            "a\n<!-- el:begin -->\nb\n",
            "a\n<!-- el:end -->\nb\n",
            "<!-- el:end --><!-- el:begin joined -->",
        ] {
            let put = block_in(text, "one");
            assert!(put.starts_with(text), "{put}");
            assert_eq!(block_in(&put, "one"), put);
            assert_eq!(block_out(&put).as_deref(), Some(text));
            assert_eq!(block_out(text), None);
        }
    }

    proptest! {
        #[test]
        fn out_gives_back_every_byte(text in "[a-z#\n\r ]{0,40}", content in "[a-z\n]{0,20}") {
            let text = text.replace('\r', "\r\n");
            let put = block_in(&text, &content);
            prop_assert_eq!(block_in(&put, &content), put.clone());
            prop_assert_eq!(block_out(&put), Some(text));
        }
    }
}
