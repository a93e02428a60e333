//! The atoms that a decision frees.

use std::collections::HashSet;

use crate::Result;
use crate::model::Priority;
use crate::store::Tx;
use crate::store::board as rows;

/// Returns the priorities of the atoms that wait for an atom, directly or through others, at most
/// `most`. Children of the atom are included if the atom holds them.
pub(super) fn list_freed(
    tx: &Tx<'_>,
    atom: &str,
    holds_children: bool,
    most: i64,
) -> Result<Vec<Priority>> {
    let mut seen = HashSet::from([atom.to_owned()]);
    let mut freed = Vec::new();
    let mut todo = vec![(atom.to_owned(), holds_children)];
    let mut left = most;
    while let Some((id, with_children)) = todo.pop() {
        let mut behind = rows::list_targets(tx, &id, left)?;
        if with_children {
            behind.extend(rows::list_children(tx, &id, left)?);
        }
        for one in behind {
            if left > 0 && seen.insert(one.id.clone()) {
                left -= 1;
                freed.extend(one.priority);
                // A waiting atom holds its children.
                todo.push((one.id, true));
            }
        }
        if left == 0 {
            break;
        }
    }
    Ok(freed)
}
