//! The tracker in a git repository: commands that people use every day leave it alone.

use std::fs;

use crate::support::TestEnv;

/// A repository with one commit, a tracker and an atom; the atom's id.
fn repository() -> (TestEnv, String) {
    let env = TestEnv::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.el(&["init", "--name", "t"]).ok();
    env.configure("");
    env.git(&["config", "user.name", "T"]);
    env.git(&["config", "user.email", "t@example.org"]);
    fs::write(env.project("code.txt"), "1\n").unwrap();
    env.git(&["add", "code.txt", ".eluent/config.toml"]);
    env.git(&["commit", "-q", "-m", "one"]);
    let id = env.create("Kept", &[]);
    (env, id)
}

#[test]
fn everyday_commands_leave_the_tracker_alone() {
    for words in [
        &["clean", "-fdq"][..],
        &["clean", "-ffdq"],
        &["add", "-A"],
        &["add", "."],
        &["stash", "-u"],
        &["reset", "-q", "--hard"],
        &["checkout", "-q", "-f", "-b", "other"],
    ] {
        let (env, id) = repository();
        fs::write(env.project("new.txt"), "2\n").unwrap();
        env.git(words);
        assert_eq!(env.status(&id), "open", "{words:?}");
        let seen = env.git(&["status", "--porcelain", "--untracked-files=all"]);
        assert!(!seen.contains(".eluent"), "{words:?}: {seen}");
        env.git(&["add", "-A"]);
        assert_eq!(env.git(&["ls-files", ".eluent"]), ".eluent/config.toml", "{words:?}");
    }
}

#[test]
fn a_branch_that_committed_the_old_gitignore_does_not_uncover_the_tracker() {
    let (env, id) = repository();
    env.git(&["checkout", "-q", "-b", "old"]);
    fs::write(env.project(".eluent/.gitignore"), "*.tmp\n").unwrap();
    env.git(&["add", "-f", ".eluent/.gitignore"]);
    env.git(&["commit", "-q", "-m", "old"]);
    // Going back removes the file; the repository's own list still holds.
    env.git(&["checkout", "-q", "main"]);
    assert!(!env.project(".eluent/.gitignore").exists());
    env.git(&["clean", "-fdq"]);
    env.git(&["stash", "-u"]);
    assert_eq!(env.status(&id), "open");
    // The next change restores it.
    env.el(&["update", &id, "--priority", "1"]).ok();
    assert!(fs::read_to_string(env.project(".eluent/.gitignore")).unwrap().contains("\n*\n"));
}

#[test]
fn a_change_without_a_named_actor_reads_gits_files_and_starts_no_git() {
    let (env, _) = repository();
    let git = env.run(env.command("sh").args(["-c", "command -v git"])).ok().stdout;
    let log = env.path("tmp/git.log");
    let script = format!("#!/bin/sh\necho $* >> {}\nexec {} \"$@\"\n", log.display(), git.trim());
    env.program("git", &script);
    let mut create = env.command("el");
    create.args(["create", "-q", "By somebody"]).env_remove("GIT_CONFIG_NOSYSTEM");
    let made = env.run(&mut create).ok().stdout;
    assert_eq!(fs::read_to_string(&log).unwrap_or_default(), "", "it costs a process");
    assert_eq!(env.robot(&["history", made.trim()])["items"][0]["actor"], "T");
    // Only git knows what such a variable changes.
    env.create("By somebody else", &[]);
    assert!(fs::read_to_string(&log).unwrap().contains("user.name"));
}

#[test]
fn each_change_restores_both_lines_of_defence() {
    let (env, id) = repository();
    let (ignore, exclude) = (env.project(".eluent/.gitignore"), env.project(".git/info/exclude"));
    for change in [&["create", "x"][..], &["close", &id], &["comment", "add", &id, "c"]] {
        fs::remove_file(&ignore).unwrap();
        fs::write(&exclude, "# mine\n/own").unwrap();
        env.el(change).ok();
        assert!(ignore.is_file(), "{change:?}");
        let lines = fs::read_to_string(&exclude).unwrap();
        assert_eq!(lines, "# mine\n/own\n/.eluent/*\n!/.eluent/config.toml\n", "{change:?}");
    }
    // A second time adds nothing.
    fs::remove_file(&ignore).unwrap();
    env.el(&["create", "y"]).ok();
    assert_eq!(fs::read_to_string(&exclude).unwrap().matches("/.eluent/*").count(), 1);
}

