//! The series of figures that the page plots.

use std::sync::Arc;

use axum::extract::{Query, State};
use el_core::model::{Series, SeriesName};
use el_core::ops;
use serde::Deserialize;

use super::answer::{Data, Failure};
use super::board::Board;

#[derive(Deserialize)]
pub(super) struct Window {
    days: Option<u16>,
    /// The viewer's clock, in minutes ahead of UTC.
    ahead: Option<i16>,
}

const DAYS: u16 = 30;

/// All series of the last days.
pub(super) async fn list_series(
    State(board): State<Arc<Board>>,
    Query(window): Query<Window>,
) -> Result<Data<Vec<Series>>, Failure> {
    let days = usize::from(window.days.unwrap_or(DAYS));
    let ahead = i32::from(window.ahead.unwrap_or(0));
    let read = move |app: &crate::app::App| {
        let store = app.open_for_reading()?;
        let all = SeriesName::ALL.iter();
        Ok(all
            .map(|name| ops::series(&store, *name, days, ahead, app.now()))
            .collect::<el_core::Result<_>>()?)
    };
    board.run_call(read).await.map(Data)
}
