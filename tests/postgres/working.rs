//! Whole ways: from an empty folder to a closed atom.

use serde_json::Value;

use super::{is_in_files, on_server, with_tracker};
use crate::support::SOON;

/// A name that nothing else has: who finds it has found the way to the server.
const SECRET: &str = "postgres-password-that-nobody-may-see";

#[test]
fn an_agent_works_and_closes_its_atom_and_never_learns_where_the_tracker_is() {
    let Some((mut env, url)) = with_tracker() else { return };
    // The server trusts whoever comes by its socket, and asks for no password.
    env.set("PGPASSWORD", SECRET).set("PGAPPNAME", "el-test");
    let atom = env.script_atom(&["record seen.json", "el show $EL_ATOM", "close done"]);
    assert!(!env.project(".eluent/el.db").exists(), "nothing is kept in a file");
    env.work(&["--once"]);
    let run = env.last_run(&atom);
    assert_eq!((&run["outcome"], &env.show(&atom)["status"]), (&"closed".into(), &"closed".into()));
    let seen = env.recorded("seen.json");
    for name in ["EL_DATABASE_URL", "PGPASSWORD", "PGAPPNAME"] {
        assert!(seen["env"][name].is_null(), "{name}: {seen}");
    }
    assert!(!seen.to_string().contains(SECRET));
    let listed = env.robot(&["list", "--all"]);
    assert_eq!((&listed["items"][0]["id"], &listed["count"]), (&atom.into(), &1.into()));
    env.assert_settled(&run);
    for text in [SECRET, url.as_str()] {
        for folder in [env.project(""), env.home(), env.path("tmp"), env.path("tmux")] {
            assert!(!is_in_files(&folder, text), "{text} is in a file");
        }
    }
    assert!(!env.project(".eluent/el.db").exists());
    let processes = env.processes();
    assert!(processes.iter().all(|p| !p.words.join(" ").contains(&url)), "{processes:?}");
}

#[test]
fn a_worktree_is_prepared_and_a_cancel_from_elsewhere_ends_the_run() {
    let Some((env, _)) = with_tracker() else { return };
    env.git(&["init", "--quiet"]);
    env.git(&["commit", "--quiet", "--allow-empty", "-m", "base"]);
    env.configure("isolate = \"worktree\"\n");
    let atom = env.script_atom(&["write here.txt x", "hang"]);
    let worker = env.start_work(&[]);
    worker.wait_for("launched");
    env.wait_for_file(format!(".eluent/worktrees/{atom}/here.txt"));
    env.el(&["cancel", &atom]).ok();
    let run = env.wait_for_end(&atom, 1);
    assert_eq!(run["outcome"], "cancelled");
    env.el(&["work", "--stop"]).ok();
    worker.wait(SOON).ok();
}

#[test]
fn the_projects_configuration_names_the_server_once_somebody_trusts_it() {
    let Some((env, url)) = on_server() else { return };
    env.run(env.command("mkdir").arg(".eluent")).ok();
    let line = format!("database_url = \"{url}\"\n");
    std::fs::write(env.project(".eluent/config.toml"), &line).unwrap();
    let refused = env.el(&["list"]).fails_with(6);
    assert!(refused.stderr.contains("el trust"), "{refused:?}");
    env.el(&["trust", "--yes"]).ok();
    let refused = env.el(&["list"]).fails_with(6);
    assert!(refused.stderr.contains("no tables of el"), "{refused:?}");
    env.el(&["init", "--name", "t"]).ok();
    let atom = env.create("On the server", &[]);
    // From a folder below, and from another clone.
    let below =
        env.run(env.command("sh").args(["-c", "mkdir -p below && cd below && el --robot list"]));
    let items = below.ok().json()["data"]["items"].take();
    assert_eq!(items[0]["id"], Value::from(atom.clone()));
    env.el(&["init"]).fails_with(4);
    let shown = env.el(&["config", "get", "database_url"]).ok();
    assert_eq!(shown.stdout.trim(), url);
    // A file that is named is meant, whatever the configuration says.
    env.el(&["init", "--db", "other.db"]).ok();
    assert_eq!(env.robot(&["--db", "other.db", "list"])["count"], 0);
}

#[test]
fn what_is_for_files_says_so() {
    let Some((env, _)) = with_tracker() else { return };
    for words in [&["backup", "now"][..], &["backup", "list"], &["restore", "1"]] {
        let refused = env.el(words).fails_with(6);
        assert!(refused.stderr.contains("on a server"), "{refused:?}");
    }
    env.create("One", &[]);
    env.robot(&["status"]);
    env.robot(&["next"]);
    env.robot(&["search", "one"]);
    let file = env.path("all.jsonl");
    env.el(&["export", "-o", file.to_str().unwrap()]).ok();
    env.el(&["import", file.to_str().unwrap()]).ok();
}

/// A folder on a machine that only asks: nothing can be written there.
#[test]
fn a_tracker_is_made_and_used_from_a_folder_that_cannot_be_written() {
    let Some((mut env, url)) = on_server() else { return };
    env.set("EL_DATABASE_URL", &url);
    let el = |words: &[&str]| env.run(env.command("el").args(words).current_dir("/proc"));
    let made = el(&["init", "--name", "t"]).ok();
    assert!(made.stderr.contains("no agent can work in this folder"), "{}", made.stderr);
    el(&["create", "From afar"]).ok();
    assert!(el(&["list"]).ok().stdout.contains("From afar"));
}

#[test]
fn the_first_line_of_a_project_on_a_server_is_set_in_an_empty_folder() {
    let Some((env, url)) = on_server() else { return };
    env.el(&["config", "set", "model", "opus"]).fails_with(3);
    env.el(&["config", "set", "database_url", &url]).ok();
    env.el(&["init", "--name", "t"]).ok();
    let atom = env.create("Here", &[]);
    assert_eq!(env.robot(&["list"])["items"][0]["id"], atom.as_str());
    assert!(!env.project(".eluent/el.db").exists());
}
