//! When there is a sandbox, and what is said where there is none.

use std::os::unix::net::UnixListener;

use super::places::EVERYWHERE;
use crate::support::TestEnv;

/// A machine on which bubblewrap cannot make a namespace, as in most containers.
fn without_namespaces(sandbox: &str) -> TestEnv {
    let mut env = TestEnv::with_repository("");
    env.set("EL_SANDBOX", sandbox);
    env.program(
        "bwrap",
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n",
    );
    env
}

/// Everything runs in a container.
fn in_a_container(sandbox: &str, as_user: bool) -> Option<TestEnv> {
    let mut env = TestEnv::with_repository("");
    env.set("EL_SANDBOX", sandbox);
    if as_user && !env.hand_to_ordinary_user() {
        return None;
    }
    env.enter_container().then_some(env)
}

#[test]
fn in_a_container_auto_says_so_and_strict_refuses() {
    for as_user in [false, true] {
        let Some(env) = in_a_container("strict", as_user) else { continue };
        let id = env.writer("a.txt", "x");
        let ran = env.el(&["--robot", "work", "--drain"]).fails_with(6);
        assert_eq!(ran.json()["error"]["details"]["field"], "sandbox", "{ran:?}");
        assert!(env.runs(&id).is_empty());
        let Some(env) = in_a_container("auto", as_user) else { continue };
        let id = env.writer("a.txt", "x");
        let told = env.work(&["--drain"]);
        let is_told = |event: &serde_json::Value| {
            let message = event["message"].as_str().unwrap_or_default();
            event["event"] == "warning" && message.starts_with("agents run without a sandbox")
        };
        assert_eq!(told.iter().filter(|event| is_told(event)).count(), 1, "{told:#?}");
        assert_eq!(env.status(&id), "closed");
        env.assert_settled(&env.last_run(&id));
    }
}

#[test]
fn auto_says_once_that_there_is_none_and_works() {
    let env = without_namespaces("auto");
    let ids = ["a.txt", "b.txt"].map(|file| env.writer(file, "x"));
    let told = env.work(&["--drain"]);
    let warnings: Vec<&str> = told
        .iter()
        .filter(|event| event["event"] == "warning")
        .filter_map(|event| event["message"].as_str())
        .collect();
    assert_eq!(warnings.len(), 1, "{told:#?}");
    assert!(warnings[0].starts_with("agents run without a sandbox: bubblewrap cannot make one"));
    assert!(warnings[0].contains("No permissions to create new namespace"), "{warnings:?}");
    assert!(ids.iter().all(|id| env.status(id) == "closed"));
    let why = env.el(&["why", &ids[0]]).ok().stdout.replace("\n  ", " ");
    assert!(why.contains("it ran without a sandbox: bubblewrap cannot make one"), "{why}");
    let doctor = env.el(&["doctor"]);
    assert!(doctor.stdout.contains("none: bubblewrap cannot make one here"), "{}", doctor.stdout);
}

#[test]
fn strict_starts_no_agent_without() {
    for as_user in [false, true] {
        let mut env = without_namespaces("strict");
        if as_user && !env.hand_to_ordinary_user() {
            continue;
        }
        let id = env.writer("a.txt", "x");
        let ran = env.el(&["--robot", "work", "--drain"]).fails_with(6);
        let error = ran.json()["error"].take();
        assert_eq!(error["details"]["field"], "sandbox", "{error:#}");
        assert!(error["message"].as_str().unwrap().contains("no agent runs without a sandbox"));
        assert!(env.runs(&id).is_empty());
        let doctor = env.el(&["doctor"]);
        assert!(doctor.stdout.contains("no agent runs without a sandbox"), "{}", doctor.stdout);
    }
}

#[test]
fn off_asks_for_none() {
    let env = without_namespaces("off");
    let id = env.writer("a.txt", "x");
    let told = env.work(&["--drain"]);
    assert!(told.iter().all(|event| event["event"] != "warning"), "{told:#?}");
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn without_the_network_only_loopback_is_there() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("sandbox_network = \"off\"\n") else { return };
        if place.hand_over(&mut env) {
            let seen = env.attack("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n'");
            assert!(seen.starts_with("lo") && !seen.starts_with("loe"), "{seen}");
        }
    }
}

/// The socket of a service is there while the sandbox is laid out, and gone when it is mounted.
#[test]
fn a_socket_that_goes_meanwhile_costs_no_run_no_setup_and_no_check() {
    for place in EVERYWHERE {
        let settings = "worktree_setup = \"true the-setup\"\nverify = \"true the-check\"\n";
        let Some(mut env) = place.prepare(settings) else { return };
        let folder = env.home().join(".manager");
        std::fs::create_dir(&folder).unwrap();
        let names = ["setup", "check", "agent"];
        let _sockets = names.map(|name| UnixListener::bind(folder.join(name)).unwrap());
        let path = std::env::var_os("PATH").unwrap();
        let mut programs = std::env::split_paths(&path).map(|folder| folder.join("bwrap"));
        let real = programs.find(|program| program.exists()).unwrap();
        let script = format!(
            "#!/bin/sh
case \"$*\" in
  *the-setup*) gone=setup ;; *the-check*) gone=check ;; *agent.sh*) gone=agent ;;
  *) exec {real} \"$@\" ;;
esac
[ ! -e {folder}/$gone ] || echo $gone >> {out}
rm -f {folder}/$gone
exec {real} \"$@\"
",
            real = real.display(),
            folder = folder.display(),
            out = env.path("tmp/gone").display(),
        );
        env.program("bwrap", &script);
        if !place.hand_over(&mut env) {
            continue;
        }
        env.agent_script("echo begun");
        let id = env.create("work", &[]);
        env.work(&["--drain"]);
        let run = env.last_run(&id);
        assert_eq!(env.outcomes(&id), ["closed"], "{run:#}");
        assert_eq!(run["verify"]["status"], "passed", "{run:#}");
        assert!(env.read_run_file(&run, "transcript.jsonl").starts_with("begun"));
        let gone = std::fs::read_to_string(env.path("tmp/gone")).unwrap();
        let expected = if place.is_worktree() { "setup\nagent\ncheck\n" } else { "agent\ncheck\n" };
        assert_eq!(gone, expected);
    }
}
