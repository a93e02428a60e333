//! Faults of the machine or the configuration are reported by field, with a remedy, before any
//! claim.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::TestEnv;

/// Asserts that `el work` fails with the configuration's exit code, names this field, and has
/// claimed no atom. Returns the error.
#[track_caller]
fn refused(env: &TestEnv, arguments: &[&str], field: &str) -> Value {
    let id = env.create("Not to be claimed", &[]);
    let ran = env
        .run(env.command("el").args(["--robot", "work", "--once"]).args(arguments))
        .fails_with(6);
    let error = ran.json()["error"].take();
    assert_eq!(
        (&error["code"], &error["details"]["field"]),
        (&"config".into(), &field.into()),
        "{error}"
    );
    let human = env.run(env.command("el").args(["work", "--once"]).args(arguments)).fails_with(6);
    assert!(human.stderr.starts_with("error: ") && human.stdout.is_empty(), "{human:#?}");
    assert_eq!(env.robot(&["show", &id])["status"], "open");
    assert_eq!(env.robot(&["runs"])["count"], 0);
    assert_eq!(env.robot(&["history", &id])["count"], 1);
    error
}

#[track_caller]
fn says(error: &Value, message: &str, hint: &str) {
    assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    assert!(error["hint"].as_str().unwrap_or_default().contains(hint), "{error}");
}

#[test]
fn tmux_is_not_there() {
    let mut env = TestEnv::with_tracker();
    let bin = env.path("bin").display().to_string();
    env.set("PATH", &bin);
    says(&refused(&env, &[], "tmux"), "not installed", "install tmux");
}

#[test]
fn tmux_is_too_old() {
    let env = TestEnv::with_tracker();
    env.program("tmux", "#!/bin/sh\necho tmux 1.8\n");
    says(&refused(&env, &[], "tmux"), "1.8 is too old", "install tmux 3.0");
}

#[test]
fn claude_is_not_there() {
    let env = TestEnv::with_tracker();
    std::fs::remove_file(env.path("bin/claude")).unwrap();
    says(&refused(&env, &[], "claude_code_path"), "\"claude\" on PATH", "claude_code_path");
    env.configure("claude_code_path = \"/opt/no/claude\"\n");
    says(&refused(&env, &[], "claude_code_path"), "/opt/no/claude", "npm install");
}

#[test]
fn claude_may_not_be_executed() {
    let env = TestEnv::with_tracker();
    let file = env.path("bin/plain");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    env.configure(&format!("claude_code_path = \"{}\"\n", file.display()));
    says(&refused(&env, &[], "claude_code_path"), "may not be executed", "claude_code_path");
}

#[test]
fn the_working_directory_is_not_there_or_is_none() {
    let env = TestEnv::with_tracker();
    std::fs::write(env.project("file"), "").unwrap();
    says(
        &refused(&env, &["--workdir", "nowhere"], "working_directory"),
        "does not exist",
        "working_directory",
    );
    says(
        &refused(&env, &["--workdir", "file"], "working_directory"),
        "is not a folder",
        "working_directory",
    );
}

#[test]
fn the_context_directory_cannot_be_written() {
    let env = TestEnv::with_tracker();
    std::fs::write(env.project("file"), "").unwrap();
    env.configure("context_directory = \"file/contexts\"\n");
    says(&refused(&env, &[], "context_directory"), "file/contexts", "writable");
}

#[test]
fn a_value_that_cannot_be_used_names_its_file_and_line() {
    let values = [
        ("execution_timeout = \"banana\"", "execution_timeout"),
        ("lease = \"1s\"", "lease"),
        ("concurrency = 0", "concurrency"),
        ("permission_mode = \"yolo\"", "permission_mode"),
        ("preserve_sessions = \"maybe\"", "preserve_sessions"),
        ("allowed_tools = 7", "allowed_tools"),
        ("budget_per_run = -1", "budget_per_run"),
    ];
    for (line, field) in values {
        let env = TestEnv::with_tracker();
        std::fs::write(env.project(".eluent/config.toml"), format!("# a comment\n{line}\n"))
            .unwrap();
        let error = refused(&env, &[], field);
        assert!(error["message"].as_str().unwrap().contains(".eluent/config.toml:2"), "{error}");
    }
}

