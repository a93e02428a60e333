//! The texts that agents read and write. Pure: data in, text out, and back.

pub mod context;
#[cfg(test)]
mod corpus;
pub mod fence;
pub mod mailbox;
pub mod notice;
pub mod pull_request;
pub mod report;
pub mod response;
pub mod summary;
pub mod words;
pub mod workspace;
