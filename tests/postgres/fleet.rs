//! Two machines with one tracker: the second has a name of its own, and a project folder.

use rustix::process::Signal;
use serde_json::Value;

use super::hosts::host;
use super::with_tracker;
use crate::serve::Board;
use crate::support::{SOON, TestEnv, send, wait_until};

pub(super) const ELSEWHERE: &str = "far-away";

/// Two machines with folders of their own; `None` where that cannot be had.
pub(super) fn two_machines() -> Option<(TestEnv, TestEnv)> {
    let (near, url) = with_tracker()?;
    let far = host(ELSEWHERE, &url)?;
    far.run(far.command("mkdir").arg(".eluent")).ok();
    far.configure("");
    Some((near, far))
}

#[test]
fn workers_are_listed_on_every_machine_with_where_they_are() {
    let Some((near, far)) = two_machines() else { return };
    let there = far.start_work(&["--name", "forge"]);
    there.wait_for("started");
    let atom = near.script_atom(&["hang"]);
    there.wait_for("launched");
    let here = near.start_work(&["--name", "anvil"]);
    here.wait_for("started");
    for env in [&near, &far] {
        let listed = env.robot(&["workers"]);
        let of = |name: &str| -> Value {
            let rows = listed["items"].as_array().unwrap();
            rows.iter().find(|row| row["name"] == name).unwrap_or(&Value::Null).clone()
        };
        let (forge, anvil) = (of("forge"), of("anvil"));
        assert_eq!((&forge["host"], &forge["state"]), (&ELSEWHERE.into(), &"working".into()));
        assert_eq!(forge["runs"][0]["atom_id"], atom.as_str(), "{listed}");
        assert!(anvil["host"] != ELSEWHERE && anvil["runs"][0].is_null(), "{listed}");
    }
    near.el(&["cancel", &atom]).ok();
    assert_eq!(near.wait_for_end(&atom, 1)["outcome"], "cancelled");
    far.el(&["work", "--stop"]).ok();
    for worker in [there, here] {
        worker.wait(SOON).ok();
    }
    assert_eq!(near.robot(&["workers"])["count"], 0);
}

#[test]
fn work_goes_to_the_machine_that_offers_what_it_needs() {
    let Some((near, far)) = two_machines() else { return };
    let script = TestEnv::script(&["close done"]);
    let here = near.start_work(&[]);
    here.wait_for("started");
    let atom = near.create("Train it", &["--needs", "gpu", "-d", &script]);
    here.wait_for("beyond_offers");
    let plain = near.script_atom(&["close done"]);
    near.wait_for_end(&plain, 1);
    assert_eq!(near.outcomes(&atom), [""; 0]);
    let why = far.el(&["why", &atom]).ok().stdout;
    assert!(why.contains("No worker that is there offers gpu: el work --offers gpu"), "{why}");
    let there = far.start_work(&["--offers", "gpu,macos"]);
    let run = near.wait_for_end(&atom, 1);
    let boot = run["supervisor"]["boot"].as_str().unwrap();
    assert!(boot.starts_with(&format!("{ELSEWHERE}|")), "{run}");
    // A worker at rest is told of what needs nothing more.
    let atom = near.create("Train it", &["--needs", "tpu", "-d", &script]);
    near.el(&["update", &atom, "--clear-needs"]).ok();
    assert_eq!(near.wait_for_end(&atom, 1)["outcome"], "closed");
    near.el(&["work", "--stop"]).ok();
    for worker in [here, there] {
        worker.wait(SOON).ok();
    }
}

#[test]
fn a_host_is_stopped_from_another_and_its_work_goes_on_there() {
    let Some((near, far)) = two_machines() else { return };
    let there = far.start_work(&["--name", "forge"]);
    there.wait_for("started");
    let atom = near.script_atom(&["touch began", "hang"]);
    far.wait_for_file("began");
    let here = near.start_work(&[]);
    here.wait_for("started");
    let on = format!("pid {} on {ELSEWHERE}", there.pid());
    let told = near.el(&["work", "--status"]).ok().stdout;
    assert!(told.contains(&on), "{told}");
    let refused = near.el(&["db", "move", "--to", "elsewhere.db"]).fails_with(4);
    assert!(refused.stderr.contains(&on), "{}", refused.stderr);
    assert!(here.stderr().contains(&on) || here.stdout().contains(&on), "{}", here.stderr());
    near.el(&["work", "--stop", "--host", "nowhere"]).fails_with(3);
    near.el(&["work", "--stop", "--name", "anvil"]).fails_with(3);
    near.el(&["work", "--host", ELSEWHERE]).fails_with(2);
    let stopped = near.robot(&["work", "--stop", "--host", ELSEWHERE]);
    assert_eq!(stopped["ended"][0]["atom_id"], atom.as_str(), "{stopped}");
    assert_eq!(stopped["workers"], serde_json::json!([there.pid()]), "{stopped}");
    there.wait(SOON).ok();
    // The worker here was not meant.
    near.wait_for_file("began");
    assert_eq!(near.runs(&atom)[1]["outcome"], Value::Null);
    near.el(&["work", "--stop"]).ok();
    assert_eq!(near.outcomes(&atom), ["cancelled", "cancelled"]);
    here.wait(SOON).ok();
}

