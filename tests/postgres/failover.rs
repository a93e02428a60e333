//! A server that dies, and a standby that takes its place.

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rustix::process::Signal;

use super::crashing::OwnServer;
use super::hosts::host;
use super::storm::Storm;
use crate::support::{SOON, TestEnv, wait_until};

/// A server, a standby, and a way that leads to the one of them that counts.
struct Servers {
    first: OwnServer,
    env: TestEnv,
    way: PathBuf,
}

impl Servers {
    fn begin() -> Option<Servers> {
        let mut env = TestEnv::new();
        let first = OwnServer::begin(&mut env)?;
        let way = env.path("way");
        symlink(first.folder(), &way).unwrap();
        env.set("EL_DATABASE_URL", format!("postgres://el@/postgres?host={}", way.display()));
        env.el(&["init", "--name", "t"]).ok();
        env.configure("");
        let servers = Servers { first, env, way };
        let standby = servers.first.folder().join("standby");
        servers.env.run(servers.env.command(standby.to_str().unwrap()).arg("second")).ok();
        Some(servers)
    }

    fn url(&self) -> String {
        format!("postgres://el@/postgres?host={}", self.way.display())
    }

    /// Returns the answer of one of them: `""` is the first, `"second"` the standby.
    #[track_caller]
    fn ask(&self, server: &str, sql: &str) -> String {
        let at = self.first.folder().join(server);
        let url = format!("postgres://el@/postgres?host={}", at.display());
        let mut psql = self.env.command("psql");
        psql.args(["-qAt", "-v", "ON_ERROR_STOP=1", "-c", sql, &url]);
        self.env.run(&mut psql).ok().stdout.trim().to_owned()
    }

    fn wait_for(&self, server: &str, sql: &str, answer: &str) {
        wait_until(sql, SOON, || (self.ask(server, sql) == answer).then_some(()));
    }

    /// Sets what a server is to have from now on.
    fn set(&self, server: &str, what: &str) {
        self.ask(server, &format!("ALTER SYSTEM SET {what}"));
        self.ask(server, "SELECT pg_reload_conf()");
    }

    /// Kills the first; the standby takes its place.
    fn fail_over(&self) {
        self.first.signal(Signal::KILL);
        self.ask("second", "SELECT pg_promote()");
        let new = self.env.path("new-way");
        symlink(self.first.folder().join("second"), &new).unwrap();
        std::fs::rename(new, &self.way).unwrap();
    }
}

#[test]
fn a_failover_to_a_synchronous_standby_loses_nothing_that_was_acknowledged() {
    let Some(servers) = Servers::begin() else { return };
    let env = &servers.env;
    let doctor = || env.el(&["doctor"]).stdout;
    assert!(doctor().contains("waits for none"), "{}", doctor());
    servers.set("", "synchronous_standby_names = 'ANY 1 (second)'");
    servers.wait_for("", "SELECT sync_state FROM pg_stat_replication", "quorum");
    assert!(!doctor().contains("waits for none"), "{}", doctor());
    let storm = Storm::rage(env, |storm| {
        storm.wait_for(20);
        servers.fail_over();
        // Nobody waits for a standby that is no more.
        servers.set("second", "synchronous_standby_names = ''");
        storm.wait_for(40);
    });
    storm.assert_kept(env);
}

#[test]
fn what_a_failover_to_a_standby_that_lagged_loses_is_told_and_closed_once() {
    let Some(servers) = Servers::begin() else { return };
    let (Some(near), Some(far)) = (host("near", &servers.url()), host("far", &servers.url()))
    else {
        return;
    };
    for env in [&near, &far] {
        env.run(env.command("mkdir").arg(".eluent")).ok();
        env.configure("lease = \"60s\"\n");
    }
    let steps = ["touch began", "wait-file go", "touch asks", "close done"];
    let atom = near.script_atom(&steps);
    servers.wait_for("second", "SELECT count(*) FROM atoms", "1");
    servers.set("second", "primary_conninfo = ''");
    servers.wait_for("", "SELECT count(*) FROM pg_stat_replication", "0");

    // Acknowledged, and nowhere else.
    let lost = near.create("Lost", &["--defer-until", "9d"]);
    let there = near.start_work(&["--once"]);
    near.wait_for_file("began");
    let run = near.last_run(&atom);
    servers.first.signal(Signal::STOP);
    std::fs::write(near.project("go"), "").unwrap();
    near.wait_for_file("asks");
    servers.fail_over();

    // The standby knows nothing of the claim: the atom is given out again.
    let here = far.start_work(&[]);
    far.wait_for_file("began");
    assert_ne!(far.last_run(&atom)["id"], run["id"]);
    let id = run["id"].as_str().unwrap();
    wait_until("the end of the agent whose claim is lost", SOON, || {
        near.processes_of_run(id).is_empty().then_some(())
    });
    let transcript = near.read_run_file(&run, "transcript.jsonl");
    assert!(
        transcript.contains("is over") || transcript.contains("ended this run"),
        "{transcript}"
    );
    assert_eq!((far.status(&atom).as_str(), far.outcomes(&atom).len()), ("in_progress", 1));
    near.el(&["show", &lost]).fails_with(3);

    // The old server comes back, and nobody asks it.
    servers.first.start_again(&servers.env);
    assert_eq!(servers.ask("", "SELECT count(*) FROM atoms"), "2");
    std::fs::write(far.project("go"), "").unwrap();
    assert_eq!(far.wait_for_end(&atom, 1)["outcome"], "closed");
    assert_eq!(far.outcomes(&atom), ["closed"]);
    far.el(&["work", "--stop"]).ok();
    here.wait(SOON).ok();
    let told = there.wait(SOON).stdout;
    assert!(told.contains("the tracker has lost it"), "{told}");
}
