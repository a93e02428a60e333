//! The tracker through its binary: for people and for programs.

mod backups;
mod bulk;
mod changes;
mod claims;
mod completions;
mod database;
mod editing;
mod envelope;
mod finding;
mod git;
mod ids;
mod places;
mod shapes;
mod terminal;
mod undo;
