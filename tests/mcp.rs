//! `el mcp`: conversations over pipes, as with a client, and the official SDKs as independent
//! clients.

mod attacks;
mod client;
mod conversation;
mod official;
mod sessions;
mod tasks;
mod tools;

pub(crate) use client::Client;
