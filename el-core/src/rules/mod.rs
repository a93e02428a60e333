//! Pure decisions: a snapshot and a time in, a decision out. No SQL, no clock, no randomness.

pub mod admit;
pub mod attention;
pub mod budget;
pub mod forecast;
pub mod graph;
pub mod orchestrate;
pub mod pause;
pub mod placement;
pub mod plan;
pub mod ready;
pub mod retry;
pub mod series;
pub mod task;
pub mod verdict;
pub mod waits;
pub mod web_request;
