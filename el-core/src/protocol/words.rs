//! Commands as people type commands, split into words. No shell is involved: quotes and backslashes
//! group words, without any other effect.

/// Why a command could not be taken apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    /// Blank.
    #[error("the command is empty")]
    Empty,
    /// A quote is opened and not closed.
    #[error("a {0} is opened and not closed")]
    Unclosed(char),
    /// A backslash at the end.
    #[error("it ends in a backslash")]
    Backslash,
    /// A character with a meaning only to a shell, outside of quotes.
    #[error("{0:?} would need a shell, and none reads it; quote it, or write sh -c '…'")]
    Shell(char),
    /// No program can be given such a word.
    #[error("it has a NUL character")]
    Nul,
}

/// Splits a command as a POSIX shell does, without any power of a shell. A use of such powers (`|`,
/// `&&`, `;`, `>`, `$X`, a back-tick, a comment) is an error, since the command would silently mean
/// something else; `sh -c '…'` offers all of them.
///
/// # Errors
///
/// If the command is blank, has an open quote or a trailing backslash, or needs a shell.
pub fn split_command(text: &str) -> Result<Vec<String>, WordsError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\0' => return Err(WordsError::Nul),
            '\n' | ' ' | '\t' | '\r' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(rest.next().ok_or(WordsError::Backslash)?),
            '\'' => {
                let into = word.get_or_insert_default();
                loop {
                    match rest.next().ok_or(WordsError::Unclosed('\''))? {
                        '\'' => break,
                        other => into.push(other),
                    }
                }
            }
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' => {
                return Err(WordsError::Shell(c));
            }
            '#' if word.is_none() => return Err(WordsError::Shell(c)),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    match words.iter().any(|word| word.contains('\0')) {
        true => Err(WordsError::Nul),
        false if words.first().is_none_or(String::is_empty) => Err(WordsError::Empty),
        false => Ok(words),
    }
}

fn double_quoted(rest: &mut std::str::Chars<'_>, into: &mut String) -> Result<(), WordsError> {
    loop {
        match rest.next().ok_or(WordsError::Unclosed('"'))? {
            '"' => return Ok(()),
            c @ ('$' | '`') => return Err(WordsError::Shell(c)),
            '\\' => match rest.next().ok_or(WordsError::Backslash)? {
                c @ ('"' | '\\' | '$' | '`') => into.push(c),
                '\n' => {}
                other => into.extend(['\\', other]),
            },
            other => into.push(other),
        }
    }
}

/// Joins words as a person would type the command; [`split_command`] returns the same words.
pub fn join_command(words: &[String]) -> String {
    let quoted = |word: &String| {
        let is_plain = !word.is_empty()
            && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c));
        if is_plain { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_grouped_as_a_shell_groups_them() {
        for (text, want) in [
            ("cargo test", vec!["cargo", "test"]),
            ("  a\t b\nc ", vec!["a", "b", "c"]),
            ("sh -c 'make && ./run | tee x'", vec!["sh", "-c", "make && ./run | tee x"]),
            (r#"a "b c" 'd"e' f\ g """#, vec!["a", "b c", "d\"e", "f g", ""]),
            (r#"a"b"'c'\d"#, vec!["abcd"]),
            (r#"grep "\$x \n""#, vec!["grep", "$x \\n"]),
            ("pytest tests/*.py a#b", vec!["pytest", "tests/*.py", "a#b"]),
        ] {
            assert_eq!(split_command(text).unwrap(), want, "{text}");
        }
    }

    #[test]
    fn what_needs_a_shell_is_refused_and_not_misunderstood() {
        for (text, want) in [
            ("make && make test", WordsError::Shell('&')),
            ("make | tee x", WordsError::Shell('|')),
            ("echo $HOME", WordsError::Shell('$')),
            ("echo \"$HOME\"", WordsError::Shell('$')),
            ("echo `id`", WordsError::Shell('`')),
            ("make > log", WordsError::Shell('>')),
            ("make # all", WordsError::Shell('#')),
            ("a; b", WordsError::Shell(';')),
            ("say 'it", WordsError::Unclosed('\'')),
            ("say \"it", WordsError::Unclosed('"')),
            ("a\\", WordsError::Backslash),
            ("", WordsError::Empty),
            ("   ", WordsError::Empty),
            ("'' x", WordsError::Empty),
            ("a '\0'", WordsError::Nul),
        ] {
            assert_eq!(split_command(text), Err(want), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(.|\n){0,200}") {
            let _ = split_command(&text);
        }

        #[test]
        fn what_is_joined_is_split_again(words in prop::collection::vec("[^\0]{0,12}", 1..6)) {
            prop_assume!(!words[0].is_empty());
            prop_assert_eq!(split_command(&join_command(&words)).unwrap(), words);
        }
    }
}
