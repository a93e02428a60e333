//! The stream of events to a browser (server-sent events). The ids are those of the tracker's
//! events, so a stream that broke off goes on at the same place.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Body as HttpBody, Bytes, Frame};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::time::{Instant, interval_at};

use super::answer::Failure;
use super::board::{Board, Told};
use super::watch;

/// The interval of signs of life for the browser, and for proxies in between.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

#[derive(Deserialize)]
pub(super) struct From {
    /// The last event that the page knows.
    since: Option<i64>,
}

pub(super) async fn stream_events(
    State(board): State<Arc<Board>>,
    Query(from): Query<From>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let Ok(slot) = Arc::clone(&board.streams).try_acquire_owned() else {
        return Err(Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_streams",
            "too many pages are open; close one",
        ));
    };
    let resumed = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    // Subscribes before it looks, so that no message in between is missed.
    let told = board.told.subscribe();
    let first = match resumed.or(from.since) {
        Some(since) => Some(Arc::clone(&board).run_call(move |app| catch_up(app, since)).await?),
        None => None,
    };
    let (sender, messages) = mpsc::channel(4);
    tokio::spawn(pass_on(told, sender, first));
    let body = Body::new(Messages { messages, _slot: slot });
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], body).into_response())
}

fn catch_up(app: &crate::app::App, since: i64) -> crate::error::Result<Told> {
    let store = app.open_for_reading()?;
    match watch::find_change(&store, since, app)? {
        Some(change) => watch::told_of(&change),
        None => Ok(watch::reset()),
    }
}

/// Passes the messages of the watcher on until the browser is gone.
async fn pass_on(
    mut told: broadcast::Receiver<Told>,
    sender: mpsc::Sender<Bytes>,
    first: Option<Told>,
) {
    // The browser tries again after this time, in milliseconds, when the stream breaks off.
    let mut next = Bytes::from_static(b"retry: 1000\n\n");
    if let Some(first) = first {
        next = [next, format_message(&first)].concat().into();
    }
    let mut keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    while sender.send(next).await.is_ok() {
        next = tokio::select! {
            () = sender.closed() => return,
            _ = keep_alive.tick() => Bytes::from_static(b"event: alive\ndata: {}\n\n"),
            told = told.recv() => match told {
                Ok(told) => format_message(&told),
                // The browser is too slow, and missed messages are not kept.
                Err(RecvError::Lagged(_)) => format_message(&watch::reset()),
                Err(RecvError::Closed) => return,
            },
        };
    }
}

fn format_message(told: &Told) -> Bytes {
    // JSON has no line break outside of its texts, and escapes those in them.
    let id = if told.seq > 0 { format!("id: {}\n", told.seq) } else { String::new() };
    format!("{id}event: {}\ndata: {}\n\n", told.kind, told.data).into()
}

/// The body of the answer.
struct Messages {
    messages: mpsc::Receiver<Bytes>,
    _slot: OwnedSemaphorePermit,
}

impl HttpBody for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.messages.poll_recv(cx).map(|next| next.map(|bytes| Ok(Frame::data(bytes))))
    }
}
