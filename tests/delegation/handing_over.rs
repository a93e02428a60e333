//! `el run` and `el tasks`.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use crate::support::{Process, SOON, TestEnv, wait_until};

#[test]
fn a_task_is_handed_over_at_once_and_done_in_the_background() {
    let env = TestEnv::with_tracker();
    let before = Instant::now();
    let answer = env.hand_over(
        &["say working", "wait-file go", "sh echo oops >&2", "close All is well"],
        &["--title", "The task"],
    );
    assert!(before.elapsed() < Duration::from_secs(10), "{answer}");
    assert_eq!(
        (&answer["status"], &answer["title"], &answer["queue"]["position"]),
        (&json!("queued"), &json!("The task"), &json!(1))
    );
    let pid = u32::try_from(answer["started_worker"]["pid"].as_u64().unwrap()).unwrap();
    let id = &answer["id"];
    let running =
        wait_until("its agent", SOON, || Some(env.task(id)).filter(|task| task["pid"].is_number()));
    assert_eq!((&running["status"], &running["agent"]), (&json!("running"), &json!("claude")));
    env.go("go");
    let task = env.wait_for_task(id, "completed");
    assert_eq!(
        (&task["exit_code"], &task["outcome"], &task["result_summary"], &task["pid"]),
        (&json!(0), &json!("closed"), &json!("All is well"), &json!(null))
    );
    assert!(task["task_prompt"].as_str().unwrap().contains("script: say working"));
    assert!(task["output"].as_str().unwrap().contains("working"), "{task:#}");
    assert!(task["started_at"].is_string() && task["completed_at"].is_string());
    assert_eq!(task["workdir"], env.project("").to_str().unwrap().trim_end_matches('/'));
    env.wait_for_workers_to_leave();
    wait_until("its process to end", SOON, || (!Process::runs(pid)).then_some(()));
    assert!(
        env.processes().iter().all(|p| p.words.iter().all(|word| word != "work")),
        "{:?}",
        env.processes()
    );
}

#[test]
fn the_worker_in_the_background_has_nothing_of_whoever_started_it() {
    let env = TestEnv::with_tracker();
    let answer = env.hand_over(&["wait-file go", "close"], &[]);
    let pid = answer["started_worker"]["pid"].as_u64().unwrap();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!(fields[3], pid.to_string(), "it leads a session of its own");
    let log = env.project(".eluent/worker.log");
    for (number, want) in [(0, "/dev/null".into()), (1, log.clone()), (2, log)] {
        assert_eq!(fs::read_link(format!("/proc/{pid}/fd/{number}")).unwrap(), want);
    }
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap();
    assert!(!String::from_utf8_lossy(&environment).contains("EL_RUN="));
    env.go("go");
    env.wait_for_task(&answer["id"], "completed");
}

#[test]
fn many_who_hand_over_at_once_start_one_worker() {
    let env = TestEnv::with_tracker();
    let script = TestEnv::script(&["wait-file go", "close"]);
    let started: Vec<_> = (0..6)
        .map(|_| env.start(env.command("el").args(["--robot", "run", "--", &script])))
        .collect();
    let answers: Vec<_> =
        started.into_iter().map(|running| running.wait(SOON).ok().json()["data"].take()).collect();
    assert_eq!(
        answers.iter().filter(|a| a["started_worker"].is_object()).count(),
        1,
        "{answers:#?}"
    );
    assert_eq!(env.workers_begun(), 1);
    let queue = || {
        Some(env.robot(&["queue"])["items"][0].take()).filter(|queue| queue["is_executing"] == true)
    };
    assert_eq!(wait_until("the first to begin", SOON, queue)["queued_tasks"], 5);
    env.go("go");
    for answer in &answers {
        env.wait_for_task(&answer["id"], "completed");
        assert_eq!(env.outcomes(answer["id"].as_str().unwrap()), ["closed"]);
    }
}

#[test]
fn a_worker_that_is_there_takes_it_and_none_is_started() {
    let env = TestEnv::with_tracker();
    let worker = env.start_work(&[]);
    worker.wait_for("started");
    let answer = env.hand_over(&["close"], &[]);
    assert_eq!(
        (&answer["started_worker"], &answer["queue"]["is_served"]),
        (&json!(null), &json!(true))
    );
    env.wait_for_task(&answer["id"], "completed");
    // One that is about to leave cannot be relied on.
    let busy = env.hand_over(&["touch begun", "wait-file go", "close"], &[]);
    env.wait_for_file("begun");
    worker.signal(Signal::INT);
    worker.wait_for("draining");
    let answer = env.hand_over(&["close"], &[]);
    assert!(answer["started_worker"].is_object(), "{answer}");
    env.go("go");
    env.wait_for_task(&busy["id"], "completed");
    env.wait_for_task(&answer["id"], "completed");
    worker.wait(SOON).ok();
}

