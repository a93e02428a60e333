use std::collections::HashSet;

use super::engine::ToSql;
use super::filter::Page;
use super::{Tx, atom, without_checks, without_trigger};
use crate::Result;
use crate::error::Doing;
use crate::model::Atom;

/// The most matches that a search with a limit ranks. A word with more matches says little.
const RANKED_MAX: i64 = 2_000;

/// Full-text search over titles, descriptions and acceptance, best match first. Every word must
/// occur; the last word may be a prefix. Words are quoted, so operators of the index's query
/// language have no effect. With a limit, the newest [`RANKED_MAX`] matches are ranked, and as many
/// that match by the title alone: the page says then that the count is a lower bound.
pub(crate) fn search_atoms(
    tx: &Tx<'_>,
    text: &str,
    include_over: bool,
    limit: Option<i64>,
) -> Result<Page<Atom>> {
    let signs = with_signs(text);
    let query = match index_query(tx, text, Texts::All) {
        Some(query) if signs.is_empty() => query,
        _ => return find_signs(tx, text, &signs, include_over, limit),
    };
    let most = limit.map_or(i64::MAX, |limit| limit.max(RANKED_MAX));
    let mut found = rank_matches(tx, &query, include_over, most)?;
    let is_capped = usize::try_from(most).is_ok_and(|most| found.len() == most);
    if is_capped && let Some(query) = index_query(tx, text, Texts::Title) {
        let known: HashSet<i64> = found.iter().map(|(seq, _)| *seq).collect();
        let by_title = rank_matches(tx, &query, include_over, most)?;
        found.extend(by_title.into_iter().filter(|(seq, _)| !known.contains(seq)));
    }
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let best_first = |a: &(i64, f64), b: &(i64, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
    let wanted = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    if wanted < found.len() {
        found.select_nth_unstable_by(wanted, best_first);
        found.truncate(wanted);
    }
    found.sort_unstable_by(best_first);
    let sql = format!("SELECT {} FROM atoms a WHERE a.seq = ?1", atom::COLUMNS);
    let mut statement = tx.prepare_cached(&sql).doing("search the database")?;
    let read = |(seq, _): (i64, f64)| {
        statement.query_row([seq], atom::from_row).doing("search the database")
    };
    let items = found.into_iter().map(read).collect::<Result<_>>()?;
    Ok(Page { items, total, is_capped })
}

/// Returns the newest matches of `query`, at most `most`, each as the atom's `seq` and a rank: the
/// lower, the better. Only the rows that come out are ranked.
fn rank_matches(
    tx: &Tx<'_>,
    query: &str,
    include_over: bool,
    most: i64,
) -> Result<Vec<(i64, f64)>> {
    let over =
        if include_over { "" } else { " AND a.status NOT IN ('closed','wont_do','discard')" };
    let from = tx.pick_text(
        "search.rowid AS seq, bm25(search, 4.0, 1.0, 1.0) FROM search
         CROSS JOIN atoms a ON a.seq = search.rowid WHERE search MATCH ?1",
        "a.seq, -ts_rank('{0.25, 0.25, 0.25, 1}', a.search, q)
         FROM to_tsquery('simple', without_accents(?1)) q JOIN atoms a ON a.search @@ q WHERE TRUE",
    );
    let sql = format!("SELECT {from}{over} ORDER BY seq DESC LIMIT {most}");
    tx.read_all(&sql, [query], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, f64>(1)?)))
        .doing("search the database")
}

/// Searches as [`search_atoms`], for words with signs that the index does not hold, such as `C++`,
/// `100%` or an emoji, and for text without spaces, of which it holds no word. These must occur
/// literally; the index finds the other words first.
fn find_signs(
    tx: &Tx<'_>,
    text: &str,
    signs: &[&str],
    include_over: bool,
    limit: Option<i64>,
) -> Result<Page<Atom>> {
    if signs.is_empty() {
        return Ok(Page::of_total(Vec::new(), 0));
    }
    let mut values: Vec<String> = signs.iter().map(|sign| sign.to_lowercase()).collect();
    let mut conditions: Vec<String> = (1..=values.len())
        .map(|at| {
            format!(
                "instr(lower(a.title || char(10) || a.description || char(10)
                   || coalesce(a.acceptance, '')), ?{at}) > 0"
            )
        })
        .collect();
    let spaced = text.split_whitespace().filter(|word| !word.contains(is_unspaced));
    let spaced = spaced.collect::<Vec<_>>().join(" ");
    if let Some(query) = index_query(tx, &spaced, Texts::All) {
        values.push(query);
        let at = values.len();
        conditions.push(if tx.is_sqlite() {
            format!("a.seq IN (SELECT rowid FROM search WHERE search MATCH ?{at})")
        } else {
            format!("a.search @@ to_tsquery('simple', without_accents(?{at}))")
        });
    }
    if !include_over {
        conditions.push("a.status NOT IN ('closed','wont_do','discard')".to_owned());
    }
    let values: Vec<&dyn ToSql> = values.iter().map(|value| value as &dyn ToSql).collect();
    // All texts are read: once, for the count and the rows.
    let conditions = conditions.join(" AND ");
    let sql =
        format!("SELECT a.id FROM atoms a WHERE {conditions} ORDER BY a.updated_at DESC, a.seq");
    let found: Vec<String> =
        tx.read_all(&sql, &*values, |row| row.get(0)).doing("search the database")?;
    let wanted = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let shown: Vec<&str> = found.iter().take(wanted).map(String::as_str).collect();
    let mut rows = atom::find_all(tx, &shown)?;
    let items = shown.into_iter().filter_map(|id| rows.remove(id)).collect();
    Ok(Page::of_total(items, i64::try_from(found.len()).unwrap_or(i64::MAX)))
}

