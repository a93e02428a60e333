//! Attacks by an agent's session on the tracker: whatever it takes away, sets or sends, it has the
//! rights of its run and no others, and its run still settles.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Ran, Running, SOON, TestEnv};

/// A run whose scripted agent does in its session what a test wants, until `go`.
fn at_work(env: &TestEnv) -> (Running, String, Value) {
    let id = env.script_atom(&["touch begun", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("begun");
    let run = env.last_run(&id);
    (worker, id, run)
}

fn settles(env: &TestEnv, worker: Running, id: &str) {
    fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(id), ["closed"]);
    env.assert_settled(&env.last_run(id));
    assert!(!env.session_socket(&env.last_run(id)).exists(), "the socket of a run that is over");
}

fn shell(env: &TestEnv, run: &Value, line: &str) -> Ran {
    env.run(env.in_session(run, "sh").args(["-c", line]))
}

#[test]
fn a_session_without_its_variables_has_its_own_tracker_or_none() {
    let env = TestEnv::with_tracker();
    // In a sandbox the tracker is not there at all.
    env.configure("sandbox = \"off\"\n");
    let (worker, id, run) = at_work(&env);
    let other = TestEnv::with_tracker();
    other.create("Somebody else's", &[]);
    let theirs = other.project(".eluent/el.db").display().to_string();
    let ours = env.project(".eluent/el.db").display().to_string();
    let forged = format!("EL_RUN= EL_TOKEN= EL_DB={theirs} EL_ACTOR=ann");
    fs::create_dir(env.path("elsewhere")).unwrap();
    fs::hard_link(&ours, env.path("elsewhere/hard.db")).unwrap();
    std::os::unix::fs::symlink(&theirs, env.project("link.db")).unwrap();
    let hard = env.path("elsewhere/hard.db").display().to_string();
    let folder = other.project("").display().to_string();
    // All these ways of calling `el` as a person are refused.
    for prefix in [
        "env -u EL_SESSION el".to_owned(),
        "env -i el".replace("env -i el", "env -i PATH=\"$PATH\" el"),
        format!("env -u EL_SESSION {forged} el"),
        format!("env {forged} el"),
        "EL_SESSION= el".to_owned(),
        "EL_SESSION=none el".to_owned(),
        "HOME=/nowhere env -u EL_SESSION el".to_owned(),
        format!("cd {folder}; env -u EL_SESSION el"),
        format!("env -u EL_SESSION el --db {hard}"),
        format!("env -u EL_SESSION EL_DB={hard} el"),
        format!("el --db {theirs}"),
        "el --db link.db".to_owned(),
        format!("EL_DB={theirs} el"),
    ] {
        let ran = shell(&env, &run, &format!("{prefix} config set max_attempts 9"));
        assert_eq!(ran.status, 8, "{prefix}: {ran:?}");
        let ran = shell(&env, &run, &format!("{prefix} list"));
        assert!(!ran.stdout.contains("Somebody else's"), "{prefix}: {ran:?}");
    }
    // Nor does a process help that is no child of the agent any more.
    let ran = shell(
        &env,
        &run,
        "env -u EL_SESSION setsid -f sh -c 'el init --here > out 2>&1; el config set model x; \
         echo $? > code.new; mv code.new code'; while [ ! -e code ]; do sleep 0.02; done; cat code",
    );
    assert_eq!(ran.stdout.trim(), "8", "{ran:?}");
    // Another name is not taken, and a dead socket gives no tracker.
    shell(
        &env,
        &run,
        &format!("el comment add {id} one --actor ann; EL_ACTOR=ann el comment add {id} two"),
    )
    .ok();
    let comments = env.show(&id)["comments"].to_string();
    assert!(!comments.contains("ann"), "{comments}");
    let dead = shell(&env, &run, "EL_SESSION=/nowhere/session/socket el --robot show x");
    assert_eq!((dead.status, dead.json()["error"]["code"].as_str()), (5, Some("stale_run")));
    let nowhere = shell(&env, &run, "EL_SESSION=/nowhere el show x");
    assert!(nowhere.stderr.contains("run /nowhere is over"), "{nowhere:?}");
    assert_eq!(shell(&env, &run, "EL_SESSION=/nowhere el hook stop").ok().stdout, "");
    assert_eq!(other.robot(&["list", "--all"])["count"], 1);
    settles(&env, worker, &id);
}

#[test]
fn the_socket_of_another_run_and_the_identity_of_a_run_are_not_to_be_had() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    // Not below the supervisor, as an agent of another run is not.
    let socket = env.session_socket(&run);
    let ran = env.run(env.command("el").env("EL_SESSION", &socket).args(["close", &id]));
    assert_eq!(ran.status, 8, "{ran:?}");
    assert!(ran.stderr.contains("another run"), "{ran:?}");
    // An `el` that answers takes its identity from a supervisor alone.
    let token = env.token(&run);
    let database = env.project(".eluent/el.db").canonicalize().unwrap();
    let identity = serde_json::json!({
        "run": run["id"], "token": token, "database": database, "agent": "ann",
    });
    fs::write(env.project("identity"), identity.to_string()).unwrap();
    for line in ["el --answer-session < identity", "cat identity | el --answer-session"] {
        for ran in [env.run(env.command("sh").args(["-c", line])), shell(&env, &run, line)] {
            assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{line}");
        }
    }
    assert_eq!(env.status(&id), "in_progress");
    // Neither the token nor the database's path is in the environment of any process.
    let secret = format!("{token}\n{}", database.display());
    for process in env.processes_of_run(run["id"].as_str().unwrap()) {
        let environment = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(secret.lines().all(|secret| !environment.contains(secret)), "{process:?}");
    }
    settles(&env, worker, &id);
}

