//! The paths that anyone may ask for: pages, which hold nothing of the project, and the way in.

use super::files;

/// Pages of the front end: all are the same document, which holds nothing of the project.
pub(super) const PAGES: [&str; 6] = ["/", "/board", "/runs", "/graph", "/plans", "/money"];
/// Pages about one atom: `/a/<id>` and `/a/<id>/review`.
const ATOM_PAGES: &str = "/a/";

/// Returns true if the path is answered before a browser is signed in.
pub(super) fn is_public(path: &str) -> bool {
    PAGES.contains(&path)
        || path.starts_with(ATOM_PAGES)
        || files::is_asset(path)
        || ["/api/hello", "/api/sign-in"].contains(&path)
}
