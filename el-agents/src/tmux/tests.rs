//! The real tmux, on a socket and in a folder of each test's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::process::{Handle, Liveness, ProcessId};

const LONG: Duration = Duration::from_secs(60);

/// A private server that is gone when the test is.
struct Server {
    tmux: Tmux,
    folder: tempfile::TempDir,
}

impl Server {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(extra: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut environment: Vec<(OsString, OsString)> = ["PATH", "HOME"]
            .iter()
            .filter_map(|key| Some(((*key).into(), std::env::var_os(key)?)))
            .collect();
        environment.push(("TMUX_TMPDIR".into(), folder.path().into()));
        environment.extend(extra.iter().map(|(key, value)| ((*key).into(), (*value).into())));
        let tmux = Tmux::discover("el-test", &environment).unwrap().with_timeout(LONG);
        Self { tmux, folder }
    }

    fn start(&self, name: &str, script: &str) -> SessionIds {
        self.tmux.start_session(name, &sh(script), false).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The last lines that the session's first pane shows or showed, as plain text.
    fn capture_pane(&self, name: &str, lines: usize) -> String {
        let start = format!("-{lines}");
        let words = ["capture-pane", "-p", "-J", "-t", &format!("={name}:"), "-S", &start];
        let answer = self.tmux.ask_server(name, "capture", &words).unwrap().unwrap();
        let text: Vec<&str> = answer.out.trim_end().lines().map(str::trim_end).collect();
        text[text.len().saturating_sub(lines)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ends the server by its process if the socket is gone; the server belongs to this test.
        for server in server::find_servers("el-test") {
            let environ = fs::read(format!("/proc/{}/environ", server.pid)).unwrap_or_default();
            let ours = format!("TMUX_TMPDIR={}", self.folder.path().display());
            if environ.split(|byte| *byte == 0).any(|pair| pair == ours.as_bytes())
                && let Ok(Some(handle)) = Handle::open(&server)
            {
                let _ = handle.send_signal(rustix::process::Signal::TERM);
                let _ = handle.wait_for_end(LONG);
            }
        }
    }
}

fn sh(script: &str) -> Vec<OsString> {
    ["sh", "-c", script].map(OsString::from).to_vec()
}

fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_session_runs_its_command_and_tells_its_ids() {
    let server = Server::new();
    let ids = server.start("eluent-a-1-00000001", "echo hello; exec sleep 600");
    assert_eq!((ids.session_id.as_str(), ids.pane_id.as_str()), ("$0", "%0"));
    assert_eq!(ProcessId::of_pid(ids.pane_pid).unwrap().unwrap().liveness(), Liveness::Alive);
    assert_eq!(server.tmux.server_pid().unwrap(), Some(ids.server_pid));
    let list = server.tmux.list_sessions().unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!(
        (list[0].name.as_str(), &list[0].ids, list[0].dead),
        ("eluent-a-1-00000001", &ids, false)
    );
    assert!(list[0].created > 1_600_000_000);
    wait_for("the greeting", || server.capture_pane("eluent-a-1-00000001", 5) == "hello");
}

#[test]
fn sessions_are_found_and_ended_by_their_whole_name_only() {
    let server = Server::new();
    server.start("tab-10", "exec sleep 600");
    server.start("tab-1", "exec sleep 600");
    for part in ["tab", "tab-", "t*", "=tab-1", "tab-1:", "$0", "%0"] {
        assert_eq!(server.tmux.session_exists(part), Liveness::Absent, "{part}");
        assert!(!server.tmux.kill_session(part).unwrap(), "{part}");
    }
    assert!(server.tmux.kill_session("tab-1").unwrap());
    assert!(!server.tmux.kill_session("tab-1").unwrap());
    assert_eq!(server.tmux.session_exists("tab-1"), Liveness::Absent);
    assert_eq!(server.tmux.session_exists("tab-10"), Liveness::Alive);
}

#[test]
fn the_words_of_a_command_arrive_as_they_are() {
    let server = Server::new();
    let words = [
        "a;",
        ";",
        "\\;",
        "x\\;",
        "a b",
        "$(touch f)",
        "`id`",
        "#{pid}",
        "#(touch f)",
        "'\"",
        "-x",
        "",
        "new\nline",
        "ü",
        "\t",
    ];
    let out = server.path("words");
    let mut argv =
        sh("for word; do printf '<%s>' \"$word\"; done > \"$0.part\"; mv \"$0.part\" \"$0\"");
    argv.push(out.clone().into());
    argv.extend(words.map(OsString::from));
    server.tmux.start_session("words", &argv, false).unwrap();
    wait_for("the words", || out.exists());
    let expected: String = words.iter().map(|word| format!("<{word}>")).collect();
    assert_eq!(fs::read_to_string(out).unwrap(), expected);
}

#[test]
fn names_and_commands_that_tmux_would_misread_are_refused() {
    let server = Server::new();
    let refused = |name: &str, argv: &[OsString]| {
        let error = server.tmux.start_session(name, argv, false).unwrap_err();
        assert_eq!(error.failure, Failure::Refused, "{error}");
        error.to_string()
    };
    for name in ["", "a.b", "a:b", "n#(touch f)", "a b", "-d"] {
        refused(name, &sh("true"));
    }
    assert!(refused("one", &["true".into()]).contains("one word"));
    assert!(refused("long", &sh(&"x".repeat(17_000))).contains("too long"));
    assert_eq!(server.tmux.server_pid().unwrap(), None, "nothing was to be started");
}

#[test]
fn a_taken_name_is_an_error_that_says_so() {
    let server = Server::new();
    server.start("twice", "exec sleep 600");
    let error = server.tmux.start_session("twice", &sh("exec sleep 600"), false).unwrap_err();
    assert_eq!(
        (error.failure, error.operation, error.session.as_str()),
        (Failure::Exists, "create", "twice")
    );
    assert!(error.to_string().starts_with("could not create tmux session twice: "), "{error}");
}

#[test]
fn the_server_outlives_its_last_session_until_it_is_released() {
    let server = Server::new();
    let ids = server.start("short", "exit 0");
    wait_for("the end of the session", || server.tmux.session_exists("short") == Liveness::Absent);
    assert_eq!(server.tmux.server_pid().unwrap(), Some(ids.server_pid));
    assert_eq!(server.tmux.list_sessions().unwrap(), []);
    let again = server.start("again", "exec sleep 600");
    assert_eq!(again.server_pid, ids.server_pid);

    server.tmux.release_server().unwrap();
    assert_eq!(server.tmux.session_exists("again"), Liveness::Alive, "a session keeps the server");
    assert!(server.tmux.kill_session("again").unwrap());
    wait_for("the end of the server", || server.tmux.server_pid().unwrap().is_none());
    server.tmux.release_server().unwrap();
}

#[test]
fn sessions_whose_command_ends_at_once_do_not_stay() {
    let server = Server::new();
    for round in 0..12 {
        let name = format!("short-{round}");
        server.start(&name, "exit 0");
        wait_for("the end of the session", || {
            server.tmux.session_exists(&name) == Liveness::Absent
        });
    }
}

#[test]
fn without_a_server_nothing_is_there_and_nothing_is_started() {
    let server = Server::new();
    assert_eq!(server.tmux.session_exists("any"), Liveness::Absent);
    assert_eq!(server.tmux.list_sessions().unwrap(), []);
    assert!(!server.tmux.kill_session("any").unwrap());
    assert_eq!(server.tmux.server_pid().unwrap(), None);
    server.tmux.release_server().unwrap();
    assert!(server::find_servers("el-test").iter().all(|found| {
        let environ = fs::read(format!("/proc/{}/environ", found.pid)).unwrap_or_default();
        !String::from_utf8_lossy(&environ).contains(&*server.folder.path().to_string_lossy())
    }));
}

#[test]
fn a_preserved_session_keeps_its_last_screen() {
    let server = Server::new();
    server.tmux.start_session("kept", &sh("seq 500; echo the end; exit 3"), true).unwrap();
    wait_for("the end of the command", || server.tmux.list_sessions().unwrap()[0].dead);
    assert_eq!(server.tmux.session_exists("kept"), Liveness::Alive);
    // tmux may learn of the death before reading the last output.
    wait_for("the last of the output", || server.capture_pane("kept", 1000).contains("the end"));
    let text = server.capture_pane("kept", 1000);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "1", "the scrollback is not whole");
    assert!(lines.contains(&"500"), "{text}");
    assert_eq!(server.capture_pane("kept", 2).lines().count(), 2);
    assert!(server.tmux.kill_session("kept").unwrap());
}

#[test]
fn the_server_sees_a_cleaned_environment_and_no_file_of_ours() {
    let server = Server::with(&[
        ("ANTHROPIC_API_KEY", "secret"),
        ("CLAUDECODE", "1"),
        ("TMUX", "/x,1,0"),
        ("LANG", "C"),
    ]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let leaked = rustix::io::fcntl_dupfd_cloexec(&file, 40).unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let out = server.path("environment");
    let ids = server
        .start("env", &format!("env > {0}.part; mv {0}.part {0}; exec sleep 600", out.display()));
    wait_for("the environment", || out.exists());
    let pane = fs::read_to_string(out).unwrap();
    let environ = fs::read(format!("/proc/{}/environ", ids.server_pid)).unwrap();
    for text in [pane.as_str(), &String::from_utf8_lossy(&environ)] {
        assert!(!text.contains("secret") && !text.contains("CLAUDECODE"), "{text}");
        assert!(text.contains("LANG=C.UTF-8"), "{text}");
    }
    for folder in [format!("/proc/{}/fd", ids.server_pid), format!("/proc/{}/fd", ids.pane_pid)] {
        for entry in fs::read_dir(folder).unwrap() {
            let open = fs::read_link(entry.unwrap().path()).unwrap_or_default();
            assert_ne!(open, file.path(), "a file that we inherited reached tmux");
        }
    }
}

#[test]
fn a_server_whose_socket_was_deleted_is_found_again() {
    let server = Server::new();
    let ids = server.start("alive", "exec sleep 600");
    let socket = server.tmux.socket_path();
    assert!(socket.exists());
    fs::remove_file(&socket).unwrap();
    assert_eq!(server.tmux.session_exists("alive"), Liveness::Alive);
    fs::remove_file(&socket).unwrap();
    assert_eq!(server.tmux.list_sessions().unwrap()[0].ids, ids);
    fs::remove_file(&socket).unwrap();
    assert!(server.tmux.kill_session("alive").unwrap());
}

#[test]
fn sessions_start_while_the_server_of_the_last_ones_ends() {
    let server = Server::new();
    for round in 0..15 {
        let name = format!("round-{round}");
        server.start(&name, "exec sleep 600");
        server.tmux.release_server().unwrap();
        // The server begins to end with its last session, and the next round starts a new session
        // at once.
        assert!(server.tmux.kill_session(&name).unwrap());
    }
}

#[test]
fn many_sessions_start_at_once_on_a_cold_server() {
    let server = Server::new();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let server = &server;
            scope.spawn(move || server.start(&format!("s-{worker}"), "exec sleep 600"));
        }
    });
    let list = server.tmux.list_sessions().unwrap();
    assert_eq!(list.len(), 8);
    assert!(list.iter().all(|info| info.ids.server_pid == list[0].ids.server_pid));
}

