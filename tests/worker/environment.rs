//! The agent's surroundings: input, environment and folder, without anything of others.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::support::{SOON, TestEnv};

/// The environment seen by a run's agent.
fn seen(env: &TestEnv, arguments: &[&str]) -> Value {
    let id = env.script_atom(&["record $EL_ATOM.json", "close done"]);
    env.work(&[&["--once"], arguments].concat());
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "closed");
    env.recorded(&format!("{}/{id}.json", run["workdir"].as_str().unwrap()))
}

#[test]
fn an_agent_knows_its_atom_and_its_run() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["record seen.json", "close done"]);
    env.work(&["--once"]);
    let (seen, run) = (env.recorded("seen.json"), env.last_run(&id));
    let vars = &seen["env"];
    assert_eq!((&vars["EL_ATOM"], &vars["EL_ACTOR"]), (&id.clone().into(), &"claude".into()));
    assert_eq!(vars["EL_SESSION"], env.session_socket(&run).to_str().unwrap());
    for name in ["EL_RUN", "EL_TOKEN", "EL_DB"] {
        assert!(vars[name].is_null(), "{name}: {vars}");
    }
    assert!(!vars.to_string().contains(&env.token(&run)), "the token reaches nobody");
    assert_eq!(
        seen["cwd"].as_str().unwrap(),
        env.project("").canonicalize().unwrap().to_str().unwrap()
    );
    let argv = seen["argv"].as_array().unwrap();
    assert!(
        !argv.iter().any(|word| word.as_str().unwrap().contains("script:")),
        "the prompt is no argument: {argv:?}"
    );
    let prompt = seen["prompt"].as_str().unwrap();
    for part in [
        format!("# Work Item: {id}"),
        format!("el close {id}"),
        "Play a script".to_owned(),
        "record seen.json".to_owned(),
    ] {
        assert!(prompt.contains(&part), "{prompt}");
    }
}

#[test]
fn what_belongs_to_an_outer_session_does_not_reach_the_agent() {
    let mut env = TestEnv::with_tracker();
    for (name, value) in [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_SESSION_ID", "outer"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("AI_AGENT", "outer"),
        ("TMUX", "/tmp/tmux-0/default,1,0"),
        ("TMUX_PANE", "%1"),
        ("ANTHROPIC_API_KEY", "sk-ant-it-passes"),
        ("MY_OWN", "passes too"),
        ("NOT_THIS", "stripped"),
        ("NOT_THAT_EITHER", "stripped"),
        ("KEEP_THIS", "passes"),
    ] {
        env.set(name, value);
    }
    env.configure(
        "env_strip = [\"NOT_*\", \"KEEP_*\"]\nenv_pass = [\"KEEP_THIS\"]\n\
        api_max_retries = 3\napi_timeout = \"9s\"\n",
    );
    let vars = seen(&env, &[])["env"].take();
    for name in [
        "CLAUDECODE",
        "CLAUDE_CODE_SESSION_ID",
        "CLAUDE_CODE_ENTRYPOINT",
        "AI_AGENT",
        "TMUX",
        "TMUX_PANE",
        "NOT_THIS",
        "NOT_THAT_EITHER",
    ] {
        assert_eq!(vars[name], Value::Null, "{name}");
    }
    assert_eq!(
        (&vars["ANTHROPIC_API_KEY"], &vars["MY_OWN"]),
        (&"sk-ant-it-passes".into(), &"passes too".into())
    );
    assert_eq!(vars["KEEP_THIS"], "passes");
    assert_eq!(
        (&vars["CLAUDE_CODE_MAX_RETRIES"], &vars["API_TIMEOUT_MS"]),
        (&"3".into(), &"9000".into())
    );
}

