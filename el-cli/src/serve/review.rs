//! The changes of an atom's branch, for review.

use std::sync::Arc;

use axum::extract::{Path, State};
use serde::Serialize;

use super::answer::{Data, Failure};
use super::board::Board;
use crate::commands::diff::{self, Difference, Form};
use crate::{App, Result};

/// The longest diff that a page takes, in bytes.
const PATCH: usize = 8 << 20;

/// The changes of an atom's branch.
#[derive(Debug, Serialize)]
pub(super) struct Changes {
    #[serde(flatten)]
    found: Difference,
    /// The patch was cut, since it is too long to send.
    is_cut: bool,
}

pub(super) async fn show_changes(
    State(board): State<Arc<Board>>,
    Path(id): Path<String>,
) -> Result<Data<Changes>, Failure> {
    board.run_call(move |app| find_changes(app, &id)).await.map(Data)
}

fn find_changes(app: &App, id: &str) -> Result<Changes> {
    let mut found = diff::find_difference(app, id, Form::Patch)?;
    let patch = found.patch.get_or_insert_default();
    let is_cut = patch.len() > PATCH;
    if is_cut {
        let end = (0..=PATCH).rev().find(|at| patch.is_char_boundary(*at));
        patch.truncate(end.unwrap_or_default());
    }
    Ok(Changes { found, is_cut })
}
