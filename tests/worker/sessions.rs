//! The tmux sessions: names, server, and access.

use std::os::unix::fs::PermissionsExt;

use crate::support::{SOON, TestEnv, wait_until};

/// An atom whose agent waits for the file `go`.
fn waiting(env: &TestEnv) -> String {
    env.script_atom(&["say here I am", "touch started", "wait-file go", "close done"])
}

/// `eluent-[A-Za-z0-9-]{1,8}-\d+-[0-9a-f]{8}`
fn is_session_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("eluent-") else { return false };
    let mut parts = rest.rsplitn(3, '-');
    let (hex, epoch, atom) =
        (parts.next().unwrap(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    hex.len() == 8
        && hex.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c))
        && !epoch.is_empty()
        && epoch.chars().all(|c| c.is_ascii_digit())
        && (1..=8).contains(&atom.len())
        && atom.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

#[test]
fn sessions_have_the_name_that_people_and_tools_look_for() {
    let env = TestEnv::new();
    env.el(&["init", "--name", "a-very-long project (name)"]).ok();
    let id = waiting(&env);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    let sessions = env.sessions();
    assert_eq!(sessions, [env.last_run(&id)["session"].as_str().unwrap()]);
    assert!(is_session_name(&sessions[0]), "{sessions:?}");
    assert!(
        sessions[0].contains(id.rsplit_once('-').unwrap().1),
        "the part that tells atoms apart: {sessions:?}"
    );
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    env.wait_for_sessions(&[]);
}

#[test]
fn preserved_sessions_and_contexts_stay() {
    let env = TestEnv::with_tracker();
    env.configure("preserve_sessions = true\n");
    let id = env.script_atom(&["say what was said", "close done"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    let session = run["session"].as_str().unwrap();
    assert_eq!(env.sessions(), [session]);
    let shown = env.tmux(&["capture-pane", "-p", "-t", &format!("={session}:")]).unwrap();
    assert!(shown.contains("what was said"), "{shown}");
    let context = std::fs::metadata(env.context(&id)).unwrap();
    assert_eq!(context.permissions().mode() & 0o777, 0o600);
    assert_eq!(
        env.processes_of_run(run["id"].as_str().unwrap()),
        [],
        "the session stays, its processes do not"
    );
    assert_eq!(env.robot(&["attach", &id])["session"], session);
    assert_eq!(env.robot(&["attach", session])["atom_id"], *id, "as el runs show prints it");
    // The next run of the same atom is not disturbed.
    env.el(&["reopen", &id]).ok();
    env.work(&["--once"]);
    assert_eq!((env.outcomes(&id).len(), env.sessions().len()), (2, 2));
}

#[test]
fn two_projects_side_by_side_do_not_touch_each_other() {
    let env = TestEnv::with_tracker();
    std::fs::create_dir(env.path("other")).unwrap();
    let other = |words: &[&str]| {
        let mut command = env.command("el");
        command.current_dir(env.path("other")).arg("--robot").args(words);
        command
    };
    env.run(&mut other(&["init", "--name", "t"])).ok();
    let here = waiting(&env);
    let script = TestEnv::script(&["touch started", "wait-file go", "close done"]);
    let there = env.run(&mut other(&["create", "--title", "There", "-d",
        &script])).ok().json()["data"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let workers = [env.start_work(&["--drain"]), env.start(&mut other(&["work", "--drain"]))];
    env.wait_for_file("started");
    env.wait_for_file(env.path("other/started"));
    let attach = |command: &mut std::process::Command| {
        env.run(command).ok().json()["data"]["socket"].clone()
    };
    let sockets = [
        attach(env.command("el").args(["--robot", "attach", &here])),
        attach(&mut other(&["attach", &there])),
    ];
    assert_ne!(sockets[0], sockets[1]);
    env.run(&mut other(&["work", "--stop"])).ok();
    let [worker, stopped] = workers;
    stopped.wait(SOON).ok();
    assert_eq!(env.status(&here), "in_progress", "stopping there stops nothing here");
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&here), ["closed"]);
    let run = env.run(&mut other(&["show", &there])).ok().json();
    assert_eq!(run["data"]["status"], "open");
}

#[test]
fn the_users_tmux_configuration_is_not_read() {
    let env = TestEnv::with_tracker();
    let conf = "run-shell 'touch CONF'\nset -g default-command 'touch CONF'\n\
        set -g destroy-unattached on\nset -g base-index 5\n";
    std::fs::write(env.home().join(".tmux.conf"), conf).unwrap();
    std::fs::create_dir_all(env.home().join(".config/tmux")).unwrap();
    std::fs::write(env.home().join(".config/tmux/tmux.conf"), conf).unwrap();
    let id = env.script_atom(&["close done"]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["closed"]);
    for folder in [env.project(""), env.home(), env.path("")] {
        assert!(!folder.join("CONF").exists());
    }
}

#[test]
fn el_attach_shows_the_session_in_the_callers_terminal_and_leaves_it_running() {
    let env = TestEnv::with_tracker();
    let id = waiting(&env);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    // The caller runs in another tmux, as many people do.
    let screen = env.screen(120, 30, &format!("el attach {id}"));
    screen.wait_for("here I am");
    let clients =
        || env.tmux(&["list-clients", "-F", "#{client_tty}"]).unwrap_or_default().lines().count();
    assert_eq!(clients(), 1);
    screen.press("C-b");
    screen.press("d");
    screen.wait_for("[exit 0]");
    wait_until("the client's end", SOON, || (clients() == 0).then_some(()));
    assert_eq!(env.status(&id), "in_progress", "looking ends nothing");
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
}

#[test]
fn a_session_of_a_similar_name_is_never_meant() {
    let env = TestEnv::with_tracker();
    let id = waiting(&env);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    let session = env.last_run(&id)["session"].as_str().unwrap().to_owned();
    // tmux itself would accept the beginning of a name.
    let (similar, beginning) = (format!("{session}0"), session[..session.len() - 1].to_owned());
    for name in [&similar, &beginning] {
        env.tmux(&["new-session", "-d", "-s", name, "sleep", "600"]).unwrap();
    }
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    let mut expected = vec![similar, beginning];
    expected.sort();
    // Only the run's own session ended.
    env.wait_for_sessions(&expected);
}

#[test]
fn a_full_terminal_that_nobody_reads_holds_no_run_up() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "say first",
        "touch started",
        "wait-file go",
        "spam 300000",
        "close done",
    ]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    let session = env.last_run(&id)["session"].as_str().unwrap().to_owned();
    // A person scrolls back: in copy mode, or after C-s, a pane takes no more output.
    env.tmux(&["send-keys", "-t", &format!("={session}:"), "C-s"]).unwrap();
    env.tmux(&["copy-mode", "-t", &format!("={session}:")]).unwrap();
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn nothing_that_stays_holds_the_callers_files() {
    let env = TestEnv::with_tracker();
    env.script_atom(&["close done"]);
    // As under a lock: `flock 9; el work`.
    env.run(
        env.command("sh").args(["-c", "exec 9> held; exec el work --once --preserve-sessions"]),
    )
    .ok();
    let held = env.project("held").canonicalize().unwrap();
    let left = env.processes();
    assert!(!left.is_empty(), "the preserved session keeps its server");
    for process in left {
        let files = std::fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten();
        let holds =
            files.filter_map(|file| file.ok()?.path().read_link().ok()).any(|file| file == held);
        assert!(!holds, "{process:?}");
    }
}
