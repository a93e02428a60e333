//! A project on a PostgreSQL server: the same commands, and agents that know nothing of it.
//!
//! `scripts/with-postgres` starts a server for these tests; without one they are skipped, and say
//! so.

use std::path::Path;

use crate::support::TestEnv;

mod clocks;
mod crashing;
mod cut_off;
mod elsewhere;
mod failover;
mod fleet;
mod hosts;
mod migrating;
mod moving;
mod network;
mod outages;
mod partitions;
mod plan;
mod pooler;
mod refusals;
mod restarts;
mod roles;
mod secrets;
mod secure;
mod storm;
mod waiting;
mod way;
mod working;

/// The server of the tests, as `scripts/with-postgres` names it.
fn server_url() -> Option<String> {
    let url = std::env::var("EL_TEST_POSTGRES").ok();
    if url.is_none() {
        eprintln!("skipped: scripts/with-postgres starts a server for it");
    }
    url
}

/// An environment, and the address of a schema of its own for its project.
fn on_server() -> Option<(TestEnv, String)> {
    let url = server_url()?;
    let env = TestEnv::new();
    let name = env.path("").file_name()?.to_str()?.to_lowercase().replace(['.', '-'], "_");
    let url = format!("{url}&options=-csearch_path%3Dt_{name}");
    Some((env, url))
}

/// The same, with a tracker whose ids begin with `t-`.
fn with_tracker() -> Option<(TestEnv, String)> {
    let (mut env, url) = on_server()?;
    env.set("EL_DATABASE_URL", &url);
    env.el(&["init", "--name", "t"]).ok();
    env.configure("");
    Some((env, url))
}

/// Has the server's owner say something.
#[track_caller]
fn as_owner(env: &TestEnv, sql: &str) {
    let url = std::env::var("EL_TEST_POSTGRES").unwrap();
    env.run(env.command("psql").args(["-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql, &url])).ok();
}

/// Returns true if a file below the folder contains the text.
fn is_in_files(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => is_in_files(&path, text),
            Ok(kind) if kind.is_file() => std::fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes())),
            _ => false,
        }
    })
}
