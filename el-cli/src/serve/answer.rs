//! Answers: the documents of `--robot`, with a status of HTTP.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::output::robot;
use crate::{CommandError, Exit};

/// The answer to a request that could not be done.
#[derive(Debug)]
pub(super) struct Failure {
    status: StatusCode,
    body: Vec<u8>,
}

impl Failure {
    /// A refusal of the server itself; the text tells what to do.
    pub(super) fn new(status: StatusCode, code: &'static str, message: &str) -> Failure {
        let error = CommandError::refused(code, message);
        Failure { status, body: robot::failure_document(&error) }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Failure {
        let status = match error.exit() {
            Exit::Usage => StatusCode::BAD_REQUEST,
            Exit::NotFound => StatusCode::NOT_FOUND,
            Exit::Conflict | Exit::StaleRun | Exit::Unfinished => StatusCode::CONFLICT,
            Exit::Refused => StatusCode::FORBIDDEN,
            Exit::Configuration | Exit::Paused => StatusCode::UNPROCESSABLE_ENTITY,
            Exit::Done | Exit::Internal | Exit::TimedOut => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Failure { status, body: robot::failure_document(&error) }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.status, json_header(), self.body).into_response()
    }
}

/// The answer to a request that was done.
#[derive(Debug)]
pub(super) struct Data<T>(pub(super) T);

impl<T: Serialize> IntoResponse for Data<T> {
    fn into_response(self) -> Response {
        match robot::success_document(&self.0) {
            Ok(body) => (json_header(), body).into_response(),
            Err(source) => {
                let error = CommandError::internal_error("cannot write the answer as JSON");
                Failure::from(error.with_source(source)).into_response()
            }
        }
    }
}

const fn json_header() -> [(header::HeaderName, &'static str); 1] {
    [(header::CONTENT_TYPE, "application/json; charset=utf-8")]
}
