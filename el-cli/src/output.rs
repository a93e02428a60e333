//! Output for people and programs. All output of `el` goes through [`printer::Printer`].

pub(crate) mod artifacts;
pub(crate) mod atoms;
pub(crate) mod board;
pub(crate) mod bonds;
pub(crate) mod branch_lines;
pub(crate) mod comments;
pub(crate) mod count;
pub(crate) mod holds;
pub(crate) mod list;
pub(crate) mod messages;
pub(crate) mod names;
pub(crate) mod page;
pub(crate) mod panic;
pub(crate) mod pauses;
pub(crate) mod printer;
pub(crate) mod progress;
pub(crate) mod pull_requests;
pub(crate) mod robot;
pub(crate) mod runs;
pub(crate) mod sanitize;
pub(crate) mod series;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod tasks;
pub(crate) mod terminal;
pub(crate) mod time;
pub(crate) mod wrap;

pub(crate) use list::{List, OneOrMany};
pub(crate) use page::Page;
pub(crate) use printer::Printer;
pub(crate) use progress::Progress;
pub(crate) use table::{Cell, Column, Table};
