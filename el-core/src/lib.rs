//! The facts of `el`: the nouns, the rules, the texts and the store.
//!
//! **Invariants.** This crate is synchronous. Core never prints, never reads the environment, and
//! has no clock: every verb gets time and actor in a [`Ctx`]. SQL lives in `store/` only. The
//! arrows go one way: `ops` → `store`, `rules`, `protocol` → `model`.

mod counted;
mod ctx;
mod error;
pub mod exchange;
pub mod model;
pub mod ops;
pub mod protocol;
pub mod rules;
mod store;
pub mod text;

pub use counted::{count_noun, count_times};
pub use ctx::{Ctx, SessionCredentials};
pub use error::{Error, Result, ServerFault};
pub use store::{
    CopyFacts, before_migration, copy_database, ensure_own_schema, exclude_from_git, files_of,
    inspect_copy, inspect_database, leave_files_open, list_changes, replace_contents,
    seal_database, sqlite_version,
};
pub use store::{
    DatabaseState, Durability, Listening, MoveReport, MoveState, MoveTarget, Places,
    SCHEMA_VERSION, SERVER_VARIABLES, ServerAddress, ServerRole, Step, Store, TableCopy,
    has_password, hide_password, keep_out_of_git, login_files,
};
