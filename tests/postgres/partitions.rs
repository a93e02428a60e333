//! Machines that the network, the server or the system cuts off: their agents are ended before
//! anybody else may have the work, and what comes too late counts for nothing.

use rustix::process::Signal;
use serde_json::Value;

use super::crashing::OwnServer;
use super::hosts::host;
use super::network::Network;
use super::on_server;
use crate::support::{Process, Running, SOON, TestEnv, wait_until};

/// An agent stays at its work on the first machine, and is done at once on the second.
const STAYS_NEAR: &str = "sh [ $(cat /proc/sys/kernel/hostname) = far ] || exec sleep 300";

/// Two machines with one project, each with a worker, and an atom in work on the first.
struct Pair {
    near: TestEnv,
    far: TestEnv,
    atom: String,
    run: Value,
    workers: Vec<Running>,
}

impl Pair {
    fn at_work(near: TestEnv, far: TestEnv, lease: u64, steps: &[&str]) -> Pair {
        near.el(&["init", "--name", "t"]).ok();
        far.run(far.command("mkdir").arg(".eluent")).ok();
        for env in [&near, &far] {
            env.configure(&format!("lease = \"{lease}s\"\n"));
        }
        let atom = near.script_atom(&[&["touch began"], steps].concat());
        let mut workers = vec![near.start_work(&[])];
        near.wait_for_file("began");
        let run = near.last_run(&atom);
        workers.push(far.start_work(&[]));
        workers[1].wait_for("started");
        Pair { near, far, atom, run, workers }
    }

    /// Two machines of a network.
    fn in_network(network: &Network, near: &str, lease: u64) -> Pair {
        let schema = format!("{near}_{lease}");
        let (near, far) = (network.on(near, &schema), network.on("far", &schema));
        let steps = ["child 300 setsid double-fork", STAYS_NEAR, "close done"];
        Pair::at_work(near, far, lease, &steps)
    }

    fn wait_for_death(&self) {
        let id = self.run["id"].as_str().unwrap();
        wait_until("the end of the agent and its children", SOON, || {
            self.near.processes_of_run(id).is_empty().then_some(())
        });
    }

    /// The first machine can no longer say anything. Its agent is dead before its lease is over,
    /// and the other takes the work after that.
    #[track_caller]
    fn assert_dead_before_taken(&self) {
        self.wait_for_death();
        // By the server: the lease still holds everybody else off.
        let later = ["create", "Later", "--defer-until", "9d"];
        let now = self.far.robot(&later)["created_at"].take();
        let first = self.far.runs(&self.atom)[0].take();
        let lease = first["lease_until"].as_str().unwrap();
        let now = now.as_str().unwrap();
        assert!(first["outcome"].is_null() && now < lease, "dead before {now}: {first:#}");
        let second = self.far.wait_for_end(&self.atom, 2);
        assert_eq!(second["outcome"], "closed");
        assert!(second["started_at"].as_str().unwrap() >= lease, "{first:#} {second:#}");
    }

    /// The first machine can speak again: what it says of its old run counts for nothing.
    #[track_caller]
    fn assert_too_late(&self) {
        let told = || self.far.el(&["logs", self.run["id"].as_str().unwrap()]).stdout;
        wait_until("the transcript on the other machine", SOON, || {
            told().contains("its lease").then_some(())
        });
        let before = self.far.robot(&["export"]);
        std::fs::write(self.near.project("late.json"), "{}").unwrap();
        for words in [
            &["close", &self.atom, "--reason", "late"][..],
            &["comment", "add", &self.atom, "late"],
            &["update", &self.atom, "--title", "late"],
            &["submit", &self.atom, "--report", "late.json"],
        ] {
            let mut late = self.near.command("el");
            late.env("EL_SESSION", self.near.session_socket(&self.run)).args(words);
            let late = self.near.run(&mut late);
            assert_eq!(late.status, 5, "{words:?}: {late:?}");
        }
        assert_eq!(self.far.robot(&["export"]), before);
        assert_eq!(self.far.outcomes(&self.atom), ["lost", "closed"]);
    }

    fn stop(self) {
        self.near.el(&["work", "--stop"]).ok();
        for worker in self.workers {
            worker.wait(SOON).ok();
        }
    }
}

/// Cuts machines off, each in its way, looks at what all pairs do, and joins them again.
fn cut_off(network: &Network, ways: &[(&str, &str)], pairs: Vec<Pair>) {
    for (what, machine) in ways {
        network.make(what, machine);
    }
    std::thread::scope(|scope| {
        for pair in &pairs {
            scope.spawn(|| pair.assert_dead_before_taken());
        }
    });
    for (_, machine) in ways {
        network.make("heal", machine);
    }
    std::thread::scope(|scope| {
        for pair in pairs {
            scope.spawn(|| {
                pair.assert_too_late();
                pair.stop();
            });
        }
    });
}

