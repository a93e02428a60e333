//! The body of a request: JSON of one form, which has to come in time.

use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use super::answer::Failure;

/// The longest body, in bytes.
const BODY_SIZE: usize = 64 << 10;
/// A body has to come within this time.
const BODY_TIME: Duration = Duration::from_secs(10);

/// The body as a value. A key that is not known is an error: nothing is left out silently.
#[derive(Debug)]
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &S) -> Result<Self, Failure> {
        let read = to_bytes(request.into_body(), BODY_SIZE);
        let bytes = match tokio::time::timeout(BODY_TIME, read).await {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(_)) => {
                let text = "a request has at most 64 KiB";
                return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "too_long", text));
            }
            Err(_) => {
                let text = "the request did not come to its end";
                return Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "timed_out", text));
            }
        };
        serde_json::from_slice(&bytes).map(Body).map_err(|error| {
            Failure::new(StatusCode::BAD_REQUEST, "wrong_body", &error.to_string())
        })
    }
}
