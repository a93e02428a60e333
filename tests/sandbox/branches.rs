//! The branch of a run: its commits come, whatever happens outside meanwhile, and no other branch
//! moves.

use rustix::process::Signal;

use super::places::WORKTREES;
use crate::support::{Process, Running, SOON, TestEnv, wait_until};

/// Waits in an agent's script until the test goes on.
const WAIT: &str = "touch ready; for i in $(seq 600); do [ -e go ] && break; sleep 0.1; done";

impl TestEnv {
    /// The atom, once its agent waits in its worktree.
    fn wait_for_agent(&self, script: &str) -> (Running, String) {
        self.agent_script(script);
        let id = self.create("commit", &[]);
        let worker = self.start_work(&["--drain"]);
        self.wait_for_file(self.worktree_file(&id, "ready"));
        (worker, id)
    }

    fn process(&self, pid: &str) -> Process {
        let found = self.processes().into_iter().find(|process| process.pid.to_string() == pid);
        found.unwrap()
    }

    fn worktree_file(&self, id: &str, name: &str) -> std::path::PathBuf {
        self.project(format!(".eluent/worktrees/{id}/{name}"))
    }
}

#[test]
fn it_commits_amends_and_stashes_and_moves_no_other_branch() {
    for place in WORKTREES {
        let Some(mut env) = place.prepare("") else { return };
        for branch in ["el/other", "el/packed"] {
            env.git(&["branch", branch]);
        }
        env.git(&["pack-refs", "--all"]);
        env.git(&["branch", "el/loose"]);
        if !place.hand_over(&mut env) {
            continue;
        }
        let branches = ["--format=%(refname) %(objectname)", "refs/heads/el", "refs/heads/main"];
        let list = || env.git(&[&["for-each-ref"][..], &branches].concat());
        let before = list();
        let (_worker, id) = env.wait_for_agent(&format!(
            "echo one > one; git add one; git commit -q -m first; git commit -q --amend -m one
             {WAIT}
             echo two > two; git add two; git commit -q -m two; git merge -q el/loose
             echo dirty > base.txt; git stash -q; cat base.txt; git stash pop -q; cat base.txt
             git checkout -q base.txt
             common=$(git rev-parse --git-common-dir)
             for branch in other packed loose new; do
               git branch -f el/$branch HEAD; git update-ref refs/heads/el/$branch HEAD
               git rev-parse HEAD > $common/refs/heads/el/$branch; git branch -D el/$branch
             done
             git branch elsewhere; git tag mine; git stash list; rm -f ready go"
        ));
        // A person tidies up meanwhile: the branch is taken over already, and packed now.
        let tip = || env.git(&["log", "--format=%s", &format!("el/{id}")]);
        wait_until("the first commit outside", SOON, || (tip() == "one\nbase").then_some(()));
        env.git(&["gc", "-q"]);
        env.git(&["pack-refs", "--all", "--prune"]);
        std::fs::write(env.worktree_file(&id, "go"), "").unwrap();
        env.wait_for_status(&id, "closed");
        let run = env.wait_for_end(&id, 1);
        let said = env.read_run_file(&run, "transcript.jsonl");
        assert_eq!(tip(), "two\none\nbase", "{said}");
        assert!(said.contains("base\ndirty\n"), "{said}");
        let after: Vec<String> =
            list().lines().filter(|line| !line.contains(&id)).map(str::to_owned).collect();
        assert_eq!(after.join("\n"), before, "{said}");
        assert_eq!(env.git(&["stash", "list"]) + &env.git(&["tag"]), "", "{said}");
        assert!(!env.git(&["branch", "-a"]).contains("elsewhere"), "{said}");
        env.git(&["fsck", "--strict"]);
        assert_eq!(env.robot(&["land", "--all"])["landed"], 1, "{said}");
    }
}

#[test]
fn a_commit_stays_when_the_supervisor_is_killed() {
    let Some(env) = TestEnv::with_sandbox("isolate = \"worktree\"\n") else { return };
    let (_worker, id) = env.wait_for_agent(&format!(
        "{WAIT}; echo one > one; git add one; git commit -q -m one; touch done; sleep 600"
    ));
    let supervisor = env.process(&env.last_run(&id)["supervisor"]["pid"].to_string());
    // Tmux would wake a stopped pane.
    let server = env.process(env.tmux(&["display-message", "-p", "#{pid}"]).unwrap().trim());
    server.signal(Signal::STOP);
    supervisor.signal(Signal::STOP);
    std::fs::write(env.worktree_file(&id, "go"), "").unwrap();
    env.wait_for_file(env.worktree_file(&id, "done"));
    let tip = || env.git(&["log", "--format=%s", &format!("el/{id}")]);
    assert_eq!(tip(), "base");
    supervisor.signal(Signal::KILL);
    server.signal(Signal::CONT);
    env.wait_for_end(&id, 1);
    assert_eq!(tip(), "one\nbase");
}
