//! The real client in the sandbox: it is told which setting would have let a command succeed.

use serde_json::json;

use super::{assert_run, project};

#[test]
fn the_agent_itself_is_told_what_the_sandbox_kept_it_from() {
    let steps = json!({"steps": [
        {"bash": "touch /usr/share/el-test"},
        {"bash": "ls /no/such/folder"},
        {"bash": "el close ${ID} --reason tried"},
        {"text": "Closed."},
    ]});
    let Some((mut env, api)) = project(&steps) else { return };
    env.set("EL_SANDBOX", "auto");
    if !env.el(&["doctor"]).stdout.contains("bubblewrap and") {
        eprintln!("skipped: bubblewrap does not work here");
        return;
    }
    env.configure("allowed_tools = [\"Bash\"]\n");
    let id = env.create("Write where nobody may", &[]);
    env.el(&["--robot", "work", "--once"]).ok();
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    let heard = |at: usize| api.messages()[at]["body"].to_string();
    let hint = "el config set --add sandbox_write /usr/share";
    assert!(heard(1).contains(hint), "{}", heard(1));
    assert!(heard(1).contains("Only a person can run that"));
    // Another failure has no such cause, and nothing is said of it.
    assert_eq!(heard(2).matches(hint).count(), 1);
    assert!(run["sandbox_notes"][0].as_str().unwrap().ends_with(hint), "{run:#}");
}

/// The attacks of `tests/sandbox`, by the client's own shell.
#[test]
fn what_its_shell_tries_outside_of_its_folder_fails_and_its_run_settles() {
    let tries = [
        "rm -rf .eluent/el.db .eluent/runs; mv .eluent gone; echo 'x = 1' > .eluent/config.toml",
        "cat $HOME/.ssh/key; echo x > $HOME/mine; rm -f $HOME/mine; ln -s $HOME out; rm out/mine",
        "git config core.hooksPath /tmp/x; echo x > .git/hooks/post-commit; git branch -D main",
        "env -u EL_SESSION el list && echo reached; el --actor ann comment add ${ID} tried",
        "kill -9 $(el runs --robot | grep -o '\"pid\":[0-9]*' | cut -d: -f2) && echo reached",
        "tmux ls && echo reached; cat /proc/1/environ | grep -c ANTHROPIC; touch /usr/share/x",
        "nohup setsid sleep 600 > /dev/null 2>&1 & echo left",
    ];
    let mut steps: Vec<_> = tries.iter().map(|line| json!({"bash": line})).collect();
    steps.extend([json!({"bash": "el close ${ID} --reason tried"}), json!({"text": "Closed."})]);
    let Some((mut env, api)) = project(&json!({"steps": steps})) else { return };
    env.set("EL_SANDBOX", "auto");
    if !env.el(&["doctor"]).stdout.contains("bubblewrap and") {
        eprintln!("skipped: bubblewrap does not work here");
        return;
    }
    env.configure("allowed_tools = [\"Bash\"]\nisolate = \"none\"\n");
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "base"]);
    for (name, text) in [("mine", "mine"), (".ssh/key", "the private key")] {
        let path = env.home().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let kept = [".eluent/config.toml", ".git/config"].map(|name| env.project(name));
    let read = || kept.each_ref().map(|path| std::fs::read_to_string(path).unwrap());
    let before = read();
    let id = env.create("Try everything", &[]);
    env.work(&["--once"]);
    let run = env.last_run(&id);
    assert_run(&env, &run, "closed");
    let said = env.read_run_file(&run, "transcript.jsonl");
    let heard: String = api.messages().iter().map(|one| one["body"].to_string()).collect();
    assert!(heard.contains("left"), "the last one was tried: {said}");
    assert!(!said.contains("private key") && !heard.contains("private key"), "{said}");
    // The words of the commands themselves have it once each.
    assert!(!said.contains("\"reached") && !said.contains("\\nreached"), "{said}");
    assert_eq!(read(), before, "{said}");
    assert_eq!(std::fs::read_to_string(env.home().join("mine")).unwrap(), "mine");
    assert!(!env.project(".git/hooks/post-commit").exists());
    assert_eq!(env.git(&["log", "--format=%s", "main"]), "base");
    assert_eq!(env.show(&id)["comments"][0]["author"], "claude");
    assert!(env.processes_of_run(run["id"].as_str().unwrap()).is_empty());
}