#[test]
fn the_worker_in_the_background_does_what_was_handed_over_and_nothing_else() {
    let env = TestEnv::with_tracker();
    let anyone = env.script_atom(&["close"]);
    let answer = env.hand_over(&["close"], &[]);
    env.wait_for_task(&answer["id"], "completed");
    env.wait_for_workers_to_leave();
    assert_eq!(env.status(&anyone), "open", "nobody asked for that to be done");
}

#[test]
fn waiting_ends_with_the_outcome() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let wait = |steps: &[&str], more: &[&str]| {
        let script = TestEnv::script(steps);
        env.run(
            env.command("el").args(["--robot", "run", "--wait"]).args(more).args(["--", &script]),
        )
    };
    let done = wait(&["close"], &[]).ok().json();
    assert_eq!((&done["status"], &done["data"]["status"]), (&json!("ok"), &json!("completed")));
    let failed = wait(&["stderr it broke", "exit 3"], &[]).fails_with(1).json();
    assert_eq!(failed["error"]["code"], "task_failed");
    let task = &failed["error"]["details"]["task"];
    assert_eq!(
        (&task["status"], &task["exit_code"], &task["outcome"]),
        (&json!("failed"), &json!(3), &json!("failed"))
    );
    assert!(task["error_lines"].as_str().unwrap().contains("it broke"), "{task:#}");
    assert_eq!(
        wait(&["say on it", "hang"], &["--timeout", "1s"]).fails_with(7).json()["error"]["code"],
        "timed_out"
    );
    assert_eq!(
        wait(&["update deferred"], &[]).fails_with(4).json()["error"]["details"]["task"]["status"],
        "deferred"
    );
    // For people: the states as lines where there is no terminal, the result at the end.
    let waiting = env.start_el(&[
        "run",
        "--wait",
        "--",
        "script: touch begun\nscript: wait-file seen\nscript: close It is done",
    ]);
    env.wait_for_file("begun");
    wait_until("it to be told", SOON, || {
        waiting.stderr().contains("is being worked on").then_some(())
    });
    env.go("seen");
    let ran = waiting.wait(SOON).ok();
    assert!(ran.stdout.contains("completed") && ran.stdout.contains("It is done"), "{ran:#?}");
    assert!(ran.stderr.contains("is being worked on"), "{ran:#?}");
}

#[test]
fn who_waits_does_not_wait_for_a_worker_that_is_gone() {
    let env = TestEnv::with_tracker();
    let first = env.hand_over(&["touch begun", "wait-file go", "close"], &[]);
    env.wait_for_file("begun");
    let waiting = env.start_el(&["--robot", "run", "--wait", "--", "script: close"]);
    let worker = first["started_worker"]["pid"].as_u64().unwrap();
    Process { pid: u32::try_from(worker).unwrap(), words: Vec::new() }.kill();
    env.go("go");
    waiting.wait(SOON).ok();
    assert_eq!(env.outcomes(first["id"].as_str().unwrap()), ["closed"]);
}

#[test]
fn a_prompt_of_any_size_comes_from_a_file_or_from_stdin() {
    let env = TestEnv::with_tracker();
    let filler = "Read all of this, line after line.\n".repeat(60_000);
    let prompt =
        format!("# Big work\n\nscript: record seen.json\nscript: close\n\n{filler}THE-END\n");
    fs::write(env.project("big.md"), &prompt).unwrap();
    let answer = env.robot(&["run", "--file", "big.md"]);
    assert_eq!(answer["title"], "Big work");
    env.wait_for_task(&answer["id"], "completed");
    let seen = env.recorded("seen.json");
    let text = seen["prompt"].as_str().unwrap();
    assert!(text.len() > prompt.len() && text.contains("THE-END"));
    let mut piped = env.command("sh");
    piped.args(["-c", "printf 'From a pipe\\nscript: close' | el --robot run -"]);
    let answer = env.run(&mut piped).ok().json()["data"].take();
    assert_eq!(answer["title"], "From a pipe");
    env.wait_for_task(&answer["id"], "completed");
    assert_eq!(
        env.el(&["--robot", "run", "  "]).fails_with(2).json()["error"]["details"]["field"],
        "prompt"
    );
}

