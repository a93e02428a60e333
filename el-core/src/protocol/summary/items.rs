//! Lists of people and models.

use super::lines::{self, Line};

/// The most characters kept of an item.
const ITEM_MAX: usize = 1_000;

/// An item of a list, or a paragraph beside the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) text: String,
    pub(super) indent: usize,
    /// Begun with the mark of a list.
    pub(super) is_listed: bool,
}

/// Returns the items in order, nested items included. Continuation lines are joined to the item.
pub(super) fn read_items<'a>(lines: impl Iterator<Item = Line<'a>>) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut blank = true;
    for line in lines {
        if line.text.is_empty() || !line.fenced && lines::is_rule(line.text) {
            blank = true;
            continue;
        }
        let listed = if line.fenced { None } else { after_bullet(line.text) };
        let text = listed.unwrap_or(line.text);
        match items.last_mut() {
            Some(last)
                if listed.is_none() && (!blank || last.is_listed && line.indent > last.indent) =>
            {
                if last.text.len() < ITEM_MAX * 4 {
                    if !last.text.is_empty() {
                        last.text.push(if line.fenced { '\n' } else { ' ' });
                    }
                    last.text.push_str(text);
                }
            }
            _ => items.push(Item {
                text: text.to_owned(),
                indent: line.indent,
                is_listed: listed.is_some(),
            }),
        }
        blank = false;
    }
    items
}

/// Returns the texts of the items, without empty phrases.
pub(super) fn item_texts(items: &[Item], warnings: &mut Vec<String>) -> Vec<String> {
    let mut texts = Vec::new();
    for item in items {
        if is_placeholder(&item.text) {
            warnings
                .push(format!("left over from the template: {}", lines::cut_text(&item.text, 60)));
        } else if !is_nothing(&item.text) {
            texts.extend(
                Some(lines::cut_text(&item.text, ITEM_MAX)).filter(|text| !text.is_empty()),
            );
        }
    }
    texts
}

/// Returns the text after a list mark: `-`, `*`, `+`, a bullet, a number, a checkbox, a tick.
pub(super) fn after_bullet(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let rest = &text[first.len_utf8()..];
    let after = match first {
        // `*emphasis*` is no item, but a mark right before a back-tick is one.
        '-' | '*' | '+' if rest.starts_with([' ', '\t', '`', '\u{a0}']) => rest,
        '-' | '*' | '+' if rest.is_empty() => rest,
        '•' | '‣' | '▪' | '◦' | '●' | '∙' | '·' => rest,
        '–' | '—' | '→' if rest.starts_with(' ') => rest,
        '✅' | '✓' | '✔' | '☑' => return Some(text),
        '0'..='9' => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            let rest = text[digits..]
                .strip_prefix(['.', ')'])
                .filter(|rest| rest.starts_with([' ', '\t']))?;
            if digits > 3 {
                return None;
            }
            rest
        }
        _ => return None,
    };
    let after = after.trim();
    for (tick, keeps) in [("[x]", false), ("[X]", false), ("[ ]", true)] {
        if let Some(rest) = after.strip_prefix(tick) {
            return Some(if keeps { after } else { rest.trim_start() });
        }
    }
    Some(after)
}

/// Returns true for phrases that mean "nothing to report".
pub(super) fn is_nothing(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    let words = [
        "",
        "none",
        "n/a",
        "na",
        "nothing",
        "no",
        "nil",
        "not applicable",
        "none so far",
        "no notes",
        "no caveats",
        "no issues",
        "no files",
        "no deliverables",
    ];
    words.iter().any(|word| bare.eq_ignore_ascii_case(word))
        && !(bare.is_empty() && text.contains('`'))
}

/// Returns true for an unchanged line of the template: `[Bullet point 1]`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| !inner.contains(['[', ']', '`']) && inner.trim().contains(' '))
}
