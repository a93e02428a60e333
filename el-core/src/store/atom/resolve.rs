//! Ids of atoms: from a text to an id, and new short parts.

use crate::error::Doing;
use crate::store::engine::params;
use crate::store::{Tx, alias, meta};
use crate::{Error, Result, model};

/// Resolves a text to an id. Tried in this order, ignoring case: a whole id; a name in another
/// tracker; a unique beginning of the short part, with or without the prefix; a unique beginning of
/// a name in another tracker. The middle of an id never matches.
pub(crate) fn resolve(tx: &Tx<'_>, text: &str) -> Result<String> {
    let wanted = text.trim();
    if wanted.is_empty() {
        return Err(Error::invalid("id", "the id is empty"));
    }
    let lower = wanted.to_ascii_lowercase();
    let exact: Option<String> = tx
        .read_optional("SELECT id FROM atoms WHERE id = ?1", [&lower], |row| row.get(0))
        .doing("find an id")?;
    if let Some(id) = exact {
        return Ok(id);
    }
    if let Some(id) = one_of(wanted, alias::named_exactly(tx, wanted)?)? {
        return Ok(id);
    }
    match resolve_short(tx, wanted, &lower) {
        Err(Error::NotFound { what, id }) => {
            one_of(wanted, alias::named_beginning(tx, wanted)?)?.ok_or(Error::NotFound { what, id })
        }
        other => other,
    }
}

/// Returns the only candidate, or `None` without candidates.
fn one_of(wanted: &str, mut candidates: Vec<(String, String)>) -> Result<Option<String>> {
    if candidates.len() > 1 {
        return Err(Error::Ambiguous { id: wanted.to_owned(), candidates });
    }
    Ok(candidates.pop().map(|(id, _)| id))
}

fn resolve_short(tx: &Tx<'_>, wanted: &str, lower: &str) -> Result<String> {
    // A short part has no '-', so the text before the last '-' must be the project's prefix.
    let short = match lower.rsplit_once('-') {
        None => lower,
        Some((prefix, short)) if meta::get(tx, meta::PREFIX)?.as_deref() == Some(prefix) => short,
        Some(_) => return Err(Error::not_found("atom", wanted)),
    };
    let short = match model::canonical_short(short) {
        Some(short) if !short.is_empty() => short,
        _ => return Err(Error::not_found("atom", wanted)),
    };
    let limit = i64::try_from(model::MAX_CANDIDATES).expect("a small constant");
    let mut candidates: Vec<(String, String, String)> = tx
        .read_all(
            "SELECT id, title, short FROM atoms WHERE short >= ?1 AND short < ?1 || '{'
            ORDER BY short LIMIT ?2",
            params![short, limit],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .doing("find an id")?;
    match candidates.len() {
        0 => Err(Error::not_found("atom", wanted)),
        1 => Ok(candidates.remove(0).0),
        _ if candidates[0].2 == short => Ok(candidates.swap_remove(0).0),
        _ => Err(Error::Ambiguous {
            id: wanted.to_owned(),
            candidates: candidates.into_iter().map(|(id, title, _)| (id, title)).collect(),
        }),
    }
}

/// Returns a new short part. No existing short part is its beginning, or begins with it. It has
/// four characters as long as such parts are easily found.
pub(crate) fn unused_short(tx: &Tx<'_>) -> Result<String> {
    let mut taken = tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM atoms WHERE short >= ?1 AND short < ?1 || '{')
                 OR EXISTS (SELECT 1 FROM atoms WHERE short IN (
                      substr(?1, 1, 4), substr(?1, 1, 5), substr(?1, 1, 6), substr(?1, 1, 7)))",
        )
        .doing("make an id")?;
    for len in model::SHORT_MIN..=12 {
        for _ in 0..4 {
            let short = model::fresh_short(len);
            let is_taken: bool = taken.query_row([&short], |row| row.get(0)).doing("make an id")?;
            if !is_taken {
                return Ok(short);
            }
        }
    }
    Err(Error::conflict("exists", "no free id was found"))
}
