//! The news for a person on one machine of what another one does, or does no more.

use rustix::process::Signal;
use serde_json::json;

use super::fleet::{ELSEWHERE, two_machines};
use crate::support::{SOON, TestEnv};

/// Changes a project's rows.
#[track_caller]
pub(super) fn change_rows(env: &TestEnv, sql: &str) {
    let ask = "exec psql -qAt -v ON_ERROR_STOP=1 -c \"$1\" \"$EL_DATABASE_URL\"";
    env.run(env.command("sh").args(["-c", ask, "sh", sql])).ok();
}

#[test]
fn a_worker_that_was_killed_elsewhere_is_told_to_be_silent_and_signed_off_there() {
    let Some((near, far)) = two_machines() else { return };
    let there = far.start_work(&[]);
    there.wait_for("started");
    there.signal(Signal::KILL);
    let _ = there.wait(SOON);
    let refused = near.el(&["db", "move", "--to", "moved.db"]).fails_with(4);
    assert!(!refused.stderr.contains("silent"), "{}", refused.stderr);
    change_rows(&near, "UPDATE workers SET heartbeat_at = heartbeat_at - 100000000");
    let (silent, once) = ("(silent since ", format!("el work --once on {ELSEWHERE}"));
    for (words, code) in [(&["db", "move", "--to", "moved.db"][..], 4), (&["work", "--stop"], 7)] {
        let told = near.el(words).fails_with(code).stderr;
        assert!(told.contains(silent) && told.contains(&once), "{words:?}: {told}");
        assert!(told.contains("counts as gone at "), "{words:?}: {told}");
    }
    far.work(&["--once"]);
    near.el(&["work", "--stop"]).ok();
    near.el(&["db", "move", "--to", "moved.db"]).ok();
}

#[test]
fn who_asks_for_what_only_another_machine_has_is_told_where_it_is() {
    let Some((near, far)) = two_machines() else { return };
    near.git(&["init", "--quiet"]);
    near.git(&["commit", "--quiet", "--allow-empty", "-m", "base"]);
    let there = far.start_work(&[]);
    there.wait_for("started");
    let atom = near.script_atom(&["touch began", "hang"]);
    far.wait_for_file("began");
    let run = near.last_run(&atom)["id"].as_str().unwrap().to_owned();
    let refused = near.el(&["attach", &atom]).fails_with(3).stderr;
    assert!(refused.contains(&format!("{run} runs on {ELSEWHERE}")), "{refused}");
    let robot = near.run(near.command("el").args(["--robot", "attach", &atom])).json();
    assert_eq!(robot["error"]["details"]["host"], ELSEWHERE, "{robot}");
    let refused = near.el(&["land", &atom]).fails_with(4);
    let told = refused.stdout + &refused.stderr;
    assert!(told.contains("has a run at work") && told.contains(ELSEWHERE), "{told}");
    let shown = near.el(&["runs", "show", &run]).ok().stdout;
    assert!(shown.contains(&format!("on {ELSEWHERE}; el logs")), "{shown}");
    assert_eq!(near.robot(&["runs", "show", &run])["folder"], json!(null));
    assert!(far.robot(&["runs", "show", &run])["folder"].is_string());
    near.el(&["work", "--stop"]).ok();
    there.wait(SOON).ok();
}

#[test]
fn two_machines_of_one_name_are_told_wherever_workers_are() {
    let Some((near, far)) = two_machines() else { return };
    let called = format!("several machines at work here are called {ELSEWHERE}");
    let told = |words: &[&str]| {
        let ran = near.run(near.command("el").args(words));
        (ran.stdout + &ran.stderr).contains(&called)
    };
    let mut there = [far.start_work(&[]), far.start_work(&[])];
    there.iter_mut().for_each(|worker| drop(worker.wait_for("started")));
    assert!(!told(&["workers"]) && !told(&["doctor"]), "they are on one machine");
    // As if the first of them were on another machine, which has started at another time.
    let first = "id = (SELECT min(id) FROM workers)";
    change_rows(
        &near,
        &format!("UPDATE workers SET boot = replace(boot, '|', '|other') WHERE {first}"),
    );
    assert!(told(&["workers"]) && told(&["doctor"]));
    let ran = far.run(far.command("el").args(["work", "--once"]));
    assert!(ran.stderr.contains(&called), "{}", ran.stderr);
}
