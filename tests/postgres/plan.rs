//! A plan over two machines: one is cut off in the middle of it, and all lands on the other.

use serde_json::{Value, json};

use super::network::Network;
use crate::orchestrate::Task;
use crate::real::orchestrate as plans;
use crate::support::{RealClaude, Running, SOON, TestEnv, wait_until};

/// The two machines have clones of a repository that is on the third, with the server.
struct Fleet {
    network: Network,
    near: TestEnv,
    far: TestEnv,
    _repository: Running,
}

impl Fleet {
    fn begin() -> Option<Fleet> {
        let network = Network::begin(&["near", "far"])?;
        let (near, far) = (network.on("near", "shop"), network.on("far", "shop"));
        let db = &network.db;
        db.git(&["init", "--quiet", "--bare", "git/shop.git"]);
        let mut daemon = db.command("git");
        daemon.args(["daemon", "--reuseaddr", "--export-all", "--enable=receive-pack"]);
        daemon.arg("--base-path=git").arg("git");
        let repository = db.start(&mut daemon);
        let origin = "git://192.0.2.1/shop.git";
        wait_until("the repository", SOON, || {
            let asked = near.run(near.command("git").args(["ls-remote", origin]));
            (asked.status == 0).then_some(())
        });
        for env in [&near, &far] {
            env.git(&["clone", "--quiet", origin, "."]);
        }
        near.git(&["commit", "--quiet", "--allow-empty", "-m", "base"]);
        near.git(&["push", "--quiet", "origin", "HEAD:main"]);
        far.git(&["pull", "--quiet", "origin", "main"]);
        near.el(&["init", "--name", "t"]).ok();
        std::fs::create_dir_all(far.project(".eluent")).unwrap();
        Some(Fleet { network, near, far, _repository: repository })
    }

    fn configure(&self, lines: &str) {
        for env in [&self.near, &self.far] {
            let lease = "lease = \"15s\"\nmax_parallel = 3\n";
            env.configure(&format!("isolate = \"worktree\"\nremote = \"origin\"\n{lease}{lines}"));
        }
    }

    /// The plan is made on the one machine and driven there. The other takes a task, and is cut off
    /// before it is done. `go`: lets the first go on.
    fn play(self, go: impl FnOnce()) {
        let (near, far) = (&self.near, &self.far);
        far.el(&["orchestrate", "Write a guide to tea", "--plan-only"]).ok();
        let epic = far.epic();
        let driven = far.start_el(&["orchestrate", "resume", &epic, "--concurrency", "1"]);
        let worker = near.start_work(&[]);
        worker.wait_for("launched");
        go();
        let closed = || {
            let rows = far.robot(&["list", "--parent", &epic, "--status", "closed"]);
            rows["items"].as_array().unwrap().len()
        };
        // Both questions, and the two tasks that the other machine does not have.
        wait_until("the middle of the plan", SOON, || (closed() == 4).then_some(()));
        self.network.make("cut", "near");
        let told = driven.wait(SOON * 2).ok();
        assert!(told.stdout.contains("is done"), "{told:#?}");
        let plan = far.robot(&["orchestrate", "status", &epic]);
        let tasks = plan["tasks"].as_array().unwrap().clone();
        let outcomes = |task: &Value| far.outcomes(task["atom_id"].as_str().unwrap());
        let mut all: Vec<_> = tasks.iter().map(outcomes).collect();
        all.sort_by_key(Vec::len);
        assert_eq!(all[..4], [["closed"]; 4]);
        assert_eq!(all[4], ["lost", "closed"]);
        assert!(far.robot(&["land", "--all"])["landed"].as_u64().unwrap() >= 5);
        assert_eq!(std::fs::read_to_string(far.project("table.txt")).unwrap().lines().count(), 3);
        assert!(far.project("checked.txt").exists());
        self.network.make("heal", "near");
        near.el(&["work", "--stop"]).ok();
        worker.wait(SOON).ok();
        assert_eq!(tasks.iter().map(outcomes).map(|all| all.len()).sum::<usize>(), 6);
    }
}

/// A task whose agent writes a file, on a machine that it may do so on.
fn writer<'a>(name: &'a str, waits_for: &'a [&'a str], command: &str) -> Task<'a> {
    let steps = [
        "sh while [ ! -e $HOME/calls/go ]; do sleep 0.1; done".to_owned(),
        format!("sh {command} > {name}.txt && git add . && git commit -q -m {name}"),
        "close done".to_owned(),
    ];
    Task(name, waits_for, steps.into())
}

const FIRST: [&str; 3] = ["green", "black", "herbs"];

#[test]
fn a_plan_over_two_machines_lands_though_one_is_cut_off_on_the_way() {
    let Some(mut fleet) = Fleet::begin() else { return };
    fleet.configure("");
    let mut tasks: Vec<_> =
        FIRST.iter().map(|name| writer(name, &[], &format!("echo {name}"))).collect();
    tasks.push(writer("table", &FIRST, "cat green.txt black.txt herbs.txt"));
    tasks.push(writer("checked", &["table"], "wc -l table.txt"));
    fleet.near.scripts(&tasks);
    fleet.far.scripts(&tasks);
    let go = fleet.far.home().join("calls/go");
    fleet.play(|| std::fs::write(go, "").unwrap());
}

#[test]
fn real_clients_bring_a_plan_to_its_end_though_one_of_two_machines_is_cut_off() {
    let Some(mut fleet) = Fleet::begin() else { return };
    fleet.configure("allowed_tools = [\"Bash(git *)\", \"Bash(cat *)\", \"Bash(wc *)\"]\n");
    let has_begun = fleet.near.path("out/begun");
    let task = |id: &str, waits_for: &[&str]| plans::task(id, waits_for);
    let mut far = vec![
        plans::analysis(5),
        plans::task_list(&[
            task("green", &[]),
            task("black", &[]),
            task("herbs", &[]),
            task("table", &FIRST),
            task("checked", &["table"]),
        ]),
        plans::question(
            "aggregation",
            &json!([{"text": plans::block("aggregation", &json!({"status": "success",
                "summary": "One guide", "output_files": []}))}]),
        ),
        plans::worker("table", json!({"bash": "cat green.txt black.txt herbs.txt > table.txt"})),
        plans::worker("checked", json!({"bash": "wc -l < table.txt > checked.txt"})),
    ];
    let mut near = Vec::new();
    for id in FIRST {
        let write = json!({"tool": "Write", "wait_file": has_begun,
            "input": {"file_path": format!("{id}.txt"), "content": format!("{id}\n")}});
        far.push(plans::worker(id, write));
        near.push(json!({"match": format!("the task `{id}`"),
            "steps": [{"hang": "pings", "repeat": 0, "touch": has_begun}]}));
    }
    let (near, far) = (json!({"routes": near}), json!({"routes": far}));
    let both = [(&mut fleet.near, &near), (&mut fleet.far, &far)];
    let Some(_apis) = RealClaude::start_where_they_are(both) else { return };
    fleet.play(|| {});
}
