//! The end-to-end tests: one binary, so that it is linked once. Every file of `tests/` is listed
//! here, or in the file that has the name of its folder; a test fails for one that is not.
//!
//! They run the real `el`, real tmux and real git against the scripted agent (`fakes/fake_agent`),
//! and the real Claude Code client against the scripted API (`fakes/fake_api`). Nothing here needs
//! a network, an account or a key.

// For the lints: what follows is test code, also where no function says so.
#![cfg(test)]

mod artifacts;
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
mod reading;
mod real;
mod real_client;
mod review;
mod setup;
mod support;
mod worker;
mod worktrees;
