//! The verbs on a real database, through the crate's public surface.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its world fails right there")]

mod lifecycle;
mod migrations;
mod ready;
mod support;
mod tracker;
