//! The front end: built by `scripts/build-web` from `el-cli/web`, and part of this program.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::answer::Failure;

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal: $kind:literal),* $(,)?) => {
        &[$(Asset {
            name: $name,
            kind: $kind,
            bytes: include_bytes!(concat!("../../web/dist/", $name)),
        }),*]
    };
}

static ASSETS: &[Asset] = assets! {
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "notices.txt": "text/plain; charset=utf-8",
};

static PAGE: &[u8] = include_bytes!("../../web/dist/index.html");

fn find_asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

/// Returns true if the path names a file of the front end.
pub(super) fn is_asset(path: &str) -> bool {
    path.strip_prefix("/assets/").is_some_and(|name| find_asset(name).is_some())
}

/// Identifies the embedded build. A page of another build is told to load anew.
pub(super) fn build_id() -> String {
    let script = find_asset("app.js").map(|asset| asset.bytes).unwrap_or_default();
    el_agents::artifacts::sha256_hex(script).chars().take(12).collect()
}

/// The one document of the front end.
pub(super) async fn serve_page() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE).into_response()
}

pub(super) async fn serve_asset(Path(name): Path<String>) -> Result<Response, Failure> {
    let Some(asset) = find_asset(&name) else {
        return Err(Failure::new(StatusCode::NOT_FOUND, "not_found", "there is no such file"));
    };
    Ok(([(header::CONTENT_TYPE, asset.kind)], asset.bytes).into_response())
}
