//! The walls: what a request must be before any route is looked at, and the headers of all answers.
//!
//! A page of any site can make a browser send requests to this machine, by a name that it has led
//! here too (DNS rebinding), and with our cookie from any other port of it. Hence the names, the
//! origin and the kind of each request are checked, for static files and errors as well.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

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

/// The header that no form of another site can send.
const OWN_HEADER: &str = "x-el";

/// Refuses what is not the board's own page or a person's call; else goes on.
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
    let headers = request.headers();
    let host = only_value(headers, &header::HOST)?.unwrap_or_default();
    let authority = request.uri().authority().map(|authority| authority.as_str().as_bytes());
    if !board.name.is_host(host) || authority.is_some_and(|named| named != host) {
        return Err(Failure::new(
            StatusCode::MISDIRECTED_REQUEST,
            "wrong_host",
            "this server answers by its own names alone",
        ));
    }
    let is_write = request.method() == Method::POST;
    if !is_write && request.method() != Method::GET {
        return Err(Failure::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method",
            "there are GET and POST",
        ));
    }
    let origin = only_value(headers, &header::ORIGIN)?;
    let is_ours = origin.map(|origin| {
        origin.strip_prefix(b"http://").is_some_and(|named| named.eq_ignore_ascii_case(host))
    });
    let site = only_value(headers, &HeaderName::from_static("sec-fetch-site"))?;
    let is_near = site.is_none_or(|site| site == b"same-origin" || (site == b"none" && !is_write));
    if is_ours == Some(false) || (is_write && is_ours.is_none()) || !is_near {
        return Err(Failure::new(
            StatusCode::FORBIDDEN,
            "wrong_origin",
            "the request comes from another site or program",
        ));
    }
    if is_write {
        ensure_own_form(headers)?;
    }
    if !is_public(request.uri().path()) {
        ensure_signed_in(board, headers)?;
    }
    Ok(())
}

/// A write is JSON with a header of ours: no page can send that to another site unasked.
fn ensure_own_form(headers: &HeaderMap) -> Result<(), Failure> {
    let kind = only_value(headers, &header::CONTENT_TYPE)?.unwrap_or_default();
    let is_json = kind.split(|byte| *byte == b';').next() == Some(b"application/json");
    let has_mark = headers.get(OWN_HEADER).is_some_and(|value| value == "1");
    if is_json && has_mark {
        return Ok(());
    }
    Err(Failure::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "wrong_form",
        "a change is JSON with the header X-El: 1",
    ))
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
    let name = board.name.cookie_name();
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    pairs
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

/// The value of a header that may come once.
fn only_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a [u8]>, Failure> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(HeaderValue::as_bytes);
    if values.next().is_some() {
        let text = "a header is there twice";
        return Err(Failure::new(StatusCode::BAD_REQUEST, "wrong_header", text));
    }
    Ok(first)
}
