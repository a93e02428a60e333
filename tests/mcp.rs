//! `el mcp`: conversations over pipes, as a client has them; and the official SDKs as clients that
//! nobody here wrote.

mod attacks;
mod client;
mod conversation;
mod official;
mod sessions;
mod tasks;
mod tools;

pub(crate) use client::Client;
