//! A conflict becomes an atom: somebody, or some agent, resolves it.

use el_core::ops::{self, NewAtom};
use serde_json::json;

use super::plan::Item;
use crate::app::App;
use crate::error::Result;

/// In the metadata of such an atom: whose conflict it is.
const KEY: &str = "land_conflict_of";

/// Files the atom, unless one is there that is not over; its id.
pub(super) fn file(app: &App, item: &Item, onto: &str) -> Result<String> {
    let mut store = app.writer()?;
    let known = ops::show(&store, &item.atom_id)?.neighbours;
    if let Some(there) = known.iter().find(|atom| !atom.status.is_over() && atom.metadata[KEY] == json!(item.atom_id)) {
        return Ok(there.id.clone());
    }
    let branch = item.branch.as_deref().unwrap_or_default();
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
        parent: item.parent.clone(),
        discovered_from: Some(item.atom_id.clone()),
        metadata: Some(json!({ KEY: item.atom_id, "land_onto": onto, "files": item.files })),
        ..NewAtom::default()
    };
    Ok(ops::create(&mut store, &app.ctx(), &new)?.id)
}
