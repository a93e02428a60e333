use super::Board;
use super::entry::{about_all, way};
use crate::model::{Need, NeedKind, Timestamp};
use crate::rules::attention::sort_needs;

/// Adds the branches that can be landed to the queue, as one entry. The store knows no branches:
/// the caller has asked git. `branches`: the atoms of the branches, and when each was closed.
pub fn add_branches(board: &mut Board, branches: &[(String, Timestamp)]) {
    let waiting: Vec<&(String, Timestamp)> = branches
        .iter()
        .filter(|(id, _)| {
            let is_told = |need: &Need| {
                matches!(need.kind, NeedKind::Conflict | NeedKind::LandCheck)
                    && need.atom_id.as_ref() == Some(id)
            };
            !board.needs.items.iter().any(is_told)
        })
        .collect();
    let Some(since) = waiting.iter().map(|(_, at)| *at).min() else { return };
    let title = match waiting.as_slice() {
        [(id, _)] => format!("The branch of {id} can be landed"),
        all => format!("{} branches can be landed", all.len()),
    };
    let named: Vec<&str> = waiting.iter().take(5).map(|(id, _)| id.as_str()).collect();
    let mut need = about_all(NeedKind::ToLand, "all", &title, named.join(", "), since);
    need.ways = vec![
        way("L", "land", "el land --all".to_owned()),
        way("w", "look", "el land --all --dry-run".to_owned()),
    ];
    add_need(board, need);
}

/// Adds an entry of which the store knows nothing.
pub(super) fn add_need(board: &mut Board, need: Need) {
    board.needs.items.push(need);
    board.needs.count += 1;
    board.needs.total += 1;
    sort_needs(&mut board.needs.items);
    board.forecast.is_needed = true;
    board.forecast.needed_at = None;
}
