//! Any output of an agent: kept unchanged, shown safely, and without any effect on the run.

use crate::support::{SOON, TestEnv};

/// Only colours are left of all that a terminal would obey.
fn assert_harmless(text: &str) {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('\u{1b}') {
        let code =
            behind.strip_prefix('[').and_then(|code| code.split_once('m')).map(|(code, _)| code);
        let is_colour =
            code.is_some_and(|code| code.chars().all(|c| c.is_ascii_digit() || c == ';'));
        assert!(
            is_colour,
            "an escape that is no colour: {:?}",
            behind.chars().take(30).collect::<String>()
        );
        rest = behind;
    }
    let raw =
        text.chars().find(|c| c.is_control() && !"\n\t\u{1b}".contains(*c) || *c == '\u{202e}');
    assert_eq!(raw, None);
}

#[test]
fn what_no_reader_expects_ends_nothing_and_is_kept() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "raw not json at all",
        "raw {\"type\":\"assistant\",\"message\":{\"content\":17}}",
        "raw [1,2,3]",
        "raw {\"type\":\"from_the_future\",\"x\":{}}",
        "bad-utf8",
        "stderr a complaint",
        "close done",
        "partial {\"type\":\"result\",\"is_er",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["exit_code"]), (&"closed".into(), &0.into()));
    let bytes = std::fs::read(env.run_file(&run, "transcript.jsonl")).unwrap();
    assert!(bytes.windows(2).any(|pair| pair == [0xff, 0xfe]), "the bytes are kept as they came");
    assert!(String::from_utf8_lossy(&bytes).contains("not json at all\n"));
    assert_eq!(env.read_run_file(&run, "stderr.log"), "a complaint\n");
    let logs = env.el(&["logs", &id]).ok();
    assert!(logs.stdout.contains("bad \u{fffd}"), "{logs:#?}");
    assert_harmless(&logs.stdout);
}

#[test]
fn a_line_of_ten_megabytes_is_kept_and_not_shown() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["long-line 10000000", "say and on it goes", "close done"]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    assert!(std::fs::metadata(env.run_file(&run, "transcript.jsonl")).unwrap().len() > 10_000_000);
    let pane = env.read_run_file(&run, "pane.log");
    assert!(pane.len() < 100_000 && pane.contains("and on it goes"), "{} bytes", pane.len());
    assert!(env.el(&["logs", &id]).ok().stdout.contains("and on it goes"));
}

#[test]
fn an_agent_that_floods_both_of_its_outputs_is_read_to_the_end() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&[
        "spam 3000000",
        "spam-stderr 3000000",
        "say the last words",
        "close done",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    assert!(env.read_run_file(&run, "transcript.jsonl").contains("the last words"));
    assert!(std::fs::metadata(env.run_file(&run, "stderr.log")).unwrap().len() > 2_900_000);
    env.assert_settled(&run);
}

#[test]
fn a_flood_of_output_hides_no_time_limit() {
    let env = TestEnv::with_tracker();
    let limits = "execution_timeout = \"2s\"\nmax_attempts = 1\n";
    env.configure(&format!("executor = \"command\"\ncommand = \"yes\"\n{limits}"));
    let id = env.create("Say yes", &[]);
    env.start_work(&["--once"]).wait(SOON).fails_with(9);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "timed_out");
    // Tokio lets a task read 128 times before it pauses, and a read has up to 64 kB.
    let size = std::fs::metadata(env.run_file(&run, "transcript.jsonl")).unwrap().len();
    assert!(size < 128 * (64 << 10), "{size} bytes were read before the limit was looked at");
}

#[test]
fn control_codes_never_reach_a_pane_or_a_terminal() {
    let env = TestEnv::with_tracker();
    let steps = [
        "control-codes",
        "stderr \u{1b}]0;owned\u{7}\u{1b}[2Jcomplaint",
        "sh printf 'tool\\033[2J\\007said'",
        "close done",
    ];
    let id = env.script_atom(&steps);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    for text in [
        env.read_run_file(&run, "pane.log"),
        env.el(&["logs", &id]).ok().stdout,
        env.el(&["logs", &id, "--file", "pane"]).ok().stdout,
    ] {
        assert!(text.contains("red") && text.contains("flip"), "{text}");
        assert_harmless(&text);
    }
    assert!(!env.el(&["logs", &id]).ok().stdout.contains('\u{1b}'), "no colours into a file");
    assert!(
        env.read_run_file(&run, "transcript.jsonl").contains("owned"),
        "the transcript is as it came"
    );
}

#[test]
fn an_agent_without_a_result_that_says_only_stderr_is_told_by_its_last_words() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let id = env.script_atom(&[
        "stderr warning: x",
        "stderr Error: no such model \u{1b}[31mfable-9",
        "exit 3",
    ]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_eq!((&run["outcome"], &run["exit_code"]), (&"failed".into(), &3.into()));
    let detail = run["detail"].as_str().unwrap();
    assert!(detail.contains("code 3") && detail.contains("no such model"), "{detail}");
    assert_harmless(detail);
    assert!(env.comments(&id)[0].contains("no such model"));
}
