//! The mailbox files: other programs append messages while `el mailbox sync --watch` runs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{SOON, TestEnv, wait_until};

const TO_DEVELOPER: &str = ".claude-orchestrator/tasks/messages/to-developer.json";
const TO_TEAM_LEAD: &str = ".claude-orchestrator/tasks/messages/to-team-lead.json";

fn assignment(task: &str) -> Value {
    json!({
        "type": "task_assignment", "taskId": task, "platform": "custom",
            "title": format!("Do {task}"), "instructions": "Carefully",
        "filesToCreate": [], "architecture": "As it is", "timestamp": "2024-01-01T00:00:00.000Z"
    })
}

fn read(env: &TestEnv, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(env.project(file)).unwrap()).unwrap()
}

/// Appends a message under the lock, as a program does that knows the protocol.
fn append(file: &Path, message: Value) {
    let lock = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(file.with_extension("json.lock"))
        .unwrap();
    lock.lock().unwrap();
    let mut whole: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    whole["messages"].as_array_mut().unwrap().push(message);
    fs::write(file, whole.to_string()).unwrap();
}

#[test]
#[ignore = "a process of the test below"]
fn appender() {
    let (Some(file), Ok(name)) =
        (std::env::var_os("EL_TEST_MAILBOX"), std::env::var("EL_TEST_NAME"))
    else {
        return;
    };
    for n in 0..500 {
        append(Path::new(&file), assignment(&format!("{name}-{n:03}")));
    }
}

