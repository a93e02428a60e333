//! At a terminal and in a pipe: colours, widths, and readers that go away.

use crate::support::TestEnv;

fn project() -> (TestEnv, String) {
    let env = TestEnv::with_tracker();
    let id = env.create(
        "A title that is rather long, so that a narrow terminal has to cut it somewhere",
        &["-p", "high", "-l", "label"],
    );
    env.create("漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 wide", &[]);
    (env, id)
}

#[test]
fn a_pipe_gets_no_escape_codes_and_whole_titles() {
    let (env, id) = project();
    for words in [
        &["list"][..],
        &["show", &id],
        &["ready"],
        &["stats"],
        &["history"],
        &["why", &id],
        &["config", "show"],
        &["--help"],
    ] {
        let ran = env.el(words).ok();
        assert!(
            !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
            "{words:?}: {ran:#?}"
        );
    }
    assert!(env.el(&["list"]).ok().stdout.contains("has to cut it somewhere"));
    let forced = env.el(&["list", "--color", "always"]).ok();
    assert!(forced.stdout.contains('\u{1b}'));
}

#[test]
fn a_terminal_gets_colours_unless_it_is_asked_not_to() {
    let (mut env, _) = project();
    let coloured = |env: &TestEnv, line: &str| {
        let screen = env.screen(100, 20, line);
        screen.wait_for("[exit 0]");
        screen.coloured().contains("\u{1b}[")
    };
    assert!(coloured(&env, "el list"));
    assert!(!coloured(&env, "el list --color never"));
    assert!(!coloured(&env, "TERM=dumb el list"));
    env.set("NO_COLOR", "1");
    assert!(!coloured(&env, "el list"));
    assert!(coloured(&env, "el list --color always"), "the flag outranks the variable");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (env, id) = project();
    for columns in [40, 60, 100] {
        // A wider line would wrap: each atom takes a single line.
        let screen = env.screen(columns, 40, "el list | cat > /dev/null; el list");
        let text = screen.wait_for("[exit 0]");
        let rows = text.lines().filter(|line| line.starts_with("t-")).count();
        assert_eq!(rows, 2, "at {columns} columns:\n{text}");
        let between: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.starts_with("t-"))
            .take_while(|line| !line.is_empty())
            .collect();
        assert_eq!(between.len(), 2, "at {columns} columns:\n{text}");
        assert!(text.contains('…') || columns == 100, "{text}");
        let shown = env.screen(columns, 60, &format!("el show {id}"));
        shown.wait_for("[exit 0]");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let env = TestEnv::with_tracker();
    let text: String =
        (0..3000).map(|n| format!("{{\"title\":\"Atom {n} {}\"}}\n", "x".repeat(100))).collect();
    std::fs::write(env.project("many.jsonl"), text).unwrap();
    env.el(&["create", "--file", "many.jsonl"]).ok();
    for line in ["el list", "el --robot list", "el history", "el show $(el list -q | head -1)"] {
        let script =
            format!("{{ {line}; echo $? > code; }} 2> err | head -c 1 > /dev/null; cat code err");
        let ran = env.run(env.command("sh").args(["-c", &script])).ok();
        assert_eq!(ran.stdout, "0\n", "{line}");
    }
}

#[test]
fn a_full_disk_is_a_failure_that_is_told() {
    let (env, _) = project();
    for words in ["el list", "el --robot list"] {
        let ran =
            env.run(env.command("sh").args(["-c", &format!("{words} > /dev/full")])).fails_with(1);
        assert!(words.contains("robot") || ran.stderr.contains("No space left"), "{ran:#?}");
        assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    }
    // Without a stdout at all.
    let ran = env.run(env.command("sh").args(["-c", "el list >&-"]));
    assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
}

#[test]
fn quiet_prints_ids_alone() {
    let (env, id) = project();
    let quiet = env.el(&["list", "-q"]).ok().stdout;
    assert_eq!(quiet.lines().next(), Some(id.as_str()));
    assert!(quiet.lines().all(|line| line.starts_with("t-") && !line.contains(' ')), "{quiet}");
    let created = env.el(&["create", "-q", "One more"]).ok().stdout;
    assert_eq!(created.lines().count(), 1);
    env.el(&["show", created.trim()]).ok();
    assert_eq!(env.el(&["close", "-q", created.trim()]).ok().stdout, "");
}

#[test]
fn control_codes_in_an_atom_do_nothing_to_the_terminal() {
    let env = TestEnv::with_tracker();
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[8mhidden\u{9b}8m";
    let id = env.create(evil, &["-d", &format!("{evil}\rover")]);
    let screen = env.screen(
        80,
        30,
        &format!(
            "echo before; el list; el show {id}; el search \
        hidden; el why {id}; el close {id}; el list --banana {id}$(printf '\\033]0;owned\\007')"
        ),
    );
    let text = screen.wait_for("[exit 2]");
    assert!(text.starts_with("before") && text.contains("hidden"), "{text}");
    assert_ne!(screen.title(), "owned");
}

#[test]
fn a_watched_list_ends_with_its_reader() {
    let env = TestEnv::with_tracker();
    let piped = ["20", "sh", "-c", "el list --watch | head -1"];
    env.run(env.command("timeout").args(piped)).ok();
}