#[test]
fn a_tracker_below_the_top_and_one_found_from_a_worktree_are_excluded() {
    let (env, _) = repository();
    let below = env.project("a [b]");
    fs::create_dir(&below).unwrap();
    let mut command = env.command("el");
    env.run(command.args(["init", "--nested"]).current_dir(&below)).ok();
    fs::remove_file(below.join(".eluent/.gitignore")).unwrap();
    assert_eq!(env.git(&["status", "--porcelain", "--untracked-files=all"]), "");

    env.git(&["worktree", "add", "-q", "../tree", "-b", "tree"]);
    let tree = env.path("tree");
    let mut command = env.command("el");
    env.run(command.args(["init", "--nested"]).current_dir(&tree)).ok();
    fs::remove_file(tree.join(".eluent/.gitignore")).unwrap();
    let seen = env.run(env.command("git").args(["status", "--porcelain"]).current_dir(&tree)).ok();
    assert_eq!(seen.stdout, "");
}

#[test]
fn doctor_tells_of_a_database_in_a_commit_and_its_commands_take_it_out() {
    let (env, id) = repository();
    assert!(!env.el(&["doctor"]).stdout.contains("files of the tracker"));
    env.git(&["add", "-f", ".eluent/el.db"]);
    for place in ["in its index:", "in its index and its last commit:"] {
        let ran = env.el(&["doctor"]).fails_with(1);
        assert!(ran.stdout.contains(place) && ran.stdout.contains("el.db"), "{ran:#?}");
        env.git(&["commit", "-q", "--allow-empty", "-m", "oops"]);
    }
    let found = env.run(env.command("el").args(["--robot", "doctor"])).json();
    let findings = found["error"]["details"]["findings"].as_array().unwrap().clone();
    let finding = findings.iter().find(|finding| finding["code"] == "in_git").unwrap();
    let commands = finding["hint"].as_str().unwrap().split(';').next().unwrap().to_owned();
    env.run(env.command("sh").args(["-c", &commands])).ok();
    assert!(!env.el(&["doctor"]).stdout.contains("files of the tracker"));
    assert_eq!(
        env.git(&["ls-tree", "-r", "--name-only", "HEAD", ".eluent"]),
        ".eluent/config.toml"
    );
    assert_eq!(env.status(&id), "open");
}

#[test]
fn no_git_a_bare_repository_and_a_folder_that_cannot_be_written_are_no_error() {
    let env = TestEnv::with_tracker();
    env.create("Without git", &[]);
    fs::write(env.project(".git"), "gitdir: ../nowhere/git\n").unwrap();
    fs::remove_file(env.project(".eluent/.gitignore")).unwrap();
    env.create("A link that leads nowhere", &[]);
    assert!(!env.path("nowhere").exists(), "a link makes no folder");
    // Nor does a folder that is no repository get a file.
    fs::create_dir_all(env.path("nowhere/git")).unwrap();
    fs::remove_file(env.project(".eluent/.gitignore")).unwrap();
    env.create("A link to a folder", &[]);
    assert!(fs::read_dir(env.path("nowhere/git")).unwrap().next().is_none());
    fs::write(env.project(".git"), "rubbish").unwrap();
    fs::remove_file(env.project(".eluent/.gitignore")).unwrap();
    env.create("A file that says nothing", &[]);
    fs::remove_file(env.project(".git")).unwrap();
    env.git(&["init", "-q", "--bare", "."]);
    fs::remove_file(env.project(".eluent/.gitignore")).unwrap();
    env.create("Bare", &[]);
    assert!(!env.el(&["doctor"]).stdout.contains("files of the tracker"));
}