#[test]
fn a_task_has_its_own_folder_and_time() {
    let env = TestEnv::with_tracker();
    let folder = env.path("elsewhere");
    fs::create_dir(&folder).unwrap();
    let more = [
        "--workdir",
        folder.to_str().unwrap(),
        "--timeout",
        "90m",
        "--priority",
        "urgent",
        "--label",
        "api",
    ];
    let answer = env.hand_over(&["record seen.json", "close"], &more);
    let task = env.wait_for_task(&answer["id"], "completed");
    assert_eq!((&task["timeout_ms"], &task["priority"]), (&json!(5_400_000), &json!(0)));
    let seen: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen["cwd"], folder.to_str().unwrap());
    let atom = env.show(answer["id"].as_str().unwrap());
    assert_eq!(
        (&atom["delegation"]["by"], &atom["labels"][0]),
        (&atom["created_by"], &json!("api"))
    );
    for (flag, value) in [
        ("--workdir", "/nonexistent"),
        ("--timeout", "soon"),
        ("--timeout", "0s"),
        ("--verify", "a | b"),
        ("--priority", "x"),
    ] {
        env.el(&["run", flag, value, "x"]).fails_with(2);
    }
}

#[test]
fn a_task_has_an_hour_unless_it_is_given_another_time() {
    let env = TestEnv::with_tracker();
    let limit = |task: &serde_json::Value| {
        let run = env.last_run(env.wait_for_task(&task["id"], "completed")["id"].as_str().unwrap());
        let launch: serde_json::Value =
            serde_json::from_str(&env.read_run_file(&run, "launch.json")).unwrap();
        launch["agent"]["execution_timeout"].clone()
    };
    let usual = env.hand_over(&["close"], &[]);
    assert_eq!(limit(&usual), json!({"secs": 3600, "nanos": 0}));
    let longer = env.hand_over(&["close"], &["--timeout", "2h"]);
    assert_eq!(limit(&longer), json!({"secs": 7200, "nanos": 0}));
    // A worker that is still there has read its settings already.
    env.wait_for_workers_to_leave();
    env.configure("execution_timeout = \"10m\"\n");
    let configured = env.hand_over(&["close"], &[]);
    assert_eq!(limit(&configured), json!({"secs": 600, "nanos": 0}));
}

#[test]
fn whoever_makes_more_than_two_run_at_once_is_warned() {
    let env = TestEnv::with_tracker();
    env.configure("[agents.ada]\n[agents.bob]\n[agents.cat]\n[agents.dan]\n");
    let warned = |answer: &serde_json::Value| {
        answer["warnings"].to_string().contains("runs are at work at once")
    };
    let begin = |agent: &str| {
        let answer = env.hand_over(
            &[&format!("touch begun-{agent}"), "wait-file go", "close"],
            &["--agent", agent],
        );
        env.wait_for_file(format!("begun-{agent}"));
        answer
    };
    let mut all: Vec<_> = ["ada", "bob"].into_iter().map(begin).collect();
    assert!(all.iter().all(|answer| !warned(answer)), "{all:#?}");
    // One that waits behind another makes no third.
    all.push(env.hand_over(&["close"], &["--agent", "bob"]));
    assert!(!warned(&all[2]), "{:#}", all[2]);
    all.push(begin("cat"));
    assert!(warned(&all[3]) && all[3]["warnings"].to_string().contains("3 runs"), "{:#}", all[3]);
    let said = env.el(&["run", "--agent", "dan", "--", "script: close"]).ok();
    assert!(said.stderr.contains("4 runs are at work at once"), "{said:#?}");
    env.go("go");
    for answer in &all {
        env.wait_for_task(&answer["id"], "completed");
    }
    env.wait_for_workers_to_leave();
}

#[test]
fn a_task_from_a_linked_worktree_is_done_there() {
    let env = TestEnv::with_tracker();
    let linked = env.path("linked tree");
    let linked = linked.to_str().unwrap();
    for words in [
        &["init", "-q"][..],
        &["commit", "-q", "--allow-empty", "-m", "first"],
        &["worktree", "add", "-q", "-b", "side", linked],
    ] {
        env.run(env.command("git").args(words)).ok();
    }
    let below = env.path("linked tree/below");
    fs::create_dir(&below).unwrap();
    let run = |more: &[&str]| {
        let mut command = env.command("el");
        command
            .current_dir(&below)
            .args(["--robot", "run"])
            .args(more)
            .args(["--", "script: touch made\nscript: close"]);
        let answer = env.run(&mut command).ok().json()["data"].take();
        env.wait_for_task(&answer["id"], "completed")
    };
    assert_eq!(run(&[])["workdir"], linked);
    assert!(env.path("linked tree/made").exists() && !env.project("made").exists());
    // What is said outranks where one stands.
    assert_eq!(run(&["--workdir", "."])["workdir"], below.to_str().unwrap());
    // A worker has the settings with which it began.
    env.wait_for_workers_to_leave();
    let named = env.path("named");
    fs::create_dir(&named).unwrap();
    env.configure(&format!("working_directory = \"{}\"\n", named.display()));
    run(&[]);
    assert!(named.join("made").exists());
}

