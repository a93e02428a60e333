//! Traps that an agent leaves for programs outside: links that they would write through, and
//! folders that they would work in.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::places::{EVERYWHERE, SHARED};

/// Git writes the log of the head and the message of a commit into files of the worktree's own git
/// folder, which the agent can write.
#[test]
fn no_git_outside_writes_through_its_links() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        let mine = env.home().join("mine");
        fs::write(&mine, "mine").unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        let said = env.attack(&format!(
            "echo work > work.txt; git add work.txt; git commit -q -m work
             git checkout -q --detach; echo more > more.txt; git add .; git commit -q -m more
             own=$(git rev-parse --git-dir)
             for name in HEAD index; do cp $own/$name $own/$name.away; done
             for name in COMMIT_EDITMSG ORIG_HEAD FETCH_HEAD MERGE_MSG AUTO_MERGE \\
               SQUASH_MSG gc.pid logs/HEAD HEAD.lock index.lock sharedindex.1; do
               ln -sf {mine} $own/$name; readlink $own/$name
             done
             ln -s {home} $own/logs/refs; mkfifo $own/BISECT_LOG
             el close $EL_ATOM --reason done",
            mine = mine.display(),
            home = env.home().display(),
        ));
        // Without a worktree, git's folder is read-only.
        let count = if place.is_worktree() { 11 } else { 0 };
        let links = said.lines().filter(|line| Path::new(line) == mine);
        assert_eq!(links.count(), count, "{said}");
        let id = env.robot(&["list", "--all"])["items"][0]["id"].take();
        let id = id.as_str().unwrap();
        let notes = env.last_run(id)["sandbox_notes"].to_string();
        assert_eq!(notes.contains(" a link to "), place.is_worktree(), "{notes}\n{said}");
        let mut folder = env.project("");
        if place.is_worktree() {
            folder = env.project(format!(".eluent/worktrees/{id}"));
            // El's own git has moved the branch to the work, and a person goes on with it.
            assert_eq!(env.git(&["log", "--format=%s", &format!("el/{id}")]), "more\nwork\nbase");
        }
        let in_folder = |words: &[&str]| {
            env.git(&[&["-C", folder.to_str().unwrap()][..], words].concat());
        };
        in_folder(&["commit", "--allow-empty", "-q", "-m", "mine"]);
        in_folder(&["reset", "-q", "--hard", "HEAD"]);
        in_folder(&["fetch", "-q", ".", "main"]);
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine", "{said}");
        assert!(!env.home().join("heads").exists());
        let landed = env.robot(&["land", "--all"])["landed"].take();
        assert_eq!(landed, u8::from(place.is_worktree()), "{said}");
    }
}

/// The folder of a task is the agent's to write. It names folders that decide what runs, or makes
/// one of its own a link before the task begins.
#[test]
fn it_has_nobody_work_in_a_folder_that_is_not_given() {
    for place in SHARED {
        let Some(mut env) = place.prepare("") else { return };
        fs::create_dir(env.path("other")).unwrap();
        env.git(&["init", "-q", env.path("other").to_str().unwrap()]);
        let home = env.home();
        env.agent_script(&format!(
            "if [ ! -e base.txt ]; then
                   touch intruder; echo 'x' > objects/intruder; ls > objects/intruder
                   el close $EL_ATOM --reason intruded; exit
                 fi
                 mkdir -p sub linked gone made
                 for folder in {project}/.git {project}/.git/hooks {project}/.eluent \\
                   {project}/.eluent/runs {home} {other}; do
                   el run 'do it' --workdir $folder; echo refused=$?
                 done
                 for folder in sub linked gone made; do
                   el run 'do it' --workdir $PWD/$folder; echo filed=$?
                 done
                 rmdir sub gone; ln -s {home} sub
                 rmdir linked; ln -s {project}/.git/hooks linked
                 mkdir made/own; echo 'ref: refs/heads/el/x' > made/own/HEAD
                 echo 'gitdir: {project}/made/own' > made/.git
                 echo {other}/.git > made/own/commondir
                 echo {project}/made/.git > made/own/gitdir",
            project = env.project("").display(),
            home = home.display(),
            other = env.path("other").display(),
        ));
        if !place.hand_over(&mut env) {
            continue;
        }
        let before = env.outside_state();
        let id = env.create("attack", &[]);
        env.assert_refused_in_container();
        // A run that cannot begin is tried again only after a while.
        for _ in 0..2 {
            env.work(&["--once"]);
        }
        let run = env.last_run(&id);
        let said = env.read_run_file(&run, "transcript.jsonl");
        env.assert_settled(&run);
        assert_eq!(said.matches("refused=8\n").count(), 6, "{said}");
        assert_eq!(said.matches("filed=0\n").count(), 4, "{said}");
        env.assert_unchanged(&before, &said);
        assert!(!home.join("intruder").exists(), "{said}");
        assert!(!env.path("other/.git/objects/intruder").exists(), "{said}");
        let runs = env.robot(&["runs"])["items"].take();
        let has_failed = |run: &Value| run["outcome"] == "launch_failed";
        assert!(runs.as_array().unwrap().iter().any(has_failed), "{runs:#}\n{said}");
    }
}

/// The mailbox lies in the folder of the work, and `el mailbox sync` writes there outside.
#[test]
fn no_mailbox_writes_through_its_links() {
    for place in EVERYWHERE {
        let Some(mut env) = place.prepare("") else { return };
        let mine = env.home().join("mine");
        fs::write(&mine, "mine\n").unwrap();
        if !place.hand_over(&mut env) {
            continue;
        }
        env.attack(&format!(
            "mkdir -p .claude-orchestrator/logs; ln -s {mine} .claude-orchestrator/logs/log.md
             ln -s {home} .claude-orchestrator/tasks; git add -f . && git commit -q -m links",
            mine = mine.display(),
            home = env.home().display(),
        ));
        // From a worktree, they come with what lands.
        let landed = env.robot(&["land", "--all"])["landed"].take();
        assert_eq!(landed, u8::from(place.is_worktree()));
        let before = env.outside_state();
        let ran = env.el(&["mailbox", "sync"]);
        assert!((ran.stdout + &ran.stderr).contains("is no plain file or folder"));
        env.assert_unchanged(&before, "the mailbox");
        let tasks = env.project(".claude-orchestrator/tasks");
        fs::remove_file(&tasks).unwrap();
        fs::create_dir_all(tasks.join("messages")).unwrap();
        // The fault of the folder goes into the log.
        let assignment = "{\"messages\": [{\"type\": \"task_assignment\", \"taskId\": \"x\"}]}";
        fs::write(tasks.join("messages/to-developer.json"), assignment).unwrap();
        let ran = env.el(&["mailbox", "sync"]);
        assert!((ran.stdout + &ran.stderr).contains("is no plain file or folder"));
        assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
    }
}
