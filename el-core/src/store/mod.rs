//! The only SQL in the project: a file for opening, a file for migrating, then a file for each
//! noun.
//!
//! No connection is visible outside of this crate. [`Store::write`] and [`Store::read`] are the
//! only ways to a transaction. Writes begin IMMEDIATE: a deferred transaction that reads and then
//! writes fails at once when another process writes in between.

use crate::Result;
use crate::error::Doing;

pub(crate) mod alias;
pub(crate) mod artifact;
pub(crate) mod atom;
mod backup;
pub(crate) mod board;
pub(crate) mod bond;
pub(crate) mod budget;
mod busy;
mod closed;
pub(crate) mod comment;
#[cfg(test)]
mod cost_tests;
mod engine;
pub(crate) mod epic;
pub(crate) mod event;
pub(crate) mod filter;
pub(crate) mod forecast;
mod git_ignore;
mod health;
mod integrity;
pub(crate) mod label;
mod listening;
mod logins;
pub(crate) mod mailbox;
pub(crate) mod message;
pub(crate) mod meta;
mod migrate;
mod open;
mod open_at;
pub(crate) mod orchestration;
pub(crate) mod pull_request;
pub(crate) mod ready;
pub(crate) mod review;
mod roles;
pub(crate) mod run;
pub(crate) mod run_file;
pub(crate) mod search;
pub(crate) mod series;
#[cfg(feature = "postgres")]
mod server;
mod server_address;
pub(crate) mod stats;
mod tables;
mod transfer;
pub(crate) mod unmerged;
pub(crate) mod worker;

pub use backup::{
    CopyFacts, copy_database, ensure_own_schema, files_of, inspect_copy, inspect_database,
    list_changes, replace_contents, seal_database,
};
/// Functions that read take a transaction too, so that a verb reads and writes at one moment.
pub(crate) use engine::Tx;
pub use engine::leave_files_open;
pub use git_ignore::{exclude_from_git, keep_out_of_git};
pub use listening::Listening;
pub use logins::login_files;
pub use migrate::{SCHEMA_VERSION, before_migration};
pub use open::{Durability, Store};
pub(crate) use open::{enlarge_cache, ensure_unchanged};
pub use open_at::DatabaseState;
pub use roles::ServerRole;
pub use server_address::{SERVER_VARIABLES, ServerAddress, has_password, hide_password};
pub use transfer::{MoveReport, MoveState, MoveTarget, Places, Step, TableCopy};

/// Does work while a trigger of SQLite's is away. The caller does the trigger's work.
fn without_trigger<T>(tx: &Tx<'_>, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let doing = "put a trigger away";
    let made = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?1";
    let made: String = tx.query_row(made, [name], |row| row.get(0)).doing(doing)?;
    tx.execute_batch(&format!("DROP TRIGGER {name}")).doing(doing)?;
    let done = work()?;
    tx.execute_batch(&made).doing(doing)?;
    Ok(done)
}

/// Does work that writes no word but a type's own. SQLite would make a table of each list of legal
/// words, for each row.
fn without_checks<T>(tx: &Tx<'_>, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let set = |value: &str| {
        let sql = format!("PRAGMA ignore_check_constraints = {value}");
        tx.execute_batch(&sql).doing("set the checks of rows")
    };
    set("ON")?;
    let done = work();
    set("OFF")?;
    done
}

/// A value as JSON. Its own `to_string` writes piece by piece into a text that grows.
fn json_text(value: &serde_json::Value) -> String {
    serde_json::to_string(value).expect("a value is JSON")
}

/// A list for `json_each`.
fn list_text(texts: &[&str]) -> String {
    serde_json::to_string(texts).expect("a list of texts is JSON")
}

/// The version of the SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
