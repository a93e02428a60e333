//! A server on which somebody works meanwhile: it lets nobody in, or is full of others. A night's
//! work waits until that is over.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use super::crashing::OwnServer;
use super::on_server;
use crate::support::{SOON, wait_until};

/// Longer than twenty failures in a row take.
const LONG: Duration = Duration::from_secs(15);

#[test]
fn a_worker_waits_while_its_role_may_not_connect_and_goes_on_afterwards() {
    let Some((env, _server, as_owner)) = OwnServer::with_tracker() else { return };
    let say = |sql: &str| {
        env.run(env.command("psql").args(["-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql, &as_owner]))
            .ok();
    };
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'worker'";
    say("CREATE ROLE worker LOGIN");
    env.el(&["db", "grant", "member", "worker"]).ok();
    let as_worker = as_owner.replace("postgres://el@", "postgres://worker@");
    let worker =
        env.start(env.command("el").args(["--robot", "work"]).env("EL_DATABASE_URL", as_worker));
    worker.wait_for("started");

    say(&format!("ALTER ROLE worker CONNECTION LIMIT 0; {cut}"));
    let told = |part: &str| wait_until(part, SOON, || worker.stdout().contains(part).then_some(()));
    told("waiting for the server");
    told("takes no more calls");
    say("ALTER ROLE worker NOLOGIN CONNECTION LIMIT -1");
    told("refuses the connection");
    thread::sleep(LONG);
    say("ALTER ROLE worker LOGIN");
    told("the server answers again");
    let atom = env.script_atom(&["close done"]);
    assert_eq!(env.wait_for_end(&atom, 1)["outcome"], "closed");
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}

#[test]
fn a_server_that_ends_in_the_middle_of_a_handshake_is_away_and_not_insecure() {
    let Some((mut env, _)) = on_server() else { return };
    let ending = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = ending.local_addr().unwrap().port();
    let answering = thread::spawn(move || {
        let (mut caller, _) = ending.accept().unwrap();
        caller.read_exact(&mut [0; 8]).unwrap();
        caller.write_all(b"S").unwrap();
    });
    env.set("EL_DATABASE_URL", format!("postgres://el@127.0.0.1:{port}/shop"));
    let told = env.el(&["--robot", "list"]).fails_with(6).json();
    assert_eq!(told["error"]["code"], "server_unreachable", "{told}");
    answering.join().unwrap();
}
