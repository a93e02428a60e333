//! A plan of a hundred tasks, sixteen at a time, each in a worktree, while agents fail and hang,
//! and agents, supervisors and the driving process are killed. In the end every task is done, given
//! up, or waits for a task that was given up; no task began before its dependencies were over; each
//! worktree and branch belongs to a task; no process runs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::db::{Db, EventRow, RunRow};
use crate::procs::{scan, send};
use crate::rng::Rng;
use crate::scratch::{Ran, Scratch, ended};
use crate::verify::story;

const CONCURRENCY: &str = "16";
/// The time limit for the whole plan, on a busy machine.
const AT_MOST: Duration = Duration::from_secs(300);
const SETTINGS: &str = "isolate = \"worktree\"\nlease = \"5s\"\nretry_backoff = \"0s\"\n\
    close_grace = \"1s\"\nexecution_timeout = \"8s\"\n\
                        max_attempts = 4\nagent = \"claude\"\n";

/// How the agent of a task is.
const KINDS: &[(u64, &str)] = &[
    (71, "quick"),
    (8, "fails"),
    (6, "crashes"),
    (4, "hangs"),
    (6, "forgets"),
    (4, "slow"),
    (1, "never"),
];

struct Plan {
    scratch: Scratch,
    faults: Vec<String>,
    counts: BTreeMap<String, u64>,
}

/// Runs the plan. Returns the number of faults.
pub(crate) fn run(seed: u64, tasks: usize, strikes: u64) -> usize {
    let began = Instant::now();
    let mut rng = Rng::new(seed, 77);
    let mut scratch = Scratch::new();
    let answers = scratch.root().join("log/answers");
    scratch.set("FAKE_AGENT_ANSWERS", answers.to_str().unwrap());
    prepare(&scratch, &answers, &mut rng, tasks);
    let mut plan = Plan { scratch, faults: Vec::new(), counts: BTreeMap::new() };
    let ran = plan.drive(&mut rng, strikes);
    let worked = began.elapsed();
    if let Some(ran) = ran {
        plan.judge(&ran, tasks);
    }
    let scratch = plan.scratch;
    for fault in &plan.faults {
        println!(
            "VIOLATION, --plan {tasks} --seed {seed}: {fault}\n  kept: {}",
            scratch.root().display()
        );
    }
    for (what, count) in &plan.counts {
        println!("{count:>7}  {what}");
    }
    println!(
        "plan: {tasks} tasks, {CONCURRENCY} at a time, {} fault(s), {:.0} s, {:.0} s of them at \
         work",
        plan.faults.len(),
        began.elapsed().as_secs_f64(),
        worked.as_secs_f64()
    );
    scratch.end(!plan.faults.is_empty());
    plan.faults.len()
}

/// A repository with a commit, and the answers for the agents of the questions.
fn prepare(scratch: &Scratch, answers: &Path, rng: &mut Rng, tasks: usize) {
    let project = scratch.root().join("p");
    fs::write(
        scratch.root().join("home/.gitconfig"),
        "[user]\n name = A\n email = a@example.com\n[init]\n defaultBranch = main\n",
    )
    .unwrap();
    let config = scratch.state().join("config.toml");
    let path = fs::read_to_string(&config).unwrap().lines().last().unwrap().to_owned();
    fs::write(config, format!("{SETTINGS}{path}\n")).unwrap();
    scratch.el(&["trust", "--yes"]).data();
    fs::write(project.join("base.txt"), "base\n").unwrap();
    for arguments in [&["init", "-q"][..], &["add", "base.txt"], &["commit", "-q", "-m", "base"]] {
        git(scratch, arguments);
    }
    fs::create_dir(answers).unwrap();
    let list: Vec<Value> = (0..tasks).map(|n| task(rng, n)).collect();
    fs::write(answers.join("tasks.json"), json!({ "tasks": list }).to_string()).unwrap();
    let write = |name: &str, text: &str| fs::write(answers.join(name), text).unwrap();
    write("analysis", "answer analysis {\"summary\": \"much\", \"recommended_splits\": 100}\n");
    write(
        "task_list",
        &format!("answer-file task_list {}\n", answers.join("tasks.json").display()),
    );
    write(
        "aggregation",
        "answer aggregation {\"status\": \"success\", \"summary\": \"one whole\"}\n",
    );
}