#[test]
fn a_folder_that_is_gone_is_that_tasks_fault_alone() {
    let env = TestEnv::with_tracker();
    env.configure("max_attempts = 1\n");
    let folder = env.path("gone");
    fs::create_dir(&folder).unwrap();
    let busy = env.hand_over(&["touch begun", "wait-file go", "close"], &[]);
    env.wait_for_file("begun");
    let lost = env.hand_over(&["close"], &["--workdir", folder.to_str().unwrap()]);
    let after = env.hand_over(&["close"], &[]);
    fs::remove_dir(&folder).unwrap();
    env.go("go");
    env.wait_for_task(&busy["id"], "completed");
    env.wait_for_task(&after["id"], "completed");
    let task = env.wait_for_task(&lost["id"], "failed");
    assert!(task["detail"].as_str().unwrap().contains("gone"), "{task:#}");
}

#[test]
fn a_task_is_called_off_whether_it_waits_or_runs() {
    let env = TestEnv::with_tracker();
    let running = env.hand_over(&["touch begun", "hang"], &[]);
    let waiting = env.hand_over(&["touch never", "close"], &[]);
    env.wait_for_file("begun");
    let (running, waiting) = (&running["id"], &waiting["id"]);
    let off = env.robot(&["tasks", "cancel", waiting.as_str().unwrap(), "--reason", "not needed"]);
    assert_eq!((&off["was"], &off["status"]), (&json!("queued"), &json!("cancelled")));
    let off = env.robot(&["tasks", "cancel", running.as_str().unwrap()]);
    assert_eq!(off["was"], "running");
    let task = env.wait_for_task(running, "cancelled");
    assert_eq!(task["outcome"], "cancelled");
    env.wait_for_workers_to_leave();
    assert!(!env.project("never").exists());
    assert_eq!(env.comments(waiting.as_str().unwrap()), ["Cancelled: not needed"]);
    env.el(&["retry", waiting.as_str().unwrap()]).ok();
    env.hand_over(&["close"], &[]);
    env.wait_for_task(waiting, "completed");
}

#[test]
fn only_those_on_the_list_may_hand_over() {
    let env = TestEnv::with_tracker();
    env.configure("delegates = [\"gendry\"]\n");
    let refused =
        env.el(&["--robot", "--actor", "arya", "run", "script: close"]).fails_with(8).json();
    assert_eq!(refused["error"]["code"], "refused");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("delegates"), "{refused}");
    let answer = env.robot(&["--actor", "gendry", "run", "script: close"]);
    env.wait_for_task(&answer["id"], "completed");
    assert_eq!(env.robot(&["tasks"])["total"], 1, "what was refused was not filed");
}

#[test]
fn nothing_is_filed_that_nobody_could_begin() {
    let mut env = TestEnv::with_tracker();
    env.configure("claude_code_path = \"/nonexistent/claude\"\n");
    let error = env.el(&["--robot", "run", "do it"]).fails_with(6).json();
    assert_eq!(error["error"]["details"]["field"], "claude_code_path");
    env.configure("");
    let bin = env.path("bin");
    env.set("PATH", bin.to_str().unwrap());
    assert_eq!(
        env.el(&["--robot", "run", "do it"]).fails_with(6).json()["error"]["details"]["field"],
        "tmux"
    );
    assert_eq!(env.robot(&["list"])["total"], 0);
}

#[test]
fn an_agent_hands_over_to_another_from_its_session() {
    let env = TestEnv::with_tracker();
    env.configure(
        "[agents.claude]\nallowed_tools = [\"Bash(el *)\"]\n[agents.ada]\nmodel = \"haiku\"\n",
    );
    let outer = env.script_atom(&[
        "el run --agent ada --title Part 'script: close by ada' > handed.txt",
        "close",
    ]);
    env.work(&["--drain", "--agent", "claude,ada"]);
    assert_eq!(env.status(&outer), "closed");
    let tasks = env.robot(&["tasks", "--agent", "ada"])["items"].take();
    assert_eq!(
        (&tasks[0]["status"], &tasks[0]["delegated_by"]),
        (&json!("completed"), &json!("claude"))
    );
    // A worker for one atom takes no other; a session starts none, and says so.
    let lonely = env.script_atom(&["el run --agent ada 'script: close' 2> said.txt", "close"]);
    env.work(&["--once"]);
    assert_eq!(env.status(&lonely), "closed");
    assert!(env.wait_for_file("said.txt").contains("no worker of ada"));
    // It cannot wait for itself.
    let waits = env.script_atom(&[
        "el run --wait 'script: close' 2> refused.txt || echo \"code $?\" >> refused.txt",
        "close",
    ]);
    env.work(&["--once"]);
    assert_eq!(env.status(&waits), "closed");
    assert!(env.wait_for_file("refused.txt").contains("code 4"));
}

