//! A server that is killed or stopped in the middle of everything: what it acknowledged is there,
//! what it did not is told, and nothing is done by half.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;

use super::server_url;
use crate::support::{Running, SOON, TestEnv, send, wait_until};

/// A server that no other test uses. It ends with this value.
pub(super) struct OwnServer {
    url: String,
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
        let hold = "printf '%s\\n' \"$EL_TEST_POSTGRES\" \"$EL_TEST_POSTGRES_START\" $$ >\"$0.new\"
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
        Some(OwnServer { url, start, holder, running: Some(running) })
    }

    /// The postmaster, and all that it started.
    fn processes(&self) -> Vec<u32> {
        let folder = PathBuf::from(self.url.split_once("host=").unwrap().1);
        let text = std::fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
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
    let (created, claimed) = (Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    let (is_over, env) = (AtomicBool::new(false), &env);
    let storm = |writer: usize| {
        for n in 0.. {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let title = format!("{writer} {n}");
            let words = ["--robot", "create", &title];
            let made = env.el(&words);
            match made.status {
                0 => {
                    let id = made.json()["data"]["id"].as_str().unwrap().to_owned();
                    created.lock().unwrap().insert(id);
                }
                6 | 7 => {
                    let code = made.json()["error"]["code"].as_str().unwrap().to_owned();
                    let known = ["server_unreachable", "server_timeout", "server_refused", "busy"];
                    assert!(known.contains(&code.as_str()), "{code}");
                }
                other => panic!("exit code {other}: {made:?}"),
            }
            let name = format!("person-{writer}");
            let next = env.el(&["--robot", "--actor", &name, "next", "--claim"]);
            if next.status == 0 {
                let claim = next.json()["data"].take();
                // Nothing may be ready.
                if !claim.is_null() {
                    claimed.lock().unwrap().push((claim, name));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || storm(writer));
        }
        let many = |least: usize| {
            wait_until("changes", SOON, || (created.lock().unwrap().len() >= least).then_some(()));
        };
        for round in 1..=3 {
            many(round * 10);
            server.signal(Signal::KILL);
            server.start_again(env);
        }
        many(40);
        is_over.store(true, Ordering::Relaxed);
    });
    let listed = env.robot(&["list", "--all", "--limit", "0"]);
    let there: BTreeSet<String> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|atom| atom["id"].as_str().unwrap().to_owned())
        .collect();
    let created = created.into_inner().unwrap();
    assert!(created.is_subset(&there), "{:?}", created.difference(&there).collect::<Vec<_>>());
    let claimed = claimed.into_inner().unwrap();
    assert!(!claimed.is_empty());
    let mut claimers = BTreeMap::new();
    for (claim, name) in &claimed {
        let id = claim["id"].as_str().or_else(|| claim["atom"]["id"].as_str()).unwrap();
        let earlier = claimers.insert(id, name);
        assert_eq!(earlier, None, "{id} was claimed by {name} too");
    }
    for atom in listed["items"].as_array().unwrap() {
        // What an acknowledged claim said is so; nobody gave anything back.
        if let Some(name) = claimers.get(atom["id"].as_str().unwrap()) {
            let found = (&atom["status"], &atom["assignee"]);
            assert_eq!(found, (&"in_progress".into(), &name.as_str().into()), "{atom}");
        }
    }
    let found = env.el(&["doctor"]).stdout;
    assert!(!found.contains("count of blockers") && !found.contains("search index"), "{found}");
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
