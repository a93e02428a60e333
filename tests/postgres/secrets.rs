//! A password that is in the address: who finds it anywhere has found a leak.

use std::fs;

use super::{is_in_files, with_tracker};
use crate::support::{SOON, TestEnv, bubblewrap_works};

const SECRET: &str = "s3cret-that-nobody-may-see";

/// The command lines of all processes that can be seen.
fn command_lines() -> Vec<String> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).into_owned())
        .collect()
}

#[track_caller]
fn assert_unseen(env: &TestEnv) {
    let seen: Vec<_> = command_lines().into_iter().filter(|line| line.contains(SECRET)).collect();
    assert!(seen.is_empty(), "{seen:?}");
    for folder in [env.project(""), env.home(), env.path("tmp"), env.path("tmux")] {
        assert!(!is_in_files(&folder, SECRET), "it is in a file below {}", folder.display());
    }
}

#[test]
fn it_is_in_no_argument_and_no_file_while_an_agent_works_and_after_a_move() {
    let Some((mut env, url)) = with_tracker() else { return };
    // The server trusts whoever comes by its socket, and asks for no password.
    let with_secret = url.replace("postgres://el@", &format!("postgres://el:{SECRET}@"));
    env.set("EL_DATABASE_URL", &with_secret);
    let atom = env.script_atom(&["touch began", "hang"]);
    let worker = env.start_work(&[]);
    env.wait_for_file("began");
    assert_unseen(&env);
    env.el(&["cancel", &atom]).ok();
    let run = env.wait_for_end(&atom, 1);
    env.el(&["work", "--stop"]).ok();
    let told = worker.wait(SOON).ok();
    let run = run["id"].as_str().unwrap().to_owned();
    let mut told = vec![told.stdout, told.stderr];
    for words in [
        &["history"][..],
        &["--robot", "history"],
        &["logs", &run],
        &["--robot", "runs", "show", &run],
        &["doctor"],
        &["-v", "db"],
        &["config", "show"],
        &["db", "dump", "copy.db"],
        &["db", "move", "--to", "moved.db"],
        &["create", "Refused"],
        &["--db", "moved.db", "db", "move", "--to", &url],
    ] {
        let ran = env.el(words);
        told.extend([ran.stdout, ran.stderr]);
    }
    assert!(told.iter().any(|text| text.contains("was moved to")), "{told:?}");
    assert!(!told.iter().any(|text| text.contains(SECRET)), "{told:?}");
    assert_unseen(&env);
}

#[test]
fn no_agent_reads_the_files_that_the_servers_variables_name() {
    let Some((mut env, url)) = with_tracker() else { return };
    if !bubblewrap_works() {
        eprintln!("skipped: bubblewrap does not work here");
        return;
    }
    env.set("EL_SANDBOX", "strict").unset("EL_SANDBOX_WRITE");
    let files = ["pw", "services", "key"].map(|name| env.home().join(name));
    for file in &files {
        fs::write(file, SECRET).unwrap();
    }
    env.set("PGPASSFILE", files[0].to_string_lossy());
    env.set("PGSERVICEFILE", files[1].to_string_lossy());
    env.set("EL_DATABASE_URL", format!("{url}&sslkey={}", files[2].display()));
    let read = "sh cat ~/pw ~/services ~/key > seen 2>&1; true";
    let atom = env.script_atom(&[read, "close done"]);
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&atom), ["closed"]);
    let seen = fs::read_to_string(env.project("seen")).unwrap();
    assert!(!seen.contains(SECRET), "{seen}");
}