#[test]
fn of_racers_for_one_name_exactly_one_wins() {
    let server = Server::new();
    let wins: Vec<bool> = std::thread::scope(|scope| {
        let race = || server.tmux.start_session("one", &sh("exec sleep 600"), false);
        let racers: Vec<_> = (0..6).map(|_| scope.spawn(race)).collect();
        racers.into_iter().map(|racer| racer.join().unwrap().is_ok()).collect()
    });
    assert_eq!(wins.iter().filter(|won| **won).count(), 1, "{wins:?}");
}

#[test]
fn a_killed_server_is_no_server_and_starts_again() {
    let server = Server::new();
    let ids = server.start("gone", "exec sleep 600");
    let handle =
        Handle::open(&ProcessId::of_pid(ids.server_pid).unwrap().unwrap()).unwrap().unwrap();
    handle.send_signal(rustix::process::Signal::KILL).unwrap();
    assert!(handle.wait_for_end(LONG).unwrap());
    assert_eq!(server.tmux.session_exists("gone"), Liveness::Absent);
    assert_eq!(server.tmux.list_sessions().unwrap(), []);
    assert_ne!(server.start("new", "exec sleep 600").server_pid, ids.server_pid);
}

#[test]
fn a_tmux_that_hangs_does_not_hang_us() {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in [
        ("silent", "#!/bin/sh\nexec sleep 600\n"),
        ("talks", "#!/bin/sh\nwhile :; do echo x; done\n"),
        ("closed", "#!/bin/sh\nexec >&- 2>&-\nexec sleep 600\n"),
        ("child", "#!/bin/sh\nsleep 3 &\nexec sleep 600\n"),
    ] {
        let bin = folder.path().join(name);
        fs::write(&bin, script).unwrap();
        fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).unwrap();
        let environment = [("PATH".into(), std::env::var_os("PATH").unwrap())];
        let tmux =
            Tmux::new(bin, "el-none-such", &environment).with_timeout(Duration::from_millis(300));
        let begin = Instant::now();
        let error = tmux.start_session("x", &sh("true"), false).unwrap_err();
        assert_eq!(error.failure, Failure::TimedOut, "{name}: {error}");
        assert_eq!(
            tmux.session_exists("x"),
            Liveness::Unknown,
            "{name}: what cannot be asked is not known"
        );
        assert_eq!(tmux.list_sessions().unwrap_err().failure, Failure::TimedOut);
        assert!(begin.elapsed() < LONG, "{name}");
    }
    let error = Tmux::new(folder.path().join("none"), "x", &[]).kill_session("x").unwrap_err();
    assert_eq!(error.failure, Failure::NotRun);
}

