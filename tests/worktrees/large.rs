//! A repository with many files; `scripts/measure-worktrees` measures fifty thousand.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::TestEnv;

#[test]
fn many_files_cost_seconds_and_no_lease() {
    let env = TestEnv::with_repository("isolate = \"worktree\"\n");
    for folder in 0..30 {
        let at = env.project(format!("src/{folder}"));
        fs::create_dir_all(&at).unwrap();
        (0..100).for_each(|n| {
            fs::write(at.join(format!("{n}.txt")), format!("{folder} {n}\n")).unwrap()
        });
    }
    env.git(&["add", "src"]);
    env.git(&["commit", "-q", "-m", "many"]);
    let id = env.writer("new.txt", "x");
    let began = Instant::now();
    env.work(&["--once"]);
    assert_eq!(env.outcomes(&id), ["closed"]);
    assert!(env.project(".eluent/worktrees").join(&id).join("src/29/99.txt").is_file());
    assert_eq!(env.robot(&["land", &id])["landed"], 1);
    assert_eq!(env.robot(&["worktrees", "prune"])["count"], 1);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}