#[test]
fn a_flag_or_a_variable_that_cannot_be_used_is_named() {
    let mut env = TestEnv::with_tracker();
    let error =
        env.el(&["--robot", "work", "--once", "--timeout", "soon"]).fails_with(2).json()["error"]
            .take();
    assert_eq!(
        (&error["code"], &error["details"]["field"]),
        (&"invalid_value".into(), &"timeout".into()),
        "{error}"
    );
    says(&error, "--timeout", "");
    env.set("EL_CONCURRENCY", "many");
    says(&refused(&env, &[], "concurrency"), "EL_CONCURRENCY", "");
}

#[test]
fn skipping_permissions_as_root_is_refused_as_the_client_would() {
    let env = TestEnv::with_tracker();
    if !rustix::process::geteuid().is_root() {
        return;
    }
    says(
        &refused(&env, &["--permission-mode", "bypassPermissions"], "permission_mode"),
        "as root",
        "IS_SANDBOX",
    );
}

#[test]
fn arguments_that_would_take_from_el_what_it_lives_on_are_refused() {
    let env = TestEnv::with_tracker();
    env.configure("extra_args = [\"--output-format\", \"text\"]\n");
    says(&refused(&env, &[], "extra_args"), "--output-format", "");
}

#[test]
fn an_agents_own_command_is_not_there() {
    let env = TestEnv::with_tracker();
    env.configure(
        "[agents.robot]\nexecutor = \"command\"\ncommand = [\"no-such-program\", \"-x\"]\n",
    );
    says(&refused(&env, &["--agent", "robot"], "command"), "no-such-program", "[agents.robot]");
}

#[test]
fn a_name_that_is_like_no_setting_is_a_warning_and_one_that_was_mistyped_is_refused() {
    let env = TestEnv::with_tracker();
    let id = env.create("Done all the same", &[]);
    env.configure("banana = 5\n");
    let ran = env.el(&["work", "--once"]).ok();
    assert!(ran.stderr.contains("banana") && ran.stderr.contains("config.toml:"), "{ran:#?}");
    assert_eq!(env.status(&id), "closed");
    let env = TestEnv::with_tracker();
    env.configure("max_turn = 5\n");
    let error = refused(&env, &[], "config.toml");
    says(&error, "there is no setting 'max_turn'; is 'max_turns' meant?", "put that right first");
    assert!(error["details"]["line"].as_u64().is_some_and(|line| line > 1), "{error}");
}