#[test]
fn rubbish_silence_and_a_thousand_callers_hold_up_nobody() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    let socket = env.session_socket(&run);
    for rubbish in [&b"garbage"[..], b"C\xff\xff\xff\xff", b"C\x05\0\0\0a", b"X\0\0\0\0", b""] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(rubbish).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        // An end, with or without an error, and no answer.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert_eq!(answer, b"", "{rubbish:?}");
    }
    // Fewer than the places, and silent.
    let silent: Vec<UnixStream> = (0..40).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    let began = Instant::now();
    shell(&env, &run, &format!("el comment add {id} meanwhile")).ok();
    assert!(began.elapsed() < SOON);
    drop(silent);
    for _ in 0..1_000 {
        drop(UnixStream::connect(&socket));
    }
    shell(&env, &run, &format!("el comment add {id} after")).ok();
    let beat = |run: &Value| run["heartbeat_at"].as_str().unwrap().to_owned();
    assert!(beat(&env.last_run(&id)) >= beat(&run), "the supervisor goes on");
    settles(&env, worker, &id);
}

#[test]
fn a_reader_that_stops_reading_and_a_pipe_without_an_end_do_not_keep_a_run() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    for n in 0..40 {
        env.create(&format!("Long {n}"), &["-d", &"x".repeat(4_000)]);
    }
    let line = "mkfifo pipe; el export > pipe & exec 9< pipe; \
                mkfifo other; (el create -t y --description-file other; echo never > never) & \
                el logs -f $EL_ATOM > followed & echo begun";
    assert_eq!(shell(&env, &run, &format!("({line}) 2>&1 | head -1")).ok().stdout.trim(), "begun");
    settles(&env, worker, &id);
    assert!(!env.project("never").exists());
}

