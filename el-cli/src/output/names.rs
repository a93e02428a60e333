//! Names in a sentence.

/// Ids that are named in a sentence.
const NAMED: usize = 5;

/// The first few ids, for a sentence. `el orchestrate show` and robot answers list all.
pub(crate) fn first_few(ids: &[String]) -> String {
    match ids.get(NAMED..) {
        Some(more @ [_, _, ..]) => format!("{} and {} more", ids[..NAMED].join(", "), more.len()),
        _ => ids.join(", "),
    }
}
