//! Two users' checkouts of an origin, on a single machine, with workers at once.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{SOON, TestEnv};

/// A user's checkout, with its own tracker.
struct Checkout<'a> {
    env: &'a TestEnv,
    folder: PathBuf,
}

impl<'a> Checkout<'a> {
    fn new(env: &'a TestEnv, name: &str) -> Self {
        let folder = env.path(name);
        env.git(&[
            "clone",
            "-q",
            env.path("tmp/origin").to_str().unwrap(),
            folder.to_str().unwrap(),
        ]);
        let new = Checkout { env, folder };
        new.robot(&["init", "--name", "t"]);
        fs::write(
            new.folder.join(".eluent/config.toml"),
            "lease = \"5s\"\nretry_backoff = \"0s\"\nclose_grace = \"1s\"\n",
        )
        .unwrap();
        new
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.env.command("el");
        command.arg("--robot").args(words).current_dir(&self.folder);
        command
    }

    fn robot(&self, words: &[&str]) -> Value {
        self.env.run(&mut self.command(words)).ok().json()["data"].take()
    }

    fn git(&self, words: &[&str]) -> String {
        self.env.git(&[&["-C", self.folder.to_str().unwrap()], words].concat())
    }

    /// Atoms that each write a file of this name and number.
    fn fill(&self, name: &str, many: usize) {
        for n in 0..many {
            let write = format!(
                "sh echo {name} > {name}{n}.txt && git add . && git commit -q -m {name}{n}"
            );
            self.robot(&[
                "create",
                "--title",
                name,
                "-d",
                &TestEnv::script(&[&write, "close done"]),
            ]);
        }
    }
}

#[test]
fn each_works_and_lands_in_its_own_and_the_second_builds_on_what_the_first_pushed() {
    let env = TestEnv::new();
    let origin = env.path("tmp/origin");
    env.git(&["init", "-q", "--bare", origin.to_str().unwrap()]);
    env.git(&["clone", "-q", origin.to_str().unwrap(), "."]);
    fs::write(env.project("base.txt"), "base\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "-q", "-m", "base"]);
    env.git(&["push", "-q", "origin", "main"]);
    let [left, right] = ["left", "right"].map(|name| Checkout::new(&env, name));
    left.fill("left", 3);
    right.fill("right", 3);
    let words = ["work", "--drain", "--concurrency", "3"];
    let workers = [&left, &right].map(|one| env.start(&mut one.command(&words)));
    for worker in workers {
        worker.wait(SOON).ok();
    }
    let landing = [&left, &right].map(|one| env.start(&mut one.command(&["land", "--all"])));
    for land in landing {
        assert_eq!(land.wait(SOON).ok().json()["data"]["landed"], 3);
    }
    for (one, own, other) in [(&left, "left", "right"), (&right, "right", "left")] {
        assert_eq!(one.robot(&["worktrees"])["count"], 3);
        assert!(
            one.folder.join(format!("{own}2.txt")).is_file()
                && !one.folder.join(format!("{other}0.txt")).exists()
        );
        assert_eq!(one.git(&["rev-list", "--count", "main"]), "4");
    }
    left.git(&["push", "-q", "origin", "main"]);
    right.git(&["pull", "-q", "--rebase", "origin", "main"]);
    assert!(right.folder.join("left0.txt").is_file() && right.folder.join("right0.txt").is_file());
    // Landed work counts as landed even after the user has rewritten it.
    assert_eq!(right.robot(&["land", "--all"])["count"], 0);
    for one in [&left, &right] {
        assert_eq!(one.robot(&["worktrees", "prune"])["count"], 3);
        assert_eq!(one.git(&["branch", "--list", "el/*"]), "");
    }
}

#[test]
fn two_trackers_in_worktrees_of_one_repository_leave_each_others_branches_alone() {
    let env = TestEnv::with_repository("");
    let folder = env.path("second");
    env.git(&["worktree", "add", "-q", "-b", "second", folder.to_str().unwrap()]);
    let second = Checkout { env: &env, folder };
    second.robot(&["init", "--name", "s", "--nested"]);
    fs::write(second.folder.join(".eluent/config.toml"), "lease = \"5s\"\nclose_grace = \"1s\"\n")
        .unwrap();
    second.robot(&["trust", "--yes"]);
    let first = env.writer("first.txt", "x");
    second.fill("second", 1);
    env.work(&["--drain", "--isolate", "worktree"]);
    env.run(&mut second.command(&["work", "--drain", "--isolate", "worktree"])).ok();
    assert_eq!(env.robot(&["land", "--all"])["landed"], 1);
    assert_eq!(second.robot(&["land", "--all"])["landed"], 1);
    assert!(env.project("first.txt").is_file() && !env.project("second0.txt").exists());
    assert!(
        second.folder.join("second0.txt").is_file() && !second.folder.join("first.txt").exists()
    );
    let kept = env.robot(&["worktrees", "prune"]);
    assert_eq!(
        (&kept["count"], &kept["pruned"][0]["atom_id"]),
        (&1.into(), &Value::from(first.as_str()))
    );
    assert!(kept["kept"][0]["reason"].as_str().unwrap().contains("does not know"), "{kept:#}");
}