/// Returns the words with significant signs: `C++`, `C#`, `%`, an emoji; and those of scripts
/// without spaces. Surrounding quotes and brackets do not count.
fn with_signs(text: &str) -> Vec<&str> {
    let is_sign = |c: char| {
        matches!(c, '+' | '#' | '%')
            || !(c.is_ascii() || c.is_alphanumeric() || c.is_whitespace())
            || is_unspaced(c)
    };
    let quotes = ['"', '\'', '(', ')', '[', ']', ',', '.', ';', ':', '“', '”', '„', '‘', '’'];
    text.split_whitespace()
        .map(|word| word.trim_matches(quotes))
        .filter(|word| word.contains(is_sign))
        .collect()
}

/// Returns true for the letters of scripts that put no spaces between words: Thai and Lao, Burmese,
/// Khmer, Japanese and Chinese. The index takes a whole run of them for one word.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns true if the index agrees with the atoms. A server's index is a column that it computes.
pub(crate) fn is_sound(tx: &Tx<'_>) -> Result<bool> {
    if !tx.is_sqlite() {
        return Ok(true);
    }
    match tx.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)", []) {
        Ok(_) => Ok(true),
        Err(error) if error.is_damage() => Ok(false),
        Err(error) => Err(error).doing("check the search index"),
    }
}

/// The memory, in bytes, in which the index gathers words before writing: FTS5's default, and a
/// larger value for transactions with many changes.
const GATHERED: i64 = 1 << 20;
const GATHERED_IN_BULK: i64 = 16 << 20;

/// The number of new atoms from which on their texts are indexed together.
const MANY: usize = 1_000;

/// Does work that adds `count` atoms and changes the texts of others: the index is written in few
/// large pieces. A text of a new atom must not change meanwhile.
pub(crate) fn in_bulk<T>(tx: &Tx<'_>, count: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if !tx.is_sqlite() {
        // A large file is thought about between two statements.
        tx.allow_pauses().doing("begin an import")?;
        tx.gather_rows();
        return work();
    }
    let doing = "prepare the search index";
    let run = |sql: &str, value: i64| tx.execute(sql, [value]).doing(doing);
    let set = "INSERT INTO search (search, rank) VALUES ('hashsize', ?1)";
    run(set, GATHERED_IN_BULK)?;
    let work = || without_checks(tx, work);
    let done = if count < MANY {
        work()?
    } else {
        // At each statement with a trigger, the index writes out what it has gathered.
        let newest = "SELECT coalesce(max(seq), 0) FROM atoms";
        let newest: i64 = tx.query_row(newest, [], |row| row.get(0)).doing(doing)?;
        let done = without_trigger(tx, "atoms_search_insert", work)?;
        let index = "INSERT INTO search (rowid, title, description, acceptance)
            SELECT seq, title, description, acceptance FROM atoms WHERE seq > ?1";
        run(index, newest)?;
        done
    };
    run(set, GATHERED)?;
    Ok(done)
}

/// Makes the index anew from the atoms.
pub(crate) fn rebuild_index(tx: &Tx<'_>) -> Result<()> {
    tx.execute(
        tx.pick_text(
            "INSERT INTO search (search) VALUES ('rebuild')",
            "REINDEX INDEX atoms_search",
        ),
        [],
    )
    .doing("rebuild the search index")
    .map(drop)
}

/// The texts of an atom that a search looks into.
#[derive(Clone, Copy, PartialEq)]
enum Texts {
    All,
    Title,
}

/// The query for the index, in its language; `None` if the text has no words.
fn index_query(tx: &Tx<'_>, text: &str, texts: Texts) -> Option<String> {
    let query = if tx.is_sqlite() {
        quote_words(text)?
    } else {
        // The migration gives the weight A to the words of the title.
        let (each, last) = if texts == Texts::Title { (":A", ":*A") } else { ("", ":*") };
        let words: Vec<&str> = words_of(text).collect();
        let query = words.join(&format!("{each} & "));
        (!words.is_empty()).then(|| format!("{query}{last}"))?
    };
    let in_title = tx.is_sqlite() && texts == Texts::Title;
    Some(if in_title { format!("title : ({query})") } else { query })
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn quote_words(text: &str) -> Option<String> {
    let words: Vec<String> = words_of(text).map(|word| format!("\"{word}\"")).collect();
    if words.is_empty() { None } else { Some(format!("{}*", words.join(" "))) }
}

#[cfg(test)]
mod tests {
    use super::{quote_words, with_signs};

    #[test]
    fn signs_that_mean_something_are_kept() {
        assert_eq!(with_signs("port to \"C++\" (🚀)"), ["C++", "🚀"]);
        assert_eq!(
            with_signs("100% of 日本語 API仕様 ไทย 한국어"),
            ["100%", "日本語", "API仕様", "ไทย"]
        );
        assert!(with_signs("it's \"x\" NEAR(y) a-b größer").is_empty());
    }

    #[test]
    fn what_people_type_is_quoted() {
        assert_eq!(quote_words("a OR b").as_deref(), Some("\"a\" \"OR\" \"b\"*"));
        assert_eq!(
            quote_words("it's \"x\" NEAR(y)").as_deref(),
            Some("\"it\" \"s\" \"x\" \"NEAR\" \"y\"*")
        );
        assert_eq!(quote_words(" *-\" "), None);
    }
}
