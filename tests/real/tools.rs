//! Tools of the real client: denied tools, hanging tools, and leftover processes.

use serde_json::json;

use super::{assert_run, project, result};
use crate::support::{SOON, wait_until};

#[test]
fn a_denied_tool_is_named_in_the_end_of_the_run() {
    let steps =
        json!({"steps": [{"bash": "rm -rf precious"}], "after": {"text": "I was not allowed to."}});
    let Some((env, _api)) = project(&steps) else { return };
    env.configure("permission_mode = \"default\"\nmax_attempts = 1\n");
    std::fs::create_dir(env.project("precious")).unwrap();
    let id = env.create("Remove it", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "violation");
    assert!(run["detail"].as_str().unwrap().contains("denied Bash"), "{run}");
    assert_eq!(env.status(&id), "blocked");
    assert!(env.comments(&id)[0].contains("denied Bash"), "{:?}", env.comments(&id));
    assert!(env.project("precious").exists());
}

#[test]
fn el_itself_is_allowed_where_nothing_else_is() {
    let steps = json!({"steps": [
        {"bash": "touch forbidden"},
        {"bash": "el comment add ${ID} \"$(cat <<'E'\nseveral\nlines; & things | > E'\nE\n)\""},
        {"bash": "el close ${ID} --reason 'with `ticks` and $VARS; kept as they are'"},
        {"text": "Closed."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    env.configure("permission_mode = \"dontAsk\"\n");
    let id = env.create("Only el", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert_eq!(env.show(&id)["close_reason"], "with `ticks` and $VARS; kept as they are");
    assert_eq!(env.comments(&id), ["several\nlines; & things | > E'"]);
    assert_eq!(result(&env, &run)["permission_denials"].as_array().unwrap().len(), 1);
    assert!(!env.project("forbidden").exists());
}

/// With `acceptEdits` the agent may edit files in its folder, which also contains the tracker.
#[test]
fn what_governs_its_runs_is_not_the_agents_to_edit() {
    let refused = [".eluent/config.toml", ".eluent/runs/x/launch.json", ".eluent/el.db-journal"];
    let allowed = ["src.rs", "config.toml"];
    // A file beside the run's own summary: the client may write the file, and nobody else sees it.
    let unseen = ".eluent/summaries/notes.md";
    let write = |path: &&str| {
        json!({"tool": "Write", "input": {"file_path": path,
        "content": "review = false\n"}})
    };
    let mut steps: Vec<_> = refused.iter().chain(&allowed).chain([&unseen]).map(write).collect();
    // Commands allowed by this mode obey the same rules.
    let commands = [
        "cp src.rs .eluent/config.toml",
        "mv src.rs .eluent/config.toml",
        "cat src.rs > .eluent/config.toml",
    ];
    steps.extend(commands.iter().map(|line| json!({"bash": line})));
    steps.extend([json!({"bash": "el close ${ID} --reason tried"}), json!({"text": "Closed."})]);
    let Some((env, _api)) = project(&json!({"steps": steps})) else { return };
    // A missing file could be created; the client edits no file without reading it first.
    std::fs::remove_file(env.project(".eluent/config.toml")).unwrap();
    let id = env.create("Write them", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    for path in refused.into_iter().chain([unseen]) {
        assert!(!env.project(path).exists(), "{path}");
    }
    for path in allowed {
        assert!(
            env.project(path).exists(),
            "{path}: {}",
            env.read_run_file(&run, "transcript.jsonl")
        );
    }
    assert_eq!(
        result(&env, &run)["permission_denials"].as_array().unwrap().len(),
        refused.len() + commands.len()
    );
}

#[test]
fn a_run_whose_time_is_up_while_a_tool_hangs_takes_the_tool_along() {
    let Some((env, _api)) = project(&json!({"steps": [{"bash": "slow-tool"}]})) else { return };
    env.program(
        "slow-tool",
        "#!/bin/sh\necho $$ > tool.pid.new\nmv tool.pid.new tool.pid\nexec sleep 600\n",
    );
    env.configure("execution_timeout = \"15s\"\nmax_attempts = 1\n");
    let id = env.create("Slow", &[]);
    let worker = env.start_work(&["--once", "--allow", "Bash(slow-tool)"]);
    let tool: u32 = env.wait_for_file("tool.pid").parse().unwrap();
    let run = env.last_run(&id)["id"].as_str().unwrap().to_owned();
    // During `exec` of `sleep`, the kernel shows an empty environment for a moment.
    let is_marked = || {
        let tool = env.process_known_as(tool)?;
        env.processes_of_run(&run).contains(&tool).then_some(())
    };
    wait_until("the tool with the run's mark", SOON, is_marked);
    worker.wait(SOON).fails_with(9);
    let run = env.last_run(&id);
    assert_run(&env, &run, "timed_out");
    assert_eq!(env.process_known_as(tool), None, "the tool lives");
    assert_eq!(env.status(&id), "blocked");
    assert_eq!(env.events(&id)[3..], ["run_ended timed_out", "status blocked", "commented"]);
}

#[test]
fn a_background_process_of_a_tool_does_not_outlive_the_run() {
    let steps = json!({"steps": [
        {"bash": "leave-behind"},
        {"bash": "el close ${ID} --reason done"},
        {"text": "Closed."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    let script = "#!/bin/sh\nsetsid sh -c 'echo $$ > left.new; mv left.new left.pid; exec sleep \
        600' > /dev/null 2>&1 &\n\
                  env -i PATH=\"$PATH\" setsid sh -c 'echo $$ > clean.new; mv clean.new clean.pid; \
                  exec sleep 600' > /dev/null 2>&1 &\n\
                  while [ ! -e left.pid ] || [ ! -e clean.pid ]; do sleep 0.05; done\n";
    env.program("leave-behind", script);
    let id = env.create("Untidy", &[]);
    env.work(&["--once", "--allow", "Bash(leave-behind)"]);
    assert_run(&env, &env.last_run(&id), "closed");
    for file in ["left.pid", "clean.pid"] {
        let pid = env.wait_for_file(file).parse().unwrap();
        assert_eq!(env.process_known_as(pid), None, "{file} lives");
    }
}

/// An escape through a server that is no child of the run and has no mark in its environment: no
/// sweep can find the process. A sandbox would let it reach no such server.
#[test]
fn a_stray_that_escaped_and_closes_after_the_run_is_settled_is_refused() {
    let steps = json!({"steps": [
        {"bash": "escape"},
        {"bash": "el update ${ID} --status deferred"},
        {"text": "Deferred."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    env.configure("sandbox = \"off\"\n");
    let outside = |words: &[&str]| {
        env.run(env.command("tmux").args(["-L", "outside", "-f", "/dev/null"]).args(words)).ok()
    };
    outside(&["new-session", "-d", "sleep", "600"]);
    let socket = outside(&["display-message", "-p", "#{socket_path}"]).stdout;
    let stray = env.path("bin/stray");
    env.program(
        "stray",
        "#!/bin/sh\ntouch escaped\nwhile [ ! -e settled ]; do sleep 0.05; done\n\
         EL_SESSION=$1 el --robot close \"$2\" --reason late > late.json\n\
         echo $? > late.code.new\nmv late.code.new late.code\n",
    );
    let command = format!(
        "'cd {} && {} '\"$EL_SESSION $EL_ATOM\"",
        env.project("").display(),
        stray.display()
    );
    let escape = format!(
        "#!/bin/sh\ntmux -S {} new-window -d {command}\n\
         while [ ! -e escaped ]; do sleep 0.05; done\n",
        socket.trim()
    );
    env.program("escape", &escape);
    let id = env.create("Escapes", &[]);
    env.work(&["--once", "--allow", "Bash(escape)"]);
    env.wait_for_file("escaped");
    let run = env.last_run(&id);
    assert_eq!(run["outcome"], "deferred");
    let before = env.show(&id);
    assert!(!env.project("late.code").exists());
    std::fs::write(env.project("settled"), "").unwrap();
    assert_eq!(env.wait_for_file("late.code"), "5");
    let refused = env.wait_for_file("late.json");
    assert!(refused.contains("stale_run") && refused.contains("stop working"), "{refused}");
    assert_eq!(env.show(&id), before);
}

#[test]
fn the_client_that_waits_for_a_background_task_of_its_own_is_let_wait() {
    let steps = json!({"steps": [
        {"tool": "Bash", "input": {"command": "slow-build", "run_in_background": true}},
        {"text": "It builds; I wait."},
        {"text": "It builds still, as I said."},
        {"bash": "el close ${ID} --reason 'the build is done'"},
        {"text": "Closed."},
    ]});
    let Some((env, _api)) = project(&steps) else { return };
    env.program("slow-build", "#!/bin/sh\nsleep 2; echo finished; touch built\n");
    let id = env.create("Builds", &[]);
    env.work(&["--once", "--allow", "Bash(slow-build)"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    assert_eq!(run["resumes"], 0, "it was its own second turn");
    assert!(env.project("built").exists());
}
