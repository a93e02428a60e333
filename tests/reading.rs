//! What `el` tells of itself: help, manual, schemas, and what an agent reads first.

mod check_text;
mod help;
mod prime;
mod schema;
mod schema_checker;
