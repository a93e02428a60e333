use super::Board;
use super::entry::{about_all, way};
use crate::model::{Need, NeedKind, Timestamp};
use crate::rules::attention::sort_needs;

/// A finished branch that its target lacks. The store knows no branches: the caller asks git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchToLand {
    pub atom_id: String,
    pub title: String,
    pub closed_at: Timestamp,
    /// Why `el land` would leave the branch; `None`: it would bring the branch in.
    pub obstacle: Option<&'static str>,
}

/// The most branches that an entry names.
const NAMED: usize = 5;

/// Adds two entries to the person's queue: one for the branches that can be landed, and one for
/// those that cannot.
pub fn add_branches(board: &mut Board, branches: &[BranchToLand]) {
    let is_told = |branch: &&BranchToLand| {
        board.needs.items.iter().any(|need| {
            matches!(need.kind, NeedKind::Conflict | NeedKind::LandCheck)
                && need.atom_id.as_ref() == Some(&branch.atom_id)
        })
    };
    let (ready, held): (Vec<_>, Vec<_>) = branches
        .iter()
        .filter(|branch| !is_told(branch))
        .partition(|branch| branch.obstacle.is_none());
    if let Some(since) = ready.iter().map(|branch| branch.closed_at).min() {
        let named: Vec<&str> =
            ready.iter().take(NAMED).map(|branch| branch.atom_id.as_str()).collect();
        let (title, why) = match ready.as_slice() {
            [one] => (one.title.clone(), "its branch can be landed".to_owned()),
            all => (format!("{} branches can be landed", all.len()), named.join(", ")),
        };
        let mut need = about_all(NeedKind::ToLand, "all", &title, why, since);
        need.atom_id = only_atom(&ready);
        let which = need.atom_id.as_deref().unwrap_or("--all");
        need.ways = vec![
            way("L", "land", format!("el land {which}")),
            way("w", "look", format!("el land {which} --dry-run")),
        ];
        add_need(board, need);
    }
    if let Some(since) = held.iter().map(|branch| branch.closed_at).min() {
        let of = |branch: &BranchToLand| branch.obstacle.unwrap_or_default();
        let named: Vec<String> = held
            .iter()
            .take(NAMED)
            .map(|branch| format!("{}: {}", branch.atom_id, of(branch)))
            .collect();
        let (title, why) = match held.as_slice() {
            [one] => (one.title.clone(), format!("its branch cannot be landed yet: {}", of(one))),
            all => (format!("{} branches cannot be landed yet", all.len()), named.join("; ")),
        };
        let mut need = about_all(NeedKind::ToLand, "held", &title, why, since);
        need.atom_id = only_atom(&held);
        let which = need.atom_id.as_deref().unwrap_or("--all");
        need.ways = vec![way("w", "look", format!("el land {which} --dry-run"))];
        add_need(board, need);
    }
}

/// Returns the atom if there is one branch alone: the entry then offers the keys of the atom.
fn only_atom(branches: &[&BranchToLand]) -> Option<String> {
    match branches {
        [one] => Some(one.atom_id.clone()),
        _ => None,
    }
}

/// Adds an entry that the caller found outside of the store.
pub(super) fn add_need(board: &mut Board, need: Need) {
    board.needs.items.push(need);
    board.needs.count += 1;
    board.needs.total += 1;
    sort_needs(&mut board.needs.items);
    board.forecast.is_needed = true;
    board.forecast.needed_at = None;
}
