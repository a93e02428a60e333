//! The test harness keeps its own promises.

mod agent;
mod api;
mod environment;
mod github;
