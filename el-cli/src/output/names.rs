//! Names in a sentence.

/// Ids that are named in a sentence.
const NAMED: usize = 5;

/// As many ids as a sentence carries. `el orchestrate show` and robot answers have them all.
pub(crate) fn first_few(ids: &[String]) -> String {
    match ids.get(NAMED..) {
        Some(more @ [_, _, ..]) => format!("{} and {} more", ids[..NAMED].join(", "), more.len()),
        _ => ids.join(", "),
    }
}