fn task(rng: &mut Rng, n: usize) -> Value {
    let mut before = HashSet::new();
    if n > 0 && rng.chance(70) {
        for _ in 0..rng.range(1, 4) {
            before
                .insert(usize::try_from(rng.range(n.saturating_sub(30) as u64, n as u64)).unwrap());
        }
    }
    let kind = *rng.weighted(KINDS);
    let mut steps: Vec<String> = Vec::new();
    let again = match kind {
        "fails" => Some("exit 3"),
        "crashes" => Some("die KILL"),
        "hangs" => Some("hang"),
        "forgets" => Some("say I think that is all"),
        "slow" => {
            steps.push(format!("sleep {}", rng.range(500, 3_000)));
            None
        }
        "never" => {
            steps.push("exit 1".to_owned());
            None
        }
        _ => None,
    };
    if let Some(first) = again {
        steps.extend([first.to_owned(), "on-attempt 2".to_owned()]);
    }
    // The dependencies' files exist; the remains of a killed attempt are no obstacle.
    let there: String = before
        .iter()
        .map(|m| format!("test -f t{m}.txt || echo t{n} has no t{m} >> \"$STRESS_LOG/order\"; "))
        .collect();
    steps.push(format!(
        "sh {there}echo {n} > t{n}.txt; git add t{n}.txt; git diff --cached --quiet \
        || git commit -q -m t{n}"
    ));
    steps.push(format!(
        "sh git show HEAD:t{n}.txt > /dev/null && el close \"$EL_ATOM\" --reason done"
    ));
    if kind == "forgets" {
        // The agent is sent back within its first attempt.
        let at = steps.iter().position(|step| step == "on-attempt 2").unwrap();
        let work = steps[at + 1..].to_vec();
        steps[at] = "on-resume".to_owned();
        steps.push("on-attempt 2".to_owned());
        steps.extend(work);
    }
    json!({
        "id": format!("t{n}"), "title": format!("t{n} {kind}"),
        "description": steps.iter().map(|step| format!("script: {step}\n")).collect::<String>(),
        "dependencies": before.iter().map(|m| format!("t{m}")).collect::<Vec<_>>(),
            "priority": rng.range(1, 11),
    })
}

fn git(scratch: &Scratch, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(scratch.root().join("p"))
        .env("HOME", scratch.root().join("home"));
    let ran = scratch.run(&mut command);
    assert_eq!(ran.status, 0, "git {arguments:?}: {ran:?}");
    ran.stdout
}

impl Plan {
    fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    fn epic(&self) -> Option<String> {
        let ran = self.scratch.el(&["orchestrate", "status"]);
        Some(ran.data()["items"][0]["epic_id"].as_str()?.to_owned())
    }

