//! Fits values of other trackers into the limits of the store. Every change is reported, so that
//! the caller can keep the original.

use crate::model::limits;

/// A value as the store takes it. `is_changed`: the original was different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clean {
    pub(super) value: String,
    pub(super) is_changed: bool,
}

/// Returns a title: a single line within the limit, or `None` if no text is left.
pub(super) fn title(text: &str) -> Option<Clean> {
    clean_line(text, limits::TITLE, |c| matches!(c, '\n' | '\r' | '\0'))
}

/// Returns the name of a person or an agent, or `None` if no text is left.
pub(super) fn name(text: &str) -> Option<Clean> {
    clean_line(text, limits::WORD, char::is_control)
}

/// Replaces characters that the store refuses by a space.
fn clean_line(text: &str, most: usize, is_bad: impl Fn(char) -> bool) -> Option<Clean> {
    let mut value = String::with_capacity(text.len());
    for word in text.split(is_bad).map(str::trim).filter(|word| !word.is_empty()) {
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(word);
    }
    if value.chars().count() > most {
        value = value.chars().take(most - 1).collect::<String>().trim_end().to_owned();
        value.push('…');
    }
    let is_changed = value != text.trim();
    (!value.is_empty()).then_some(Clean { value, is_changed })
}

/// Returns a label: white space becomes `-`, a comma `_`. `None` if no text is left.
pub(super) fn label(text: &str) -> Option<Clean> {
    let wanted = text.trim();
    let value: String = wanted
        .chars()
        .filter(|c| !c.is_control() || c.is_whitespace())
        .map(|c| match c {
            c if c.is_whitespace() => '-',
            ',' => '_',
            c => c,
        })
        .take(limits::WORD)
        .collect();
    let is_changed = value != wanted;
    (!value.is_empty()).then_some(Clean { value, is_changed })
}

/// The label that another tracker's label becomes here.
pub fn own_label(text: &str) -> Option<String> {
    label(text).map(|clean| clean.value)
}

/// A long text: NUL becomes the replacement character. Too long is an error in words.
pub(super) fn clean_text(text: &str, most: usize) -> Result<Clean, String> {
    let value = if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() };
    if value.len() > most {
        return Err(format!("{} bytes are more than the {most} that fit", value.len()));
    }
    let is_changed = value.len() != text.len();
    Ok(Clean { value, is_changed })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::validate;

    #[test]
    fn what_fits_stays_as_it_is() {
        assert_eq!(title(" Fix  it "), Some(Clean { value: "Fix  it".into(), is_changed: false }));
        assert_eq!(
            label("good-first-issue"),
            Some(Clean { value: "good-first-issue".into(), is_changed: false })
        );
        assert_eq!(title(" \n "), None);
    }

    #[test]
    fn what_does_not_fit_is_changed_and_told() {
        assert_eq!(
            title("two\r\nlines\0"),
            Some(Clean { value: "two lines".into(), is_changed: true })
        );
        assert_eq!(
            label("help wanted, please"),
            Some(Clean { value: "help-wanted_-please".into(), is_changed: true })
        );
        assert!(clean_text("a\0b", 10).unwrap().is_changed);
        assert!(clean_text("too long", 3).is_err());
    }

    proptest! {
        #[test]
        fn what_is_cleaned_is_taken_by_the_store(any in ".{0,600}") {
            if let Some(clean) = title(&any) {
                prop_assert_eq!(validate::title(&clean.value).unwrap(), clean.value);
            }
            if let Some(clean) = label(&any) {
                prop_assert_eq!(validate::label(&clean.value).unwrap(), clean.value);
            }
            if let Some(clean) = name(&any) {
                prop_assert_eq!(validate::name("assignee", &clean.value).unwrap(), clean.value);
            }
        }
    }
}