#[test]
fn a_thousand_messages_of_two_processes_arrive_once_while_it_watches() {
    let env = TestEnv::with_tracker();
    // The watcher writes all the time: own atoms become assignments in the same file.
    let own: Vec<String> = (0..5).map(|n| env.create(&format!("Own {n}"), &[])).collect();
    let watching = env.start_el(&["--robot", "mailbox", "sync", "--watch"]);
    env.wait_for_file(TO_DEVELOPER);
    let file = env.project(TO_DEVELOPER);
    let processes: Vec<_> = ["left", "right"]
        .into_iter()
        .map(|name| {
            let mut command = env.command(std::env::current_exe().unwrap().to_str().unwrap());
            command
                .args(["--ignored", "--exact", "mailbox::appender"])
                .env("EL_TEST_MAILBOX", &file)
                .env("EL_TEST_NAME", name);
            env.start(&mut command)
        })
        .collect();
    let later = env.create("Filed meanwhile", &[]);
    for process in processes {
        process.wait(Duration::from_secs(240)).ok();
    }
    let count = || env.robot(&["list", "--text", "Do"])["total"].as_i64();
    wait_until("all 1,000 as atoms", Duration::from_secs(240), || {
        (count() == Some(1000)).then_some(())
    });
    wait_until("our own among them", SOON, || {
        (read(&env, TO_DEVELOPER)["messages"].as_array()?.len() == 1006).then_some(())
    });
    let mut titles: BTreeMap<String, u32> = BTreeMap::new();
    for atom in env.robot(&["list", "--text", "Do"])["items"].as_array().unwrap() {
        *titles.entry(atom["title"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!(titles.len() == 1000 && titles.values().all(|n| *n == 1));
    let mut tasks: Vec<String> = read(&env, TO_DEVELOPER)["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["taskId"].as_str().unwrap().to_owned())
        .collect();
    tasks.sort();
    tasks.dedup();
    assert_eq!(tasks.len(), 1006, "each stands there once");
    assert!(own.iter().chain([&later]).all(|id| tasks.contains(id)));
    // The line about a look is printed a moment after the look's atoms exist.
    let arrived =
        || watching.told().iter().map(|line| line["arrived"].as_i64().unwrap()).sum::<i64>();
    wait_until("the last line", SOON, || (arrived() >= 1000).then_some(()));
    assert_eq!(arrived(), 1000);
    assert!(
        watching
            .told()
            .iter()
            .all(|line| line["errors"] == json!([]) && line["problems"] == json!([])),
        "{:?}",
        watching.told()
    );
    drop(watching);
    assert_eq!(env.robot(&["mailbox", "sync"])["arrived"], 0);
}

#[test]
fn a_task_goes_through_the_files_from_its_assignment_to_its_approval() {
    let env = TestEnv::with_tracker();
    let refused = env.run(env.command("sh").args([
        "-c",
        "echo '{\"type\":\"task_assignment\"}' | el --robot mailbox post to-developer",
    ]));
    assert_eq!(refused.fails_with(2).json()["error"]["details"]["fields"][0]["field"], "taskId");
    let step = "write report.json \
        {\"type\":\"completion_report\",\"taskId\":\"task-1\",\"platform\":\"custom\",\
        \"status\":\"awaiting_review\",\
         \"summary\":\"Made\",\"filesCreated\":[],\"filesModified\":[],\
         \"buildResult\":{\"status\":\"not_applicable\"},\"timestamp\":\"2024-01-01T00:00:00Z\"}";
    let mut message = assignment("task-1");
    message["instructions"] =
        json!(TestEnv::script(&[step, "el submit $EL_ATOM --report report.json"]));
    fs::write(env.project("assignment.json"), message.to_string()).unwrap();
    env.el(&["mailbox", "post", "to-developer", "assignment.json"]).ok();
    let synced = env.robot(&["mailbox", "sync"]);
    assert_eq!(synced["arrived"], 1);
    env.work(&["--once"]);
    let id = env.robot(&["review"])["items"][0]["id"].as_str().unwrap().to_owned();
    env.el(&["mailbox", "sync"]).ok();
    assert_eq!(read(&env, TO_TEAM_LEAD)["messages"][0]["summary"], "Made");
    assert_eq!(
        env.robot(&["chat", "show", "claude-code-team-lead"])["count"],
        1,
        "who assigned it is told"
    );
    env.el(&["approve", &id]).ok();
    let shown = env.el(&["mailbox", "sync"]).ok().stdout;
    assert!(shown.contains("awaiting_review → completed"), "{shown}");
    for file in [TO_DEVELOPER, TO_TEAM_LEAD] {
        assert_eq!(read(&env, file)["messages"], json!([]));
    }
    assert!(env.el(&["mailbox", "sync"]).ok().stdout.contains("all is in step"));
    fs::write(env.project(TO_DEVELOPER), "no json").unwrap();
    let told = env.el(&["mailbox", "sync"]).ok().stdout;
    assert!(
        told.contains("problem:") && told.contains("to-developer.json was set aside as"),
        "{told}"
    );
}

/// Every agent can write the file: whoever works on the atom hands it over, and nobody else.
#[test]
fn a_report_in_the_file_ends_no_run_and_takes_no_claim() {
    let env = TestEnv::with_tracker();
    let report = |task: &str| {
        json!({"messages": [{
            "type": "completion_report", "taskId": task, "platform": "custom",
            "status": "awaiting_review", "summary": "Made it",
            "filesCreated": ["a.txt"], "filesModified": [],
            "buildResult": {"status": "not_applicable"}, "timestamp": "2024-01-01T00:00:00Z"
        }], "lastRead": null})
    };
    let claimed = env.create("Claimed by a person", &[]);
    env.el(&["--actor", "ann", "claim", &claimed]).ok();
    let free = env.create("Worked on by another program", &[]);
    let id = env.script_atom(&["touch begun", "wait-file go", "close done"]);
    let worker = env.start_work(&["--once", &id]);
    env.wait_for_file("begun");
    env.el(&["mailbox", "sync"]).ok();
    for (atom, why) in [(&id, "el submit"), (&claimed, "claimed by ann")] {
        fs::write(env.project(TO_TEAM_LEAD), report(atom).to_string()).unwrap();
        let told = env.el(&["mailbox", "sync"]).ok().stdout;
        assert!(told.contains("was not taken") && told.contains(why), "{told}");
        assert_eq!(env.status(atom), "in_progress");
    }
    assert_eq!(env.robot(&["review"])["count"], 0);
    fs::write(env.project(TO_TEAM_LEAD), report(&free).to_string()).unwrap();
    env.el(&["mailbox", "sync"]).ok();
    assert_eq!(env.status(&free), "review");
    fs::write(env.project("go"), "").unwrap();
    worker.wait(SOON).ok();
    assert_eq!(env.outcomes(&id), ["closed"]);
}

#[test]
fn an_assignment_without_instructions_is_reported_and_a_foreign_one_is_refused() {
    let env = TestEnv::with_tracker();
    env.el(&["mailbox", "sync"]).ok();
    let mut silent = assignment("silent");
    silent.as_object_mut().unwrap().remove("instructions");
    silent["filesToCreate"] = json!(["a.rs"]);
    append(&env.project(TO_DEVELOPER), silent);
    for (task, field, value) in
        [("foreign", "platform", json!("windows")), ("untimely", "timestamp", json!("yesterday"))]
    {
        let mut message = assignment(task);
        message[field] = value;
        append(&env.project(TO_DEVELOPER), message);
    }
    for field in ["platform", "timestamp"] {
        let mut message = assignment(&format!("without-{field}"));
        message.as_object_mut().unwrap().remove(field);
        append(&env.project(TO_DEVELOPER), message);
    }
    let told = env.el(&["mailbox", "sync"]).ok().stdout;
    for field in ["platform", "timestamp"] {
        let refused = format!("is left as it is: {field}");
        assert_eq!(told.matches(&refused).count(), 2, "{told}");
        let missing = format!("the assignment without-{field} {refused}: it is missing");
        assert!(told.contains(&missing), "{told}");
    }
    assert_eq!(env.robot(&["list", "--all"])["total"], 1);
    let report = read(&env, TO_TEAM_LEAD)["messages"][0].take();
    assert_eq!(
        (&report["taskId"], &report["buildResult"]["status"]),
        (&json!("silent"), &json!("not_verified"))
    );
    assert!(report["summary"].as_str().unwrap().contains("No instructions were found"), "{report}");
}

#[test]
fn after_a_restore_its_own_assignments_are_no_instructions() {
    let env = TestEnv::with_tracker();
    let id = env.create("Alpha task", &[]);
    env.el(&["backup", "now"]).ok();
    env.el(&["mailbox", "sync"]).ok();
    append(&env.project(TO_DEVELOPER), assignment("task-001"));
    env.el(&["restore"]).ok();
    let synced = env.robot(&["mailbox", "sync"]);
    assert!(!synced["notes"].to_string().contains("new instructions"), "{synced:#}");
    assert_eq!(synced["arrived"], 1, "that of somebody else");
    assert_eq!(env.robot(&["show", &id])["description"], "");
    // An assignment that somebody else has changed is an instruction.
    let mut changed = read(&env, TO_DEVELOPER)["messages"][0].clone();
    changed["instructions"] = "Otherwise".into();
    append(&env.project(TO_DEVELOPER), changed);
    env.el(&["mailbox", "sync"]).ok();
    let description = env.robot(&["show", &id])["description"].to_string();
    assert!(description.contains("Otherwise"), "{description}");
}
