//! `el mcp`: the tracker as tools of an agent, by the Model Context Protocol on stdin and stdout.
//!
//! A thread reads, a second thread decides ([`server`]), and a third runs the calls in order of
//! arrival ([`lane`]). A long call gets a thread of its own, so that the client can wait for the
//! call, follow the call and cancel the call. Each call has its own [`App`](crate::app::App), which
//! finds the project, opens the database, runs a single verb of `ops`, and closes the database.
//! Between two calls the server keeps only the agreed version and the client's name. A killed
//! server has therefore either done a call or not begun the call.

mod arguments;
mod call;
mod catalog;
mod lane;
mod lines;
mod reply;
mod rows;
mod server;
mod tools;
mod version;
mod wire;

pub(crate) use server::serve;