    /// Drives the plan to its end under so many strikes. Returns the end of the last driving
    /// process.
    fn drive(&mut self, rng: &mut Rng, mut strikes: u64) -> Option<Ran> {
        let db = self.scratch.place.open();
        let end = Instant::now() + AT_MOST;
        let mut words = vec!["orchestrate".to_owned(), "Make a hundred things".to_owned()];
        loop {
            let arguments: Vec<&str> =
                words.iter().map(String::as_str).chain(["--concurrency", CONCURRENCY]).collect();
            let (mut child, output) = self.scratch.start(&mut self.scratch.command(&arguments));
            let mut next = Instant::now() + Duration::from_millis(rng.range(600, 2_000));
            let ran = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break ended(status, &output);
                }
                if Instant::now() > end {
                    let _ = child.kill();
                    let _ = child.wait();
                    self.faults.push(format!("it does not end: {:?}", db.live()));
                    return None;
                }
                if strikes > 0 && Instant::now() > next {
                    strikes -= u64::from(self.strike(&db, rng, child.id()));
                    next = Instant::now() + Duration::from_millis(rng.range(200, 1_200));
                }
                std::thread::sleep(Duration::from_millis(20));
            };
            if ran.status != 137 {
                return Some(ran);
            }
            words = match self.epic() {
                Some(epic) => vec!["orchestrate".to_owned(), "resume".to_owned(), epic],
                None => words,
            };
        }
    }

    /// Kills a process of the plan. Returns true if there was a target.
    fn strike(&mut self, db: &Db, rng: &mut Rng, driver: u32) -> bool {
        let live = db.live();
        let what = *rng.weighted(&[(6, "agent"), (5, "supervisor"), (1, "driver")]);
        // A process with our mark is ours; the pid may belong to another process by now.
        let kill = |pids: Vec<u32>, rng: &mut Rng| {
            let there: Vec<_> = scan(&self.scratch.marks)
                .into_iter()
                .filter(|process| pids.contains(&process.pid))
                .collect();
            rng.pick(&there).is_some_and(|process| process.signal(Signal::KILL))
        };
        let was_there = match what {
            "agent" => kill(live.iter().filter_map(|run| run.agent).collect(), rng),
            "supervisor" => kill(live.iter().filter_map(|run| run.supervisor).collect(), rng),
            _ => send(driver, Signal::KILL),
        };
        if was_there {
            self.count(&format!("{what}s killed"));
        }
        was_there
    }

    fn judge(&mut self, ran: &Ran, tasks: usize) {
        if ran.status != 0 && ran.status != 4 {
            self.faults.push(format!("it ended with {}: {ran:#?}", ran.status));
        }
        let db = self.scratch.place.open();
        let (events, runs, bonds) = (db.events(), db.runs(), db.blocking());
        let mut titles = HashSet::new();
        let statuses: HashMap<String, String> = db.atoms().into_iter().collect();
        for (atom, title) in db.planned() {
            if !titles.insert(title.clone()) {
                self.faults.push(format!("{title} was filed twice"));
            }
            let before: Vec<&str> =
                bonds.iter().filter(|(_, to)| *to == atom).map(|(from, _)| from.as_str()).collect();
            let status = statuses[&atom].as_str();
            let may_begin = before.iter().all(|id| statuses[*id] == "closed");
            match status {
                "closed" | "blocked" => self.count(&format!("tasks that ended as {status}")),
                "open" if !may_begin => self.count("tasks that wait for one that was given up"),
                _ => self
                    .faults
                    .push(format!("{title} ({atom}) ended as {status}\n{}", db.story(&atom))),
            }
            for fault in order(&events, &atom, &before) {
                self.faults.push(format!("{title}: {fault}"));
            }
            let of_atom: Vec<&EventRow> =
                events.iter().filter(|event| event.atom == atom).collect();
            let of_atom_runs: Vec<&RunRow> = runs.iter().filter(|run| run.atom == atom).collect();
            if let Err(what) = story(&of_atom, &of_atom_runs, status) {
                self.faults.push(format!("{title}: {what}\n{}", db.story(&atom)));
            }
        }
        if titles.len() != tasks {
            self.faults.push(format!("{} of {tasks} tasks are filed", titles.len()));
        }
        for run in &runs {
            self.count(&format!(
                "runs that ended as {}",
                run.outcome.as_deref().unwrap_or("nothing")
            ));
        }
        for line in self.scratch.log("order") {
            self.faults
                .push(format!("what it builds on is not in its worktree: {}", line.join(" ")));
        }
        self.worktrees(&runs);
        self.leftovers();
    }

    /// Checks that every worktree and branch belongs to an atom with a run, and the reverse, and
    /// that finished work is on the branches.
    fn worktrees(&mut self, runs: &[RunRow]) {
        let worked: HashSet<&str> = runs.iter().map(|run| run.atom.as_str()).collect();
        let branches =
            git(&self.scratch, &["for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/el/"]);
        let branches: HashSet<&str> = branches.lines().collect();
        let folders = git(&self.scratch, &["worktree", "list", "--porcelain"]);
        let folders: HashSet<&str> =
            folders.lines().filter_map(|line| line.strip_prefix("branch refs/heads/el/")).collect();
        if branches != folders || !branches.is_subset(&worked) {
            self.faults.push(format!(
                "branches {branches:?}, worktrees {folders:?}, worked on {worked:?}"
            ));
        }
        *self.counts.entry("worktrees with their branches".to_owned()).or_default() +=
            folders.len() as u64;
    }

    fn leftovers(&mut self) {
        let end = Instant::now() + Duration::from_secs(8);
        loop {
            let left = scan(&self.scratch.marks);
            if left.is_empty() {
                return;
            }
            if Instant::now() > end {
                let lines: Vec<String> = left.iter().map(crate::procs::Proc::line).collect();
                self.faults.push(format!("left running: {lines:#?}"));
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Returns the runs that began before a dependency of their atom was over.
fn order(events: &[EventRow], atom: &str, before: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    for began in events.iter().filter(|event| event.atom == atom && event.kind == "run_started") {
        for id in before {
            let last = events.iter().rfind(|event| {
                event.atom == *id && event.kind == "status" && event.seq < began.seq
            });
            if last.is_none_or(|event| event.data["to"] != "closed") {
                faults.push(format!("event {} is its beginning, and {id} was not over", began.seq));
            }
        }
    }
    faults
}
