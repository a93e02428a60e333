//! A conflict becomes an atom: somebody, or some agent, resolves it.

use el_core::model::{Atom, Status};
use el_core::ops::{self, NewAtom};
use serde_json::json;

use super::plan::Item;
use crate::app::App;
use crate::error::Result;

/// In the metadata of such an atom: whose conflict it is.
const KEY: &str = "land_conflict_of";

/// The atom of a conflict.
pub(super) struct Conflict {
    pub(super) id: String,
    /// Somebody says that it is resolved.
    pub(super) is_closed: bool,
}

/// Files the atom, unless one is there that is not over, or that was closed for this very conflict:
/// another would say the same.
pub(super) fn file(app: &App, item: &Item, onto: &str) -> Result<Conflict> {
    let mut store = app.writer()?;
    let known = ops::show(&store, &item.atom_id)?.neighbours;
    let of_it = known.iter().filter(|atom| atom.metadata[KEY] == json!(item.atom_id));
    let is_same = |atom: &Atom| {
        atom.metadata["tip"] == json!(item.tip) && atom.metadata["land_onto"] == json!(onto)
    };
    let there = of_it
        .filter(|atom| !atom.status.is_over() || (atom.status == Status::Closed && is_same(atom)));
    if let Some(there) = there.min_by_key(|atom| atom.status.is_over()) {
        return Ok(Conflict { id: there.id.clone(), is_closed: there.status == Status::Closed });
    }
    let branch = item.branch.as_deref().unwrap_or_default();
    // What is over is not to have open work in it: it would be opened for that.
    let parent = item.parent.as_ref().map(|parent| ops::brief(&store, parent)).transpose()?;
    let parent = parent.filter(|parent| !parent.status.is_over()).map(|parent| parent.id);
    let files: String = item.files.iter().map(|name| format!("- `{name}`\n")).collect();
    let new = NewAtom {
        title: format!("Resolve the conflict of {} with {onto}", item.atom_id),
        description: format!(
            "The branch `{branch}` ({}) cannot be brought to `{onto}` by itself. In conflict are:\n\n{files}\n\
             Merge `{branch}` into a branch that begins at `{onto}` (`git merge {branch}`), resolve each of these files so that the intent of both \
             sides is kept, commit the merge, and close this atom. `el land` then brings both in. `el diff {}` shows what the branch was about.",
            item.title.as_deref().unwrap_or_default(),
            item.atom_id
        ),
        parent,
        discovered_from: Some(item.atom_id.clone()),
        metadata: Some(
            json!({ KEY: item.atom_id, "tip": item.tip, "land_onto": onto, "files": item.files }),
        ),
        ..NewAtom::default()
    };
    Ok(Conflict { id: ops::create(&mut store, &app.ctx(), &new)?.id, is_closed: false })
}