#[test]
fn a_machine_that_is_cut_off_ends_its_agents_before_others_take_their_work() {
    let Some(network) = Network::begin(&["near", "far"]) else { return };
    let pairs = [10, 15, 20].map(|lease| Pair::in_network(&network, "near", lease));
    cut_off(&network, &[("cut", "near")], pairs.into());
}

#[test]
fn a_machine_that_only_hears_or_only_speaks_ends_its_agents_in_time_too() {
    let Some(network) = Network::begin(&["deaf", "mute", "far"]) else { return };
    let pairs = ["deaf", "mute"].map(|machine| Pair::in_network(&network, machine, 15));
    cut_off(&network, &[("deaf", "deaf"), ("mute", "mute")], pairs.into());
}

#[test]
fn a_server_that_stops_ends_the_agents_whose_leases_it_does_not_extend() {
    let mut env = TestEnv::new();
    let Some(server) = OwnServer::begin(&mut env) else { return };
    env.el(&["init", "--name", "t"]).ok();
    env.configure("lease = \"15s\"\n");
    let steps = ["touch began", "child 300 setsid", "hang", "on-attempt 2", "close done"];
    let atom = env.script_atom(&steps);
    let worker = env.start_work(&["--drain"]);
    env.wait_for_file("began");
    let run = env.last_run(&atom);
    server.signal(Signal::STOP);
    wait_until("the end of the agent", SOON, || {
        env.processes_of_run(run["id"].as_str().unwrap()).is_empty().then_some(())
    });
    let clock = env.run(env.command("date").args(["-u", "+%Y-%m-%dT%H:%M:%S.%N"])).ok().stdout;
    server.signal(Signal::CONT);
    worker.wait(SOON).ok();
    let runs = env.runs(&atom);
    assert!(clock.as_str() < runs[0]["lease_until"].as_str().unwrap(), "{clock} {runs:#?}");
    assert_eq!((env.outcomes(&atom).len(), &runs[1]["outcome"]), (2, &"closed".into()));
    assert!(env.read_run_file(&run, "transcript.jsonl").contains("was not reached"));
}

/// Two machines by their names alone.
fn two_machines(steps: &[&str]) -> Option<Pair> {
    let (_, url) = on_server()?;
    Some(Pair::at_work(host("near", &url)?, host("far", &url)?, 5, steps))
}

impl Pair {
    fn on_near(&self, pid: &Value) -> Process {
        let all = self.near.processes();
        all.into_iter().find(|process| *pid == process.pid).unwrap()
    }

    /// All that belongs to the work on the first machine, outermost first.
    fn processes(&self) -> Vec<Process> {
        let server = self.near.tmux(&["display-message", "-p", "#{pid}"]).unwrap();
        let server = self.on_near(&server.trim().parse::<u32>().unwrap().into());
        let worker = self.on_near(&self.workers[0].pid().into());
        let supervisor = self.on_near(&self.run["supervisor"]["pid"]);
        let agent = self.near.processes_of_run(self.run["id"].as_str().unwrap());
        [vec![server, worker, supervisor], agent].concat()
    }
}

#[test]
fn a_machine_that_slept_past_its_lease_has_nothing_to_say_when_it_wakes() {
    let far_stays = "sh while [ ! -e go ]; do sleep 0.1; done";
    let steps = [far_stays, "el comment add $EL_ATOM said-late", "close done"];
    let Some(pair) = two_machines(&steps) else { return };
    let asleep = pair.processes();
    asleep.iter().for_each(|process| process.signal(Signal::STOP));
    pair.far.wait_for_file("began");
    // The agent that sleeps finds that it may go on.
    std::fs::write(pair.near.project("go"), "").unwrap();
    asleep.iter().rev().for_each(|process| process.signal(Signal::CONT));
    pair.wait_for_death();
    assert_eq!(pair.far.outcomes(&pair.atom), ["lost", "live"]);
    assert_eq!(pair.far.comments(&pair.atom).concat().matches("said-late").count(), 0);
    std::fs::write(pair.far.project("go"), "").unwrap();
    assert_eq!(pair.far.wait_for_end(&pair.atom, 2)["outcome"], "closed");
    assert_eq!(pair.far.comments(&pair.atom).concat().matches("said-late").count(), 1);
    assert_eq!(pair.far.outcomes(&pair.atom), ["lost", "closed"]);
    pair.stop();
}

#[test]
fn a_machine_whose_worker_and_supervisor_are_killed_has_no_agent_any_more() {
    let Some(mut pair) = two_machines(&[STAYS_NEAR, "close done"]) else { return };
    let worker = pair.workers.remove(0);
    worker.signal(Signal::KILL);
    pair.on_near(&pair.run["supervisor"]["pid"]).kill();
    pair.wait_for_death();
    worker.wait(SOON).fails_with(137);
    assert_eq!(pair.far.wait_for_end(&pair.atom, 2)["outcome"], "closed");
    assert_eq!(pair.far.outcomes(&pair.atom), ["lost", "closed"]);
    pair.stop();
}
