//! The tracker's commands at several sizes.

use std::time::Instant;

use crate::measure::{cost, cost_fed, row};
use crate::project::Project;

const RUNS: usize = 15;

pub(crate) fn run() {
    for count in [1_000, 10_000, 100_000] {
        let project = Project::new();
        let begin = Instant::now();
        project.fill(count);
        println!(
            "### {count} atoms, one in twenty open (filed in one call: {:.1} s)\n",
            begin.elapsed().as_secs_f64()
        );
        commands(&project);
        println!();
    }
    let project = Project::new();
    project.fill(10_000);
    project.block(10_000);
    println!("### 10,000 blocked atoms at the head of the queue, 500 ready behind them\n");
    header();
    for (name, arguments) in [
        ("ready --limit 50 --robot", &["ready", "--limit", "50", "--robot"][..]),
        ("next --robot", &["next", "--robot"]),
    ] {
        row(name, &cost(RUNS, || project.el(arguments)));
    }
    println!();
}

fn header() {
    println!(
        "| command | min ms | median ms | instructions | peak memory |\n|---|---|---|---|---|"
    );
}

fn commands(project: &Project) {
    header();
    let id = project.an_id();
    row("--version", &cost(RUNS, || project.el(&["--version"])));
    row("show ID --robot", &cost(RUNS, || project.el(&["show", &id, "--robot"])));
    row(
        "ready --limit 50 --robot",
        &cost(RUNS, || project.el(&["ready", "--limit", "50", "--robot"])),
    );
    row(
        "list --limit 50 --robot",
        &cost(RUNS, || project.el(&["list", "--limit", "50", "--robot"])),
    );
    row("list --robot (all open)", &cost(RUNS, || project.el(&["list", "--robot"])));
    row(
        "search parser --limit 20",
        &cost(RUNS, || project.el(&["search", "parser", "--limit", "20", "--robot"])),
    );
    row("create", &cost(RUNS, || project.el(&["create", "One more", "-q"])));
    let mut ids: Vec<String> =
        project.ok(&["list", "--limit", "40", "-q"]).lines().map(str::to_owned).collect();
    let close = || project.el(&["close", &ids.pop().unwrap(), "--reason", "done", "-q"]);
    row("close ID", &cost(RUNS, close));
    // Every write is cheaper while another process has the database open, as a worker has.
    let holder = rusqlite::Connection::open(project.folder().join(".eluent/el.db")).unwrap();
    let _: i64 = holder.query_row("SELECT count(*) FROM meta", [], |r| r.get(0)).unwrap();
    row("create, while a worker runs", &cost(RUNS, || project.el(&["create", "One more", "-q"])));
    drop(holder);
    hooks(project);
}

/// Measures the hooks of an agent's session while another conversation has claimed every sixth open
/// atom.
fn hooks(project: &Project) {
    project.claim_some();
    let input = project.path("input.json");
    std::fs::write(&input, r#"{"session_id":"another"}"#).unwrap();
    row("hook session-start", &cost_fed(RUNS, &input, || project.el(&["hook", "session-start"])));
    row("hook stop, nothing claimed", &cost_fed(RUNS, &input, || project.el(&["hook", "stop"])));
}
