//! The terminal: its colours, and that it is given back.

use std::fs;

use rustix::process::Signal;

use crate::support::{SOON, TestEnv, wait_until};

/// The codes of colours in a captured screen.
fn colours(captured: &str) -> Vec<u32> {
    let codes = captured.split("\x1b[").skip(1).filter_map(|rest| rest.split_once('m'));
    let numbers = codes.flat_map(|(codes, _)| codes.split(';'));
    numbers
        .filter_map(|number| number.parse().ok())
        .filter(|number| matches!(number, 30..=38 | 40..=48 | 90..=107))
        .collect()
}

#[test]
fn signs_tell_what_colours_tell_where_there_are_none() {
    let mut env = TestEnv::with_tracker();
    let review = env.create("Retry the upload", &[]);
    let blocked = env.create("Choose a port", &[]);
    let ready = env.create("Sing", &[]);
    let waits = env.create("Dance", &["--blocked-by", &ready]);
    env.el(&["update", &review, "--status", "review"]).ok();
    env.el(&["update", &blocked, "--status", "blocked"]).ok();
    for has_color in [true, false] {
        if !has_color {
            env.set("NO_COLOR", "1");
        }
        let screen = env.screen(80, 24, "el top");
        let signs = [("!", &review), ("✗", &blocked), ("○", &ready), ("‖", &waits)];
        for (sign, id) in signs {
            screen.wait_for(&format!("{sign} {id}"));
        }
        screen.wait_for("q quit");
        assert_eq!(!colours(&screen.coloured()).is_empty(), has_color, "{}", screen.coloured());
        screen.press("q");
        screen.wait_for("[exit 0]");
    }
}

#[test]
fn the_terminal_is_given_back_when_whoever_started_the_board_is_killed() {
    let env = TestEnv::with_tracker();
    let line = "sh -c 'echo $$ > starter; el top; :'; until [ -e over ]; do sleep 0.1; done; \
                stty -a | grep -o '.icanon'";
    let screen = env.screen(80, 24, line);
    screen.wait_for("q quit");
    let starter: u32 = env.wait_for_file("starter").parse().unwrap();
    env.process_known_as(starter).unwrap().kill();
    wait_until("the end of the board", SOON, || {
        let boards = env.processes().into_iter().filter(|one| {
            fs::read(format!("/proc/{}/cmdline", one.pid))
                .is_ok_and(|line| line.ends_with(b"\0top\0"))
        });
        (boards.count() == 0).then_some(())
    });
    fs::write(env.project("over"), "").unwrap();
    let text = screen.wait_for("[exit 0]");
    assert!(text.contains(" icanon") && !text.contains("1 Needs you"), "{text}");
}

#[test]
fn ctrl_c_for_a_command_on_the_lent_terminal_leaves_the_board() {
    let mut env = TestEnv::with_tracker();
    let id = env.create("Sing", &[]);
    env.program("hang", "touch begun; exec sleep 600");
    env.set("GIT_EDITOR", "hang");
    let screen = env.screen(80, 24, "el top");
    screen.wait_for(&format!("○ {id}"));
    screen.press("3");
    screen.press("e");
    env.wait_for_file("begun");
    screen.press("C-c");
    screen.wait_for("Enter goes back");
    screen.press("Enter");
    screen.wait_for("1 Needs you");
    let pid = screen.wait_for("q quit");
    assert!(!pid.contains("[exit"), "{pid}");
    // A signal for the board itself ends it, whatever it is.
    let board = wait_until("the board", SOON, || {
        env.processes().into_iter().find(|one| {
            fs::read(format!("/proc/{}/cmdline", one.pid))
                .is_ok_and(|line| line.ends_with(b"\0top\0"))
        })
    });
    let pid = rustix::process::Pid::from_raw(i32::try_from(board.pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, Signal::INT).unwrap();
    screen.wait_for("[exit 0]");
}