/// A configured limit that has no effect, because of another fault in the file.
#[test]
fn no_agent_is_started_by_a_file_that_cannot_be_relied_on() {
    let env = TestEnv::with_tracker();
    let torn = [
        (
            "budget_per_run = 1.0\nallowed_tools = [\"Bash(a)\",\nmax_turns = 3\nlease = \"60s\"\n\
             [agents.x]\nmodel = \"y\"\n",
            "config.toml:",
        ),
        ("max_turns = \n", "config.toml:1"),
        ("[agents.claude]\nlease = \"60s\"\n", "config.toml:2"),
        ("agents = 3\n", "config.toml:1"),
    ];
    let user = env.home().join(".config/el/config.toml");
    std::fs::create_dir_all(user.parent().unwrap()).unwrap();
    for path in [env.project(".eluent/config.toml"), user.clone()] {
        for (text, place) in torn {
            std::fs::write(&path, text).unwrap();
            let error = refused(&env, &[], "config.toml");
            assert!(error["message"].as_str().unwrap().contains(place), "{error}");
            let warned = env.el(&["config", "show"]).ok().stderr;
            assert_eq!(
                warned.matches("config.toml").count(),
                1,
                "one mistake, one warning: {warned}"
            );
        }
        // A value that cannot be used, of an agent that is not asked for.
        std::fs::write(&path, "[agents.other]\nmax_turns = \"many\"\n").unwrap();
        refused(&env, &[], "agents.other.max_turns");
        env.run(env.command("el").args(["run", "A task"])).fails_with(6);
        env.run(env.command("el").args(["work", "--dry-run"])).fails_with(6);
        // Commands that start no session work on, and workers can be stopped.
        env.el(&["list"]).ok();
        env.el(&["work", "--stop"]).ok();
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::create_dir(&user).unwrap();
    says(&refused(&env, &[], "config.toml"), "cannot be read", "");
    std::fs::remove_dir(&user).unwrap();
    assert_eq!(env.robot(&["tasks"])["count"], 0, "nothing was filed");
    let ran = env.el(&["doctor"]).ok();
    assert!(!ran.stdout.contains("config.toml"), "{ran:#?}");
}

#[test]
fn a_broken_configuration_keeps_nobody_from_the_tracker() {
    let env = TestEnv::with_tracker();
    std::fs::write(
        env.project(".eluent/config.toml"),
        "durability = \"maybe\"\nconcurrency = [[[\n",
    )
    .unwrap();
    let id = env.create("Filed", &[]);
    env.el(&["close", &id]).ok();
    env.el(&["list", "--all"]).ok();
}

#[test]
fn flags_outrank_variables_and_these_the_files() {
    let mut env = TestEnv::with_tracker();
    std::fs::create_dir_all(env.home().join(".config/el")).unwrap();
    std::fs::write(
        env.home().join(".config/el/config.toml"),
        "model = \"of-the-user\"\nmax_turns = 5\n",
    )
    .unwrap();
    env.configure("model = \"of-the-project\"\n");
    let call = |env: &TestEnv, more: &[&str]| {
        env.robot(&[&["work", "--dry-run"], more].concat())["command"].to_string()
    };
    assert!(
        call(&env, &[]).contains("of-the-project")
            && call(&env, &[]).contains("\"--max-turns\",\"5\"")
    );
    env.set("EL_MODEL", "of-the-variable");
    assert!(call(&env, &[]).contains("of-the-variable"));
    assert!(call(&env, &["--model", "of-the-flag"]).contains("of-the-flag"));
}

#[test]
fn no_key_is_ever_required() {
    let env = TestEnv::with_tracker();
    let id = env.create("Done without a key", &[]);
    env.work(&["--once"]);
    assert_eq!(env.status(&id), "closed");
}

#[test]
fn doctor_finds_every_agent_that_could_not_run_and_changes_nothing() {
    let env = TestEnv::with_tracker();
    let messages = || -> Vec<String> {
        let ran = env.el(&["--robot", "doctor"]);
        let answer = ran.json();
        let data = if ran.status == 0 { &answer["data"] } else { &answer["error"]["details"] };
        data["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["message"].as_str().unwrap().to_owned())
            .collect()
    };
    for (lines, want) in [
        (
            "[agents.x]\nexecutor = \"command\"\ncommand = [\"no-such-program\"]\n",
            "agent x, \"no-such-program\"",
        ),
        ("[agents.x]\nexecutor = \"command\"\n", "agent x, \"\""),
        ("[agents.x]\nclaude_code_path = \"/no/claude\"\n", "/no/claude"),
        ("[agents.x]\nworking_directory = \"no-folder\"\n", "no-folder does not exist"),
        ("[agents.x]\nisolate = \"worktree\"\n", "worktrees"),
        ("[agents.x]\nallowed_tools = [\"-x\"]\n", "-x"),
        ("[agents.x]\nverify = \"cargo test | tee\"\n", "verify"),
        ("[agents.x]\nverify = \"no-such-check -x\"\n", "no-such-check"),
        ("notify = [\"no-such-notice\"]\n", "no-such-notice"),
    ] {
        env.configure(lines);
        let said = messages();
        assert!(said.len() == 1 && said[0].contains(want), "{lines}: {said:#?}");
    }
    env.configure("[agents.x]\nmodel = \"opus\"\nverify = \"sh -c true\"\n");
    assert!(messages().is_empty(), "{:?}", messages());
    assert!(!env.project(".eluent/agent-context").exists());
}

#[test]
fn doctor_works_anywhere_and_says_what_is_there_and_whether_work_could_run() {
    let env = TestEnv::with_tracker();
    let facts = env.robot(&["doctor"])["facts"].take();
    let names: Vec<&str> =
        facts.as_array().unwrap().iter().map(|fact| fact["name"].as_str().unwrap()).collect();
    for name in ["el", "SQLite", "tmux", "git", "client", "log-in", "git identity"] {
        assert!(names.contains(&name), "{name} is missing: {facts:#}");
    }
    let mut elsewhere = env.command("el");
    elsewhere.current_dir(env.path("")).args(["--robot", "doctor"]);
    let report = env.run(&mut elsewhere).ok().json();
    assert_eq!(report["data"]["findings"], serde_json::json!([]), "{report:#}");

    env.configure("[agents.claude]\nclaude_code_path = \"/no/claude\"\n");
    let error = env.el(&["--robot", "doctor"]).fails_with(6).json();
    assert!(error["error"]["message"].as_str().unwrap().contains("/no/claude"), "{error:#}");
    // A client that is there and does not start: npm's wrapper without its program.
    let script = env.path("broken-claude");
    std::fs::write(&script, "#!/bin/sh\necho 'native binary not installed' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.configure(&format!("[agents.claude]\nclaude_code_path = {script:?}\n"));
    let said = env.el(&["doctor"]).fails_with(6).stdout;
    assert!(said.contains("does not start: native binary not installed"), "{said}");
    assert!(said.contains("el work cannot run here") && !said.contains("All is well"), "{said}");
    // Nor does a script whose interpreter is missing, though it was found.
    std::fs::write(&script, "#!/no/such/node\n").unwrap();
    let said = env.el(&["doctor"]).fails_with(6).stdout;
    assert!(said.contains("does not start") && !said.contains("not found"), "{said}");

    env.configure("[agents.claude]\nclaude_code_path = \"/no/claude\"\n");
    let said = env.el(&["doctor"]).fails_with(6).stdout;
    assert!(said.contains("SQLite") && said.contains("el work cannot run here"), "{said}");
    env.configure("land_check = [\"no-check\"]\n");
    let said = env.el(&["doctor"]).ok().stdout;
    assert!(said.contains("the program of 'land_check', \"no-check\", is not there"), "{said}");
    env.configure("isolate = \"worktree\"\nworktree_setup = [\"no-setup\"]\n");
    assert!(env.el(&["doctor"]).fails_with(6).stdout.contains("'worktree_setup', \"no-setup\""));
    // Nobody needs a client that no agent of the settings starts.
    std::fs::remove_file(env.path("bin/claude")).unwrap();
    env.configure("agent = \"x\"\n[agents.x]\nexecutor = \"command\"\ncommand = [\"true\"]\n");
    env.el(&["doctor"]).ok();
    env.configure("");
    env.el(&["doctor"]).fails_with(6);
    let error = env.run(&mut elsewhere).fails_with(6).json()["error"].take();
    assert!(error["message"].as_str().unwrap().contains("was not found"), "{error:#}");
}

#[test]
fn doctor_says_whether_agents_may_commit_and_what_worktrees_would_miss() {
    let mut env = TestEnv::with_repository("");
    let fact = |env: &TestEnv, name: &str| -> Vec<String> {
        let facts = env.robot(&["doctor"])["facts"].take();
        let named = facts.as_array().unwrap().iter().filter(|fact| fact["name"] == name);
        named.map(|fact| fact["value"].as_str().unwrap().to_owned()).collect()
    };
    let commits = |env: &TestEnv| fact(env, "commits by agents").concat();
    assert!(commits(&env).starts_with("allowed in a worktree"), "{}", commits(&env));
    env.set("IS_SANDBOX", "1").configure("permission_mode = \"bypassPermissions\"\n");
    assert_eq!(commits(&env), "allowed");
    env.configure("disallowed_tools = [\"Bash(git push *)\"]\n");
    assert_eq!(commits(&env), "a rule denies git commands");
    env.configure("allowed_tools = [\"Bash(git commit *)\"]\n");
    assert_eq!(commits(&env), "allowed by a rule");

    assert_eq!((fact(&env, "git-lfs").len(), fact(&env, "hooks").len()), (0, 0));
    std::fs::write(env.project(".gitattributes"), "*.bin filter=lfs diff=lfs\n").unwrap();
    std::fs::write(env.project("lefthook.yml"), "").unwrap();
    std::fs::create_dir(env.project(".husky")).unwrap();
    assert_eq!(fact(&env, "git-lfs").len(), 1);
    let hooks = fact(&env, "hooks");
    assert!(hooks.len() == 2 && hooks.concat().contains("husky; worktree_setup"), "{hooks:?}");

    let long = env.path("t".repeat(100));
    std::fs::create_dir(&long).unwrap();
    env.set("TMUX_TMPDIR", long.to_str().unwrap());
    let said = env.el(&["doctor"]).fails_with(6).stdout;
    assert!(said.contains("tmux's socket is") && said.contains("set TMUX_TMPDIR"), "{said}");
}

#[test]
fn a_command_is_refused_when_it_is_set_and_a_tilde_is_the_home() {
    let env = TestEnv::with_tracker();
    for key in ["verify", "worktree_setup", "land_check", "notify", "command"] {
        let refused = env.el(&["config", "set", key, "make | tee log"]);
        assert!(refused.status != 0 && refused.stderr.contains("shell"), "{key}: {refused:#?}");
        env.el(&["config", "set", key, "sh -c true"]).ok();
        env.el(&["config", "set", key, "[\"sh\", \"-c\", \"true\"]"]).ok();
        env.el(&["config", "unset", key]).ok();
    }
    let folder = env.home().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    env.configure("working_directory = \"~/elsewhere\"\n");
    let said = env.el(&["work", "--dry-run"]).ok().stdout;
    assert!(said.contains(&folder.display().to_string()), "{said}");
}