#[test]
fn files_are_read_and_written_with_the_callers_rights_and_where_it_works() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    // The test's own folders are below /tmp, which is allowed.
    let secret = "/etc/passwd";
    fs::write(env.project(".env"), "root:").unwrap();
    fs::write(env.project("fine.txt"), "from a file").unwrap();
    std::os::unix::fs::symlink(secret, env.project("innocent.txt")).unwrap();
    for path in [secret, ".env", "innocent.txt", "/proc/self/root/etc/passwd", "/dev/../etc/passwd"]
    {
        for command in ["create -t x --description-file", "import", "mailbox post to-developer"] {
            let ran = shell(&env, &run, &format!("el {command} {path}"));
            assert_ne!(ran.status, 0, "{command} {path}");
            assert!(ran.stderr.contains("cannot read"), "{command} {path}: {ran:?}");
        }
    }
    shell(&env, &run, "el create -t one --description-file fine.txt").ok();
    shell(&env, &run, "el create -t two --description-file - < fine.txt").ok();
    shell(&env, &run, "mkfifo p; cat fine.txt > p & el create -t three --description-file p").ok();
    let listed = env.robot(&["list", "--all"]).to_string();
    assert_eq!(listed.matches("from a file").count(), 3, "{listed}");
    assert!(!listed.contains("root:"));
    // A file that has no end is cut off by its reader.
    let began = Instant::now();
    let ran = shell(&env, &run, "el create -t x --description-file /dev/zero");
    assert!(ran.status == 2 && began.elapsed() < Duration::from_secs(60), "{ran:?}");
    // Stdout, stderr and the exit code are those of a person's `el`.
    let refused =
        [&["show", "nothing"][..], &["--robot", "show", "nothing"], &["no-such"], &["show"]];
    for words in refused {
        let (ours, theirs) = (env.el(words), env.run(&mut env.el_as_run(&run, words)));
        assert_eq!(
            (ours.status, ours.stdout, ours.stderr),
            (theirs.status, theirs.stdout, theirs.stderr),
            "{words:?}"
        );
    }
    shell(&env, &run, "el export -o out.jsonl && test -s out.jsonl && ! ls -a | grep tmp").ok();
    settles(&env, worker, &id);
}

#[test]
fn a_path_of_any_length_leads_to_the_socket() {
    let env = TestEnv::new();
    let deep = env.project("a-long-name-of-a-folder/".repeat(8));
    fs::create_dir_all(&deep).unwrap();
    let el = |words: &[&str]| env.run(env.command("el").current_dir(&deep).args(words)).ok();
    el(&["init"]);
    el(&["create", "Deep", "-d", &TestEnv::script(&["close done"])]);
    el(&["work", "--once"]);
    let listed = el(&["--robot", "list", "--all"]).json();
    assert_eq!(listed["data"]["items"][0]["status"], "closed", "{listed}");
}

#[test]
fn a_session_claims_no_other_atom_by_its_status() {
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    let other = env.create("Another", &[]);
    let update = ["update", &other, "--status", "in_progress"];
    env.run(&mut env.el_as_run(&run, &update)).fails_with(4);
    let record = r#"{"id":"x-1","title":"New","status":"in_progress"}"#;
    fs::write(env.project("new.jsonl"), record).unwrap();
    let import = env.run(&mut env.el_as_run(&run, &["import", "new.jsonl"]));
    assert_ne!(import.status, 0, "{import:?}");
    assert_eq!(env.status(&other), "open");
    assert_eq!(env.robot(&["list", "--status", "in_progress"])["count"], 1);
    settles(&env, worker, &id);
}

/// A wake-up of the supervisor is a wait of the caller: it hears a call, starts the process that
/// answers, and hears that both have ended.
#[test]
fn a_call_wakes_the_supervisor_a_few_times() {
    if !cfg!(target_os = "linux") {
        return;
    }
    const CALLS: u128 = 20;
    let env = TestEnv::with_tracker();
    let (worker, id, run) = at_work(&env);
    let status = format!("/proc/{}/status", run["supervisor"]["pid"]);
    let wakes = || -> u128 {
        let text = fs::read_to_string(&status).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse().unwrap()
    };
    let (began, before) = (Instant::now(), wakes());
    shell(&env, &run, &format!("for i in $(seq {CALLS}); do el show {id} || exit 1; done")).ok();
    // Besides, it looks at the store and the clock each tenth of a second.
    let looks = began.elapsed().as_millis() / 100 + 1;
    let woken = wakes() - before;
    assert!(woken <= CALLS * 8 + looks * 4, "{woken} in {CALLS} calls and {looks} looks");
    settles(&env, worker, &id);
}
