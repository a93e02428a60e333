//! Nothing is started for a tracker that others may write, and a new one is closed to them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::TestEnv;

fn mode(env: &TestEnv, file: &str) -> u32 {
    fs::metadata(env.project(file)).unwrap().permissions().mode() & 0o777
}

fn chmod(env: &TestEnv, file: &str, mode: u32) {
    fs::set_permissions(env.project(file), Permissions::from_mode(mode)).unwrap();
}

/// Nothing starts, and the hint puts it right.
#[track_caller]
fn refused(env: &TestEnv, hint: &str) {
    for arguments in [
        &["work", "--once"][..],
        &["work", "--dry-run"],
        &["run", "A task to do"],
        &["orchestrate", "A goal to reach"],
    ] {
        let ran = env.run(env.command("el").arg("--robot").args(arguments)).fails_with(8);
        let error = ran.json()["error"].take();
        assert_eq!(error["code"], "unsafe_tracker", "{arguments:?}: {error}");
        assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
    }
    let findings = env.el(&["doctor"]).stdout;
    assert!(findings.contains(hint), "{findings}");
    // Reading and writing go on.
    env.el(&["list"]).ok();
    assert_eq!(env.robot(&["runs"])["count"], 0);
}

#[test]
fn nothing_starts_while_others_may_write_the_tracker() {
    for file in [".eluent", ".eluent/el.db", ".eluent/config.toml"] {
        let env = TestEnv::with_tracker();
        let id = env.script_atom(&["close done"]);
        chmod(&env, ".eluent", 0o755);
        chmod(&env, file, if file == ".eluent" { 0o775 } else { 0o666 });
        refused(&env, "chmod go-w");
        env.el(&["doctor", "--fix"]).ok();
        assert_eq!(mode(&env, file) & 0o022, 0);
        env.work(&["--once"]);
        assert_eq!(env.status(&id), "closed", "{file}");
    }
}

#[test]
fn nothing_starts_for_a_database_that_is_known_by_another_name() {
    let env = TestEnv::with_tracker();
    fs::hard_link(env.project(".eluent/el.db"), env.path("other.db")).unwrap();
    refused(&env, "-samefile");
    fs::remove_file(env.path("other.db")).unwrap();
    env.el(&["work", "--dry-run"]).ok();
}

#[test]
fn nothing_starts_for_a_link_into_a_folder_that_others_may_change() {
    let env = TestEnv::with_tracker();
    let theirs = env.path("theirs");
    fs::create_dir(&theirs).unwrap();
    fs::rename(env.project(".eluent"), theirs.join(".eluent")).unwrap();
    symlink(theirs.join(".eluent"), env.project(".eluent")).unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o777)).unwrap();
    refused(&env, "folder of your own");
}

#[test]
fn a_new_tracker_is_closed_under_any_umask() {
    for umask in ["000", "002", "022", "077"] {
        let env = TestEnv::new();
        let script = format!("umask {umask}; mkdir .eluent; echo > .eluent/config.toml; el init");
        env.run(env.command("sh").args(["-c", &script])).ok();
        assert_eq!(mode(&env, ".eluent"), 0o700, "umask {umask}");
        assert_eq!(mode(&env, ".eluent/el.db"), 0o600, "umask {umask}");
        let script = format!("umask {umask}; el create x && el work --dry-run");
        env.run(env.command("sh").args(["-c", &script])).ok();
    }
}

#[test]
fn nothing_starts_with_a_database_that_git_tracks() {
    let env = TestEnv::with_tracker();
    env.git(&["init", "-q", "-b", "main"]);
    env.create("A task with its owner's commands", &["--env", "PATH=/evil"]);
    env.git(&["add", "-f", ".eluent/el.db"]);
    refused(&env, "git rm -r -q --cached");
    env.git(&["commit", "-q", "-m", "The tracker of somebody else"]);
    refused(&env, "git rm -r -q --cached");
}
