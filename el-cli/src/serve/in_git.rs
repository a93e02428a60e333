//! What git knows of the project: the branches to land, and the runs that change the same files.

use std::sync::{Mutex, PoisonError};

use el_agents::worker;
use el_core::{Store, ops};

use crate::app::App;
use crate::commands::status::{self, Overlaps};
use crate::error::Result;

/// The rows of the board that are looked at.
const ROWS: usize = 50;

/// What git said last.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct InGit {
    branches: Vec<ops::BranchToLand>,
    overlaps: Overlaps,
}

impl InGit {
    pub(super) fn ask(app: &App, store: &Store) -> Result<InGit> {
        let board = ops::board(store, ROWS, app.now(), &worker::is_there)?;
        Ok(InGit {
            branches: status::find_branches(app, store).unwrap_or_default(),
            overlaps: status::find_overlaps(app, &board),
        })
    }

    pub(super) fn add_to(&self, board: &mut ops::Board) {
        ops::add_branches(board, &self.branches);
        ops::add_overlaps(board, &self.overlaps);
    }
}

/// What the thread has found; all who look share it.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<InGit>);

impl Shared {
    pub(super) fn latest(&self) -> InGit {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, found: InGit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }
}
