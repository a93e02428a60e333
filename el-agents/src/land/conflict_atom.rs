//! Files an atom for each conflict, for a person or an agent to resolve.

use el_core::model::{Atom, Status};
use el_core::ops::{self, AtomFilter, NewAtom, Sort};
use el_core::{Ctx, Store};
use serde_json::{Value, json};

use super::chain::Conflict;
use super::{LandItem, Result};
use crate::git::{GitError, Repository};

/// Metadata key of a conflict atom. The value is the id of the atom whose branch is in conflict.
const CONFLICT_OF_KEY: &str = "land_conflict_of";

/// How the title of a conflict atom begins.
const TITLE: &str = "Resolve the conflict of";

/// The atom of a conflict.
struct ConflictAtom {
    id: String,
    /// The conflict is resolved, according to the atom.
    is_closed: bool,
}

/// Files an atom for each conflict. If one branch builds on another, resolving the upper conflict
/// resolves both, so both share an atom. Of two with one and the same file, the later waits for the
/// earlier, of this landing or of one before, and is resolved on top of it; else it would be in
/// conflict again.
pub(super) fn file_all(
    store: &mut Store,
    ctx: &Ctx<'_>,
    repository: &Repository,
    onto: &str,
    items: &mut [LandItem],
    mut conflicts: Vec<Conflict>,
) -> Result<()> {
    let tip = |items: &[LandItem], at: usize| items[at].tip.clone().unwrap_or_default();
    let tips: Vec<String> = conflicts.iter().map(|conflict| tip(items, conflict.item)).collect();
    let tops = repository.independent_commits(&tips)?;
    conflicts.sort_by_key(|conflict| !tops.contains(&tip(items, conflict.item)));
    let mut filed: Vec<usize> = Vec::new();
    for Conflict { item: at, files } in conflicts {
        let mut detail = files.clone();
        items[at].set_conflict(files);
        let mut carrier = None;
        for above in &filed {
            if repository.contains(&tip(items, *above), &tip(items, at))? {
                carrier = Some(*above);
                break;
            }
        }
        if let Some(above) = carrier {
            detail.push(format!("it comes with {}, which builds on it", items[above].atom_id));
            items[at].conflict_atom = items[above].conflict_atom.clone();
        } else {
            let shares_file =
                |above: &&usize| items[**above].files.iter().any(|f| items[at].files.contains(f));
            let before = filed.iter().rev().find(shares_file);
            let before = match before {
                Some(above) => items[*above].conflict_atom.clone(),
                None => find_open_conflict(store, ctx, &items[at], onto)?,
            };
            let conflict = file_atom(store, ctx, &items[at], onto, before)?;
            if conflict.is_closed {
                detail.push(what_is_left(
                    repository,
                    &conflict.id,
                    (&items[at].atom_id, &tip(items, at)),
                )?);
            }
            items[at].conflict_atom = Some(conflict.id);
            filed.push(at);
        }
        items[at].detail = Some(detail.join("\n"));
    }
    Ok(())
}

/// Returns the newest open atom for a conflict of another branch with one of the item's files.
fn find_open_conflict(
    store: &Store,
    ctx: &Ctx<'_>,
    item: &LandItem,
    onto: &str,
) -> Result<Option<String>> {
    let titled = AtomFilter { text: Some(TITLE.to_owned()), ..AtomFilter::default() };
    let found = ops::list(store, &titled, Sort::Newest, None, 0, ctx.now)?;
    let is_shared = |metadata: &Value| {
        let of = &metadata[CONFLICT_OF_KEY];
        let files = metadata["files"].as_array();
        (of.is_string() && *of != item.atom_id && metadata["land_onto"] == onto)
            && files.is_some_and(|files| item.files.iter().any(|file| files.contains(&json!(file))))
    };
    Ok(found.items.into_iter().find(|atom| is_shared(&atom.metadata)).map(|atom| atom.id))
}

/// Says what to do about a conflict with a closed atom.
fn what_is_left(
    repository: &Repository,
    id: &str,
    (atom, tip): (&str, &str),
) -> Result<String, GitError> {
    let resolved = repository.tip_of(id)?;
    let has_it = resolved.map_or(Ok(false), |resolved| repository.contains(&resolved, tip))?;
    Ok(if has_it {
        format!("{id} is closed, and its branch has this one: el land {id} brings in both")
    } else {
        format!(
            "{id} is closed, but its branch does not have this one: el reopen {id}, and merge it \
             there; or, if nothing of this one is wanted, el discard {atom}"
        )
    })
}

/// Files the atom, unless an open atom for the conflict exists, or an atom closed for this very
/// conflict.
fn file_atom(
    store: &mut Store,
    ctx: &Ctx<'_>,
    item: &LandItem,
    onto: &str,
    before: Option<String>,
) -> Result<ConflictAtom> {
    let known = ops::show(store, &item.atom_id)?.neighbours;
    let of_it = known.iter().filter(|atom| atom.metadata[CONFLICT_OF_KEY] == json!(item.atom_id));
    let is_same = |atom: &Atom| {
        atom.metadata["tip"] == json!(item.tip) && atom.metadata["land_onto"] == json!(onto)
    };
    let there = of_it
        .filter(|atom| !atom.status.is_over() || (atom.status == Status::Closed && is_same(atom)));
    if let Some(there) = there.min_by_key(|atom| atom.status.is_over()) {
        let is_closed = there.status == Status::Closed;
        return Ok(ConflictAtom { id: there.id.clone(), is_closed });
    }
    let branch = item.branch.as_deref().unwrap_or_default();
    // A parent that is over gets no open child: that would reopen the parent.
    let parent = item.parent.as_ref().map(|parent| ops::get_atom(store, parent)).transpose()?;
    let parent = parent.filter(|parent| !parent.status.is_over()).map(|parent| parent.id);
    let files: String = item.files.iter().map(|name| format!("- `{name}`\n")).collect();
    let mut new = NewAtom {
        title: format!("{TITLE} {} with {onto}", item.atom_id),
        description: format!(
            "The branch `{branch}` ({}) cannot be brought to `{onto}` by itself. In conflict \
             are:\n\n{files}\n\
             Merge `{branch}` into a branch that begins at `{onto}` (`git merge {branch}`), \
             resolve each of these files so that the intent of both sides is kept, commit the \
             merge, and close this atom. `el land` then brings both in. `el diff {}` shows what \
             the branch was about.",
            item.title.as_deref().unwrap_or_default(),
            item.atom_id
        ),
        parent,
        blocked_by: before.into_iter().collect(),
        discovered_from: Some(item.atom_id.clone()),
        metadata: Some(json!({
            CONFLICT_OF_KEY: item.atom_id,
            "tip": item.tip,
            "land_onto": onto,
            "files": item.files,
        })),
        ..NewAtom::default()
    };
    let made = match ops::create(store, ctx, &new) {
        // Their parents already wait for each other, the other way round.
        Err(error) if error.code() == "cycle" => {
            new.blocked_by.clear();
            ops::create(store, ctx, &new)
        }
        made => made,
    };
    Ok(ConflictAtom { id: made?.id, is_closed: false })
}
