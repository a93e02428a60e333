//! Real trees, ended. Each test runs in a process of its own (this test binary again, with only
//! that test), because being a subreaper, and killing all that one adopted, are for a whole
//! process.

use std::path::Path;
use std::process::{Command, Stdio};

use super::super::{
    Session, become_subreaper, configure_agent, descendants, reset_ignored_signals,
};
use super::*;

const LONG: Duration = Duration::from_secs(30);

/// Runs the body in a process of its own and fails if it fails there.
fn alone(body: impl AsyncFnOnce(&Path)) {
    if let Some(folder) = std::env::var_os("EL_TEST_ALONE") {
        become_subreaper().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // The tests may run with SIGINT ignored, as under `nohup` or `&` in a script; an agent
            // never does.
            reset_ignored_signals().unwrap();
            body(Path::new(&folder)).await;
        });
        return;
    }
    let name = std::thread::current().name().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env("EL_TEST_ALONE", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    // The remains of a failed test.
    end_marked(&marker(folder.path()), LONG).unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn marker(folder: &Path) -> Marker {
    Marker::new("EL_TEST_RUN", folder.to_string_lossy())
}

/// Starts `sh -c script` as an agent; the script says that it is ready by making the file `ready`.
async fn agent(
    folder: &Path,
    session: Session,
    script: &str,
) -> (tokio::process::Child, ProcessId) {
    let mut command = tokio::process::Command::new("sh");
    command
        .args(["-c", script])
        .current_dir(folder)
        .env("EL_TEST_RUN", folder)
        .stdin(Stdio::null());
    configure_agent(&mut command, session);
    let child = command.spawn().unwrap();
    let id = ProcessId::of_pid(child.id().unwrap()).unwrap().unwrap();
    wait_for(|| folder.join("ready").exists()).await;
    (child, id)
}

async fn wait_for(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn end(id: &ProcessId, marker: Option<Marker>, grace: Duration) -> Ended {
    let id = id.clone();
    let work = move || {
        end_tree(&EndTree {
            interrupt: &id,
            agent: &id,
            marker: marker.as_ref(),
            grace,
            limit: LONG,
            shares_session: false,
        })
        .unwrap()
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// One that has our terminal: the tools of its own, and what they leave in our session.
#[test]
fn what_an_agent_in_our_own_session_leaves_in_it_is_killed_too() {
    alone(async |folder| {
        let script = "(env -i PATH=\"$PATH\" sh -c 'sleep 610 & exec sleep 611' & ); sleep 0.2; \
                      touch ready; exit 0";
        let (mut child, id) = agent(folder, Session::Inherit, script).await;
        child.wait().await.unwrap();
        let plan = move || {
            end_tree(&EndTree {
                interrupt: &id,
                agent: &id,
                marker: None,
                grace: LONG,
                limit: LONG,
                shares_session: true,
            })
            .unwrap()
        };
        let ended = tokio::task::spawn_blocking(plan).await.unwrap();
        assert!(matches!(ended, Ended::Clean { killed, .. } if killed >= 1), "{ended:?}");
        assert_eq!(living(), []);
    });
}

fn kill(pid: u32) {
    let pid = to_pid(pid).unwrap();
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
}

fn living() -> Vec<Process> {
    descendants(std::process::id()).unwrap().into_iter().filter(|process| !process.zombie).collect()
}

#[test]
fn an_agent_that_obeys_sigint_ends_by_itself_and_keeps_its_exit_status() {
    alone(async |folder| {
        let script = "trap 'exit 7' INT; touch ready; while :; do sleep 0.05; done";
        let (mut child, id) = agent(folder, Session::New, script).await;
        let ended = end(&id, None, LONG).await;
        assert!(matches!(ended, Ended::Clean { by_itself: true, .. }), "{ended:?}");
        assert_eq!(
            child.wait().await.unwrap().code(),
            Some(7),
            "the status belongs to the one who spawned it"
        );
        assert_eq!(living(), []);
    });
}

#[test]
fn an_agent_that_ignores_every_signal_is_killed_after_its_grace() {
    alone(async |folder| {
        let script = "trap '' HUP INT TERM QUIT; touch ready; while :; do sleep 0.05; done";
        let (mut child, id) = agent(folder, Session::New, script).await;
        let begin = Instant::now();
        let ended = end(&id, None, Duration::from_millis(300)).await;
        assert!(
            matches!(ended, Ended::Clean { by_itself: false, killed } if killed >= 1),
            "{ended:?}"
        );
        assert!(begin.elapsed() >= Duration::from_millis(300), "it was not given its grace");
        let status = child.wait().await.unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
        assert_eq!(living(), []);
    });
}

#[test]
fn everything_that_tries_to_leave_the_tree_is_found_and_killed() {
    alone(async |folder| {
        let script = r#"
            trap '' HUP INT TERM
            nohup sleep 600 >/dev/null 2>&1 &
            setsid sleep 601 &
            setsid sh -c 'trap "" HUP INT TERM; sleep 602 & sleep 603; wait' &
            (setsid sh -c '(sleep 604 &) ' &) &
            timeout 605 sleep 606 &
            env -i PATH="$PATH" setsid sh -c '(sleep 607 &) ; exec sleep 608' &
            (sh -c 'exec 3<&-; cd /; umask 0; setsid sh -c "sleep 609 & exit" &' &)
            sleep 0.2
            touch ready
            while :; do sleep 0.05; done
        "#;
        let (mut child, id) = agent(folder, Session::New, script).await;
        wait_for(|| living().len() >= 10).await;
        let ended = end(&id, Some(marker(folder)), Duration::from_millis(50)).await;
        assert!(
            matches!(ended, Ended::Clean { by_itself: false, killed } if killed >= 10),
            "{ended:?}"
        );
        assert_eq!(living(), []);
        assert_eq!(find_marked(&marker(folder)).unwrap(), []);
        child.wait().await.unwrap();
        assert_eq!(descendants(std::process::id()).unwrap(), [], "no zombie is left either");
    });
}

#[test]
fn orphans_left_behind_by_an_agent_that_has_ended_are_killed() {
    alone(async |folder| {
        let script = "(setsid sleep 600 &); (trap '' HUP; sleep 601 &); touch ready; exit 3";
        let (mut child, id) = agent(folder, Session::New, script).await;
        assert_eq!(child.wait().await.unwrap().code(), Some(3));
        wait_for(|| living().len() == 2).await;
        let ended = end(&id, None, LONG).await;
        assert_eq!(ended, Ended::Clean { by_itself: true, killed: 2 });
        assert_eq!(descendants(std::process::id()).unwrap(), []);
    });
}

#[test]
fn two_watchdogs_that_restart_each_other_are_ended() {
    alone(async |folder| {
        // Each process restarts its partner within milliseconds, in a session of its own and
        // without the marker. Should this test be killed, they end two minutes later.
        let script = r#"
            cat > dog.sh <<'DOG'
            echo $$ > "$1.pid"
            while [ "$(date +%s)" -lt "$3" ]; do
                other=$(cat "$2.pid" 2>/dev/null)
                [ -n "$other" ] && kill -0 "$other" 2>/dev/null \
                    || env -i PATH="$PATH" setsid sh dog.sh "$2" "$1" "$3" &
                sleep 0.02
            done
DOG
            env -i PATH="$PATH" setsid sh dog.sh a b $(($(date +%s) + 120)) &
            touch ready
            while :; do sleep 0.05; done
        "#;
        let (mut child, id) = agent(folder, Session::New, script).await;
        wait_for(|| folder.join("b.pid").exists()).await;
        let ended = end(&id, Some(marker(folder)), Duration::ZERO).await;
        assert!(matches!(ended, Ended::Clean { .. }), "{ended:?}");
        assert_eq!(living(), []);
        child.wait().await.unwrap();
    });
}

#[test]
fn a_process_that_is_always_another_one_is_ended() {
    alone(async |folder| {
        // Each generation lives for some milliseconds, without the marker, in a session of its own,
        // and is orphaned at once. It comes to an end by itself, should this test be killed.
        let script = r#"
            cat > hop.sh <<'HOP'
            [ "$1" -gt 20000 ] && exit
            echo x >> hops
            env -i PATH="$PATH" setsid sh hop.sh $(($1 + 1)) &
HOP
            env -i PATH="$PATH" setsid sh hop.sh 0 &
            touch ready
            while :; do sleep 0.05; done
        "#;
        let (mut child, id) = agent(folder, Session::New, script).await;
        let hops = || std::fs::metadata(folder.join("hops")).map_or(0, |file| file.len());
        wait_for(|| hops() > 20).await;
        let ended = end(&id, Some(marker(folder)), Duration::ZERO).await;
        let at_end = hops();
        assert!(matches!(ended, Ended::Clean { .. }), "{ended:?}");
        assert_eq!(living(), []);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(hops(), at_end, "it went on after it was said to have ended");
        child.wait().await.unwrap();
    });
}

#[test]
fn helpers_of_our_own_are_spared_and_keep_their_status() {
    alone(async |folder| {
        let mut helper = Command::new("sh").args(["-c", "sleep 600; exit 5"]).spawn().unwrap();
        let mut short = Command::new("sh").args(["-c", "exit 4"]).spawn().unwrap();
        let (mut child, id) =
            agent(folder, Session::New, "touch ready; (setsid true &); exec sleep 600").await;
        let handle = Handle::open(&ProcessId::of_pid(short.id()).unwrap().unwrap()).unwrap();
        assert!(handle.is_none_or(|handle| handle.wait_for_end(LONG).unwrap()));
        reap_adopted(id.pid);
        let ended = end(&id, Some(marker(folder)), Duration::ZERO).await;
        assert!(matches!(ended, Ended::Clean { .. }), "{ended:?}");
        assert_eq!(short.wait().unwrap().code(), Some(4));
        assert!(helper.try_wait().unwrap().is_none(), "a helper was killed");
        for process in living() {
            kill(process.pid);
        }
        helper.wait().unwrap();
        child.wait().await.unwrap();
    });
}

#[test]
fn an_agent_in_our_own_session_is_ended_with_its_tree() {
    alone(async |folder| {
        let mut helper = Command::new("sleep").arg("600").spawn().unwrap();
        let script = "trap '' INT HUP; sleep 601 & (sleep 602 &) ; touch ready; \
                      while :; do sleep 0.05; done";
        let (mut child, id) = agent(folder, Session::Inherit, script).await;
        let ended = end(&id, Some(marker(folder)), Duration::ZERO).await;
        assert!(matches!(ended, Ended::Clean { killed, .. } if killed >= 3), "{ended:?}");
        child.wait().await.unwrap();
        let left: Vec<u32> = living().iter().map(|process| process.pid).collect();
        assert_eq!(left, [helper.id()]);
        helper.kill().unwrap();
        helper.wait().unwrap();
    });
}

#[test]
fn dead_orphans_are_reaped_while_the_agent_works() {
    alone(async |folder| {
        let script =
            "(setsid sh -c 'sleep 0.01' &); (setsid sh -c 'exit 1' &); touch ready; exec sleep 600";
        let (mut child, id) = agent(folder, Session::New, script).await;
        let mut reaped = 0;
        wait_for(|| {
            reaped += reap_adopted(id.pid);
            reaped >= 2
        })
        .await;
        child.kill().await.unwrap();
        // `touch` makes its file before it ends, so a slow one is an orphan by now.
        wait_for(|| {
            reap_adopted(id.pid);
            descendants(std::process::id()).unwrap().is_empty()
        })
        .await;
    });
}

#[test]
fn what_a_killed_supervisor_left_is_found_by_its_marker() {
    let folder = tempfile::tempdir().unwrap();
    let marker = marker(folder.path());
    // Orphaned before the look.
    let script =
        "setsid sh -c 'trap \"\" HUP INT TERM; touch ready; while :; do sleep 0.05; done' & exit 0";
    let status = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder.path())
        .env("EL_TEST_RUN", folder.path())
        .status()
        .unwrap();
    assert!(status.success());
    let deadline = Instant::now() + LONG;
    while !folder.path().join("ready").exists() {
        assert!(Instant::now() < deadline, "the tool did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = end_marked(&marker, LONG).unwrap();
    assert!(matches!(ended, Ended::Clean { by_itself: true, killed } if killed >= 1), "{ended:?}");
    assert_eq!(find_marked(&marker).unwrap(), []);
    assert_eq!(end_marked(&marker, LONG).unwrap(), Ended::Clean { by_itself: true, killed: 0 });
}
