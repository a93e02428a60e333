//! The cost of workers and supervisors, with the scripted agent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::measure::{ms, proc_kib};
use crate::project::Project;

const SESSIONS: usize = 50;

pub(crate) fn run() {
    settling();
    idle();
}

fn project_of(scripts: impl Iterator<Item = String>) -> Project {
    let project = Project::new();
    fs::create_dir(project.path("bin")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fake-agent"), project.path("bin/claude"))
        .unwrap();
    // Counts every call of tmux.
    let tmux = which("tmux");
    let wrapper = format!(
        "#!/bin/sh\necho x >> '{}'\nexec '{}' \"$@\"\n",
        project.path("tmux-calls").display(),
        tmux.display()
    );
    fs::write(project.path("bin/tmux"), wrapper).unwrap();
    fs::set_permissions(project.path("bin/tmux"), fs::Permissions::from_mode(0o755)).unwrap();
    for script in scripts {
        project.ok(&["create", "Bench", "-d", &script, "-q"]);
    }
    project
}

fn which(program: &str) -> PathBuf {
    std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .unwrap()
}

/// From the commit of `el close` to the settled run, and to the worker that knows it.
fn settling() {
    let count = 12;
    let project = project_of((0..count).map(|_| "script: close done".to_owned()));
    let begin = Instant::now();
    project.ok(&["work", "--drain", "--robot"]);
    let wall = begin.elapsed();
    let raw = rusqlite::Connection::open(project.folder().join(".eluent/el.db")).unwrap();
    let mut statement = raw
        .prepare(
            "SELECT r.ended_at - e.at FROM runs r JOIN events e ON e.atom_id = r.atom_id AND \
            e.kind = 'status' AND e.data LIKE '%\"to\":\"closed\"%' ORDER BY 1",
        )
        .unwrap();
    let micros: Vec<i64> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let time = |at: usize| ms(Duration::from_micros(u64::try_from(micros[at]).unwrap()));
    println!(
        "### From `el close` to the settled run (an agent that exits at once; {} runs)\n",
        micros.len()
    );
    println!(
        "| min ms | median ms | max ms | whole run, claim to next claim, ms |\n|---|---|---|---|"
    );
    println!(
        "| {} | {} | {} | {} |\n",
        time(0),
        time(micros.len() / 2),
        time(micros.len() - 1),
        ms(wall / count)
    );
}

/// Many sessions whose agents wait.
fn idle() {
    let project = project_of((0..SESSIONS).map(|_| "script: hang".to_owned()));
    let mut worker = project
        .el(&["work", "--concurrency", &SESSIONS.to_string(), "--robot"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let supervisors = wait_for_supervisors(&project, &mut worker);
    // Everything has started; now it only waits.
    std::thread::sleep(Duration::from_secs(5));
    let calls = tmux_calls(&project);
    let ticks = |pid: u32| -> u64 {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    let before = (ticks(worker.id()), supervisors.iter().map(|p| ticks(*p)).sum::<u64>());
    let seconds = 20;
    std::thread::sleep(Duration::from_secs(seconds));
    let after = (ticks(worker.id()), supervisors.iter().map(|p| ticks(*p)).sum::<u64>());
    let percent = |ticks: u64| ticks as f64 / seconds as f64;
    let memory = |pid: u32| {
        let rss = proc_kib(&PathBuf::from(format!("/proc/{pid}/status")), "VmRSS:");
        let pss = proc_kib(&PathBuf::from(format!("/proc/{pid}/smaps_rollup")), "Pss:");
        (rss, pss)
    };
    let all: Vec<(u64, u64)> = supervisors.iter().map(|p| memory(*p)).collect();
    let mean = |values: &mut dyn Iterator<Item = u64>| {
        values.sum::<u64>() as f64 / all.len() as f64 / 1024.0
    };
    println!("### {SESSIONS} sessions whose agents wait, over {seconds} s\n");
    println!("| | CPU % of one core | RSS MB | PSS MB |\n|---|---|---|---|");
    let (rss, pss) = memory(worker.id());
    println!(
        "| the worker | {:.1} | {:.1} | {:.1} |",
        percent(after.0 - before.0),
        rss as f64 / 1024.0,
        pss as f64 / 1024.0
    );
    println!(
        "| one supervisor (mean) | {:.2} | {:.1} | {:.1} |",
        percent(after.1 - before.1) / all.len() as f64,
        mean(&mut all.iter().map(|m| m.0)),
        mean(&mut all.iter().map(|m| m.1))
    );
    println!("\ntmux calls in these {} s: {}\n", seconds, tmux_calls(&project) - calls);
    project.ok(&["work", "--stop"]);
    worker.wait().unwrap();
}

fn wait_for_supervisors(project: &Project, worker: &mut Child) -> Vec<u32> {
    let raw = rusqlite::Connection::open(project.folder().join(".eluent/el.db")).unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    loop {
        assert!(worker.try_wait().unwrap().is_none(), "the worker ended");
        let mut statement = raw
            .prepare(
                "SELECT supervisor_pid FROM runs WHERE outcome IS NULL AND agent_pid IS NOT NULL",
            )
            .unwrap();
        let pids: Vec<u32> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        if pids.len() == SESSIONS {
            return pids;
        }
        assert!(Instant::now() < until, "only {} sessions started", pids.len());
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn tmux_calls(project: &Project) -> usize {
    fs::read_to_string(project.path("tmux-calls")).map_or(0, |text| text.lines().count())
}