#[test]
fn the_bare_word_el_is_the_very_el_that_works() {
    let env = TestEnv::with_tracker();
    // Another el stands first on the caller's PATH.
    std::fs::create_dir(env.path("bin/other")).unwrap();
    let fake = env.path("bin/other/el");
    std::fs::write(&fake, "#!/bin/sh\necho fake >> fake.log\n").unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let id = env.script_atom(&["record seen.json", "close done"]);
    let path = format!(
        "{}:{}:{}",
        env.path("bin/other").display(),
        env.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = env.command(env!("CARGO_BIN_EXE_el"));
    env.run(command.env("PATH", path).args(["work", "--once"])).ok();
    assert_eq!(env.status(&id), "closed");
    assert!(!env.project("fake.log").exists());
    let folder = Path::new(env!("CARGO_BIN_EXE_el")).parent().unwrap().to_str().unwrap();
    assert!(
        env.recorded("seen.json")["env"]["PATH"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{folder}:"))
    );
}

#[test]
fn a_tmux_server_that_began_earlier_keeps_its_environment_to_itself() {
    let mut env = TestEnv::with_tracker();
    env.set("ONLY_THEN", "1").set("CHANGES", "old").set("ANTHROPIC_API_KEY", "sk-ant-old");
    seen(&env, &["--preserve-sessions"]);
    let server = env
        .tmux(&["display-message", "-p", "#{pid}"])
        .expect("the preserved session keeps the server");
    let global = env.tmux(&["show-environment", "-g"]).unwrap();
    assert!(
        !global.contains("sk-ant") && !global.contains("ONLY_THEN") && !global.contains("EL_TOKEN"),
        "{global}"
    );
    env.unset("ONLY_THEN").set("CHANGES", "new").set("ANTHROPIC_API_KEY", "sk-ant-new");
    let vars = seen(&env, &[])["env"].take();
    assert_eq!(
        env.tmux(&["display-message", "-p", "#{pid}"]).unwrap(),
        server,
        "it is the same server"
    );
    assert_eq!(
        (&vars["ONLY_THEN"], &vars["CHANGES"], &vars["ANTHROPIC_API_KEY"]),
        (&Value::Null, &"new".into(), &"sk-ant-new".into())
    );
}

#[test]
fn keys_and_tokens_are_in_no_argument_and_in_no_file_that_stays() {
    let mut env = TestEnv::with_tracker();
    env.set("ANTHROPIC_API_KEY", "sk-ant-secret-of-the-test");
    let tmux = env.run(env.command("sh").args(["-c", "command -v tmux"])).ok().stdout;
    env.program(
        "tmux",
        &format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" >> {}\nexec {} \"$@\"\n",
            env.path("tmux.log").display(),
            tmux.trim()
        ),
    );
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    let run = env.last_run(&id);
    let token = env.token(&run);
    let context = std::fs::metadata(env.context(&id)).unwrap().permissions().mode();
    assert_eq!(context & 0o777, 0o600);
    assert!(!env.run_file(&run, "env.json").exists(), "the supervisor has taken the environment");
    for process in env.processes() {
        let words = process.words.join(" ");
        assert!(
            !words.contains(&token)
                && !words.contains("secret-of-the-test")
                && !words.contains("Play a script"),
            "{words}"
        );
    }
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert!(!env.context(&id).exists());
    let said = std::fs::read_to_string(env.path("tmux.log")).unwrap();
    assert!(
        said.contains("new-session") && !said.contains(&token) && !said.contains("secret"),
        "{said}"
    );
    let folder = env.run_file(&run, "");
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    // The artifacts lie in a folder of their own.
    let inside =
        [folder.clone(), folder.join("artifacts")].map(|folder| std::fs::read_dir(folder).unwrap());
    for file in
        inside.into_iter().flatten().map(|file| file.unwrap().path()).filter(|file| file.is_file())
    {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(
            !text.contains(&token) && !text.contains("secret-of-the-test"),
            "{}",
            file.display()
        );
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
    // No view for people or programs has a token.
    for words in [&["runs", "show", &id][..], &["show", &id], &["history", &id], &["why", &id]] {
        assert!(!env.robot(words).to_string().contains(&token), "{words:?}");
    }
}

#[test]
fn an_agent_works_where_it_is_told_to() {
    let env = TestEnv::with_tracker();
    std::fs::create_dir(env.path("elsewhere with space")).unwrap();
    let folder = env.path("elsewhere with space");
    let seen = seen(&env, &["--workdir", folder.to_str().unwrap()]);
    assert_eq!(seen["cwd"].as_str().unwrap(), folder.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn the_settings_reach_the_command_line() {
    let env = TestEnv::with_tracker();
    env.configure(
        "model = \"haiku\"\nallowed_tools = [\"Edit\", \"Bash(cargo *)\"]\n\
         disallowed_tools = [\"WebFetch\"]\nmax_turns = 40\nbudget_per_run = 2.5\n\
         permission_mode = \"dontAsk\"\nextra_args = [\"--effort\", \"high\"]\n",
    );
    let seen = seen(&env, &["--allow", "Read"]);
    let argv: Vec<&str> =
        seen["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let has = |words: &[&str]| argv.windows(words.len()).any(|window| window == words);
    for words in [
        &["-p", "--allowedTools", "Bash(el *)", "Edit", "Bash(cargo *)", "Read"][..],
        &["--model", "haiku"],
        &["--max-turns", "40"],
        &["--max-budget-usd", "2.5"],
        &["--permission-mode", "dontAsk"],
        &["--effort", "high"],
        &["--output-format", "stream-json", "--verbose"],
    ] {
        assert!(has(words), "{words:?} in {argv:?}");
    }
    assert!(
        argv.contains(&"WebFetch")
            && argv.contains(&"--settings")
            && argv.contains(&"--session-id")
    );
}

#[test]
fn an_agent_of_another_name_and_program_does_the_same_work() {
    let env = TestEnv::with_tracker();
    env.program(
        "robot",
        "#!/bin/sh\ncat > got.md\nprintf '%s\\n' \"$@\" > got.args\necho working\n\
         el close \"$EL_ATOM\" --reason 'by robot'\n",
    );
    env.configure(
        "[agents.robot]\nexecutor = \"command\"\ncommand = [\"robot\", \"-x\", \"two words\"]\n",
    );
    let id = env.create("For the robot", &["-d", "a description"]);
    env.work(&["--once", "--agent", "robot"]);
    let run = env.last_run(&id);
    assert_eq!(
        (&run["outcome"], &run["agent"], &run["executor"]),
        (&"closed".into(), &"robot".into(), &"command".into())
    );
    assert!(env.wait_for_file("got.md").contains("a description"));
    assert_eq!(env.wait_for_file("got.args"), "-x\ntwo words");
    assert_eq!(env.read_run_file(&run, "transcript.jsonl").lines().next(), Some("working"));
    let closed = env.robot(&["history", &id])["items"]
        .as_array()
        .unwrap()
        .iter()
        .any(|e| e["kind"] == "status" && e["actor"] == "robot");
    assert!(closed);
}

#[test]
fn the_agent_writes_utf8_whatever_the_callers_locale_is() {
    let mut env = TestEnv::with_tracker();
    env.set("LANG", "C");
    let id = env.script_atom(&[
        "record seen.json",
        "say 漢字 and ✓",
        "touch started",
        "wait-file go",
        "close done",
    ]);
    let worker = env.start_work(&["--once"]);
    env.wait_for_file("started");
    let session = env.last_run(&id)["session"].as_str().unwrap().to_owned();
    let pane = || env.tmux(&["-u", "capture-pane", "-p", "-t", &format!("={session}:")]).unwrap();
    crate::support::wait_until("the text in the pane", SOON, || {
        pane().contains("漢字 and ✓").then_some(())
    });
    assert_eq!(env.recorded("seen.json")["env"]["LANG"], "C.UTF-8");
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
}

#[test]
fn a_caller_without_a_umask_opens_nothing_to_others() {
    let env = TestEnv::with_tracker();
    let id = env.script_atom(&["touch started", "wait-file go", "close done"]);
    let worker = env.start(env.command("sh").args(["-c", "umask 000; exec el work --once"]));
    env.wait_for_file("started");
    let run = env.last_run(&id);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
    for path in [
        env.context(&id),
        env.run_file(&run, ""),
        env.run_file(&run, "prompt.md"),
        env.run_file(&run, "transcript.jsonl"),
    ] {
        assert_eq!(mode(&path), 0, "{}", path.display());
    }
    std::fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
}
