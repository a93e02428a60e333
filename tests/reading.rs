//! The texts of `el` about itself: help, manual, schemas, and the first text for an agent.

mod check_text;
mod help;
mod prime;
mod schema;
pub(crate) mod schema_checker;
