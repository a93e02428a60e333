//! A server that cannot be used: one sentence, the next step, exit code 6, or 7 for a time-out.

use super::{as_owner, on_server, with_tracker};
use crate::support::TestEnv;

/// Runs `el list` against an address. Returns what a person reads.
#[track_caller]
fn refused(env: &mut TestEnv, url: &str, exit: i32, code: &str) -> String {
    env.set("EL_DATABASE_URL", url);
    let robot = env.el(&["--robot", "list"]).fails_with(exit).json();
    assert_eq!(robot["error"]["code"], code, "{robot}");
    let told = env.el(&["list"]).fails_with(exit).stderr;
    assert_eq!(told.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{told}");
    assert!(told.lines().count() >= 2, "it says what to do: {told}");
    assert!(!told.contains("s3cret"), "{told}");
    told
}

#[test]
fn an_address_that_is_none_or_leads_nowhere_is_told_in_a_sentence() {
    let mut env = TestEnv::new();
    for (url, code) in [
        ("mysql://ann:s3cret@db/shop", "server_address"),
        ("postgres://ann:s3cret@db:port/shop", "server_address"),
        ("postgres://ann:s3cret@db.example.org/shop?sslmode=disable", "server_address"),
        ("postgres://ann:s3cret@127.0.0.1:1/shop?sslmode=disable", "server_unreachable"),
        ("postgres://ann:s3cret@/shop?host=/nowhere", "server_unreachable"),
        ("postgres://ann:s3cret@127.0.0.1/shop?sslrootcert=/none", "server_address"),
        ("postgres://ann:s3cret@/shop?service=none", "server_address"),
    ] {
        refused(&mut env, url, 6, code);
    }
    assert!(!env.project(".eluent").exists(), "nothing is left behind");
}

#[test]
fn an_address_where_a_file_is_named_makes_no_file() {
    let env = TestEnv::new();
    for words in [&["init"][..], &["list"], &["doctor"]] {
        let flag = ["--db", "postgres://ann:s3cret@db/shop"];
        let told = env.run(env.command("el").args(words).args(flag)).fails_with(6).stderr;
        assert!(told.contains("EL_DATABASE_URL") && told.contains("database_url"), "{told}");
        assert!(!told.contains("s3cret"), "{told}");
    }
    for left in [".eluent", "postgres:"] {
        assert!(!env.project(left).exists(), "{left}");
    }
}

#[test]
fn what_is_for_files_names_the_way_of_a_server() {
    let Some((env, url)) = with_tracker() else { return };
    for words in [&["backup"][..], &["restore"]] {
        let told = env.el(words).fails_with(6).stderr;
        assert!(told.contains("el db dump FILE") && !told.contains("el export"), "{told}");
    }
    let told = env.el(&["doctor"]).stdout;
    assert!(told.contains(&url) && !told.contains("el.db"), "{told}");
    let told = env.el(&["db", "move", "--to", "other.db"]).ok().stdout;
    assert!(told.contains("export EL_DB='") && told.contains("/other.db', or --db"), "{told}");
}

#[test]
fn a_password_in_the_projects_file_is_refused() {
    let env = TestEnv::new();
    env.run(env.command("mkdir").arg(".eluent")).ok();
    let line = "database_url = \"postgres://ann:s3cret@db/shop\"\n";
    std::fs::write(env.project(".eluent/config.toml"), line).unwrap();
    let told = env.el(&["list"]).fails_with(6).stderr;
    assert!(told.contains("password") && !told.contains("s3cret"), "{told}");
    env.el(&["config", "set", "database_url", "postgres://ann:s3cret@db/shop"]).fails_with(2);
}

#[test]
fn a_database_without_tables_and_one_that_is_not_there_are_told_apart() {
    let Some((mut env, url)) = on_server() else { return };
    refused(&mut env, &url, 6, "server_not_migrated");
    let elsewhere = url.replace("/postgres?", "/no_such_database?");
    refused(&mut env, &elsewhere, 6, "server_refused");
    env.el(&["init"]).fails_with(6);
}

#[test]
fn a_role_without_grants_is_told_what_it_lacks() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (_, schema) = url.split_once("search_path%3D").unwrap();
    let role = schema.replace("t_", "role_");
    let as_role = url.replace("postgres://el@", &format!("postgres://{role}@"));
    refused(&mut env, &as_role, 6, "server_refused");
    as_owner(&env, &format!("CREATE ROLE {role} LOGIN"));
    refused(&mut env, &as_role, 6, "server_no_grant");
    as_owner(&env, &format!("GRANT USAGE ON SCHEMA {schema} TO {role}"));
    refused(&mut env, &as_role, 6, "server_no_grant");
    as_owner(&env, &format!("GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}"));
    assert_eq!(env.robot(&["list"])["count"], 0);
    let told = env.el(&["--robot", "create", "One"]).fails_with(6).json();
    assert_eq!(told["error"]["code"], "server_no_grant", "{told}");
    env.set("EL_DATABASE_URL", &url);
    assert_eq!(env.robot(&["list"])["count"], 0, "nothing is half written");
    as_owner(&env, &format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn a_database_of_another_encoding_is_refused() {
    let Some((mut env, url)) = on_server() else { return };
    let name = format!("ascii_{}", url.rsplit_once("t_").unwrap().1);
    let make = format!("CREATE DATABASE {name} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
    as_owner(&env, &make);
    let elsewhere = url.replace("/postgres?", &format!("/{name}?"));
    refused(&mut env, &elsewhere, 6, "server_encoding");
    env.el(&["init"]).fails_with(6);
}

#[test]
fn a_full_server_and_a_read_only_one_say_so_and_nothing_is_half_written() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (_, schema) = url.split_once("search_path%3D").unwrap();
    for (state, code) in [("53100", "server_full"), ("25006", "server_read_only")] {
        // Where the last rows of a change are written.
        as_owner(
            &env,
            &format!(
                "SET search_path = {schema};
                 CREATE OR REPLACE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS
                   'BEGIN RAISE EXCEPTION USING ERRCODE = ''{state}'', MESSAGE = ''no''; END';
                 DROP TRIGGER IF EXISTS refuse ON events;
                 CREATE TRIGGER refuse BEFORE INSERT ON events EXECUTE FUNCTION refuse()"
            ),
        );
        let told = env.el(&["--robot", "create", "One", "-l", "red"]).fails_with(6).json();
        assert_eq!(told["error"]["code"], code, "{told}");
        let told = env.el(&["create", "One"]).fails_with(6).stderr;
        assert_eq!(told.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{told}");
        assert!(told.lines().count() >= 2, "it says what to do: {told}");
        assert_eq!(env.robot(&["list", "--all"])["count"], 0, "nothing is half written");
    }
    env.set("EL_DATABASE_URL", &url);
}
