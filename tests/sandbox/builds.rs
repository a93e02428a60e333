//! Projects of three languages build and test with the defaults.

use std::process::Command;

use super::places::EVERYWHERE;
use crate::support::TestEnv;

/// Runs the lines in a worktree; the last one says `built`. Skipped where a program is missing.
fn build_project(programs: &[&str], prepare: impl FnOnce(&mut TestEnv), script: &str) {
    let is_there = |program: &&str| {
        Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    if let Some(missing) = programs.iter().find(|program| !is_there(program)) {
        eprintln!("skipped: there is no {missing}");
        return;
    }
    let Some(mut env) = TestEnv::with_sandbox("isolate = \"worktree\"\n") else { return };
    prepare(&mut env);
    let said = env.attack(&format!("({script}) && echo built\ngit add .; git commit -q -m work"));
    assert!(said.lines().any(|line| line == "built"), "{said}");
    assert!(!said.to_lowercase().contains("read-only file system"), "{said}");
}

#[test]
fn a_rust_project_builds_and_tests() {
    // The toolchain of whoever runs the tests, and an own home of cargo.
    let home = std::env::var("HOME").unwrap();
    let toolchain = std::env::var("RUSTUP_HOME").unwrap_or_else(|_| format!("{home}/.rustup"));
    build_project(
        &["cargo"],
        |env| {
            env.set("RUSTUP_HOME", toolchain);
            std::fs::create_dir_all(env.home().join(".cargo/registry")).unwrap();
        },
        "cargo init -q --lib --vcs none --name work . && echo target > .gitignore \\
         && cargo test -q --offline && cargo build -q --offline --release",
    );
}

#[test]
fn a_node_project_installs_and_tests() {
    build_project(
        &["node", "npm"],
        |env| std::fs::create_dir(env.home().join(".npm")).unwrap(),
        "mkdir dep && (cd dep && npm init -y && echo 'module.exports = 41' > index.js) \\
         && npm init -y && npm install --offline --no-audit --no-fund --install-links ./dep \\
         && echo \"process.exit(require('dep') - 41)\" > test.js \\
         && npm pkg set scripts.test='node test.js' \\
         && npm test && echo node_modules > .gitignore",
    );
}

#[test]
fn a_python_project_makes_its_environment_and_tests() {
    build_project(
        &["python3"],
        |_| {},
        "python3 -m venv .venv && .venv/bin/python -m pip --version \\
         && printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): pass\\n' \\
           > test_it.py && .venv/bin/python -m unittest \\
         && printf '.venv\\n__pycache__\\n' > .gitignore",
    );
}

/// A first build makes the caches of its tool, of which only the programs are there.
#[test]
fn the_caches_of_a_first_build_are_there_and_stay() {
    let Some(env) = TestEnv::with_sandbox("") else { return };
    std::fs::create_dir_all(env.home().join(".cargo/bin")).unwrap();
    let said = env.attack(
        "mkdir -p ~/.cargo/registry/cache/x ~/.cargo/git/db && echo made
         mkdir ~/.cargo/other; touch ~/.cargo/config.toml",
    );
    assert!(said.contains("made\n"), "{said}");
    let cargo = env.home().join(".cargo");
    assert!(cargo.join("registry/cache/x").is_dir() && cargo.join("git/db").is_dir(), "{said}");
    assert!(!cargo.join("other").exists() && !cargo.join("config.toml").exists(), "{said}");
}

/// Programs on PATH stay as they are, also below a folder that is opened.
#[test]
fn programs_in_an_opened_folder_stay() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("sandbox_write = [\"~/.tool\"]\n") else { return };
        let bin = env.home().join(".tool/bin");
        std::fs::create_dir_all(&bin).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        env.set("PATH", format!("{}:{path}", env.path("bin").display()));
        if !place.hand_over(&mut env) {
            continue;
        }
        env.attack(
            "echo x > ~/.tool/cache; cp /bin/true ~/.tool/bin/git; mv ~/.tool/bin ~/.tool/old",
        );
        assert!(env.home().join(".tool/cache").exists());
        assert!(bin.is_dir() && !bin.join("git").exists());
    }
}

/// A tool that keeps something in the home: its message names the command that helps.
#[test]
fn the_message_alone_says_what_to_allow() {
    let Some(env) = TestEnv::with_sandbox("isolate = \"worktree\"\n") else { return };
    std::fs::create_dir_all(env.home().join(".tool/store")).unwrap();
    env.agent_script(
        "touch \"$HOME/.tool/store/made\" || exit 1
         echo built",
    );
    let id = env.create("build", &[]);
    env.work(&["--drain"]);
    assert_eq!(env.status(&id), "blocked");
    let needs = env.robot(&["status"])["needs"]["items"].take();
    let need = needs.as_array().unwrap().iter().find(|need| need["atom_id"] == *id).unwrap();
    assert_eq!(need["kind"], "denied", "{need:#}");
    let command = need["ways"][0]["command"].as_str().unwrap();
    assert!(env.el(&["why", &id]).ok().stdout.replace("\n  ", " ").contains("el config set --add"));
    env.run(env.command("sh").args(["-c", command])).ok();
    env.el(&["retry", &id]).ok();
    env.work(&["--drain"]);
    assert_eq!(env.status(&id), "closed", "{command}");
    assert!(env.home().join(".tool/store/made").exists());
    // The defaults stay allowed.
    let allowed = env.robot(&["config", "get", "sandbox_write"])["value"].take();
    let allowed: Vec<&str> =
        allowed.as_array().unwrap().iter().filter_map(|v| v.as_str()).collect();
    assert!(allowed.contains(&"~/.cache") && allowed.len() > 2, "{allowed:?}");
    env.run(env.command("sh").args(["-c", command])).ok();
    let again = env.robot(&["config", "get", "sandbox_write"])["value"].take();
    assert_eq!(again.as_array().unwrap().len(), allowed.len());
    env.el(&["config", "set", "--add", "model", "opus"]).fails_with(2);
}
