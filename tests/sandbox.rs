//! The sandbox around agents, checks and setups.

mod attacks;
mod branches;
mod builds;
mod leftovers;
mod modes;
mod neighbours;
mod places;
mod programs;
mod repositories;
mod second_layer;
mod trackers;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{TestEnv, bubblewrap_works};

/// Returns true if this machine can make a sandbox. `EL_REQUIRE_SANDBOX` says that it has to.
fn has_bubblewrap() -> bool {
    let works = bubblewrap_works();
    if !works {
        let is_wanted = std::env::var_os("EL_REQUIRE_SANDBOX").is_some();
        assert!(!is_wanted, "bubblewrap does not work here, and the tests of the sandbox need it");
        eprintln!("skipped: bubblewrap does not work here");
    }
    works
}

impl TestEnv {
    /// A repository of its own with an agent that runs a shell script in the sandbox. `None`: this
    /// machine cannot make one.
    fn with_sandbox(configuration: &str) -> Option<TestEnv> {
        if !has_bubblewrap() {
            return None;
        }
        let mut env = TestEnv::with_repository(&format!(
            "executor = \"command\"\ncommand = \"agent.sh\"\nmax_attempts = 1\n{configuration}"
        ));
        env.set("EL_SANDBOX", "strict").unset("EL_SANDBOX_WRITE");
        Some(env)
    }

    /// Runs one atom, whose agent runs this script and then closes it. Nothing outside changes, and
    /// the run is settled like any other. The script's output.
    #[track_caller]
    fn attack(&self, script: &str) -> String {
        self.agent_script(script);
        let before = self.outside_state();
        let id = self.create("attack", &[]);
        if self.robot(&["runs"])["items"] == Value::Array(Vec::new()) {
            self.assert_refused_in_container();
        }
        self.work(&["--drain"]);
        let run = self.last_run(&id);
        assert_eq!(self.status(&id), "closed", "{run:#?}");
        let said = self.read_run_file(&run, "transcript.jsonl");
        self.assert_settled(&run);
        self.assert_unchanged(&before, &said);
        said
    }

    fn agent_script(&self, script: &str) {
        let script = format!(
            "#!/bin/sh\ncat > /dev/null\nexec 2>&1\n{script}\nel close \"$EL_ATOM\" --reason done\n"
        );
        self.program("agent.sh", &script);
        // The client's own state, which a run makes.
        fs::create_dir_all(self.home().join(".claude/projects")).unwrap();
    }

    /// Kind, mode and content of every file that no agent is given and that nobody else changes
    /// during the run.
    fn outside_state(&self) -> BTreeMap<PathBuf, String> {
        let given = [
            "out",
            "tmp",
            "tmux",
            // The tests open these folders by sandbox_write.
            "home/.cache",
            "home/.cargo",
            "home/.npm",
            "home/.tool",
            "home/.claude/projects",
            "home/.local/state/el/backups",
            "project/.eluent",
            "project/.git/index",
            "project/.git/objects",
            "project/.git/logs",
            "project/.git/worktrees",
            "project/.git/refs/heads/el",
            "project/.git/refs/el",
        ];
        let mut found = BTreeMap::new();
        let mut todo = vec![self.path("")];
        while let Some(folder) = todo.pop() {
            for path in fs::read_dir(&folder).into_iter().flatten().map(|e| e.unwrap().path()) {
                let below = path.strip_prefix(self.path("")).unwrap().to_owned();
                // The sandbox makes these, empty.
                let is_pinned = ["packed-refs", "config.worktree", "el-branch-prefixes"]
                    .iter()
                    .any(|name| below.ends_with(name));
                if given.iter().any(|given| below == Path::new(given)) || is_pinned {
                    continue;
                }
                let is = fs::symlink_metadata(&path).unwrap();
                let content = if is.is_symlink() {
                    fs::read_link(&path).unwrap().display().to_string()
                } else if is.is_dir() {
                    todo.push(path);
                    String::new()
                } else if is.is_file() {
                    String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
                } else {
                    "special".to_owned()
                };
                found.insert(below, format!("{:o} {content}", is.mode()));
            }
        }
        let config = fs::read_to_string(self.project(".eluent/config.toml")).unwrap();
        found.insert("config.toml".into(), config);
        found
    }

    /// Checks that nothing outside has changed. In a shared folder, the files of the project are
    /// the agent's to write, but for the repository.
    #[track_caller]
    fn assert_unchanged(&self, before: &BTreeMap<PathBuf, String>, said: &str) {
        let after = self.outside_state();
        let project = self.project("");
        let runs = self.robot(&["runs"])["items"].take();
        let is_in_project =
            |run: &Value| Path::new(run["workdir"].as_str().unwrap_or_default()) == project;
        let is_shared = runs.as_array().unwrap().iter().any(is_in_project);
        // Where there was none, an agent can make one.
        let had_repository = before.contains_key(Path::new("project/.git/HEAD"));
        let is_given = |path: &Path| {
            let is_repository = had_repository && path.starts_with("project/.git");
            is_shared && path.starts_with("project") && !is_repository
        };
        let changed: Vec<_> = before
            .iter()
            .filter(|(path, was)| after.get(*path) != Some(was))
            .chain(after.iter().filter(|(path, _)| !before.contains_key(*path)))
            .filter(|(path, _)| !is_given(path))
            .collect();
        assert!(changed.is_empty(), "{changed:#?}\n{said}");
    }
}
