//! The verbs on a real database, through the crate's public surface.

#![expect(clippy::unwrap_used, reason = "a test that cannot build its world fails right there")]

mod artifacts;
mod board;
#[cfg(feature = "postgres")]
mod broken;
mod chains;
mod delegation;
mod endings;
mod engines;
mod exchange;
mod layers;
mod lifecycle;
mod listing;
mod messages;
mod migrations;
mod orchestrate;
mod outages;
mod placement;
mod pull_requests;
mod races;
mod ready;
mod reviews;
mod rounds;
mod series;
mod support;
mod tail;
mod tracker;
mod undo;
mod waking;
