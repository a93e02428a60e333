//! The addresses of the board.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware;
use axum::routing::{get, post};

use super::answer::Failure;
use super::board::Board;
use super::pages::PAGES;
use super::{
    figures, files, looks, plans, review, sign_in_calls, stream, transcript, verbs, views, walls,
    workers,
};

pub(super) fn all_routes(board: &Arc<Board>) -> Router {
    let pages =
        PAGES.iter().fold(Router::new(), |router, page| router.route(page, get(files::serve_page)));
    pages
        .route("/a/{id}", get(files::serve_page))
        .route("/a/{id}/review", get(files::serve_page))
        .route("/assets/{name}", get(files::serve_asset))
        .route("/api/hello", get(sign_in_calls::say_hello))
        .route("/api/sign-in", post(sign_in_calls::sign_in))
        .route("/api/sign-out", post(sign_in_calls::sign_out))
        .route("/api/snapshot", get(views::show_board))
        .route("/api/looked", post(looks::note))
        .route("/api/events", get(stream::stream_events))
        .route("/api/atoms", get(views::list_atoms).post(verbs::create_atom))
        .route("/api/atoms/{id}", get(views::show_atom))
        .route("/api/atoms/{id}/diff", get(review::show_changes))
        .route("/api/atoms/{id}/{verb}", post(verbs::change_atom))
        .route("/api/workers/{verb}", post(workers::change_workers))
        .route("/api/bonds", get(views::list_bonds))
        .route("/api/plans", get(plans::list_plans))
        .route("/api/plans/{id}", get(plans::show_plan))
        .route("/api/runs", get(views::list_runs))
        .route("/api/series", get(figures::list_series))
        .route("/api/runs/{id}/transcript", get(transcript::show_transcript))
        .fallback(nothing_here)
        .method_not_allowed_fallback(nothing_here)
        .layer(middleware::from_fn_with_state(Arc::clone(board), walls::guard_request))
        .with_state(Arc::clone(board))
}

async fn nothing_here() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this address")
}
