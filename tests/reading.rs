//! What `el` tells of itself: help, manual, schemas, and what an agent reads first.

mod help;
mod prime;
mod schema;
