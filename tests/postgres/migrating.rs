//! The tables of another version.

use std::time::Duration;

use rustix::process::Signal;

use super::with_tracker;
use crate::support::SOON;

/// Makes of the tables those of version 4.
const OLDER: &str = "DROP TABLE run_files;
    DROP INDEX bonds_waiting;
    ALTER TABLE workers DROP COLUMN name, DROP COLUMN load_milli, DROP COLUMN offers;
    DROP FUNCTION runs_needs() CASCADE;
    DROP FUNCTION channel_of(TEXT), tell_if_ready(TEXT), tell_dependants(TEXT), is_told(),
      tell_work();
    DROP FUNCTION tell(), atoms_ready(), bonds_ready(), atoms_over(), runs_over(),
      merges_over(), atoms_taken() CASCADE;
    ALTER TABLE atoms DROP COLUMN needs;
    ALTER TABLE pull_requests DROP COLUMN held, DROP COLUMN late_at;
    UPDATE meta SET value = '4' WHERE key = 'schema_version'";

/// Runs SQL as the owner of the tables.
fn run_sql(env: &crate::support::TestEnv, url: &str, text: &str) {
    let (server, schema) = url.split_once("&options=-csearch_path%3D").unwrap();
    let text = format!("SET search_path = {schema}; {text}");
    env.run(env.command("psql").args(["-q", "-v", "ON_ERROR_STOP=1", "-c", &text, server])).ok();
}

#[test]
fn older_tables_are_brought_up_once_by_eight_at_a_time_and_newer_ones_are_left() {
    let Some((env, url)) = with_tracker() else { return };
    let atom = env.create("Kept", &[]);
    let known = env.robot(&["db"])["known"].as_i64().unwrap();
    run_sql(&env, &url, OLDER);
    let refused = env.el(&["list"]).fails_with(6).stderr;
    assert!(refused.contains("el db migrate"), "{refused}");
    let state = env.robot(&["db", "status"]);
    assert_eq!((&state["engine"], &state["tables"]), (&"postgresql".into(), &4.into()));
    let all: Vec<_> =
        (0..8).map(|_| env.start(env.command("el").args(["--robot", "db", "migrate"]))).collect();
    for one in all {
        let state = one.wait(SOON).ok().json()["data"].take();
        assert_eq!(state["tables"], known);
    }
    assert_eq!(env.robot(&["list"])["items"][0]["id"], atom.as_str());
    assert!(env.el(&["db"]).ok().stdout.contains("as needed"));

    run_sql(&env, &url, "UPDATE meta SET value = '99' WHERE key = 'schema_version'");
    for words in [&["list"][..], &["db", "migrate"]] {
        let refused = env.el(words).fails_with(6).stderr;
        assert!(refused.contains("newer el"), "{refused}");
    }
    assert_eq!(env.robot(&["db"])["tables"], 99, "it says so, and changes nothing");
}

#[test]
fn a_migration_that_is_killed_has_been_made_or_not_and_is_made_again() {
    let Some((env, url)) = with_tracker() else { return };
    env.create("Kept", &[]);
    let known = env.robot(&["db"])["known"].clone();
    for round in 0..12 {
        run_sql(&env, &url, OLDER);
        let migrating = env.start_el(&["db", "migrate"]);
        // The rounds meet different moments; what has to hold does so at each.
        std::thread::sleep(Duration::from_millis(round * 4));
        migrating.signal(Signal::KILL);
        let _ = migrating.wait(SOON);
        assert_eq!(env.robot(&["db", "migrate"])["tables"], known, "round {round}");
        assert_eq!(env.robot(&["list"])["count"], 1, "round {round}");
    }
}
