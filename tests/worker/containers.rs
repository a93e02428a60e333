//! A pid namespace, as in a container: the session was opened outside and has no number here, and
//! the worker itself may be process 1.

use std::process::{Command, Stdio};

use crate::support::TestEnv;

/// The prefix that puts a command into a new pid namespace, where this machine allows it.
fn enter() -> Option<&'static [&'static str]> {
    const WAYS: [&[&str]; 2] =
        [&["unshare", "-pf", "--mount-proc"], &["unshare", "-rpf", "--mount-proc"]];
    let works = |way: &&&[&str]| {
        let mut command = Command::new(way[0]);
        command.args(&way[1..]).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let found = WAYS.iter().find(works).copied();
    if found.is_none() {
        eprintln!("skipped: this machine opens no pid namespace for us");
    }
    found
}

/// `el` as process 1, and as the child of another process.
const AS: [&[&str]; 2] = [&["el"], &["sh", "-c", "el \"$@\"; exit $?", "sh"]];

fn inside(env: &TestEnv, way: &[&str], program: &[&str], arguments: &[&str]) -> Command {
    let mut command = env.command(way[0]);
    command.args(&way[1..]).args(program).args(arguments);
    command
}

#[test]
fn a_worker_does_its_work_in_a_container() {
    let Some(way) = enter() else { return };
    for program in AS {
        let env = TestEnv::with_tracker();
        let first = env.script_atom(&["close done"]);
        let second = env.script_atom(&["sh sleep 600 & setsid sleep 600 &", "close done too"]);
        env.run(&mut inside(&env, way, program, &["--robot", "work", "--drain"])).ok();
        for id in [first, second] {
            assert_eq!(
                (env.status(&id).as_str(), env.outcomes(&id)),
                ("closed", vec!["closed".to_owned()])
            );
        }
    }
}

#[test]
fn a_worker_in_a_container_gives_back_what_could_not_be_started() {
    let Some(way) = enter() else { return };
    for program in AS {
        let env = TestEnv::with_tracker();
        let id = env.script_atom(&["close never"]);
        std::fs::write(env.project(".eluent/runs"), "").unwrap();
        env.run(&mut inside(&env, way, program, &["--robot", "work", "--once"]));
        assert_eq!(
            (env.status(&id).as_str(), env.outcomes(&id)),
            ("open", vec!["launch_failed".to_owned()])
        );
    }
}
