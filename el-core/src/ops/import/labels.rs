//! Labels that changed here and in the file.

use super::field::hash_of;

/// The number of different labels up to which the labels of the last import are looked for.
const MOST: usize = 12;

/// Merges labels one by one, as `exchange::merge` does: what either side added or removed since the
/// last import counts. Of that import only a hash is known (`last`), so every choice of the labels
/// is tried. `None` if it was none of them.
pub(super) fn merge_labels(last: &str, ours: &[String], theirs: &[String]) -> Option<Vec<String>> {
    let last = u32::from_str_radix(last, 16).ok()?;
    let mut all: Vec<&String> = ours.iter().chain(theirs).collect();
    all.sort();
    all.dedup();
    if all.len() > MOST {
        return None;
    }
    let is_last = |chosen: &u32| {
        let base: Vec<&str> = chosen_labels(&all, *chosen).map(|label| label.as_str()).collect();
        hash_of(Some(&base.join(","))) == last
    };
    let chosen = (0..1_u32 << all.len()).find(is_last)?;
    let base: Vec<&String> = chosen_labels(&all, chosen).copied().collect();
    let stays =
        |label: &&String| !base.contains(label) || (ours.contains(label) && theirs.contains(label));
    Some(all.iter().copied().filter(stays).cloned().collect())
}

fn chosen_labels<'a, 'l>(
    all: &'a [&'l String],
    chosen: u32,
) -> impl Iterator<Item = &'a &'l String> {
    all.iter().enumerate().filter(move |(at, _)| chosen >> at & 1 == 1).map(|(_, label)| label)
}
