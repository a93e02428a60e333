use super::Board;
use super::branches::add_need;
use super::odd::about_run;
use crate::model::NeedKind;

/// The files of an entry that are named.
const NAMED: usize = 3;

/// Adds a warning for each two runs at work that change the same files. The store knows no files:
/// the caller has asked git. `overlaps`: two atoms, and the files that both change.
pub fn add_overlaps(board: &mut Board, overlaps: &[(String, String, Vec<String>)]) {
    for (one, other, files) in overlaps {
        let found = |atom: &str| board.running.items.iter().find(|run| run.atom_id == atom);
        let (Some(run), Some(second)) = (found(one), found(other)) else { continue };
        let named: Vec<&str> = files.iter().take(NAMED).map(String::as_str).collect();
        let more = match files.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let why = format!("{other} changes the same files: {}{more}", named.join(", "));
        let since = run.started_at.max(second.started_at);
        let mut need = about_run(NeedKind::SameFiles, run, why, since);
        need.key = format!("{}:{one}:{other}", NeedKind::SameFiles);
        add_need(board, need);
    }
}
