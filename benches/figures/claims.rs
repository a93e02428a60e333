//! Claims a second, by processes that claim and close as fast as they can.

use std::process::Stdio;
use std::time::Instant;

use crate::project::Project;

pub(crate) fn run() {
    println!("### Claims by several processes at once (`el next --claim`, one process a claim)\n");
    println!("| processes | claims | claims a second | slowest ms |\n|---|---|---|---|");
    for processes in [1_usize, 8, 32] {
        let project = Project::new();
        let each = 96 / processes.min(96);
        let count = processes * each;
        project.fill(count * 20);
        let begin = Instant::now();
        let slowest = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..processes)
                .map(|n| {
                    let project = &project;
                    scope.spawn(move || {
                        let actor = format!("agent-{n}");
                        let mut slowest = std::time::Duration::ZERO;
                        for _ in 0..each {
                            let begin = Instant::now();
                            let status = project
                                .el(&["next", "--claim", "--robot", "--actor", &actor])
                                .stdout(Stdio::null())
                                .status()
                                .unwrap();
                            assert!(status.success());
                            slowest = slowest.max(begin.elapsed());
                        }
                        slowest
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).max().unwrap()
        });
        let wall = begin.elapsed();
        let raw = rusqlite::Connection::open(project.folder().join(".eluent/el.db")).unwrap();
        let claimed: i64 = raw
            .query_row("SELECT count(*) FROM atoms WHERE status = 'in_progress'", [], |r| r.get(0))
            .unwrap();
        assert_eq!(usize::try_from(claimed), Ok(count), "each claim has one winner");
        println!(
            "| {processes} | {count} | {:.0} | {:.0} |",
            count as f64 / wall.as_secs_f64(),
            slowest.as_secs_f64() * 1000.0
        );
    }
    println!();
}
