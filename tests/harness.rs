//! The harness keeps its own promises: what a test builds on must not be what is broken.

mod agent;
mod api;
mod environment;