#[test]
fn attaching_goes_by_where_the_caller_is() {
    let server = Server::new();
    let words = |command: Command| -> Vec<String> {
        command.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    };
    let outside = server.tmux.attach_command("s-1", None);
    let removed: Vec<_> = outside
        .get_envs()
        .filter(|(_, value)| value.is_none())
        .map(|(key, _)| key.to_owned())
        .collect();
    assert!(removed.contains(&"TMUX".into()) && removed.contains(&"TMUX_PANE".into()));
    assert_eq!(words(outside)[5..], ["attach-session", "-t", "=s-1"]);
    let elsewhere = server.tmux.attach_command("s-1", Some(OsStr::new("/tmp/tmux-0/default,5,0")));
    assert_eq!(words(elsewhere)[5], "attach-session");
    let mut here = server.tmux.socket_path().into_os_string();
    here.push(",5,0");
    assert_eq!(
        words(server.tmux.attach_command("s-1", Some(&here)))[5..],
        ["switch-client", "-t", "=s-1"]
    );
}

#[test]
fn attaching_works_on_a_real_terminal_from_inside_another_tmux() {
    let server = Server::new();
    let outer = Server::new();
    server.start("inner", "echo this is inside; exec sleep 600");
    let attach = server.tmux.attach_command("inner", Some(OsStr::new("/tmp/other,1,0")));
    let mut argv: Vec<OsString> =
        vec!["env".into(), "-u".into(), "TMUX".into(), attach.get_program().to_owned()];
    argv.extend(attach.get_args().map(OsStr::to_owned));
    let socket = format!("TMUX_TMPDIR={}", server.folder.path().display());
    argv.insert(3, socket.into());
    outer.tmux.start_session("outer", &argv, true).unwrap();
    wait_for("the inner screen", || outer.capture_pane("outer", 60).contains("this is inside"));
    assert_eq!(server.tmux.list_sessions().unwrap()[0].attached, 1);
}
