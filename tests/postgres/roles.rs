//! Roles of the server: an owner, and members with no more rights than they need.

use super::{as_owner, with_tracker};
use crate::support::TestEnv;

/// A role of its own, and the address of the tracker as that role.
fn make_role(env: &TestEnv, url: &str) -> (String, String) {
    let role = url.split_once("search_path%3D").unwrap().1.replace("t_", "role-");
    as_owner(env, &format!("CREATE ROLE \"{role}\" LOGIN"));
    (role.clone(), url.replace("postgres://el@", &format!("postgres://{role}@")))
}

fn drop_role(env: &TestEnv, role: &str) {
    let role = format!("\"{role}\"");
    let drop = format!("REASSIGN OWNED BY {role} TO el; DROP OWNED BY {role}; DROP ROLE {role}");
    as_owner(env, &drop);
}

/// Has a role say something to the server. Returns what it answers.
fn say(env: &TestEnv, url: &str, sql: &str) -> (i32, String) {
    let (server, schema) = url.split_once("&options=-csearch_path%3D").unwrap();
    let text = format!("SET search_path = {schema}; {sql}");
    let words = ["-q", "-v", "ON_ERROR_STOP=1", "-c", &text, server];
    let said = env.run(env.command("psql").args(words));
    (said.status, said.stderr)
}

#[test]
fn a_member_works_a_whole_run_and_can_change_no_table() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (role, as_member) = make_role(&env, &url);
    let told = env.el(&["--robot", "db", "grant", "member", "nobody-at-all"]).fails_with(3).json();
    assert_eq!(told["error"]["code"], "not_found", "{told}");
    let printed = env.el(&["db", "grant", "member", &role, "--dry-run"]).ok().stdout;
    assert!(printed.lines().all(|line| line.ends_with(';')), "{printed}");
    env.set("EL_DATABASE_URL", &as_member);
    env.el(&["list"]).fails_with(6);
    env.set("EL_DATABASE_URL", &url);
    let granted = env.robot(&["db", "grant", "member", &role]);
    assert_eq!(granted["statements"].as_array().unwrap().len(), printed.lines().count());

    env.set("EL_DATABASE_URL", &as_member);
    let atom = env.script_atom(&["write x.txt x", "el comment add $EL_ATOM hello", "close done"]);
    env.work(&["--once"]);
    assert_eq!(env.last_run(&atom)["outcome"], "closed");
    env.el(&["reopen", &atom]).ok();
    env.el(&["chat", "post", "general", "hello"]).ok();
    env.el(&["discard", &atom]).ok();
    env.el(&["discard", "prune", "--days", "0", "--force"]).ok();
    env.el(&["doctor", "--fix"]);
    for sql in [
        "ALTER TABLE atoms ADD COLUMN x TEXT",
        "DROP TABLE runs",
        "TRUNCATE events",
        "CREATE TABLE mine (x TEXT)",
        "CREATE OR REPLACE FUNCTION instr(TEXT, TEXT) RETURNS INTEGER LANGUAGE sql RETURN 1",
        "DROP SCHEMA current_schema CASCADE",
    ] {
        assert_ne!(say(&env, &as_member, sql).0, 0, "{sql}");
    }
    for words in [&["db", "grant", "member", &role][..], &["db", "grant", "owner", &role]] {
        let told = env.el(words).fails_with(6).stderr;
        assert!(told.contains("only the owner of the tables"), "{told}");
    }
    let told = env.el(&["--robot", "db", "move", "--to", "mine.db"]).fails_with(6).json();
    assert_eq!(told["error"]["code"], "server_no_grant", "{told}");
    assert!(told.to_string().contains("only the owner moves a tracker"), "{told}");
    assert!(!env.project("mine.db").exists());
    assert_eq!(env.robot(&["db"])["closed"], serde_json::Value::Null);
    env.set("EL_DATABASE_URL", &url);
    drop_role(&env, &role);
}

#[test]
fn another_owner_may_change_the_tables() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (role, as_role) = make_role(&env, &url);
    env.el(&["db", "grant", "owner", &role]).ok();
    let change = "ALTER TABLE atoms ADD COLUMN x TEXT; ALTER TABLE atoms DROP COLUMN x";
    assert_eq!(say(&env, &as_role, change), (0, String::new()));
    env.set("EL_DATABASE_URL", &as_role);
    env.el(&["db", "migrate"]).ok();
    env.create("By the new owner", &[]);
    env.set("EL_DATABASE_URL", &url);
    drop_role(&env, &role);
}

#[test]
fn an_owner_who_may_not_give_the_tables_away_is_told_what_is_missing() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (role, as_role) = make_role(&env, &url);
    env.el(&["db", "grant", "owner", &role]).ok();
    env.set("EL_DATABASE_URL", &as_role);
    let told = env.el(&["--robot", "db", "grant", "owner", "el"]).fails_with(4).json();
    assert_eq!(told["error"]["code"], "no_member", "{told}");
    assert!(told.to_string().contains("GRANT el TO CURRENT_USER"), "{told}");
    env.set("EL_DATABASE_URL", &url);
    drop_role(&env, &role);
}

#[test]
fn a_file_has_no_roles() {
    let env = TestEnv::with_tracker();
    let told = env.el(&["--robot", "db", "grant", "member", "ann"]).fails_with(4).json();
    assert_eq!(told["error"]["code"], "in_file", "{told}");
}
