//! `el service`: a unit of systemd or an agent of launchd, in a home of the test's own.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::TestEnv;

/// A home in which `systemctl` writes down what it was asked.
fn home() -> TestEnv {
    let mut env = TestEnv::with_tracker();
    env.program("systemctl", "#!/bin/sh\necho \"$*\" >> \"$HOME/asked\"\necho inactive\n");
    env.set("XDG_CONFIG_HOME", env.path("home/con fig").to_str().unwrap());
    env.set("ANTHROPIC_API_KEY", "s3cret");
    env
}

fn asked(env: &TestEnv) -> String {
    fs::read_to_string(env.home().join("asked")).unwrap_or_default()
}

#[test]
fn a_unit_is_written_that_systemd_takes_and_taken_away_again() {
    let env = home();
    let installed = env.robot(&["service", "install"]);
    let path = PathBuf::from(installed["path"].as_str().unwrap());
    assert!(path.starts_with(env.path("home/con fig/systemd/user")), "{installed}");
    assert_eq!((&installed["installed"], &installed["current"]), (&json!(true), &json!(true)));
    let next = installed["next"].to_string();
    assert!(next.contains("systemctl --user enable --now"), "{next}");
    assert!(next.contains("el service uninstall"), "it says how to remove it: {next}");
    let unit = fs::read_to_string(&path).unwrap();
    let folder = env.project("").canonicalize().unwrap().display().to_string();
    for line in [
        format!("WorkingDirectory={}\n", folder.trim_end_matches('/')),
        "KillMode=process\n".to_owned(),
        "WantedBy=default.target\n".to_owned(),
    ] {
        assert!(unit.contains(&line), "{line}: {unit}");
    }
    assert!(unit.contains("PATH=") && !unit.contains("s3cret"), "no secret is kept: {unit}");
    verify(&env, &path);
    assert!(!asked(&env).contains("enable"), "nothing starts without --now");
    env.el(&["service", "install", "--now"]).ok();
    let name = installed["name"].as_str().unwrap();
    assert!(
        asked(&env).contains(&format!("--user enable --now {name}.service")),
        "{}",
        asked(&env)
    );

    fs::write(&path, unit + "# changed\n").unwrap();
    let status = env.robot(&["service", "status"]);
    assert_eq!((&status["current"], &status["state"]), (&json!(false), &json!("inactive")));
    let removed = env.robot(&["service", "uninstall"]);
    assert_eq!(removed["installed"], false);
    assert!(!path.exists() && asked(&env).contains(&format!("disable --now {name}.service")));
    env.el(&["service", "uninstall"]).ok();
}

#[test]
fn a_service_knows_the_server_and_keeps_no_password() {
    let mut env = home();
    env.set("EL_DATABASE_URL", "postgres://ann@db.test/shop");
    env.set("PGPASSFILE", "/home/ann/pass");
    env.set("PGPASSWORD", "s3cret");
    let installed = env.robot(&["service", "install"]);
    let unit = fs::read_to_string(installed["path"].as_str().unwrap()).unwrap();
    for kept in ["EL_DATABASE_URL=postgres://ann@db.test/shop", "PGPASSFILE=/home/ann/pass"] {
        assert!(unit.contains(kept), "{kept}: {unit}");
    }
    assert!(!unit.contains("s3cret"), "{unit}");
    assert!(installed["next"].to_string().contains("PGPASSWORD is not written"), "{installed}");

    env.set("EL_DATABASE_URL", "postgres://ann:s3cret@db.test/shop");
    let refused = env.el(&["service", "install"]).fails_with(6);
    assert!(refused.stderr.contains("~/.pgpass"), "{}", refused.stderr);
    assert!(!refused.stderr.contains("s3cret"), "{}", refused.stderr);
}

/// Asks systemd itself whether it understands the unit, where there is one.
fn verify(env: &TestEnv, path: &std::path::Path) {
    let verify =
        env.command("/usr/bin/systemd-analyze").args(["verify", "--user"]).arg(path).output();
    let Ok(said) = verify else { return };
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    let name = path.file_name().unwrap().to_str().unwrap();
    let about_it: Vec<&str> = said.lines().filter(|line| line.contains(name)).collect();
    assert!(about_it.is_empty(), "{about_it:?}");
}

#[test]
fn odd_names_are_quoted_and_what_no_line_holds_is_refused() {
    let env = home();
    for name in ["a b", "100% $HOME", "q\"uo'te\\", "größe"] {
        let folder = env.project(name);
        fs::create_dir(&folder).unwrap();
        let el = |words: &[&str]| env.run(env.command("el").current_dir(&folder).args(words));
        el(&["init", "--nested"]).ok();
        let installed = el(&["--robot", "service", "install"]).ok().json()["data"].take();
        let path = PathBuf::from(installed["path"].as_str().unwrap());
        verify(&env, &path);
        let plist = el(&["--robot", "service", "install", "--manager", "launchd"]).ok();
        let plist = plist.json()["data"]["path"].as_str().unwrap().to_owned();
        let text = fs::read_to_string(&plist).unwrap();
        assert!(text.contains(&format!("{name}</string>")), "{text}");
    }
    let folder = env.project("line\nbreak");
    fs::create_dir(&folder).unwrap();
    let el = |words: &[&str]| env.run(env.command("el").current_dir(&folder).args(words));
    el(&["init", "--nested"]).ok();
    el(&["service", "install"]).fails_with(2);
}

#[test]
fn the_command_of_a_unit_works_and_ends_when_it_is_stopped() {
    let env = home();
    let installed = env.robot(&["service", "install"]);
    let unit = fs::read_to_string(installed["path"].as_str().unwrap()).unwrap();
    let line = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
    // As systemd reads it: `$$` is a plain `$`, and the worker's pid is known.
    let stop = line("ExecStop=").replace("$$", "\\$").replace("${MAINPID}", "1");
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start(env.command("sh").args(["-c", &line("ExecStart=")]));
    env.wait_for_file("started");
    env.run(env.command("sh").args(["-c", &stop])).ok();
    worker.wait(crate::support::SOON).ok();
    assert_eq!(env.status(&id), "open");
    // A worker that ended by itself leaves its sessions to the next one.
    let stop = line("ExecStop=").replace("$$", "\\$").replace("${MAINPID}", "");
    assert_eq!(env.run(env.command("sh").args(["-c", &stop])).ok().stdout, "");
}
