//! The way to a server: certificates, passwords, and hosts that say nothing.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use super::crashing::OwnServer;
use super::refusals::refused;
use super::{on_server, with_tracker};
use crate::support::{SOON, TestEnv, wait_until};

/// The address by TCP of the same schema, and the file of the authority.
fn by_tcp(url: &str) -> Option<(String, String)> {
    let Ok(tls) = std::env::var("EL_TEST_POSTGRES_TLS") else {
        eprintln!("skipped: scripts/with-postgres listens by TCP on Linux with openssl");
        return None;
    };
    let (_, options) = url.split_once("&options=").unwrap();
    Some((format!("{tls}?options={options}"), std::env::var("EL_TEST_POSTGRES_CA").unwrap()))
}

#[test]
fn a_certificate_is_always_looked_at_and_has_to_name_the_host() {
    let Some((mut env, url)) = with_tracker() else { return };
    let Some((tcp, ca)) = by_tcp(&url) else { return };
    for mode in ["", "&sslmode=disable", "&sslmode=require", "&sslmode=verify-full"] {
        env.set("EL_DATABASE_URL", format!("{tcp}&sslrootcert={ca}{mode}"));
        assert_eq!(env.robot(&["list"])["count"], 0, "{mode}");
    }
    env.set("EL_DATABASE_URL", &tcp).set("PGSSLROOTCERT", &ca);
    env.create("By TLS", &[]);
    env.unset("PGSSLROOTCERT");
    let other = ca.replace("ca.crt", "other.crt");
    let address = tcp.split_once('@').unwrap().1.split('/').next().unwrap().to_owned();
    let elsewhere = tcp.replace(&format!("@{address}"), "@db.example.org");
    for wrong in [
        tcp.clone(),
        format!("{tcp}&sslmode=prefer"),
        format!("{tcp}&sslmode=require"),
        format!("{tcp}&sslrootcert={other}"),
        format!("{elsewhere}&hostaddr={address}&sslrootcert={ca}"),
    ] {
        refused(&mut env, &wrong, 6, "server_insecure");
    }
}

#[test]
fn a_certificate_whose_time_is_over_is_refused() {
    let mut env = TestEnv::new();
    let Some(server) = OwnServer::begin(&mut env) else { return };
    env.el(&["init", "--name", "t"]).ok();
    if std::env::var_os("EL_TEST_POSTGRES_TLS").is_none() {
        return;
    }
    let url = server.by_tcp().to_owned();
    env.set("EL_DATABASE_URL", &url);
    assert_eq!(env.robot(&["list"])["count"], 0);
    let sign = "cd $0 && openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -days 0 \
        -CAcreateserial -extfile server.ext -out server.crt";
    env.run(env.command("sh").args(["-c", sign]).arg(server.folder())).ok();
    let at = format!("postgres://el@/postgres?host={}", server.folder().display());
    env.run(env.command("psql").args(["-qAt", "-c", "SELECT pg_reload_conf()", &at])).ok();
    wait_until("a certificate that has run out", SOON, || {
        (env.el(&["list"]).status != 0).then_some(())
    });
    refused(&mut env, &url, 6, "server_insecure");
}

#[test]
fn a_password_comes_from_where_users_of_libpq_keep_it() {
    let Some((mut env, url)) = with_tracker() else { return };
    let Some((tcp, ca)) = by_tcp(&url) else { return };
    let (_, schema) = url.split_once("search_path%3D").unwrap();
    let make = format!(
        "DO $$ BEGIN CREATE ROLE el_password LOGIN PASSWORD 's3cret'; \
         EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$; \
         GRANT USAGE ON SCHEMA {schema} TO el_password; \
         GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO el_password"
    );
    let owner = std::env::var("EL_TEST_POSTGRES").unwrap();
    env.run(env.command("psql").args(["-qAt", "-c", &make, &owner])).ok();
    let tcp = tcp.replace("//el@", "//el_password@") + "&sslrootcert=" + &ca;
    env.set("EL_DATABASE_URL", &tcp);
    refused(&mut env, &tcp, 6, "server_refused");
    env.set("PGPASSWORD", "wrong");
    refused(&mut env, &tcp, 6, "server_refused");
    env.set("PGPASSWORD", "s3cret");
    assert_eq!(env.robot(&["list"])["count"], 0);
    env.unset("PGPASSWORD");
    let file = env.home().join(".pgpass");
    fs::write(&file, "# mine\n*:*:other:*:no\n*:5432:postgres:el_password:s3cret\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let told = env.el(&["list"]).fails_with(6).stderr;
    assert!(told.contains("chmod 600"), "{told}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(env.robot(&["list"])["count"], 0);
    fs::remove_file(&file).unwrap();
    let service = env.home().join(".pg_service.conf");
    fs::write(&service, "[shop]\nuser=el_password\npassword=s3cret\ndbname=postgres\n").unwrap();
    let by_service = tcp.replace("el_password@", "").replace("/postgres?", "?service=shop&");
    env.set("EL_DATABASE_URL", by_service);
    assert_eq!(env.robot(&["list"])["count"], 0);
}

#[test]
fn a_host_that_is_silent_is_given_up_and_one_without_tls_is_refused() {
    let Some((mut env, _)) = on_server() else { return };
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    env.set("PGCONNECT_TIMEOUT", "1");
    for mode in ["", "?sslmode=disable"] {
        let url = format!("postgres://el@127.0.0.1:{port}/shop{mode}");
        refused(&mut env, &url, 7, "server_timeout");
    }
    drop(silent);
    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    let answering = thread::spawn(move || {
        let mut rest = Vec::new();
        // A person's call, and a program's.
        for _ in 0..2 {
            let (mut caller, _) = plain.accept().unwrap();
            caller.read_exact(&mut [0; 8]).unwrap();
            caller.write_all(b"N").unwrap();
            let _ = caller.read_to_end(&mut rest);
        }
        rest
    });
    let url = format!("postgres://el:s3cret@127.0.0.1:{port}/shop");
    refused(&mut env, &url, 6, "server_insecure");
    assert!(answering.join().unwrap().is_empty(), "nothing is told in the clear");
}
