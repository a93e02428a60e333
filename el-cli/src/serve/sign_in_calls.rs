//! The calls by which a browser asks if it is signed in, and signs in and out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{Data, Failure};
use super::board::Board;
use super::body::Body;
use super::walls::secret_of;

/// Answers if the browser is signed in, and to which project. The page asks when the stream of
/// events has broken off.
pub(super) async fn say_hello(State(board): State<Arc<Board>>, headers: HeaderMap) -> Data<Value> {
    let knows =
        secret_of(&board, &headers).is_some_and(|secret| board.sign_in.knows_secret(secret));
    Data(match knows {
        true => json!({
            "signed_in": true,
            "project": board.project,
            "actor": board.actor,
            "read_only": board.is_read_only,
            "version": env!("CARGO_PKG_VERSION"),
            "build": super::files::build_id(),
        }),
        false => json!({ "signed_in": false }),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    code: String,
}

/// Takes the code of a link, and gives the browser its cookie.
pub(super) async fn sign_in(
    State(board): State<Arc<Board>>,
    Body(link): Body<Link>,
) -> Result<Response, Failure> {
    let Some(secret) = board.sign_in.redeem_code(&link.code).map_err(Failure::from)? else {
        return Err(Failure::new(
            StatusCode::UNAUTHORIZED,
            "link_over",
            "this link was used, or is older than a minute; Enter in el serve prints a new one",
        ));
    };
    let cookie = cookie_line(&board, &secret, BROWSER_LIFE);
    Ok(([(header::SET_COOKIE, cookie)], Data(json!({ "signed_in": true }))).into_response())
}

pub(super) async fn sign_out(
    State(board): State<Arc<Board>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    if let Some(secret) = secret_of(&board, &headers) {
        board.sign_in.forget_secret(secret).map_err(Failure::from)?;
    }
    let cookie = cookie_line(&board, "", 0);
    Ok(([(header::SET_COOKIE, cookie)], Data(json!({ "signed_in": false }))).into_response())
}

/// Thirty days, in seconds.
const BROWSER_LIFE: u32 = 30 * 24 * 3600;

fn cookie_line(board: &Board, secret: &str, life: u32) -> String {
    let name = board.name.cookie_name();
    format!("{name}={secret}; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age={life}")
}
