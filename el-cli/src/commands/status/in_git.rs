//! The project as git knows it: the branches to land, and the runs that change the same files.

use el_agents::git::ensure_version;
use el_agents::land::branches_to_land;
use el_agents::worker;
use el_core::Store;
use el_core::ops::{self, Board, BranchToLand};

use super::overlaps::{Overlaps, find_overlaps};
use crate::commands::worktrees::{find_repository, target_branch};
use crate::{App, Result};

/// The rows of the board that are looked at.
const ROWS: usize = 50;

/// The last answer of git.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct InGit {
    branches: Vec<BranchToLand>,
    overlaps: Overlaps,
}

impl InGit {
    pub(crate) fn ask(app: &App, store: &Store) -> Result<InGit> {
        let board = ops::board(store, ROWS, app.now(), &worker::is_there)?;
        Ok(InGit::ask_about(app, store, &board))
    }

    /// Asks git about a board that was read already.
    pub(super) fn ask_about(app: &App, store: &Store, board: &Board) -> InGit {
        InGit {
            branches: find_branches(app, store).unwrap_or_default(),
            overlaps: find_overlaps(app, board),
        }
    }

    pub(crate) fn add_to(&self, board: &mut Board) {
        ops::add_branches(board, &self.branches);
        ops::add_overlaps(board, &self.overlaps);
    }
}

/// The branches to land; `None` where there is no git, or git does not answer.
fn find_branches(app: &App, store: &Store) -> Option<Vec<BranchToLand>> {
    ensure_version().ok()?;
    let repository = find_repository(app).ok()?;
    let target = target_branch(app, &repository, None).ok()?;
    let settings = app.settings().and_then(|settings| settings.land_settings()).ok()?;
    branches_to_land(store, &repository, &settings, &target).ok()
}
