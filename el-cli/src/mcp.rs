//! `el mcp`: the tracker as tools of an agent, by the Model Context Protocol on stdin and stdout.
//!
//! One thread reads, one decides ([`server`]), one does the calls in the order in which they came
//! ([`lane`]); what may take long gets a thread of its own, so that it can be waited for, told of
//! and called off. Each call has an [`App`](crate::app::App) of its own: it finds the project,
//! opens the database, does one verb of `ops`, and closes it. So nothing is kept between two calls
//! but the version that was agreed on and the client's name, and a server that is killed has either
//! done a call or not.

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
