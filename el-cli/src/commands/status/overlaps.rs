//! Runs at work that change the same files.

use std::collections::BTreeMap;

use el_agents::git::{Git, base_reference};
use el_core::ops::Board;

use crate::App;
use crate::commands::worktrees::find_repository;

/// Two atoms at work, and the files that both change.
pub(super) type Overlaps = Vec<(String, String, Vec<String>)>;

/// The runs that are compared: git is asked once for each.
const COMPARED: usize = 16;

/// The runs at work that change the same files, committed or not. Where there is no git, or no
/// worktree, there is nothing to compare.
pub(super) fn find_overlaps(app: &App, board: &Board) -> Overlaps {
    let runs = board.running.items.iter().take(COMPARED);
    let atoms: Vec<&str> = runs.map(|run| run.atom_id.as_str()).collect();
    if atoms.len() < 2 {
        return Vec::new();
    }
    let changed = find_repository(app).and_then(|repository| {
        let mut changed: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tree in repository.worktrees()?.iter().filter(|tree| !tree.is_missing) {
            let atom = tree.branch.as_deref().and_then(|branch| repository.atom_of(branch));
            let Some(atom) = atom.filter(|atom| atoms.contains(atom)) else { continue };
            let base = base_reference(atom);
            let words = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv"];
            let words = [&words[..], &["--ignore-submodules=dirty", &base]].concat();
            // A run that has just begun, or a tree that is being removed.
            let Ok(said) = Git::at(&tree.path).in_own_checkout().ask(&words) else { continue };
            for file in said.split('\0').filter(|file| !file.is_empty()) {
                changed.entry(file.to_owned()).or_default().push(atom.to_owned());
            }
        }
        Ok(changed)
    });
    pairs_of(changed.unwrap_or_default())
}

fn pairs_of(changed: BTreeMap<String, Vec<String>>) -> Overlaps {
    let mut pairs: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (file, mut atoms) in changed {
        atoms.sort_unstable();
        for (at, one) in atoms.iter().enumerate() {
            for other in &atoms[at + 1..] {
                pairs.entry((one.clone(), other.clone())).or_default().push(file.clone());
            }
        }
    }
    pairs.into_iter().map(|((one, other), files)| (one, other, files)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_told_once_with_all_its_files() {
        let changed =
            [("a.rs", vec!["x", "y"]), ("b.rs", vec!["y"]), ("c.rs", vec!["y", "x", "z"])];
        let owned = |atoms: Vec<&str>| atoms.into_iter().map(str::to_owned).collect();
        let changed = changed.map(|(file, atoms)| (file.to_owned(), owned(atoms))).into();
        let told: Vec<String> = pairs_of(changed)
            .into_iter()
            .map(|(one, other, files)| format!("{one} {other}: {}", files.join(" ")))
            .collect();
        assert_eq!(told, ["x y: a.rs c.rs", "x z: c.rs", "y z: c.rs"]);
    }
}
