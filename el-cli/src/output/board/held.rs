//! The atoms that people hold, and the pull requests that are under way.

use el_core::model::{AtomRow, Status};
use el_core::ops::Board;

use super::{Page, atom_table, print_rest, status_sign};
use crate::output::{pull_requests, sanitize, time};

/// `begun by ann`, `testing`, or `put off`.
pub(crate) fn held_words(atom: &AtomRow) -> String {
    let by = atom.assignee.as_deref().map(|name| format!(" by {}", sanitize::one_line(name)));
    let by = by.unwrap_or_default();
    match atom.status {
        Status::InProgress => format!("begun{by}"),
        Status::Deferred => "put off".to_owned(),
        status => format!("{}{by}", status.as_str().replace('_', " ")),
    }
}

pub(super) fn print_held(page: &mut Page, board: &Board, most: usize) {
    if board.held.items.is_empty() {
        return;
    }
    page.push_section("Held by people");
    let rows = board
        .held
        .items
        .iter()
        .take(most)
        .map(|atom| (atom, held_words(atom), time::relative_time(board.now, atom.updated_at)));
    atom_table(board, status_sign, rows).print_table(page);
    print_rest(page, &board.held, most, "el list --status in_progress,testing,deferred");
}

pub(super) fn print_pulls(page: &mut Page, board: &Board, most: usize) {
    if board.pull_requests.items.is_empty() {
        return;
    }
    page.push_section("Pull requests");
    let rows = board.pull_requests.items.iter().take(most).map(|row| {
        let one = &row.pull_request;
        let says =
            format!("{} {}", pull_requests::number_text(one), pull_requests::state_words(one));
        let seen = one.seen_at.unwrap_or(one.created_at);
        (&row.atom, says, time::relative_time(board.now, seen))
    });
    atom_table(board, |_| "↗", rows).print_table(page);
    print_rest(page, &board.pull_requests, most, "el pr list");
}