#[test]
fn an_agent_that_hands_its_task_to_itself_comes_to_an_end() {
    let env = TestEnv::with_tracker();
    env.configure("delegation_max_depth = 2\n");
    let steps = "script: sh el run --title Again --file again.md || echo \"code $?\" >> refused.txt\nscript: close\n";
    std::fs::write(env.project("again.md"), steps).unwrap();
    env.robot(&["run", "--file", "again.md"]);
    assert_eq!(env.wait_for_file("refused.txt"), "code 8");
    env.wait_for_workers_to_leave();
    let tasks = env.robot(&["tasks"])["items"].take();
    let statuses: Vec<_> = tasks.as_array().unwrap().iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["completed", "completed"], "the second hands over no third");
    // What an agent's session files in another way does not begin anew.
    let twice = "script: el create Between -d 'script: el run --file again.md' --assignee claude\nscript: close\n";
    std::fs::remove_file(env.project("refused.txt")).unwrap();
    std::fs::write(env.project("twice.md"), twice).unwrap();
    env.robot(&["run", "--file", "twice.md"]);
    env.wait_for_file("refused.txt");
    env.wait_for_workers_to_leave();
    assert_eq!(env.robot(&["tasks"])["count"], 4, "two before, and two of this line");
}

#[test]
fn an_agent_that_is_none_is_refused_with_those_that_there_are() {
    let env = TestEnv::with_tracker();
    env.configure("[agents.reviewer]\n");
    for words in [
        &["run", "do it", "--agent", "reviwer"][..],
        &["work", "--once", "--agent", "reviwer"],
        &["work", "--agent", "claude,x"],
    ] {
        let error =
            env.run(env.command("el").arg("--robot").args(words)).fails_with(2).json()["error"]
                .take();
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("there are: claude, reviewer"), "{words:?}: {message}");
        assert_eq!(error["details"]["agents"], json!(["claude", "reviewer"]));
    }
    assert_eq!(env.robot(&["list"])["total"], 0);
    // Whoever the settings name is one, with a table or without.
    env.work(&["--drain", "--agent", "reviewer"]);
    env.configure("agent = \"sam,ada\"\n");
    env.work(&["--drain", "--agent", "ada"]);
}

#[test]
fn what_waits_for_another_attempt_says_how_the_last_one_ended_and_when_the_next_begins() {
    let env = TestEnv::with_tracker();
    env.configure("retry_backoff = \"10m\"\n");
    let task = env.hand_over(&["exit 3"], &[])["id"].as_str().unwrap().to_owned();
    env.wait_for_end(&task, 1);
    let shown = env.el(&["tasks", "show", &task]).ok().stdout;
    assert!(
        shown.contains("Last attempt") && shown.contains("failed: the agent exited with code 3"),
        "{shown}"
    );
    assert!(!shown.contains("Started"), "it is not under way: {shown}");
    for words in [&["list"][..], &["show", &task], &["queue"]] {
        let told = env.el(words).ok().stdout;
        assert!(
            told.to_lowercase().contains("tried again") && told.contains("in "),
            "{words:?}: {told}"
        );
    }
    assert!(env.el(&["queue"]).ok().stdout.contains("idle · nothing is ready"));
    env.el(&["work", "--stop"]).ok();
}

#[test]
fn a_mistyped_command_never_becomes_a_task() {
    let env = TestEnv::with_tracker();
    let atom = env.create("An atom", &[]);
    for (word, right) in [
        ("list", "el tasks list or el runs list"),
        ("stauts", "el tasks list or el runs list"),
        ("land", "el land"),
        (&atom[..], "is an atom"),
        ("tidy", "el run -- tidy"),
    ] {
        let refused = env.el(&["run", word]).fails_with(2).stderr;
        assert!(refused.contains(right), "{word}: {refused}");
    }
    assert_eq!(env.robot(&["list", "--all"])["count"], 1, "nothing was filed");
    let task = env.robot(&["run", "--blocked-by", &atom, "--", "tidy"]);
    assert_eq!(task["title"], "tidy");
}
