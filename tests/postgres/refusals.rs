//! A server that cannot be used: one sentence, the next step, exit code 6, or 7 for a time-out.

use super::crashing::OwnServer;
use super::{as_owner, on_server, with_tracker};
use crate::support::{SmallDisk, TestEnv};

/// Runs `el list` against an address. Returns what a person reads.
#[track_caller]
pub(super) fn refused(env: &mut TestEnv, url: &str, exit: i32, code: &str) -> String {
    env.set("EL_DATABASE_URL", url);
    refused_call(env, &["list"], exit, code)
}

/// The same with any call.
#[track_caller]
fn refused_call(env: &TestEnv, words: &[&str], exit: i32, code: &str) -> String {
    let robot = env.el(&[&["--robot"], words].concat()).fails_with(exit).json();
    assert_eq!(robot["error"]["code"], code, "{robot}");
    let told = env.el(words).fails_with(exit).stderr;
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
    for encoding in ["SQL_ASCII", "LATIN1"] {
        let name = format!("{encoding}_{}", url.rsplit_once("t_").unwrap().1).to_lowercase();
        let how = format!("ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0");
        as_owner(&env, &format!("CREATE DATABASE {name} {how}"));
        let elsewhere = url.replace("/postgres?", &format!("/{name}?"));
        refused(&mut env, &elsewhere, 6, "server_encoding");
        refused_call(&env, &["init"], 6, "server_encoding");
        let there = elsewhere.split_once("&options").unwrap().0;
        let made = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 't\\_%'";
        let made = env.run(env.command("psql").args(["-qAt", "-c", made, there])).ok().stdout;
        assert_eq!(made.trim(), "0", "nothing is half made");
    }
}

/// The functions of an older server, for whoever comes by this address.
#[test]
fn a_server_that_is_too_old_is_refused() {
    let Some((mut env, url)) = with_tracker() else { return };
    let (_, schema) = url.split_once("search_path%3D").unwrap();
    as_owner(
        &env,
        &format!(
            "CREATE FUNCTION {schema}.current_setting(TEXT) RETURNS TEXT LANGUAGE sql AS
               'SELECT CASE $1 WHEN ''server_version_num'' THEN ''140013''
                 ELSE pg_catalog.current_setting($1) END'"
        ),
    );
    let told = refused(&mut env, &format!("{url},pg_catalog"), 6, "server_too_old");
    assert!(told.contains("PostgreSQL 14"), "{told}");
    for words in [&["init"][..], &["create", "One"], &["db", "migrate"]] {
        refused_call(&env, words, 6, "server_too_old");
    }
    env.set("EL_DATABASE_URL", &url);
    assert_eq!(env.robot(&["list", "--all"])["count"], 0, "nothing is half written");
}

#[test]
fn a_standby_shows_all_and_takes_nothing() {
    let Some((mut env, server, url)) = OwnServer::with_tracker() else { return };
    let id = env.create("One", &[]);
    let standby = server.folder().join("standby");
    env.run(env.command(standby.to_str().unwrap()).arg("second")).ok();
    let folder = server.folder().to_str().unwrap();
    env.set("EL_DATABASE_URL", url.replace(folder, &format!("{folder}/second")));
    assert_eq!(env.robot(&["list"])["items"][0]["id"], id.as_str());
    for words in [
        &["create", "Two"][..],
        &["close", &id],
        &["next", "--claim"],
        &["db", "migrate"],
        &["work", "--once"],
    ] {
        refused_call(&env, words, 6, "server_read_only");
    }
    env.set("EL_DATABASE_URL", &url);
    assert_eq!(env.robot(&["list", "--all"])["count"], 1, "nothing is half written");
    assert_eq!(env.show(&id)["status"], "open");
}

#[test]
fn a_server_without_room_says_so_keeps_all_and_goes_on_with_room() {
    let mut env = TestEnv::new();
    let Some(server) = OwnServer::begin(&mut env) else { return };
    let small = server.folder().join("small");
    let Some(disk) = SmallDisk::mount_at(&small, 4) else { return };
    let url = format!("postgres://el@/postgres?host={}", server.folder().display());
    let data = server.folder().join("data");
    env.run(env.command("chown").arg("--reference").arg(data).arg(&small)).ok();
    for sql in [
        &format!("CREATE TABLESPACE small LOCATION '{}'", small.display()),
        "ALTER ROLE el SET default_tablespace = small",
    ] {
        env.run(env.command("psql").args(["-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql, &url])).ok();
    }
    env.set("EL_DATABASE_URL", &url);
    env.el(&["init", "--name", "t"]).ok();
    disk.fill();
    // Some pages have room of their own.
    let text = "A long description. ".repeat(400);
    let create = ["create", "One", "-l", "red", "-d", &text];
    let mut created = 0;
    while env.el(&create).status == 0 {
        created += 1;
    }
    refused_call(&env, &create, 6, "server_full");
    assert_eq!(env.robot(&["list", "--all"])["count"], created, "nothing is half written");
    assert_eq!(env.robot(&["list", "-l", "red"])["count"], created);
    disk.free();
    env.el(&create).ok();
    assert_eq!(env.robot(&["list", "--all"])["count"], created + 1);
    assert_eq!(env.robot(&["doctor"])["count"], 0);
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
        refused_call(&env, &["create", "One", "-l", "red"], 6, code);
        assert_eq!(env.robot(&["list", "--all"])["count"], 0, "nothing is half written");
    }
    env.set("EL_DATABASE_URL", &url);
}
