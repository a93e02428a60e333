//! The events that this person has seen: a mark of the person's own, and no change of the tracker.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Data, Failure};
use super::board::Board;
use super::body::Body;
use crate::looked::note_look;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Look {
    /// The last event that the page showed.
    seq: i64,
}

pub(super) async fn note(
    State(board): State<Arc<Board>>,
    Body(look): Body<Look>,
) -> Result<Data<Value>, Failure> {
    let write = move |app: &crate::app::App| {
        note_look(app, look.seq);
        Ok(json!({ "looked": look.seq }))
    };
    board.run_call(write).await.map(Data)
}
