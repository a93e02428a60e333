//! The orchestrations: the phases, the tasks in layers, and the questions to a person.

use std::sync::Arc;

use axum::extract::{Path, State};

use super::answer::{Data, Failure};
use super::board::Board;
use crate::commands::orchestrate::status::{Item, Plan, read_plans};

pub(super) async fn list_plans(
    State(board): State<Arc<Board>>,
) -> Result<Data<Vec<Item>>, Failure> {
    board.run_call(read_plans).await.map(Data)
}

pub(super) async fn show_plan(
    State(board): State<Arc<Board>>,
    Path(id): Path<String>,
) -> Result<Data<Plan>, Failure> {
    board.run_call(move |app| Plan::read(app, &id)).await.map(Data)
}
