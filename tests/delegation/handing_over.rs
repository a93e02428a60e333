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
    assert!(!String::from_utf8_lossy(&environment).contains("EL_SESSION="));
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
    // A worker that is about to leave does not count.
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
    let (closed, blocked) =
        (wait(&["close failed: no net"], &[]).fails_with(1).json(), failed.clone());
    for (answer, verb) in [(&blocked, "el retry"), (&closed, "el reopen")] {
        assert!(answer["error"]["hint"].to_string().contains(verb), "{answer:#}");
    }
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
    // Only what changed is a line, however long it took.
    let id = env.robot(&["tasks"])["items"][0]["id"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with(&id)).collect();
    let all = [format!("{id} is next"), format!("{id} is being worked on")];
    assert!(lines == all || lines == all[1..], "{ran:#?}");
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
    // One command brings back what was cancelled, whoever says so.
    let waiting_id = waiting.as_str().unwrap();
    let again = env.el(&["tasks", "cancel", waiting_id]).ok().stdout;
    let why = env.el(&["why", waiting_id]).ok().stdout;
    for said in [task["detail"].as_str().unwrap(), &again, &why] {
        assert!(said.contains("el reopen") && !said.contains("el retry"), "{said}");
    }
    env.el(&["reopen", waiting_id]).ok();
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
    // A worker for a single atom takes no other. A session starts no worker, and says so.
    let lonely = env.script_atom(&["el run --agent ada 'script: close' 2> said.txt", "close"]);
    env.work(&["--once"]);
    assert_eq!(env.status(&lonely), "closed");
    assert!(env.wait_for_file("said.txt").contains("no worker of ada"));
    // A task cannot wait for itself.
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
    let steps = "script: sh el run --title Again --file again.md || echo \"code $?\" >> \
        refused.txt\nscript: close\n";
    std::fs::write(env.project("again.md"), steps).unwrap();
    env.robot(&["run", "--file", "again.md"]);
    assert_eq!(env.wait_for_file("refused.txt"), "code 8");
    env.wait_for_workers_to_leave();
    let tasks = env.robot(&["tasks"])["items"].take();
    let statuses: Vec<_> = tasks.as_array().unwrap().iter().map(|task| &task["status"]).collect();
    assert_eq!(statuses, ["completed", "completed"], "the second hands over no third");
    // Work that an agent's session files otherwise starts nothing.
    let twice = "script: el create Between -d 'script: el run --file again.md' --assignee claude\n\
        script: close\n";
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
    // Every agent named in the settings counts, with or without a table.
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
    for (words, what) in [
        (&["list"][..], "another try, in "),
        (&["show", &task], "Tried again"),
        (&["queue"], "tried again"),
    ] {
        let told = env.el(words).ok().stdout;
        assert!(told.contains(what) && told.contains("in "), "{words:?}: {told}");
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
    for (verb, right) in [("cancel", "cancel"), ("shwo", "show"), ("stop", "cancel")] {
        let refused = env.el(&["run", &format!("{verb} {atom}")]).fails_with(2).stderr;
        assert!(refused.contains(&format!("el {right} {atom}")), "{verb}: {refused}");
    }
    assert_eq!(env.robot(&["list", "--all"])["count"], 1, "nothing was filed");
    for words in ["tidy".to_owned(), format!("cancel {atom}")] {
        let task = env.robot(&["run", "--blocked-by", &atom, "--", &words]);
        assert_eq!(task["title"], words);
    }
}
