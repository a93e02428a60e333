//! The walls: what a request must be before any route is looked at ([`RequestHead::judge`]), for
//! static files and errors as well, and the headers of all answers.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use el_core::rules::web_request::{RequestFault, RequestHead};

use super::answer::Failure;
use super::board::Board;
use super::pages::is_public;

const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; worker-src 'self'; manifest-src 'none'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Refuses every request that is not from the board's own page or a person's call.
pub(super) async fn guard_request(
    State(board): State<Arc<Board>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match admit_request(&board, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn admit_request(board: &Board, request: &Request) -> Result<(), Failure> {
    let head = RequestHead {
        method: request.method().as_str(),
        authority: request.uri().authority().map(|authority| authority.as_str().as_bytes()),
        headers: headers_of(request.headers()),
    };
    head.judge(|host| board.name.is_host(host)).map_err(refusal_of)?;
    if !is_public(request.uri().path()) {
        ensure_signed_in(board, request.headers())?;
    }
    Ok(())
}

fn headers_of(headers: &HeaderMap) -> Vec<(&str, &[u8])> {
    headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

fn refusal_of(fault: RequestFault) -> Failure {
    let (status, code, text) = match fault {
        RequestFault::Header => {
            (StatusCode::BAD_REQUEST, "wrong_header", "a header is there twice")
        }
        RequestFault::Host => (
            StatusCode::MISDIRECTED_REQUEST,
            "wrong_host",
            "this server answers by its own names alone",
        ),
        RequestFault::Method => {
            (StatusCode::METHOD_NOT_ALLOWED, "method", "there are GET and POST")
        }
        RequestFault::Origin => (
            StatusCode::FORBIDDEN,
            "wrong_origin",
            "the request comes from another site or program",
        ),
        RequestFault::Form => (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "wrong_form",
            "a change is JSON with the header X-El: 1",
        ),
    };
    Failure::new(status, code, text)
}

fn ensure_signed_in(board: &Board, headers: &HeaderMap) -> Result<(), Failure> {
    if secret_of(board, headers).is_some_and(|secret| board.sign_in.knows_secret(secret)) {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::UNAUTHORIZED,
        "signed_out",
        "this browser is not signed in; el serve prints a link, and Enter there a new one",
    ))
}

/// The secret that the browser brings.
pub(super) fn secret_of<'a>(board: &Board, headers: &'a HeaderMap) -> Option<&'a str> {
    let head = RequestHead { headers: headers_of(headers), ..RequestHead::default() };
    head.cookie(&board.name.cookie_name())
}
