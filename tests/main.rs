//! The end-to-end tests: a single binary, linked once. Every file of `tests/` is listed here, or in
//! the file with the name of its folder; a test finds missing files.
//!
//! The tests run the real `el`, tmux and git against the scripted agent (`fakes/fake_agent`), and
//! the real Claude Code client against the scripted API (`fakes/fake_api`). No test needs a
//! network, an account or a key.

// For the lints: all that follows is test code.
#![cfg(test)]

mod artifacts;
mod board;
mod cli;
mod delegation;
mod documents;
mod exchange;
mod harness;
mod interactive;
mod listed;
mod mailbox;
mod mcp;
mod messages;
mod orchestrate;
mod postgres;
mod pull_requests;
mod reading;
mod real;
mod real_client;
mod review;
mod sandbox;
mod serve;
mod setup;
mod support;
mod sync;
mod top;
mod worker;
mod worktrees;
