//! From SQLite's text of a statement to PostgreSQL's.
//!
//! The store's statements keep to what both engines understand and to these words of SQLite, which
//! are turned into PostgreSQL's:
//!
//! - `?1` and `:name`: a parameter; a null is written into the text, since a null has no type,
//!   and texts are compared byte by byte, as SQLite does
//! - `INDEXED BY index`, and `CROSS JOIN … ON`, which orders the loops: PostgreSQL has statistics
//! - `group_concat(x, ',')`: there in the order of the texts, as SQLite's indices give them
//! - `x COLLATE NOCASE`, `x ->> '$.key'`, `char(n)`
//!
//! Functions that only SQLite has are made by the schema (`migrations/postgres`). A truth value is
//! a number in columns and parameters: a statement says `?1 = 1`, not `?1`.

/// The facts of a parameter's value that the translation knows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'a> {
    /// `:name`, if it is bound by name.
    pub(super) name: Option<&'a str>,
    pub(super) is_null: bool,
    pub(super) is_text: bool,
}

/// The statement for PostgreSQL, with the parameters that are bound to it.
pub(super) fn translate(sql: &str, params: &[Bound<'_>]) -> String {
    let mut out = String::with_capacity(sql.len() + 64);
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\'' => {
                let end = rest[1..].find('\'').map_or(rest.len(), |at| at + 2);
                out.push_str(&rest[..end]);
                end
            }
            '?' => {
                let end = 1 + count_while(&rest[1..], |c| c.is_ascii_digit());
                let place: usize = rest[1..end].parse().unwrap_or_default();
                push_param(&mut out, place, params);
                end
            }
            ':' if rest.starts_with("::") => {
                out.push_str("::");
                2
            }
            ':' => {
                let end = 1 + count_while(&rest[1..], is_of_word);
                let is_named = |bound: &Bound<'_>| bound.name == Some(&rest[..end]);
                let place = params.iter().position(is_named).map_or(0, |at| at + 1);
                push_param(&mut out, place, params);
                end
            }
            '-' if rest.starts_with("->> '$.") => {
                let key = &rest["->> '$.".len()..];
                let end = key.find('\'').unwrap_or(key.len());
                let of = take_operand(&mut out);
                out.push_str(&format!("json_text({of}, '{}')", &key[..end]));
                "->> '$.".len() + end + 1
            }
            c if is_of_word(c) => {
                let end = count_while(rest, is_of_word);
                push_word(&mut out, &rest[..end], &rest[end..]) + end
            }
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[taken.min(rest.len())..];
    }
    out
}

/// Writes a word of the statement. Returns how much of what follows belongs to it.
fn push_word(out: &mut String, word: &str, follows: &str) -> usize {
    match word {
        "INDEXED" if follows.starts_with(" BY ") => {
            " BY ".len() + count_while(&follows[" BY ".len()..], is_of_word)
        }
        "CROSS" if follows.trim_start().starts_with("JOIN") => 0,
        "COLLATE" if follows.starts_with(" NOCASE") => {
            let of = take_operand(out);
            out.push_str(&format!("lower({of})"));
            " NOCASE".len()
        }
        "char" if follows.starts_with('(') => {
            out.push_str("chr");
            0
        }
        "group_concat" => match follows.strip_prefix('(').and_then(|args| args.split_once(", ")) {
            Some((what, separator)) => {
                let end = separator.find(')').unwrap_or(separator.len());
                let separator = &separator[..end];
                out.push_str(&format!("string_agg({what}, {separator} ORDER BY {what})"));
                "(, )".len() + what.len() + end
            }
            None => {
                out.push_str(word);
                0
            }
        },
        _ => {
            out.push_str(word);
            0
        }
    }
}

/// Takes the column or the parameter at the end of the text back.
fn take_operand(out: &mut String) -> String {
    out.truncate(out.trim_end().len());
    let begin = out.rfind(|c: char| !is_of_word(c) && c != '.').map_or(0, |at| at + 1);
    out.split_off(begin)
}

fn push_param(out: &mut String, place: usize, params: &[Bound<'_>]) {
    match params.get(place.wrapping_sub(1)) {
        Some(bound) if bound.is_null => out.push_str("NULL"),
        Some(bound) if bound.is_text => out.push_str(&format!("(${place} COLLATE \"C\")")),
        _ => out.push_str(&format!("${place}")),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn count_while(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: Bound<'static> = Bound { name: None, is_null: false, is_text: false };
    const TEXT: Bound<'static> = Bound { is_text: true, ..NUMBER };
    const NULL: Bound<'static> = Bound { is_null: true, ..NUMBER };

    #[test]
    fn parameters_keep_their_places() {
        let sql = "SELECT '?1' WHERE a = ?2 AND (?3 IS NULL OR b = ?1) AND c = ?10";
        let mut params = vec![TEXT, NUMBER, NULL];
        params.resize(10, NUMBER);
        assert_eq!(
            translate(sql, &params),
            "SELECT '?1' WHERE a = $2 AND (NULL IS NULL OR b = ($1 COLLATE \"C\")) AND c = $10"
        );
    }

    #[test]
    fn names_become_places() {
        let named = |name| Bound { name: Some(name), ..NUMBER };
        let params = [named(":now"), named(":v1"), named(":v10")];
        assert_eq!(
            translate("a <= :now AND b IN (:v10,:v1) AND c > :now + 6", &params),
            "a <= $1 AND b IN ($3,$2) AND c > $1 + 6"
        );
    }

    #[test]
    fn what_only_sqlite_says_is_said_otherwise() {
        for (sqlite, postgres) in [
            ("FROM runs r INDEXED BY runs_live WHERE x", "FROM runs r  WHERE x"),
            ("b CROSS JOIN bonds c INDEXED BY bonds_source ON x", "b  JOIN bonds c  ON x"),
            (
                "(SELECT group_concat(l.label, ',') FROM labels l)",
                "(SELECT string_agg(l.label, ',' ORDER BY l.label) FROM labels l)",
            ),
            ("ORDER BY a.title COLLATE NOCASE, a.seq", "ORDER BY lower(a.title), a.seq"),
            ("a || char(10) || b", "a || chr(10) || b"),
            (
                "CASE WHEN json_valid(e.data) THEN e.data ->> '$.onto' END",
                "CASE WHEN json_valid(e.data) THEN json_text(e.data, 'onto') END",
            ),
            ("x = 'it''s INDEXED BY y'", "x = 'it''s INDEXED BY y'"),
        ] {
            assert_eq!(translate(sqlite, &[]), postgres);
        }
    }
}
