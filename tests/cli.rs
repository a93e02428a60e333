//! The tracker through its binary: what people type, what programs read.

mod bulk;
mod changes;
mod claims;
mod completions;
mod database;
mod envelope;
mod finding;
mod ids;
mod places;
mod shapes;
mod terminal;
