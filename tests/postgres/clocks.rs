//! A machine whose clock is off: what it writes and decides goes by the server's clock.

use super::hosts::host;
use super::with_tracker;
use crate::support::{SOON, TestEnv, wait_until};

/// Moves the clock of each process that loads it by `CLOCK_SKEW` seconds.
const SKEW: &str = "
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, \"clock_gettime\");
    int result = real(clock, now);
    const char *skew = getenv(\"CLOCK_SKEW\");
    if (clock == CLOCK_REALTIME && skew) now->tv_sec += atol(skew);
    return result;
}
";

/// A project on a server, and a machine whose clock is off by some seconds.
fn with_skewed_machine(seconds: &str) -> Option<(TestEnv, TestEnv)> {
    let (near, url) = with_tracker()?;
    let mut far = host("skewed", &url)?;
    let (source, library) = (far.path("skew.c"), far.path("skew.so"));
    std::fs::write(&source, SKEW).unwrap();
    let paths = [library.to_str().unwrap(), source.to_str().unwrap()];
    far.run(far.command("cc").args(["-shared", "-fPIC", "-o"]).args(paths).arg("-ldl")).ok();
    far.run(far.command("mkdir").arg(".eluent")).ok();
    far.configure("");
    far.set("LD_PRELOAD", paths[0]).set("CLOCK_SKEW", seconds);
    Some((near, far))
}

fn is_ready(env: &TestEnv, id: &str) -> bool {
    let ready = env.robot(&["ready"]);
    ready["items"].as_array().unwrap().iter().any(|atom| atom["id"] == id)
}

#[track_caller]
fn assert_goes_by_the_server(seconds: &str) {
    let Some((near, far)) = with_skewed_machine(seconds) else { return };
    let doctor = far.el(&["doctor"]).stdout;
    assert!(doctor.contains("the clock of this machine is "), "{doctor}");
    // Another machine's worker is there, and stays signed on.
    let there = near.start_work(&[]);
    there.wait_for("started");
    let workers = |env: &TestEnv| env.el(&["workers"]).ok().stdout;
    assert!(!workers(&far).contains("gone"), "{}", workers(&far));
    far.work(&["--once"]);
    assert!(!near.robot(&["workers"])["items"].as_array().unwrap().is_empty());
    near.el(&["work", "--stop"]).ok();
    there.wait(SOON).ok();
    // A date is over at the same moment everywhere, whichever machine gave it.
    for (giver, reader) in [(&near, &far), (&far, &near)] {
        let later = giver.el(&["create", "-q", "later", "--defer-until", "30m"]).ok().stdout;
        let soon = giver.el(&["create", "-q", "soon", "--defer-until", "2s"]).ok().stdout;
        wait_until("what was deferred for two seconds to be ready", SOON, || {
            is_ready(reader, soon.trim()).then_some(())
        });
        assert!(!is_ready(reader, later.trim()));
    }
    // A run of that machine finds the files that it changed, which have the machine's times.
    let created = |env: &TestEnv| {
        let id = env.el(&["create", "-q", "a moment"]).ok().stdout;
        env.show(id.trim())["created_at"].as_str().unwrap()[.."2026-11-30T09:00:00".len()]
            .to_owned()
    };
    let before = created(&near);
    let atom = far.script_atom(&["sh echo new > made.txt", "close done"]);
    far.work(&[&atom]);
    let shown = far.el(&["artifacts", "show", &atom]).ok().stdout;
    assert!(shown.contains("made.txt"), "{shown}");
    let run = near.last_run(&atom);
    let (began, after) = (run["started_at"].as_str().unwrap(), created(&near));
    assert!(*before <= *began && began[..after.len()] <= *after, "{before} {began} {after}");
}

#[test]
fn a_machine_that_is_an_hour_ahead_goes_by_the_server() {
    assert_goes_by_the_server("3600");
}

#[test]
fn a_machine_that_is_an_hour_behind_goes_by_the_server() {
    assert_goes_by_the_server("-3600");
}