#[test]
fn what_runs_elsewhere_is_told_with_its_host_and_cancelled_from_here() {
    let Some((near, far)) = two_machines() else { return };
    let there = far.start_work(&["--name", "forge"]);
    there.wait_for("started");
    let task = near.robot(&["run", &TestEnv::script(&["touch began", "hang"])]);
    let task = task["id"].as_str().unwrap().to_owned();
    far.wait_for_file("began");
    let on = format!("claude on {ELSEWHERE}");
    for (words, part) in [
        (&["runs"][..], on.as_str()),
        (&["runs", "show", &task], &on),
        (&["why", &task], &on),
        (&["status"], &on),
        (&["queue"], &format!(" on {ELSEWHERE}")),
    ] {
        let told = near.el(words).ok().stdout;
        assert!(told.contains(part), "{words:?}: {told}");
        assert!(!far.el(words).ok().stdout.contains(part), "{words:?}: it is there");
    }
    assert_eq!(near.robot(&["status"])["running"]["items"][0]["host"], ELSEWHERE);
    let screen = near.screen(120, 30, "el top");
    screen.wait_for(&on);
    screen.press("q");
    screen.wait_for("[exit 0]");
    let board = Board::start(&near, &[]);
    let shown = board.get("/api/snapshot").data();
    assert_eq!(shown["running"]["items"][0]["host"], ELSEWHERE, "{shown}");
    assert_eq!(board.get("/api/runs").data()[0]["host"], ELSEWHERE);
    near.el(&["tasks", "cancel", &task]).ok();
    assert_eq!(near.wait_for_end(&task, 1)["outcome"], "cancelled");
    // A run of another host is not swept here, and its worker goes on.
    let left = wait_until("the worker without a run", SOON, || {
        let row = near.robot(&["workers", "show", "forge"])["items"][0].take();
        row["runs"][0].is_null().then_some(row)
    });
    assert_eq!(left["state"], "working");
    near.el(&["work", "--stop", "--name", "forge"]).ok();
    there.wait(SOON).ok();
}

#[test]
fn what_a_destroyed_machine_did_is_there_up_to_its_last_heartbeat() {
    let Some((near, far)) = two_machines() else { return };
    [&near, &far].into_iter().for_each(|env| env.configure("lease = \"15s\"\n"));
    let there = far.start_work(&[]);
    there.wait_for("started");
    let ended = near.script_atom(&["say First words", "close done"]);
    near.wait_for_end(&ended, 1);
    let begun = near.script_atom(&["say Last words", "touch began", "wait-file go", "close done"]);
    far.wait_for_file("began");
    wait_until("a heartbeat", SOON, || {
        near.el(&["logs", &begun]).stdout.contains("Last words").then_some(())
    });
    // Its processes, and its folder.
    drop((there, far));
    assert!(near.el(&["logs", &ended]).ok().stdout.contains("First words"));
    assert!(!near.el(&["artifacts", "get", &ended, "summary"]).ok().stdout.is_empty());
    let lost = near.runs(&begun)[0]["id"].as_str().unwrap().to_owned();
    std::fs::write(near.project("go"), "").unwrap();
    let here = near.start_work(&["--name", "here"]);
    near.wait_for_end(&begun, 2);
    assert_eq!(near.outcomes(&begun), ["lost", "closed"]);
    let why = near.el(&["why", &begun]).ok().stdout;
    assert!(why.contains("was not heard of") && !why.contains("vanished"), "{why}");
    for words in [&["logs", &lost][..], &["logs", &lost, "--raw"]] {
        assert!(near.el(words).ok().stdout.contains("Last words"), "{words:?}");
    }
    // The other counts as there for five minutes.
    near.el(&["work", "--stop", "--name", "here"]).ok();
    here.wait(SOON).ok();
}

#[test]
fn what_a_killed_machine_left_running_is_ended_by_its_next_worker() {
    let Some((near, mut far)) = two_machines() else { return };
    // Within a sandbox, all of its processes end with it.
    far.set("EL_SANDBOX", "off");
    for env in [&near, &far] {
        env.configure("lease = \"10s\"\n");
    }
    let there = far.start_work(&[]);
    there.wait_for("started");
    let left = "sh setsid sleep 600 & echo $! > child";
    let atom = near.script_atom(&[left, "touch began", "wait-file go", "close done"]);
    far.wait_for_file("began");
    let supervisor = near.last_run(&atom)["supervisor"]["pid"].as_u64().unwrap();
    there.signal(Signal::KILL);
    send(u32::try_from(supervisor).unwrap(), Signal::KILL);
    let _ = there.wait(SOON);
    std::fs::write(near.project("go"), "").unwrap();
    let here = near.start_work(&["--name", "here"]);
    near.wait_for_end(&atom, 2);
    assert_eq!(near.outcomes(&atom), ["lost", "closed"]);
    near.el(&["work", "--stop", "--name", "here"]).ok();
    here.wait(SOON).ok();
    let child = std::fs::read_to_string(far.project("child")).unwrap();
    let child = std::path::Path::new("/proc").join(child.trim());
    assert!(child.exists(), "no other machine can end it");
    far.work(&["--drain"]);
    wait_until("its end", SOON, || (!child.exists()).then_some(()));
}
