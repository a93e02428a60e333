//! A server that is killed or stopped in the middle of everything: what it acknowledged is there,
//! what it did not is told, and nothing is done by half.

use std::path::Path;

use rustix::process::Signal;

use super::server_url;
use super::storm::Storm;
use crate::support::{Running, SOON, TestEnv, send, wait_until};

/// A server that no other test uses. It ends with this value.
pub(super) struct OwnServer {
    url: String,
    /// By TCP and TLS; empty where that cannot be had.
    by_tcp: String,
    /// Starts it again.
    start: String,
    holder: u32,
    running: Option<Running>,
}

impl OwnServer {
    pub(super) fn begin(env: &mut TestEnv) -> Option<OwnServer> {
        server_url()?;
        let told = env.path("server");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/with-postgres");
        let hold = "printf '%s\\n' \"$EL_TEST_POSTGRES\" \"$EL_TEST_POSTGRES_START\" $$ \\
            \"$EL_TEST_POSTGRES_TLS?sslrootcert=$EL_TEST_POSTGRES_CA\" >\"$0.new\"
            mv \"$0.new\" \"$0\"
            exec sleep 600";
        let mut command = env.command(script.to_str().unwrap());
        let running = env.start(command.args(["sh", "-c", hold, told.to_str().unwrap()]));
        let text = wait_until("the server", SOON, || std::fs::read_to_string(&told).ok());
        let mut lines = text.lines().map(str::to_owned);
        let mut next = || lines.next().unwrap();
        let (url, start) = (next(), next());
        env.set("EL_DATABASE_URL", &url);
        let holder = next().parse().unwrap();
        let by_tcp = next();
        Some(OwnServer { url, by_tcp, start, holder, running: Some(running) })
    }

    /// A server with a tracker in a schema of its own, and its address. No other test's changes
    /// are seen there.
    pub(super) fn with_tracker() -> Option<(TestEnv, OwnServer, String)> {
        let mut env = TestEnv::new();
        let server = OwnServer::begin(&mut env)?;
        let url = format!("{}&options=-csearch_path%3Dt", server.url);
        env.set("EL_DATABASE_URL", &url);
        env.el(&["init", "--name", "t"]).ok();
        env.configure("");
        Some((env, server, url))
    }

    /// Its address by TCP and TLS.
    pub(super) fn by_tcp(&self) -> &str {
        &self.by_tcp
    }

    /// Its folder, with its socket.
    pub(super) fn folder(&self) -> &Path {
        Path::new(self.url.split_once("host=").unwrap().1)
    }

    /// The postmaster, and all that it started.
    fn processes(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(self.folder().join("data/postmaster.pid")).unwrap();
        let first: u32 = text.lines().next().unwrap().parse().unwrap();
        let children = format!("/proc/{first}/task/{first}/children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        [first].into_iter().chain(children.split_whitespace().flat_map(str::parse)).collect()
    }

    pub(super) fn signal(&self, signal: Signal) {
        self.processes().into_iter().for_each(|pid| send(pid, signal));
    }

    pub(super) fn start_again(&self, env: &TestEnv) {
        env.run(&mut env.command(&self.start)).ok();
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        send(self.holder, Signal::TERM);
        if let Some(running) = self.running.take() {
            let _ = running.wait(SOON);
        }
    }
}

#[test]
fn what_a_killed_server_acknowledged_is_there_and_no_atom_is_claimed_twice() {
    let mut env = TestEnv::new();
    let Some(server) = OwnServer::begin(&mut env) else { return };
    env.el(&["init", "--name", "t"]).ok();
    env.configure("");
    let storm = Storm::rage(&env, |storm| {
        for round in 1..=3 {
            storm.wait_for(round * 10);
            server.signal(Signal::KILL);
            server.start_again(&env);
        }
        storm.wait_for(40);
    });
    storm.assert_kept(&env);
}

#[test]
fn an_init_that_is_killed_anywhere_is_finished_by_the_next() {
    let Some((mut env, url)) = super::on_server() else { return };
    for step in 0..30_u64 {
        env.set("EL_DATABASE_URL", format!("{url}_{step}"));
        let first = env.start_el(&["init", "--name", "t"]);
        std::thread::sleep(std::time::Duration::from_millis(step * 10));
        first.signal(Signal::KILL);
        let _ = first.wait(SOON);
        // Either the first had done it all, or this does.
        let next = env.el(&["--robot", "init", "--name", "t"]);
        let done = next.status == 0 || next.json()["error"]["code"] == "exists";
        assert!(done, "{step}: {next:#?}");
        assert!(env.create("It", &[]).starts_with("t-"));
        assert!(env.el(&["db"]).ok().stdout.contains("as needed"), "{step}");
        let doctor = env.el(&["--robot", "doctor"]);
        assert_eq!(doctor.json()["data"]["serious"], 0, "{step}: {doctor:#?}");
    }
}

#[test]
fn a_stopped_server_is_given_up_in_time_and_goes_on_as_it_was() {
    let mut env = TestEnv::new();
    let Some(server) = OwnServer::begin(&mut env) else { return };
    env.el(&["init", "--name", "t"]).ok();
    let atom = env.create("Before", &[]);
    env.set("PGCONNECT_TIMEOUT", "1");
    server.signal(Signal::STOP);
    for words in [&["list"][..], &["create", "Meanwhile"], &["close", &atom]] {
        let told = env.start(env.command("el").arg("--robot").args(words)).wait(SOON);
        assert_eq!(told.fails_with(7).json()["error"]["code"], "server_timeout");
    }
    server.signal(Signal::CONT);
    env.unset("PGCONNECT_TIMEOUT");
    let listed = env.robot(&["list"]);
    assert_eq!((&listed["count"], &listed["items"][0]["status"]), (&1.into(), &"open".into()));
    env.el(&["close", &atom]).ok();
}
